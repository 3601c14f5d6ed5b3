"""`drivelab firmware build`: build your own firmware as programs for both processors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from drivelab.cli.arguments import add_json
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab firmware build`."""
    parser.add_argument(
        "source",
        metavar="FILE",
        type=Path,
        help="source of the firmware in C or Rust, MINE.c or MINE.rs (docs/firmware.md)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="output folder for its programs; it must be new or contain such programs",
    )
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Build, and print where the programs are."""
    from drivelab.firmware.own import PROCESSORS, build_whole, check_own

    if args.source.is_dir():
        raise UsageError(f"{args.source} is a folder: name the source of a firmware")
    check_own(args.source)
    _refuse_another(args.out)
    own = build_whole(args.source, args.out)
    values = {
        "firmware": own.name,
        "source_sha256": own.source_sha256,
        "programs": [str(args.out / f"drivelab-firmware-{each}") for each in PROCESSORS],
    }
    if args.json:
        print(json.dumps(values, indent=2))
    else:
        lines = [f"wrote {each}" for each in in_lines(values)["programs"]]
        show("\n".join([*lines, f"next  drivelab firmware profile ... --firmware {args.out}"]))
    return 0


def _refuse_another(folder: Path) -> None:
    """Refuse a folder that contains something else."""
    from drivelab.firmware.own import check_own

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: choose another --out")
    if folder.is_dir() and any(folder.iterdir()):
        check_own(folder)
