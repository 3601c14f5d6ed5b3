"""Measure for a run of another process or machine, as it asks.

`--executor processes` and `--executor ssh` start it; there is no need to type it. It is asked on
standard input and answers on standard output, a JSON object a line, until its input ends.
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
        help="be asked on standard input, and answer on standard output",
    )


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    """Answer until the input ends."""
    from drivelab.runs.workers.worker import Worker

    # Whatever else prints here would be taken for an answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Worker(sys.stdin.fileno(), answers).run()
    return 0
