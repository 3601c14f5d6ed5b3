"""Measure for a run of another process or machine.

`--executor processes` and `--executor ssh` start it; you need not type it. It reads requests from
standard input and answers on standard output, one JSON object per line, until its input ends.
"""

from __future__ import annotations

import argparse
import os
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab worker`."""
    parser.add_argument(
        "--stdio",
        action="store_true",
        required=True,
        help="read requests from standard input and answer on standard output",
    )


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    """Answer until the input ends."""
    from drivelab.runs.workers.worker import Worker

    # Anything else on standard output would be taken for an answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Worker(sys.stdin.fileno(), answers).run()
    return 0
