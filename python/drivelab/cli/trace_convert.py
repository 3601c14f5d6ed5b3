"""`drivelab trace convert`: a trace in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.cli.arguments import add_json
from drivelab.cli.trace_output import FORMATS, add_output, write_trace
from drivelab.cli.trace_reading import add_source, recorded_files

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab trace convert`."""
    add_source(parser)
    parser.add_argument("--to", required=True, choices=FORMATS, help="the format to write")
    add_output(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Write the trace, and print what was written."""
    write_trace(args, recorded_files(args, args.files), args.to)
    return 0
