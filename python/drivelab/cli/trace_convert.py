"""`drivelab trace convert`: a trace in another format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from drivelab.cli.arguments import add_json
from drivelab.cli.terminal import in_lines, show
from drivelab.cli.trace_output import (
    FORMATS,
    add_output,
    checked_output,
    output_text,
    output_values,
    written,
)
from drivelab.cli.trace_reading import ReadingProgress, add_source, source_of

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab trace convert`."""
    add_source(parser)
    parser.add_argument("--to", required=True, choices=FORMATS, help="the format to write")
    add_output(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Write the trace, and say what became of it."""
    source, output = source_of(args), checked_output(args, args.to)
    with ReadingProgress() as told:
        done = written(source, output, args, format_name=args.to, cut=None, told=told)
    values = output_values(done, output.path, args.to)
    print(json.dumps(values, indent=2)) if args.json else show(output_text(in_lines(values)))
    return 0
