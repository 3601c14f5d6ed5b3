"""The time to bring a real drive to sustained writes, and whether that pays.

Users plan with sustained performance. A simulated drive reaches it in seconds. A real drive must be
overwritten twice before each kind of writing of each round (`drivelab.drives.real.fio.settling`),
so without a request it is done only if a budget allows::

    settling before all rounds, at the speed of a second  <=  a fifth of the budget

The first second uses caches and erased blocks, and the drive only becomes slower later. If it
sustains half that speed, more than half of the budget is still left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.write_pattern import (
    BURST,
    IN_ORDER_BYTES,
    PIECE_BYTES,
    SETTLING_CAPACITIES,
    SETTLING_DEPTH,
    WritePattern,
    Writes,
    settled_patterns,
)
from drivelab.errors import UsageError
from drivelab.models.adaptive_rounds import most_rounds
from drivelab.notes import print_note
from drivelab.units import format_duration_ns, format_size
from drivelab.workloads.characteristics import Characteristics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.rounds import Pool
    from drivelab.drives.protocol import Drive
    from drivelab.models.goal import Goal

_TRIED_SECONDS: Final = 1.0
# What is tried is the fastest; the rest is for writes that become slower, and for measurements.
_SHARE: Final = 0.2


def settling_seconds(
    drive: Drive, plan: MeasurementPlan, patterns: Sequence[WritePattern]
) -> dict[WritePattern, float]:
    """Try how long it takes at least to settle a drive to each kind of writing.

    Parameters
    ----------
    drive
        An open real drive; written to.
    plan
        What its data looks like.
    patterns
        The kinds of writing.
    """
    found = {}
    trial = replace(
        MeasurementPlan.of_kind("real", seconds=_TRIED_SECONDS, seed=plan.seed),
        content=plan.content,
    )
    for pattern in patterns:
        piece_bytes = PIECE_BYTES[pattern]
        writes = Characteristics(
            write_ratio=1.0,
            write_random=1.0 if piece_bytes else 0.0,
            write_size=max(piece_bytes or IN_ORDER_BYTES, drive.block_bytes),
            queue_depth=SETTLING_DEPTH,
        )
        [one] = drive.measure([(0, writes)], trial)
        written = SETTLING_CAPACITIES * drive.capacity_bytes
        found[pattern] = written * one.duration_ns / 1e9 / one.bytes
    return found


def refuse_budget_of_settling(goal: Goal, plan: MeasurementPlan, drive: Drive, pool: Pool) -> None:
    """Raise `UsageError` when a budget would end while a real drive is still being settled.

    Parameters
    ----------
    goal, plan
        The budget, and whether writes are to be sustained.
    drive
        An open drive; written to.
    pool
        Everything that may be asked for.
    """
    patterns = _patterns(pool, plan.writes)
    if goal.budget_seconds is None or not patterns:
        return
    seconds = sum(settling_seconds(drive, plan, patterns).values())
    if seconds > goal.budget_seconds:
        written = len(patterns) * SETTLING_CAPACITIES * drive.capacity_bytes
        raise UsageError(
            f"a budget of {format_duration_ns(goal.budget_seconds * 1e9)} is too short for "
            f"sustained writes: they need {format_size(written)} written to {drive.name} before, "
            f"which takes at least {format_duration_ns(seconds * 1e9)}; give a longer budget, or "
            "ask for burst writes"
        )


def affordable_writes(goal: Goal, plan: MeasurementPlan, drive: Drive, pool: Pool) -> Writes:
    """Return whether a budget has room for sustained writes, and say so.

    Parameters
    ----------
    goal, plan, drive, pool
        As `refuse_budget_of_settling` takes them.
    """
    patterns = _patterns(pool, "sustained")
    if goal.budget_seconds is None or not patterns:
        return BURST
    settled = replace(plan, writes="sustained")
    each = settling_seconds(drive, plan, patterns)
    rounds = most_rounds(goal, settled, is_real=True, has_check=bool(pool["check"]))
    # A round begins with the kind that the last one ended with.
    whole = sum(each.values())
    seconds = whole + (rounds - 1) * (whole - min(each.values()))
    taken = format_duration_ns(seconds * 1e9)
    budget = format_duration_ns(goal.budget_seconds * 1e9)
    if seconds <= _SHARE * goal.budget_seconds:
        print_note(
            f"writes are sustained: settling {drive.name} takes at least {taken} of {budget}"
        )
        return "sustained"
    print_note(
        f"writes are a burst: settling {drive.name} would take at least {taken}, more than a fifth "
        f"of the budget of {budget}; --writes sustained asks for it"
    )
    return BURST


def _patterns(pool: Pool, writes: str) -> list[WritePattern]:
    return settled_patterns((each for part in pool.values() for each in part), writes)
