"""Options of the commands that measure a design: which workloads, and which parts of a run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import size, whole_number
from drivelab.workloads.design import DEFAULT_DESIGN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.drives.protocol import DriveLimits
    from drivelab.workloads.design import Design
    from drivelab.workloads.selection import Selection

_MOST_CHECKED: Final = 100_000


def add_design_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `selection_of` reads."""
    parser.add_argument(
        "--design",
        default=DEFAULT_DESIGN,
        metavar="DESIGN",
        help="which workloads: huang2011[:N], huang2011-sweeps, sobol:N or a CSV file "
        f"[{DEFAULT_DESIGN}]",
    )
    parser.add_argument(
        "--check",
        type=whole_number(0, _MOST_CHECKED),
        metavar="N",
        help="off-grid workloads, the same for every run, on which the models are checked "
        "[1000; real drives 0]",
    )
    parser.add_argument(
        "--no-sweeps",
        dest="sweeps",
        action="store_false",
        help="leave out the workloads for curves, in which one characteristic changes at a time",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="only say how many workloads, how long, and how many bytes would be written",
    )
    parser.add_argument(
        "--endurance",
        type=size,
        metavar="SIZE",
        help="with --dry-run on real drives: the bytes that the drive is rated for, such as 150TB",
    )


def check_of(args: argparse.Namespace) -> int:
    """Return how many workloads check the models."""
    from drivelab.drives.naming import kind_of
    from drivelab.workloads.run_parts import default_check

    return int(default_check(kind_of(args.drive)) if args.check is None else args.check)


def selection_of(args: argparse.Namespace, design: Design, drive: DriveLimits) -> Selection:
    """Choose the workloads of every part of the run; raises as `campaign_selection`."""
    from drivelab.models.model_campaign import campaign_selection

    return campaign_selection(
        design, drive, seed=args.seed, check=check_of(args), sweeps=args.sweeps
    )


def parts_text(parts: Mapping[str, int], design: str) -> str:
    """Say how many workloads each part of a run has."""
    drawn = parts["training"] + parts["calibration"]
    lines = [f"{drawn:,} of {design} ({parts['calibration']:,} of them for intervals)"]
    if parts["check"]:
        lines.append(f"{parts['check']:,} off-grid to check the models")
    if parts["sweeps"]:
        lines.append(f"{parts['sweeps']:,} for curves")
    return ", ".join(lines)
