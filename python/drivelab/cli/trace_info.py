"""`drivelab trace info`: what a trace is, in one screen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from drivelab.cli.arguments import add_json
from drivelab.cli.terminal import show
from drivelab.cli.trace_reading import ReadingProgress, add_source, recorded_files

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab trace info`."""
    add_source(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Read the trace, and print what it is."""
    from drivelab.cli.trace_summary import info_text
    from drivelab.traces.characterization import characterize
    from drivelab.traces.values import info_values

    with ReadingProgress() as progress:
        trace = characterize(recorded_files(args, args.files), progress=progress)
    if args.json:
        print(json.dumps(info_values(trace), indent=2))
    else:
        show(info_text(trace))
    return 0
