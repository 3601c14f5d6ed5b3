"""Measuring a profile: some sizes measured, every size estimated (Boito et al. 2015).

::

    first sizes ─┬─> sizes that tell most, until ratios are known      points "auto" (design.py)
    (settings.py)├─> repetitions until ratios are known                repetitions "auto"
                 └─> repetitions until each access time is known       full

Until ratios are known, and then, where a cost is asked about, until the answers are. With the first
`auto` repetitions are chosen as sizes are. Where they are "auto", two that disagree are settled by
more of the same pass, and where the drive's time is limited those sizes come first that tell most
for their time (budget.py).

What is measured next depends on what came before and on nothing else, so a journal of the passes is
all that a stopped profile needs to resume.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

from drivelab.profile.budget import affordable
from drivelab.profile.decision import decisions, open_half_width_ratio
from drivelab.profile.estimate import Curve, Ratios, Test, estimated_pair, ratios
from drivelab.profile.measured_pass import measured_passes
from drivelab.profile.profile import Profile
from drivelab.profile.settings import DIRECTIONS, ProfileSettings
from drivelab.profile.spread import (
    LEAST_DEGREES,
    Centre,
    Centres,
    centres,
    gathered,
    is_known,
    ratio_bounds,
    undecided,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from drivelab.profile.estimate import GainVariances, Scheme
    from drivelab.profile.measured_pass import MeasuredPass, PassDrive
    from drivelab.profile.sizes import Interval
    from drivelab.workloads.whole_pass import Direction, WholePass

    #: Measures passes, whose indices are their places, and gives their results in order.
    Measure = Callable[[Sequence[WholePass]], Sequence[MeasuredPass]]


# So often is a pass repeated because its times disagree, before they are taken as they are.
_MOST_SETTLING: Final = 4


def profile(drive: PassDrive, plan: ProfileSettings) -> Profile:
    """Measure and estimate.

    Parameters
    ----------
    drive
        That transfers files; its variability is part of what is measured.
    plan
        What is measured.

    Raises
    ------
    UsageError
        When the plan is impossible on this drive.
    RunError
        When the drive fails, or its times give no ratio.
    """
    index = itertools.count()

    def measure(passes: Sequence[WholePass]) -> list[MeasuredPass]:
        work = [(next(index), each) for each in passes]
        return list(measured_passes(drive, work, seed=plan.seed))

    return measured_profile(measure, plan)


def measured_profile(measure: Measure, plan: ProfileSettings) -> Profile:
    """Measure as the plan says by a function, which may keep what it measures."""
    plan.check()
    found = list(measure(plan.pilots()))
    plan = plan.after(found)
    found += _measured_first(found, measure, plan)
    _settle(found, measure, plan)
    if plan.is_full:
        _repeat_tests(found, measure, plan)
    elif plan.points == "auto":
        _add_what_tells_most(found, measure, plan)
    elif plan.repetitions == "auto":
        _repeat_ratios(found, measure, plan)
    return from_passes(found, plan.intervals, scheme=plan.scheme, centre=plan.centre)


def _measured_first(
    found: Sequence[MeasuredPass], measure: Measure, plan: ProfileSettings
) -> list[MeasuredPass]:
    """Measure what a plan begins with; where time is limited, all of it once, then what it allows.

    Where sizes are chosen by what they tell, second passes are chosen so too.
    """
    passes = plan.passes()
    if plan.most_measuring_ns is None or plan.is_full or plan.repetitions != "auto":
        return list(measure(passes))
    once = list(measure(passes[: len(passes) // plan.first_repetitions]))
    if plan.points == "auto":
        return once
    more = plan.first_repetitions - 1
    some = _affordable([*found, *once], plan, plan.first_sizes(), more)
    return once + list(measure(_passes_of(plan, plan.directions, some, more)))


def from_passes(
    measured: Sequence[MeasuredPass],
    intervals: Sequence[Interval],
    *,
    scheme: Scheme = "lines",
    centre: Centre = "mean",
) -> Profile:
    """Estimate every size of the intervals from passes that were measured.

    Both orders of a direction are needed, and at least two sizes of each in every interval.
    """
    repeated = gathered(measured)
    curves: dict[Test, Curve] = {}
    found: dict[Direction, Ratios] = {}
    gains: dict[Direction, GainVariances] = {}
    summed: dict[Direction, Centres] = {}
    for direction in DIRECTIONS:
        tests: list[Test] = [(direction, False), (direction, True)]
        if not all(test in repeated for test in tests):
            continue
        middle = centres({test: repeated[test] for test in tests}, centre)
        spread = middle.near_variances if scheme == "kriged" else middle.variances
        in_order, random = tests
        both = estimated_pair(
            intervals,
            (middle.times_ns[in_order], middle.times_ns[random]),
            scheme,
            (spread(in_order), spread(random)),
        )
        curves |= {in_order: both.in_order, random: both.random}
        plain = ratios(both.in_order.times_ns, both.random.times_ns).by_size
        gains[direction] = both.gain_variances
        bounds = ratio_bounds(middle.reach(), gains[direction].get("reordering", {}), plain)
        found[direction] = Ratios(plain, bounds)
        summed[direction] = middle
    return Profile(tuple(measured), curves, found, gains, summed, scheme)


def _add_what_tells_most(
    found: list[MeasuredPass], measure: Measure, plan: ProfileSettings
) -> None:
    from drivelab.profile.design import next_passes

    while passes := next_passes(found, plan):
        found += measure(passes)
        _settle(found, measure, plan)


def _settle(found: list[MeasuredPass], measure: Measure, plan: ProfileSettings) -> None:
    """Repeat passes whose times disagree until most of them agree."""
    if plan.centre != "robust":
        return
    for _ in range(_MOST_SETTLING):
        repeated = gathered(found)
        missing = [
            (test, size)
            for test, size in undecided(repeated)
            if len(repeated[test][size]) < plan.most_repetitions
        ]
        if not missing:
            return
        found += measure([plan.one_pass(*test, size) for test, size in missing])


def _affordable(
    found: Sequence[MeasuredPass],
    plan: ProfileSettings,
    sizes: Sequence[int],
    repetitions: int,
) -> list[int]:
    """Choose of the sizes those that the plan's time has room for."""
    if plan.most_measuring_ns is None or not sizes:
        return list(sizes)
    now = from_passes(found, plan.intervals, scheme=plan.scheme, centre=plan.centre)
    left_ns = plan.most_measuring_ns - now.measuring_ns
    measured = sorted({one.whole_pass.request_bytes for one in found})
    return affordable(
        plan,
        sizes,
        repetitions,
        measured=measured,
        times_ns={test: curve.times_ns for test, curve in now.curves.items()},
        left_ns=left_ns,
    )


def _repeat_ratios(found: list[MeasuredPass], measure: Measure, plan: ProfileSettings) -> None:
    """Repeat tests until the ratios of both directions are known, and answers that are asked."""
    done = plan.first_repetitions
    sizes = sorted({one.whole_pass.request_bytes for one in found})
    while done < plan.most_repetitions:
        now = from_passes(found, plan.intervals, scheme=plan.scheme, centre=plan.centre)
        reached = max(ratios.half_width_ratio or 0.0 for ratios in now.ratios.values())
        degrees = min(each.degrees for each in now.centres.values())
        if reached <= plan.half_width_ratio and degrees >= LEAST_DEGREES:
            if plan.cost is not None:
                reached = open_half_width_ratio(decisions(now, plan.cost))
            if reached <= plan.half_width_ratio:
                break
        # Half of what seems to be missing, so that a lucky spread ends nothing too late.
        missing = min((reached / plan.half_width_ratio) ** 2, 3.0)
        more = min(max(1, math.ceil(done * (missing - 1) / 2)), plan.most_repetitions - done)
        some = _affordable(found, plan, sizes, more)
        if not some and more > 1:
            more = 1
            some = _affordable(found, plan, sizes, more)
        if not some:
            break
        found += measure(_passes_of(plan, plan.directions, some, more))
        _settle(found, measure, plan)
        done += more


def _repeat_tests(found: list[MeasuredPass], measure: Measure, plan: ProfileSettings) -> None:
    """Repeat each test and size until its own mean is known (Boito et al. 2015, section 4.2)."""
    values = gathered(found)
    for _ in range(plan.most_repetitions - plan.first_repetitions):
        missing = [
            plan.one_pass(*test, size)
            for test, by_size in values.items()
            for size, times in by_size.items()
            if not is_known(times)
        ]
        if not missing:
            return
        new = measure(missing)
        found += new
        for test, by_size in gathered(new).items():
            for size, times in by_size.items():
                values[test][size] += times


def _passes_of(
    plan: ProfileSettings, directions: Sequence[Direction], sizes: Sequence[int], repetitions: int
) -> list[WholePass]:
    return [
        plan.one_pass(direction, is_random, size)
        for _ in range(repetitions)
        for direction in directions
        for is_random in (False, True)
        for size in sizes
    ]
