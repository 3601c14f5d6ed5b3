"""Which passes are measured next: those that tell most about the ratios for the time they take.

The curves of what was measured (kriging.py) say how sure each size is, and how its error goes with
that of others. Another pass at size i, with noise of variance v, lowers the variances of the curve
by cov(s, i)^2 / (cov(i, i) + v) at every size s, whatever it shows. So what is best is known before
it is measured: a new size where the curve may bend, one more repetition where repetitions differ,
in order or random, by what their passes take of the drive's time. Some are chosen at once, each as
if those before it were measured; then all curves are seen again.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.serra.kriging import Kriging
from drivelab.serra.spread import (
    CONFIDENCE,
    LEAST_DEGREES,
    Centres,
    centres,
    gathered,
    student,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from drivelab.drives.whole_passes import PassMeasurement
    from drivelab.serra.estimate import Test
    from drivelab.serra.plan import ProfilePlan
    from drivelab.serra.sizes import Interval
    from drivelab.workloads.whole_pass import WholePass

    Array = NDArray[np.float64]

# Sizes that are looked at; of more, as many at equal gaps.
_MOST_LOOKED_AT: Final = 256
# Measured sizes of an interval, where no limit of time ends the search.
_MOST_SIZES: Final = 20
# Chosen at once: passes of this part of the time that was spent or is left.
_SPENT_SHARE: Final = 0.12
_LEFT_SHARE: Final = 0.10
# Of one repetition, where nothing was repeated yet, and where none differs from another.
_ASSUMED_VARIANCE: Final = 0.03**2
_LEAST_VARIANCE: Final = 0.001**2
# A first repetition alone tells no outlier.
_PAIR: Final = 2
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
    repeated = gathered(found)
    sizes = _looked_at(plan.sizes)
    tests: list[_Test] = []
    for direction in plan.directions:
        both: list[Test] = [(direction, False), (direction, True)]
        summed = centres({test: repeated[test] for test in both}, plan.centre)
        pair = [_Test(test, summed, sizes, plan) for test in both]
        if not _are_known(pair, summed, plan):
            tests += pair
    if not tests or left_ns <= 0:
        return []
    if math.isinf(left_ns):
        share_ns = _SPENT_SHARE * spent_ns
    else:
        share_ns = min(left_ns, max(_SPENT_SHARE * spent_ns, _LEFT_SHARE * left_ns))
    chosen: list[WholePass] = []
    while True:
        # One at least, however long it takes.
        limit_ns = share_ns if chosen else left_ns
        choices = [each.best(limit_ns) for each in tests]
        gain, place = max((gain, -place) for place, (gain, _) in enumerate(choices))
        if gain == -math.inf:
            return chosen
        test, at = tests[-place], choices[-place][1]
        share_ns -= test.times_ns[at] * test.more[at]
        chosen += [plan.one_pass(*test.test, sizes[at])] * int(test.more[at])
        test.measure(at)


def _looked_at(sizes: Sequence[int]) -> list[int]:
    count = min(len(sizes), _MOST_LOOKED_AT)
    return [sizes[round(place)] for place in np.linspace(0, len(sizes) - 1, count)]


def _are_known(pair: Sequence[_Test], summed: Centres, plan: ProfilePlan) -> bool:
    """Tell whether the ratios of a direction are as sure as the plan wants them."""
    if plan.repetitions == "auto" and summed.degrees < LEAST_DEGREES:
        return False
    reach = student(CONFIDENCE, summed.degrees or LEAST_DEGREES)
    deviations = np.sqrt(pair[0].variances + pair[1].variances)
    # Half of what lies between the ends of a ratio's interval, over the ratio.
    return bool(np.median(np.sinh(reach * deviations)) <= plan.half_width_ratio)


class _Test:
    """What is known of one test, and what passes more would tell and take.

    Attributes
    ----------
    test
        Which.
    variances
        Of the logarithms of access times, at the sizes that are looked at.
    times_ns
        That one pass takes, likewise.
    more
        Passes that a choice adds; 0 where none is allowed.
    """

    def __init__(self, test: Test, summed: Centres, sizes: list[int], plan: ProfilePlan) -> None:
        self.test = test
        times, counts = summed.times_ns[test], summed.repetitions[test]
        known = _ASSUMED_VARIANCE if summed.variance is None else summed.variance
        summed = replace(summed, variance=max(known, _LEAST_VARIANCE))
        self._noise = summed.spread_at(test, sizes)
        variances = summed.near_variances(test) or {}
        curve = Kriging(list(times), list(times.values()), list(variances.values()))
        logs, self.variances = curve.at(sizes)
        self._covariance = curve.covariance(sizes)
        requests = np.array([plan.one_pass(*test, size).requests for size in sizes])
        self.times_ns: Array = np.exp(logs) * requests
        self._plan = plan
        self._sizes = sizes
        self._counts = np.array([counts.get(size, 0) for size in sizes])
        self._room = _room(plan, times)
        self._look()

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
        if self._counts[at] == 0:
            for interval in self._room:
                self._room[interval] -= self._sizes[at] in interval.sizes
        self._counts[at] += self.more[at]
        self._look()

    def _look(self) -> None:
        """See what is allowed, and the logarithm of what it gains a ns."""
        self.more = self._allowed()
        noise = self._noise / np.maximum(self.more, 1)
        gains = (self._covariance**2).sum(axis=0) / (np.diagonal(self._covariance) + noise)
        takes_ns = np.maximum(self.times_ns * self.more, 1.0)
        worth = np.log(np.maximum(gains, _LEAST_GAIN) / takes_ns).round(_DIGITS)
        self._worth: Array = np.where(self.more > 0, worth, -math.inf)

    def _allowed(self) -> NDArray[np.int64]:
        plan = self._plan
        is_auto = plan.repetitions == "auto"
        most = plan.most_repetitions
        first = min(_PAIR, most) if is_auto else plan.first_repetitions
        more = np.where(self._counts == 0, first, 1 if is_auto else 0)
        more[(self._counts >= most) & (self._counts > 0)] = 0
        for interval, room in self._room.items():
            if room <= 0:
                is_inside = np.array([size in interval.sizes for size in self._sizes])
                more[is_inside & (self._counts == 0)] = 0
        return more


def _room(plan: ProfilePlan, measured: Mapping[int, float]) -> dict[Interval, int]:
    """Return how many sizes of each interval may still be measured, if that is limited."""
    if plan.most_measuring_ns is not None:
        return {}
    return {
        interval: _MOST_SIZES - sum(size in interval.sizes for size in measured)
        for interval in plan.intervals
    }
