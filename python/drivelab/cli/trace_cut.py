"""`drivelab trace cut`: a part of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.cli.arguments import add_json, duration, whole_number
from drivelab.cli.trace_output import FORMATS, PARQUET, add_output, write_trace
from drivelab.cli.trace_reading import add_source, recorded_files
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from drivelab.traces.rewritten import Cut


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab trace cut`."""
    add_source(parser)
    group = parser.add_argument_group("which part")
    group.add_argument(
        "--from", type=duration, metavar="TIME", help="begin this long after the first request [0]"
    )
    group.add_argument(
        "--to",
        type=duration,
        metavar="TIME",
        help="end this long after the first request [the trace's end]",
    )
    group.add_argument(
        "--requests",
        type=whole_number(1, 2**62),
        metavar="N",
        help="keep the first N of the requests that the other options keep",
    )
    kinds = group.add_mutually_exclusive_group()
    kinds.add_argument("--reads", action="store_true", help="keep only reads")
    kinds.add_argument("--writes", action="store_true", help="keep only writes")
    parser.add_argument(
        "--to-format",
        choices=FORMATS,
        help="the format to write [parquet if OUT ends in .parquet, else the trace's own]",
    )
    add_output(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Write the part, and print what was written."""
    cut = _cut(args)
    source = recorded_files(args, args.files)
    reader = source.open()
    format_name = args.to_format or _format_for(args.output, reader.format)
    write_trace(args, source, format_name, cut=cut, reader=reader)
    return 0


def _cut(args: argparse.Namespace) -> Cut:
    from drivelab.traces.rewritten import Cut

    begins = getattr(args, "from")
    parts = (begins, args.to, args.requests, args.reads, args.writes, args.device)
    if not any(part is not None and part is not False and part != [] for part in parts):
        raise UsageError(
            "nothing to cut: give --from, --to, --requests, --device, --reads or --writes; "
            "`drivelab trace convert` writes all of it"
        )
    if args.to is not None and args.to <= (begins or 0.0):
        raise UsageError("--to is not after --from; give a later --to")
    return Cut(
        round((begins or 0.0) * 1e9),
        None if args.to is None else round(args.to * 1e9),
        args.requests,
        ("read",) if args.reads else ("write",) if args.writes else (),
    )


def _format_for(output: Path, name: str) -> str:
    """Return the trace's own format, or the one that the output's name asks for."""
    if output.suffix == PARQUET:
        return "parquet"
    if name not in FORMATS:
        raise UsageError(
            f"{name} can be read but not written: choose --to-format "
            f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}, or let the name of -o end in {PARQUET}"
        )
    return name
