"""Draw when dispatch, channels and flash units work on one request, as the simulator ran it.

The request is the first of an idle drive in its preset's condition, at the start of its
address range. Every bar is an operation of the simulator, none is computed for the drawing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json, add_record
from drivelab.cli.outputs import write_output
from drivelab.cli.terminal import show
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

# More bars than this are a texture, not a diagram.
MAX_OPERATIONS: Final = 4096
_SECTOR_BYTES: Final = 512


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab timeline`."""
    parser.add_argument(
        "drive", metavar="DRIVE", help="a simulated SSD: a preset, with or without sim:, or a file"
    )
    add_record(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.svg", help="the drawing")
    parser.add_argument("--csv", type=Path, metavar="FILE.csv", help="the stages as a table")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate, write the files and say what is in them."""
    from drivelab.drives.simulated import SimulatedDrive

    _check_outputs(args)
    name = args.drive.removeprefix("analytic:").removeprefix("sim:")
    with SimulatedDrive.open(f"sim:{name}") as drive:
        _check_record(args.record, drive.preset["geometry"]["page_size_bytes"])
        operations = drive.timeline(args.op, args.record)
        drive_name = drive.name
    from drivelab.report.timeline import duration_ns, stages

    if len(operations) > MAX_OPERATIONS:
        raise UsageError(
            f"the request takes {len(operations)} flash operations; a diagram shows at most "
            f"{MAX_OPERATIONS}: use a smaller --record"
        )
    table = stages(operations)
    if args.output:
        from drivelab.report.timeline_figure import describe, draw

        title = describe(args.op, args.record, len(operations), duration_ns(table))
        write_output(args.output, draw(table, name=drive_name, title=title))
    if args.csv:
        write_output(args.csv, table.csv())
    values = {
        "drive": drive_name,
        "op": args.op,
        "record_bytes": args.record,
        "duration_ns": duration_ns(table),
        "svg": str(args.output) if args.output else None,
        "csv": str(args.csv) if args.csv else None,
        "operations": operations,
    }
    if args.json:
        print(json.dumps(values, indent=2))
    else:
        show(_text(values))
    return 0


def _check_outputs(args: argparse.Namespace) -> None:
    if not (args.output or args.csv or args.json):
        raise UsageError("nothing to write: give -o FILE.svg, --csv FILE.csv or --json")
    for path, suffix in ((args.output, ".svg"), (args.csv, ".csv")):
        if path is None:
            continue
        if path.suffix != suffix:
            raise UsageError(f"{path} does not end in {suffix}, which is what is written there")
        if not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent} to write {path.name} into")
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file")


def _check_record(record_bytes: int, page_bytes: int) -> None:
    most = MAX_OPERATIONS * page_bytes
    if record_bytes == 0 or record_bytes % _SECTOR_BYTES or record_bytes > most:
        raise UsageError(
            f"a record of {record_bytes} bytes cannot be drawn; allowed: a multiple of "
            f"{_SECTOR_BYTES} up to {most} ({MAX_OPERATIONS} pages)"
        )


def _text(values: Mapping[str, Any]) -> str:
    operations: Sequence[Mapping[str, Any]] = values["operations"]
    units = {operation["unit"] for operation in operations}
    lines = [
        f"{values['drive']}: {len(operations)} flash operations on {len(units)} units, "
        f"over after {format_duration_ns(values['duration_ns'])}"
    ]
    lines += [f"wrote {values[kind]}" for kind in ("svg", "csv") if values[kind]]
    return "\n".join(lines)
