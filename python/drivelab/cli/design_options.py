"""Options of the commands that measure a design: which workloads, and which parts of a run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import size, whole_number
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.drives.protocol import DriveKind, DriveLimits
    from drivelab.workloads.design import Design
    from drivelab.workloads.selection import Selection

DEFAULT_DESIGN: Final = "huang2011:300"
# On a simulated drive they cost seconds, on a real one an hour and its wear.
_DEFAULT_CHECK: Final[dict[DriveKind, int]] = {"simulated": 1000, "closed_form": 1000, "real": 0}
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
    from drivelab.drives.registry import kind_of

    return int(_DEFAULT_CHECK[kind_of(args.drive)] if args.check is None else args.check)


def selection_of(args: argparse.Namespace, design: Design, drive: DriveLimits) -> Selection:
    """Choose the workloads of every part of the run.

    Raises
    ------
    UsageError
        When the drive can express too few of the design's workloads.
    """
    from drivelab.measure.campaign import accepted_by
    from drivelab.models.evaluate import refuse_too_few
    from drivelab.workloads.run_parts import with_check_and_sweeps

    accepts = accepted_by(drive)
    selection = design.select(args.seed, accepts, drive.block_bytes)
    training = selection.parts.range("training")
    # Told now: measuring may take hours.
    try:
        refuse_too_few(len({selection.workloads[index].key() for index in training}))
    except UsageError as error:
        if not selection.left_out:
            raise
        why = _refusal(design, args.seed, drive)
        raise UsageError(
            f"{error}, as the drive cannot run {selection.left_out:,} of {args.design}: {why}"
        ) from error
    return with_check_and_sweeps(
        selection,
        check=check_of(args),
        sweeps=args.sweeps,
        accepts=accepts,
        block_bytes=drive.block_bytes,
    )


def _refusal(design: Design, seed: int, drive: DriveLimits) -> str:
    """Say why the drive cannot run the first of a design's workloads that it cannot."""
    for workload in design.select(seed, None, drive.block_bytes).workloads:
        try:
            drive.check(workload)
        except UsageError as error:
            return str(error)
    return "it accepts none"


def parts_text(parts: Mapping[str, int], design: str) -> str:
    """Say how many workloads each part of a run has."""
    drawn = parts["training"] + parts["calibration"]
    lines = [f"{drawn:,} of {design} ({parts['calibration']:,} of them for intervals)"]
    if parts["check"]:
        lines.append(f"{parts['check']:,} off-grid to check the models")
    if parts["sweeps"]:
        lines.append(f"{parts['sweeps']:,} for curves")
    return ", ".join(lines)
