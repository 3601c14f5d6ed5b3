"""Access times of all request sizes from those of a few, and the ratios that follow.

For each test (reads or writes, in order or random) and each interval of sizes the access time is
a straight line a + b size, fitted by least squares to the measured means (Boito et al. 2015,
section 3, step 3). The ratio of a size is its random access time over the one in order. A size that
ends one interval and begins the next is estimated by the first.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivelab.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from drivelab.drives.whole_passes import PassMeasurement
    from drivelab.serra.sizes import Interval
    from drivelab.workloads.whole_pass import Direction

#: Reads or writes, and whether in random order.
Test = tuple["Direction", bool]


@dataclass(frozen=True)
class Line:
    """A straight line through access times.

    Attributes
    ----------
    base_ns
        At size 0.
    slope_ns_per_byte
        How much more a byte takes.
    """

    base_ns: float
    slope_ns_per_byte: float

    def at(self, size_bytes: int) -> float:
        """Return the access time of a size in ns."""
        return self.base_ns + self.slope_ns_per_byte * size_bytes


def fitted(times: Mapping[int, float]) -> Line:
    """Fit a line by least squares to access times in ns by size, at least two."""
    line = statistics.linear_regression(list(times), list(times.values()))
    return Line(line.intercept, line.slope)


def mean_access_times(passes: Iterable[PassMeasurement]) -> dict[Test, dict[int, float]]:
    """Return by test and size the access time in ns, mean over repetitions."""
    gathered: dict[Test, dict[int, list[float]]] = {}
    for one in passes:
        what = one.whole_pass
        by_size = gathered.setdefault((what.direction, what.is_random), {})
        by_size.setdefault(what.request_bytes, []).append(one.access_time_ns)
    return {
        test: {size: statistics.fmean(by_size[size]) for size in sorted(by_size)}
        for test, by_size in gathered.items()
    }


def estimated(intervals: Sequence[Interval], times: Mapping[int, float]) -> dict[int, float]:
    """Estimate one test's access times at every size of the intervals.

    Parameters
    ----------
    intervals
        Their sizes are estimated.
    times
        Measured access times in ns by size, at least two in every interval.

    Returns
    -------
    dict
        Access times in ns by size, rising.

    Raises
    ------
    RunError
        When an interval has fewer, or an estimate is not above 0: no ratio follows from such
        times.
    """
    curve: dict[int, float] = {}
    for interval in intervals:
        inside = {size: times[size] for size in interval.sizes if size in times}
        if len(inside) < 2:
            raise RunError(f"an interval has {len(inside)} measured sizes; two or more are needed")
        line = fitted(inside)
        for size in interval.sizes:
            curve.setdefault(size, line.at(size))
    below = next((size for size, time in curve.items() if time <= 0), None)
    if below is not None:
        raise RunError(
            f"the line through the measured times gives {curve[below]:.0f} ns for requests of "
            f"{below} bytes: measure more sizes or repetitions"
        )
    return {size: curve[size] for size in sorted(curve)}


@dataclass(frozen=True)
class Ratios:
    """Sequential over random throughput of one direction.

    Attributes
    ----------
    by_size
        The ratio at every size in bytes, rising.
    """

    by_size: dict[int, float]

    @property
    def mean(self) -> float:
        """Over the sizes, each counting alike (table 6 of the paper)."""
        return statistics.fmean(self.by_size.values())

    @property
    def least(self) -> float:
        """Of all sizes."""
        return min(self.by_size.values())

    @property
    def most(self) -> float:
        """Of all sizes."""
        return max(self.by_size.values())


def ratios(in_order: Mapping[int, float], random: Mapping[int, float]) -> Ratios:
    """Return the ratios of two curves of access times with the same sizes."""
    return Ratios({size: random[size] / time for size, time in in_order.items()})
