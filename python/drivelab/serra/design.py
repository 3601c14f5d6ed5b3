"""Which passes are measured next: those that tell most about the ratios for the time they take.

The curves of what was measured (kriging.py) say how sure each size is, and how its error goes with
that of others. Another pass at size i, with noise of variance v, lowers the variances of the curve
by cov(s, i)^2 / (cov(i, i) + v) at every size s, whatever it shows. So what is best is known before
it is measured: a new size where the curve may bend, one more repetition where repetitions differ,
in order or random, by what their passes take of the drive's time. Some are chosen at once, each as
if those before it were measured; then all curves are seen again. The covariance is the mean of the
models', without what they disagree in, which only measuring can tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.serra.kriging import ASSUMED_VARIANCE, Kriging
from drivelab.serra.spread import (
    CONFIDENCE,
    LEAST_DEGREES,
    Centres,
    Repetitions,
    centres,
    gathered,
    student,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from drivelab.drives.whole_passes import PassMeasurement
    from drivelab.serra.estimate import Test
    from drivelab.serra.plan import ProfilePlan
    from drivelab.workloads.whole_pass import Direction, WholePass

    Array = NDArray[np.float64]

# Of more sizes so many are judged, and about as many may be measured.
_MOST_LOOKED_AT: Final = 256
# Chosen at once: passes of this part of the time that was spent.
_SHARE: Final = 0.2
# Of one repetition, where none differs from another.
_LEAST_VARIANCE: Final = 0.001**2
# Of the variance of jumps: no more is left to gain.
_JUMPS_LEFT: Final = 1.5
# Below it is rounding.
_LEAST_GAIN: Final = 1e-12
# Digits of a gain's logarithm that decide: the others are rounding, which machines differ in.
_DIGITS: Final = 6


def next_passes(found: Sequence[PassMeasurement], plan: ProfilePlan) -> list[WholePass]:
    """Choose what is measured next; nothing once ratios are known, or nothing is allowed.

    Parameters
    ----------
    found
        What was measured, of each test at least two sizes.
    plan
        Whose points are ``auto``.
    """
    spent_ns = sum(each.duration_ns for each in found)
    left_ns = math.inf if plan.most_measuring_ns is None else plan.most_measuring_ns - spent_ns
    share_ns = min(left_ns, _SHARE * spent_ns)
    repeated = gathered(found)
    sizes = _Sizes.of(plan, {one.whole_pass.request_bytes for one in found})
    pairs = [_Pair(direction, repeated, sizes, plan) for direction in plan.directions]
    chosen: list[WholePass] = []
    while left_ns > 0:
        tests = [test for pair in pairs if not pair.is_done for test in pair.tests]
        # One at least, however long it takes.
        limit_ns = share_ns if chosen else left_ns
        choices = [(*test.best(limit_ns), test) for test in tests]
        # Of equals the first.
        best = max(choices, key=lambda one: one[0], default=None)
        if best is None or best[0] == -math.inf:
            break
        _, at, test = best
        share_ns -= test.times_ns[at] * test.more[at]
        chosen += [plan.one_pass(*test.test, sizes.all[at])] * int(test.more[at])
        test.measure(at)
    return chosen


@dataclass(frozen=True)
class _Sizes:
    """Sizes in bytes that are looked at, and which of them for what.

    Attributes
    ----------
    all
        Rising.
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
    def of(cls, plan: ProfilePlan, measured: set[int]) -> _Sizes:
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
        both = sorted(allowed | judged)
        return cls(
            both,
            np.array([size in judged for size in both]),
            np.array([size in allowed for size in both]),
        )


class _Pair:
    """Both orders of a direction."""

    def __init__(
        self, direction: Direction, repeated: Repetitions, sizes: _Sizes, plan: ProfilePlan
    ) -> None:
        both: list[Test] = [(direction, False), (direction, True)]
        summed = centres({test: repeated[test] for test in both}, plan.centre)
        self.tests = [_Test(test, summed, sizes, plan) for test in both]
        self._degrees = summed.degrees
        self._reach = student(CONFIDENCE, summed.degrees or LEAST_DEGREES)
        self._plan = plan
        # Sizes that cannot be measured: once their jumps are what is left, nothing more helps.
        is_open = not np.array_equal(sizes.are_judged, sizes.are_allowed)
        left = np.median(sum(test.judged_variances for test in self.tests))
        jumps = sum(test.jump_variance for test in self.tests)
        is_missed = not self._is_within(np.array([jumps]))
        self._is_out_of_reach = bool(is_open and is_missed and left <= _JUMPS_LEFT * jumps)

    @property
    def is_done(self) -> bool:
        """Whether ratios are as sure as the plan wants them, or cannot be."""
        if self._is_out_of_reach:
            return True
        degrees = self._degrees + sum(test.degrees for test in self.tests)
        if self._plan.repetitions == "auto" and degrees < LEAST_DEGREES:
            return False
        return self._is_within(sum(test.judged_variances for test in self.tests))

    def _is_within(self, variances: Array | int) -> bool:
        # Half of what lies between the ends of a ratio's interval, over the ratio.
        widths = np.sinh(self._reach * np.sqrt(variances))
        return bool(np.median(widths) <= self._plan.half_width_ratio)


class _Test:
    """What is known of one test, and what passes more would tell and take.

    Attributes
    ----------
    test
        Which.
    degrees
        Of freedom that the passes chosen add.
    jump_variance
        Of the logarithm of an access time, that no measurement of another size takes away.
    times_ns
        That one pass takes, at the sizes that are looked at.
    more
        Passes that a choice adds, likewise; 0 where none is allowed.
    """

    def __init__(self, test: Test, summed: Centres, sizes: _Sizes, plan: ProfilePlan) -> None:
        self.test = test
        self.degrees = 0
        times, counts = summed.times_ns[test], summed.repetitions[test]
        known = ASSUMED_VARIANCE if summed.variance is None else summed.variance
        summed = replace(summed, variance=max(known, _LEAST_VARIANCE))
        self._noise = summed.spread_at(test, sizes.all)
        variances = summed.near_variances(test)
        curve = Kriging(list(times), list(times.values()), list(variances.values()))
        self.jump_variance = curve.jump_variance
        logs, self._variances = curve.at(sizes.all)
        self._covariance = curve.covariance(sizes.all)
        requests = np.array([plan.one_pass(*test, size).requests for size in sizes.all])
        self.times_ns: Array = np.exp(logs) * requests
        self._plan = plan
        self._sizes = sizes
        self._counts = np.array([counts.get(size, 0) for size in sizes.all])
        self._look()

    @property
    def judged_variances(self) -> Array:
        """Of the logarithms of access times, at the sizes that are judged."""
        found: Array = self._variances[self._sizes.are_judged]
        return found

    def best(self, limit_ns: float) -> tuple[float, int]:
        """Return the logarithm of what the best choice gains a ns, and which; -inf if none is."""
        worth = np.where(self.times_ns * self.more <= limit_ns, self._worth, -math.inf)
        at = int(worth.argmax())
        return float(worth[at]), at

    def measure(self, at: int) -> None:
        """Go on as if the choice was measured."""
        shared = self._covariance[:, at].copy()
        noise = self._noise[at] / self.more[at]
        self._covariance -= np.outer(shared, shared) / (shared[at] + noise)
        lowered = self._variances - shared**2 / (shared[at] + noise)
        self._variances = np.maximum(lowered, np.diagonal(self._covariance))
        self.degrees += int(self.more[at]) - int(self._counts[at] == 0)
        self._counts[at] += self.more[at]
        self._look()

    def _look(self) -> None:
        """See what is allowed, and the logarithm of what it gains a ns."""
        plan = self._plan
        is_auto = plan.repetitions == "auto"
        # A first repetition alone tells no outlier.
        self.more = np.where(self._counts == 0, plan.first_repetitions, 1 if is_auto else 0)
        self.more[~self._sizes.are_allowed] = 0
        if is_auto:
            self.more[self._counts >= plan.most_repetitions] = 0
        noise = self._noise / np.maximum(self.more, 1)
        shared = self._covariance[self._sizes.are_judged]
        gains = (shared**2).sum(axis=0) / (np.diagonal(self._covariance) + noise)
        takes_ns = np.maximum(self.times_ns * self.more, 1.0)
        worth = np.log(np.maximum(gains, _LEAST_GAIN) / takes_ns).round(_DIGITS)
        self._worth: Array = np.where(self.more > 0, worth, -math.inf)
