"""Which passes are measured next: those that improve the ratios most for the time they take.

The curves of what was measured (pair_kriging.py) say how sure each ratio is, and how its error goes
with that of access times. Another pass of test and size i, with noise of variance v, lowers the
variance of the ratio's logarithm r(s) by cov(r(s), i)^2 / (cov(i, i) + v) at every size s, whatever
it shows. So what is best is known before it is measured: a new size where a curve may bend, one
more repetition where repetitions differ, in order or random, by what their passes take of the
drive's time. Some are chosen at once, each as if those before it were measured; then all curves are
seen again. The covariance is the mean of the models', without what they disagree in, which only
measuring can tell.

Once ratios are known, a plan that asks whether optimisations pay goes on: then r(s) is the gain at
the sizes whose answers are unsure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.profile.kriging import ASSUMED_VARIANCE
from drivelab.profile.optimisation import OPTIMISATIONS, becomes, is_random_after
from drivelab.profile.pair_kriging import PairKriging
from drivelab.profile.spread import (
    CONFIDENCE,
    LEAST_DEGREES,
    Repetitions,
    centres,
    gathered,
    student,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from drivelab.profile.measured_pass import MeasuredPass
    from drivelab.profile.optimisation import Cost, Optimisation
    from drivelab.profile.settings import ProfileSettings
    from drivelab.workloads.whole_pass import Direction, WholePass

    Array = NDArray[np.float64]

# Largest number of sizes that are judged; about as many may be measured.
_MOST_LOOKED_AT: Final = 256
# Chosen at once: passes of this part of the time that was spent.
_SHARE: Final = 0.2
# Of the variance of jumps: no more is left to gain.
_JUMPS_LEFT: Final = 1.5
# Fewer sizes of an order do not tell jumps from a curve that bends. Ratios, where both orders bend
# alike, are judged before.
_FEWEST_OF_JUMPS: Final = 24
# Below it is rounding.
_LEAST_GAIN: Final = 1e-12
# Digits of a gain's logarithm that decide: the others are rounding, which machines differ in.
_DIGITS: Final = 6


def next_passes(found: Sequence[MeasuredPass], plan: ProfileSettings) -> list[WholePass]:
    """Choose what is measured next; nothing once ratios are known, or nothing is allowed.

    Parameters
    ----------
    found
        The results, with at least two sizes of each test.
    plan
        The plan, whose points are ``auto``.
    """
    spent_ns = sum(each.duration_ns for each in found)
    left_ns = math.inf if plan.most_measuring_ns is None else plan.most_measuring_ns - spent_ns
    share_ns = min(left_ns, _SHARE * spent_ns)
    repeated = gathered(found)
    sizes = _Sizes.of(plan, {one.whole_pass.request_bytes for one in found})
    pairs = [_Pair(direction, repeated, sizes, plan) for direction in plan.directions]
    # A single pass of each test determines nothing.
    cost = plan.cost if plan.first_repetitions > 1 else None
    if cost is not None and all(pair.is_done for pair in pairs):
        for pair in pairs:
            pair.seek_answers(cost)
    return _chosen(pairs, left_ns, share_ns)


def _chosen(pairs: Sequence[_Pair], left_ns: float, share_ns: float) -> list[WholePass]:
    """Choose passes of the pairs, the best first, until they take so long or all is known."""
    chosen: list[WholePass] = []
    while left_ns > 0:
        # One at least, however long it takes.
        limit_ns = share_ns if chosen else left_ns
        choices = [(*pair.best(limit_ns), pair) for pair in pairs if not pair.is_done]
        # Of equals the first.
        best = max(choices, key=lambda one: one[0], default=None)
        if best is None or best[0] == -math.inf:
            break
        _, at, pair = best
        passes = pair.passes(at)
        share_ns -= pair.takes_ns[at]
        chosen += passes
        pair.measure(at)
    return chosen


@dataclass(frozen=True)
class _Sizes:
    """Sizes in bytes that are looked at, and which of them for what.

    Attributes
    ----------
    all
        Rising. What judged sizes become is among them where answers are asked for.
    are_judged
        Ratios of these are to be known; at equal gaps, where there are too many. Then they are
        others than may be measured, as those tell of themselves alone how they jump.
    are_allowed
        These may be measured; of many those at equal gaps and at equal factors, and all that were.
    """

    all: list[int]
    are_judged: NDArray[np.bool_]
    are_allowed: NDArray[np.bool_]

    @classmethod
    def of(cls, plan: ProfileSettings, measured: set[int]) -> _Sizes:
        sizes = plan.sizes
        if len(sizes) <= _MOST_LOOKED_AT:
            every = np.full(len(sizes), fill_value=True)
            return cls(sizes, every, every)
        half = _MOST_LOOKED_AT // 2
        ranks = np.linspace(0, len(sizes) - 1, half)
        factors = np.searchsorted(sizes, np.geomspace(sizes[0], sizes[-1], half))
        allowed = measured.union(sizes[round(float(rank))] for rank in ranks)
        allowed.update(sizes[min(int(rank), len(sizes) - 1)] for rank in factors)
        others = [size for size in sizes if size not in allowed] or sizes
        places = np.linspace(0, len(others) - 1, min(len(others), _MOST_LOOKED_AT))
        judged = {others[round(float(place))] for place in places}
        larger = becomes("aggregating", judged, sizes) if plan.cost is not None else ()
        both = sorted(allowed.union(judged, larger))
        return cls(
            both,
            np.array([size in judged for size in both]),
            np.array([size in allowed for size in both]),
        )


@dataclass
class _Goal:
    """Ratios that are to be known: of times at some places over times at others.

    Attributes
    ----------
    above, below
        The places.
    variances
        Of the ratios' logarithms.
    gains, needed
        Of an optimisation, what it gains and has to gain at each.
    is_out_of_reach
        Whether only sizes that cannot be measured remain uncertain.
    """

    above: NDArray[np.intp]
    below: NDArray[np.intp]
    variances: Array
    gains: Array | None = None
    needed: Array | None = None
    is_out_of_reach: bool = False

    def of(self, rows: Array) -> Array:
        """Take the rows of places below from those of the places above."""
        found: Array = rows[self.above] - rows[self.below]
        return found

    def lower(self, shared: Array, total: float, covariance: Array) -> None:
        """Go on as if a place was measured that shares so much with each, of this variance."""
        across = covariance[self.above, self.below]
        own = np.diagonal(covariance)
        least = own[self.above] + own[self.below] - 2 * across
        self.variances = np.maximum(self.variances - self.of(shared) ** 2 / total, least)

    def are_open(self, reach: float) -> NDArray[np.bool_]:
        """Tell which are to be known better: all, or those whose answer is unsure."""
        if self.gains is None or self.needed is None:
            return np.full(len(self.above), fill_value=True)
        factors = np.exp(reach * np.sqrt(self.variances))
        is_sure = (self.gains / factors > self.needed) | (self.gains * factors <= self.needed)
        found: NDArray[np.bool_] = ~is_sure
        return found


class _Pair:
    """Both orders of a direction: what is known, and what passes more would tell and take.

    A choice is a place: sizes in order, the same in random order, and the same in both: where both
    jump by the same, one without the other tells nothing of their ratio.

    Attributes
    ----------
    takes_ns
        What the passes of every choice take.
    """

    def __init__(
        self, direction: Direction, repeated: Repetitions, sizes: _Sizes, plan: ProfileSettings
    ) -> None:
        in_order, random = self._tests = ((direction, False), (direction, True))
        summed = centres({test: repeated[test] for test in self._tests}, plan.centre)
        self._degrees = summed.degrees
        self._reach = student(CONFIDENCE, summed.degrees or LEAST_DEGREES)
        self._plan = plan
        self._sizes = sizes
        if summed.variance is None:
            summed = replace(summed, variance=ASSUMED_VARIANCE)
        self._noise = np.concatenate([summed.spread_at(test, sizes.all) for test in self._tests])
        self._pair = pair = PairKriging(
            (summed.times_ns[in_order], summed.times_ns[random]),
            (summed.near_variances(in_order), summed.near_variances(random)),
        )
        self._covariance = pair.covariance(sizes.all)
        self._logs = np.concatenate([logs for logs, _ in pair.at(sizes.all)])
        self._times_ns: Array = np.exp(self._logs) * [
            plan.one_pass(*test, size).requests for test in self._tests for size in sizes.all
        ]
        self._counts = np.array(
            [summed.repetitions[test].get(size, 0) for test in self._tests for size in sizes.all]
        )
        self._goals = [self._goal("reordering")]
        self._look()

    def seek_answers(self, cost: Cost) -> None:
        """Go on until what optimisations gain is known where it is unsure whether they pay."""
        self._goals = [self._goal(optimisation, cost) for optimisation in OPTIMISATIONS]
        self._look()

    def _goal(self, optimisation: Optimisation, cost: Cost | None = None) -> _Goal:
        """Want the gains of the sizes that are judged known, or the answers by a cost."""
        every = np.array(self._sizes.all)
        some = every[self._sizes.are_judged]
        larger = np.array(becomes(optimisation, some.tolist(), self._plan.sizes))
        is_random = is_random_after(optimisation)
        above = np.searchsorted(every, some) + len(every)
        below = np.searchsorted(every, larger) + len(every) * is_random
        variances = self._pair.gain_variances(some.tolist(), larger.tolist(), is_random=is_random)
        goal = _Goal(above, below, variances)
        if cost is not None:
            after_ns = np.exp(self._logs[below]) * (some / larger)
            goal.gains = np.exp(self._logs[above]) / after_ns
            goal.needed = np.array([cost.needed(each) for each in after_ns.tolist()])
        goal.is_out_of_reach = self._is_out_of_reach(goal)
        return goal

    def _is_out_of_reach(self, goal: _Goal) -> bool:
        """Return whether jumps of sizes that cannot be measured are what is left: nothing helps."""
        if np.array_equal(self._sizes.are_judged, self._sizes.are_allowed):
            return False
        are_open = goal.are_open(self._reach)
        is_early = goal.gains is not None and np.count_nonzero(self._counts) < 2 * _FEWEST_OF_JUMPS
        if is_early or not are_open.any():
            return False
        of_time, of_ratio = self._pair.jump_variances
        is_one_size = goal.above - goal.below == len(self._sizes.all)
        are_closed = ~np.tile(self._sizes.are_allowed, 2)
        of_times = of_time * (are_closed[goal.above].astype(float) + are_closed[goal.below])
        jumps = float(np.median(np.where(is_one_size, of_ratio, of_times)[are_open]))
        is_missed = not self._is_within(np.array([jumps]))
        return is_missed and bool(np.median(goal.variances[are_open]) <= _JUMPS_LEFT * jumps)

    @property
    def is_done(self) -> bool:
        """Whether all that is wanted is as sure as the plan wants it, or cannot be."""
        return all(self._is_reached(goal) for goal in self._goals)

    def _is_reached(self, goal: _Goal) -> bool:
        if goal.is_out_of_reach:
            return True
        if self._plan.repetitions == "auto" and self._degrees < LEAST_DEGREES:
            return False
        are_open = goal.are_open(self._reach)
        return not are_open.any() or self._is_within(goal.variances[are_open])

    def _is_within(self, variances: Array) -> bool:
        # Half the width of a ratio's interval, over the ratio.
        widths = np.sinh(self._reach * np.sqrt(variances))
        return bool(np.median(widths) <= self._plan.half_width_ratio)

    def passes(self, at: int) -> list[WholePass]:
        """Return what a choice adds."""
        found = []
        for place in self._places(at):
            order, size = divmod(place, len(self._sizes.all))
            one = self._plan.one_pass(*self._tests[order], self._sizes.all[size])
            found += [one] * int(self._more[place])
        return found

    def best(self, limit_ns: float) -> tuple[float, int]:
        """Return the logarithm of what the best choice gains a ns, and which; -inf if none is."""
        worth = np.where(self.takes_ns <= limit_ns, self._worth, -math.inf)
        at = int(worth.argmax())
        return float(worth[at]), at

    def measure(self, at: int) -> None:
        """Go on as if the choice was measured."""
        for place in self._places(at):
            more = int(self._more[place])
            shared = self._covariance[:, place].copy()
            total = shared[place] + self._noise[place] / more
            self._covariance -= np.outer(shared, shared) / total
            for goal in self._goals:
                goal.lower(shared, total, self._covariance)
            self._degrees += more - int(self._counts[place] == 0)
            self._counts[place] += more
        self._look()

    def _places(self, at: int) -> tuple[int, ...]:
        """Return the places of the tests and sizes of a choice."""
        count = len(self._counts)
        return (at,) if at < count else (at - count, at - count // 2)

    def _look(self) -> None:
        """See what is allowed, and the logarithm of what it gains a ns."""
        plan = self._plan
        is_auto = plan.repetitions == "auto"
        # A first repetition alone does not show an outlier.
        more = np.where(self._counts == 0, plan.first_repetitions, 1 if is_auto else 0)
        more[~np.tile(self._sizes.are_allowed, 2)] = 0
        if is_auto:
            more[self._counts >= plan.most_repetitions] = 0
        self._more = more
        wanted = [goal for goal in self._goals if not self._is_reached(goal)] or self._goals
        shared = np.concatenate(
            [goal.of(self._covariance)[goal.are_open(self._reach)] for goal in wanted]
        )
        totals = np.diagonal(self._covariance) + self._noise / np.maximum(more, 1)
        squares = (shared**2).sum(axis=0)
        # Of both: by the inverse of the covariance of the two.
        half = len(more) // 2
        products = (shared[:, :half] * shared[:, half:]).sum(axis=0)
        across = np.diagonal(self._covariance[:half, half:])
        both = squares[:half] * totals[half:] + squares[half:] * totals[:half]
        both = (both - 2 * products * across) / (totals[:half] * totals[half:] - across**2)
        gains = np.concatenate([squares / totals, both])
        single_ns = self._times_ns * more
        self.takes_ns: Array = np.concatenate([single_ns, single_ns[:half] + single_ns[half:]])
        are_allowed = np.concatenate([more > 0, (more[:half] > 0) & (more[half:] > 0)])
        takes_ns = np.maximum(self.takes_ns, 1.0)
        worth = np.log(np.maximum(gains, _LEAST_GAIN) / takes_ns).round(_DIGITS)
        self._worth: Array = np.where(are_allowed, worth, -math.inf)
