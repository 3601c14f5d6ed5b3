"""Options of the commands that measure: which drive, how long, what may be written."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import duration, inner_share, seed, size, whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import Drive
    from drivelab.workloads.characteristics import Characteristics
    from drivelab.workloads.workload import Workload

#: Choices of ``--writes``: measure sustained writes and a burst, in two runs.
BOTH: Final = "both"

_MOST_REQUESTS: Final = 10**9
_PLAN_OPTIONS: Final = (
    *("warmup_requests", "warmup_seconds", "requests", "seconds"),
    *("half_width_ratio", "max_requests", "workers", "content"),
)
# Attributes of a plan whose option has another name.
_WORDS: Final = {"half_width_ratio": "--half-width", "warmup_seconds": "--warmup"}


def add_workers(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Add ``--workers``."""
    group.add_argument(
        "--workers",
        type=whole_number(1, 1024),
        metavar="N",
        help="worker threads; results are the same for any number [one per core]",
    )


def add_drive_options(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the options that `open_named` and `plan_of` read.

    Several drives may each have their own ``--allow-destructive``: see `several_drives.allowed`.
    """
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers [0]"
    )
    _add_plan_options(parser)
    group = parser.add_argument_group("simulated drives")
    add_workers(group)
    add_no_variability(group)
    group = parser.add_argument_group("real drives")
    group.add_argument(
        "--size",
        type=size,
        metavar="SIZE",
        help="size of the file to create, if there is none [1GiB]",
    )
    group.add_argument("--keep", action="store_true", help="keep the file that was created")
    if several:
        from drivelab.cli.several_drives import add_allow_destructive

        add_allow_destructive(group)
        return
    group.add_argument(
        "--allow-destructive",
        metavar="PATH",
        help="overwrite this existing file or block device; PATH must be the same as DRIVE",
    )


def add_no_variability(parser: argparse._ActionsContainer) -> None:
    """Add the switch that turns off a simulated drive's variability."""
    parser.add_argument(
        "--no-variability",
        action="store_true",
        help="use the preset's own times in every run, without the preset's [variability]",
    )


def add_content(parser: argparse._ActionsContainer) -> None:
    """Add ``--content``."""
    from drivelab.workloads.content import CONTENTS, USUAL

    parser.add_argument(
        "--content",
        choices=CONTENTS,
        help=f"written data, for a drive that compresses [{USUAL}]",
    )


def add_writes(parser: argparse.ArgumentParser, choices: Sequence[str], usual: str) -> None:
    """Add ``--writes``."""
    parser.add_argument(
        "--writes",
        choices=choices,
        help="how a workload that writes finds the drive: as found (burst), or written until "
        f"more writing of the same kind would change nothing (sustained) [{usual}]",
    )


def _add_plan_options(parser: argparse.ArgumentParser) -> None:
    count = whole_number(1, _MOST_REQUESTS)
    group = parser.add_argument_group(
        "how long each measurement is", "simulated drives take TIME as simulated time"
    )
    group.add_argument(
        "--warmup-requests",
        type=whole_number(0, _MOST_REQUESTS),
        metavar="N",
        help="requests to complete before counting starts [2000; real drives 0]",
    )
    group.add_argument(
        "--warmup",
        dest="warmup_seconds",
        type=duration,
        metavar="TIME",
        help="time to wait before counting starts [0; real drives a tenth of --seconds, at "
        "least 0.2s]",
    )
    group.add_argument(
        "--requests",
        type=count,
        metavar="N",
        help="requests to count [formulas 20000]; with --half-width the minimum [5000]",
    )
    group.add_argument(
        "--seconds",
        type=duration,
        metavar="TIME",
        help="time during which requests are counted [real drives 1s, with --half-width at most "
        "10s]",
    )
    group.add_argument(
        "--half-width",
        dest="half_width_ratio",
        type=inner_share,
        metavar="SHARE",
        help="count until the 95 %% half-width of the mean latency is this share of it "
        "[simulated drives 1%%, unless --requests or --seconds is given]",
    )
    group.add_argument(
        "--max-requests",
        type=count,
        metavar="N",
        help="with --half-width: the maximum number of requests to count [400000]",
    )
    add_content(group)


def open_named(args: argparse.Namespace, intended: Sequence[Workload] = ()) -> Drive:
    """Open the named drive; no file is created if it could not run `intended`.

    Raises
    ------
    UsageError
        If there is no such drive, or an option has no effect on its kind.
    """
    from drivelab.drives.naming import open_drive

    refuse_options_without_effect(args)
    return open_drive(
        args.drive,
        allow_destructive=args.allow_destructive,
        size_bytes=args.size,
        keep=args.keep,
        intended=intended,
        varies=not args.no_variability,
    )


def refuse_options_without_effect(args: argparse.Namespace) -> None:
    """Raise `UsageError` for an option that the named kind of drive would ignore."""
    from drivelab.drives.asked import refuse_without_effect

    refuse_without_effect(args.drive, vars(args), _word)


def plan_of(args: argparse.Namespace) -> MeasurementPlan:
    """Return the plan; what was not given keeps the default of the drive's kind.

    Raises
    ------
    UsageError
        If an option has no effect, or the values contradict each other.
    """
    from drivelab.drives.asked import plan_for

    asked = {name: getattr(args, name) for name in _PLAN_OPTIONS}
    asked["writes"] = getattr(args, "writes", None)
    return plan_for(args.drive, seed=args.seed, asked=asked, word=_word)


def _word(name: str) -> str:
    return _WORDS.get(name, f"--{name.replace('_', '-')}")


def characteristics_json(workload: Characteristics) -> dict[str, float | int]:
    """Return the characteristics as ``--json`` prints them, with bytes in the names."""
    return {
        f"{name}_bytes" if name.endswith(("_size", "_stride")) else name: value
        for name, value in dataclasses.asdict(workload).items()
    }


def characteristics_of(args: argparse.Namespace) -> Characteristics:
    """Return the workload; what was not given keeps its default."""
    from drivelab.workloads.characteristics import Characteristics

    asked = {
        field.name: getattr(args, field.name)
        for field in dataclasses.fields(Characteristics)
        if getattr(args, field.name) is not None
    }
    return Characteristics(**asked)
