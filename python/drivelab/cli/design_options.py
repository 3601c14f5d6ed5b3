"""Options of the commands that measure a design: which workloads, and which parts of a run."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import duration, inner_share, size, whole_number
from drivelab.models.goal import FEWEST_MEASUREMENTS, FEWEST_WITH_PROBES, MOST_MEASUREMENTS
from drivelab.workloads.design import DEFAULT_DESIGN
from drivelab.workloads.parts import FITTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.drives.protocol import DriveLimits
    from drivelab.models.goal import Goal
    from drivelab.workloads.design import Design
    from drivelab.workloads.selection import Selection

_MOST_CHECKED: Final = 100_000


def add_design_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `selection_of` reads."""
    parser.add_argument(
        "--design",
        default=DEFAULT_DESIGN,
        metavar="DESIGN",
        help="the workloads to measure: adaptive (chooses them as it measures), huang2011[:N], "
        f"huang2011-sweeps, sobol:N or a CSV file [{DEFAULT_DESIGN}]",
    )
    group = parser.add_argument_group(
        "how much the design adaptive measures", "whatever comes first ends it"
    )
    group.add_argument(
        "--measurements",
        type=whole_number(FEWEST_MEASUREMENTS, MOST_MEASUREMENTS),
        metavar="N",
        help="number of measurements for the models; there are no probes of how the drive is built "
        f"below {FEWEST_WITH_PROBES} [300; with --error or --budget at most 1200]",
    )
    group.add_argument(
        "--error",
        dest="error_ratio",
        type=inner_share,
        metavar="SHARE",
        help="stop when the expected mean relative error of the models is this small, such as 5%%",
    )
    add_budget(group, "; with --writes both each run has half of it")
    parser.add_argument(
        "--check",
        type=whole_number(0, _MOST_CHECKED),
        metavar="N",
        help="number of off-grid workloads that check the models; they are the same for every "
        "run [1000; real drives 0]",
    )
    parser.add_argument(
        "--no-sweeps",
        dest="sweeps",
        action="store_false",
        help="leave out the sweeps, in which one characteristic changes at a time",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="only print how many workloads it would measure, how long that takes, and how many "
        "bytes it would write",
    )
    parser.add_argument(
        "--endurance",
        type=size,
        metavar="SIZE",
        help="with --dry-run on real drives: the drive's rated endurance, such as 150TB",
    )


def add_budget(parser: argparse._ActionsContainer, more: str = "") -> None:
    """Add ``--budget``; `more` ends its help."""
    parser.add_argument(
        "--budget",
        dest="budget_seconds",
        type=duration,
        metavar="TIME",
        help="stop when the drive has worked this long, such as 1h; for simulated drives this "
        "is simulated time; the check, and fills from 18 minutes on, come on top" + more,
    )


def goal_of(args: argparse.Namespace) -> Goal:
    """Return when a run of the design ``adaptive`` has enough.

    Raises
    ------
    UsageError
        When a value is out of range.
    """
    from drivelab.models.goal import Goal

    return Goal(args.measurements, args.error_ratio, args.budget_seconds)


def asked_goal(args: argparse.Namespace, design: Design) -> Goal | None:
    """Return the goal, or None if the design defines what it measures and no goal was given.

    Raises
    ------
    UsageError
        If a goal was given for such a design.
    """
    from drivelab.models.goal import Goal
    from drivelab.models.model_campaign import refuse_goal
    from drivelab.workloads.adaptive import AdaptiveDesign

    goal = goal_of(args)
    if isinstance(design, AdaptiveDesign):
        return goal
    refuse_goal(design, None if goal == Goal() else goal)
    return None


def check_of(args: argparse.Namespace) -> int:
    """Return how many workloads check the models."""
    from drivelab.drives.naming import kind_of
    from drivelab.workloads.run_parts import default_check

    return int(default_check(kind_of(args.drive)) if args.check is None else args.check)


def selection_of(args: argparse.Namespace, design: Design, drive: DriveLimits) -> Selection:
    """Choose the workloads of every part of the run; raises as `campaign_selection`."""
    from drivelab.campaign.campaign import accepted_by
    from drivelab.models.model_campaign import campaign_selection, fills_of
    from drivelab.workloads.adaptive import AdaptiveDesign
    from drivelab.workloads.probes import USUAL_PAGE_BYTES, first_probes, page_probes

    goal = asked_goal(args, design)
    if isinstance(design, AdaptiveDesign) and goal is not None:
        # The workloads are chosen during the run; their cost is estimated from as many others.
        design = replace(design, count=goal.most)
    selection = campaign_selection(
        design, drive, seed=args.seed, check=check_of(args), sweeps=args.sweeps
    )
    if goal is None or not goal.has_probes:
        return selection
    # The second round depends on the results of the first; these are from the usual design.
    asked = [*first_probes(), *page_probes(USUAL_PAGE_BYTES)]
    accepts = accepted_by(drive)
    probes = [each.without_ineffective() for each in asked if accepts(each)]
    fills = fills_of(drive)
    return replace(
        selection,
        workloads=[*selection.workloads, *probes, *(one.workload for one in fills)],
        parts=replace(selection.parts, probes=len(probes), fills=len(fills)),
    )


def parts_text(parts: Mapping[str, int], design: str) -> str:
    """Return how many workloads each part of a run has."""
    drawn = sum(parts[name] for name in FITTED)
    chosen = f", {parts['chosen']:,} chosen" if parts["chosen"] else ""
    lines = [f"{drawn:,} of {design} ({parts['calibration']:,} of them for intervals{chosen})"]
    if parts["check"]:
        lines.append(f"{parts['check']:,} off-grid to check the models")
    if parts["probes"]:
        lines.append(f"{parts['probes'] + parts['fills']:,} probes")
    if parts["sweeps"]:
        lines.append(f"{parts['sweeps']:,} for curves")
    return ", ".join(lines)
