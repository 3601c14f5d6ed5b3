"""Access times of all request sizes from those of a few, and the ratios that follow.

For reads and for writes, in order and random:

- ``lines``: the least-squares line a + b size (Boito et al. 2015, section 3, step 3), separately
  for each interval of sizes; if it is not positive everywhere, the line through its ends;
- ``knots``: straight lines from one measured size to the next, if all of them were measured;
- ``kriged``: sequential and random together (pair_kriging.py), if sizes were chosen by what they
  add.

The first two are weighted sums of what was measured in that order. The ratio of a size is its
random access time over its sequential one. A size that ends one interval and begins the next is
estimated by the first.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from drivelab.errors import RunError
from drivelab.profile.optimisation import OPTIMISATIONS, Optimisation, becomes, is_random_after

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from drivelab.profile.sizes import Interval
    from drivelab.workloads.whole_pass import Direction

#: Reads or writes, and whether in random order.
Test = tuple["Direction", bool]
Scheme = Literal["lines", "knots", "kriged"]
#: By size, what each measured size counts in its access time.
Weights = dict[int, dict[int, float]]


def weights(
    intervals: Sequence[Interval],
    measured: Sequence[int],
    scheme: Literal["lines", "knots"] = "lines",
    through_ends: Collection[Interval] = (),
) -> Weights:
    """Say what each measured size counts in the access time of every size.

    Parameters
    ----------
    intervals
        Their sizes are estimated.
    measured
        Sizes in bytes, at least two in every interval; with ``knots`` its ends among them.
    scheme
        How the curve goes between them.
    through_ends
        Intervals of which only the least and the largest measured size count.

    Raises
    ------
    RunError
        When an interval has fewer.
    """
    found: Weights = {}
    for interval in intervals:
        inside = sorted({size for size in measured if size in interval.sizes})
        if len(inside) < 2:
            raise RunError(f"an interval has {len(inside)} measured sizes; two or more are needed")
        if interval in through_ends:
            inside = [inside[0], inside[-1]]
        counted = _of_line if scheme == "lines" else _between
        for size in interval.sizes:
            if size not in found:
                found[size] = counted(inside, size)
    return {size: found[size] for size in sorted(found)}


def _of_line(inside: Sequence[int], size: int) -> dict[int, float]:
    """Return the row of the hat matrix of a straight line by least squares."""
    mean = statistics.fmean(inside)
    squares = sum((each - mean) ** 2 for each in inside)
    return {each: 1 / len(inside) + (size - mean) * (each - mean) / squares for each in inside}


def _between(inside: Sequence[int], size: int) -> dict[int, float]:
    if size in inside:
        return {size: 1.0}
    low, high = next(
        (pair for pair in itertools.pairwise(inside) if pair[0] < size < pair[1]),
        (inside[0], inside[-1]),
    )
    share = (size - low) / (high - low)
    return {low: 1 - share, high: share}


@dataclass(frozen=True)
class Curve:
    """Access times of one test.

    Attributes
    ----------
    times_ns
        By size in bytes, rising.
    variances
        Of their logarithms, likewise; empty where nothing was repeated.
    through_ends
        Intervals whose line by least squares was not above 0 everywhere.
    """

    times_ns: dict[int, float]
    variances: dict[int, float] = field(default_factory=dict)
    through_ends: tuple[Interval, ...] = ()


#: By optimisation and size in bytes, the variance of the gain's logarithm; empty where nothing was
#: repeated.
GainVariances = dict[Optimisation, dict[int, float]]


def estimated(
    intervals: Sequence[Interval],
    times: Mapping[int, float],
    scheme: Literal["lines", "knots"] = "lines",
    variances: Mapping[int, float] | None = None,
) -> Curve:
    """Estimate one test's access times at every size of the intervals by weighted sums.

    Parameters
    ----------
    intervals, scheme
        As `weights` takes them.
    times
        Measured access times in ns by size, at least two in every interval.
    variances
        Of the logarithms of those, by what repetitions tell; none where nothing was repeated.

    Raises
    ------
    RunError
        When an interval has fewer, or an estimate is not above 0, as where its ends were not
        measured: no ratio follows from such times.
    """
    rows = weights(intervals, list(times), scheme)
    curve = _sums(rows, times)
    # Between two positive times a line is above 0.
    through_ends = tuple(
        dict.fromkeys(_interval_of(size, intervals) for size, time in curve.items() if time <= 0)
    )
    if through_ends:
        rows = weights(intervals, list(times), scheme, through_ends)
        curve = _sums(rows, times)
    below = next((size for size, time in curve.items() if time <= 0), None)
    if below is not None:
        raise RunError(
            f"the line through the measured times gives {curve[below]:.0f} ns for requests of "
            f"{below} bytes: measure the ends of the interval"
        )
    if not variances:
        return Curve(curve, through_ends=through_ends)
    parts = {
        size: sum((weight * times[each]) ** 2 * variances[each] for each, weight in row.items())
        for size, row in rows.items()
    }
    of_logs = {size: part / curve[size] ** 2 for size, part in parts.items()}
    return Curve(curve, of_logs, through_ends)


def _sums(rows: Weights, times: Mapping[int, float]) -> dict[int, float]:
    return {
        size: sum(weight * times[each] for each, weight in row.items())
        for size, row in rows.items()
    }


def _interval_of(size: int, intervals: Sequence[Interval]) -> Interval:
    """Return the interval that estimates a size, the first that it is of."""
    return next(interval for interval in intervals if size in interval.sizes)


@dataclass(frozen=True)
class Curves:
    """Access times of both orders of a direction.

    Attributes
    ----------
    in_order, random
        With the same sizes.
    gain_variances
        Of what becomes of accesses in random order; of reordering those of the ratios.
    """

    in_order: Curve
    random: Curve
    gain_variances: GainVariances = field(default_factory=dict)


def estimated_pair(
    intervals: Sequence[Interval],
    times: tuple[Mapping[int, float], Mapping[int, float]],
    scheme: Scheme = "lines",
    variances: tuple[Mapping[int, float], Mapping[int, float]] = ({}, {}),
) -> Curves:
    """Estimate the access times of both orders at every size of the intervals.

    Parameters
    ----------
    intervals
        As `weights` takes them.
    scheme
        How the curves go between measured sizes.
    times
        Of each order, measured access times in ns by size, at least two in every interval.
    variances
        Of the logarithms of those, by what repetitions tell; none where nothing was repeated: then
        kriging takes 3 % for the spread of one.

    Raises
    ------
    RunError
        As `estimated` raises it.
    """
    if scheme == "kriged":
        return _kriged(intervals, times, variances)
    in_order, random = (
        estimated(intervals, its, scheme, spread)
        for its, spread in zip(times, variances, strict=True)
    )
    if not (in_order.variances and random.variances):
        return Curves(in_order, random)
    sizes = list(random.times_ns)
    rows = weights(intervals, list(times[1]), scheme, random.through_ends)
    shares = _shares(rows, times[1], random)
    found: GainVariances = {}
    for optimisation in OPTIMISATIONS:
        found[optimisation] = {
            size: _of_difference(shares[size], shares[larger], variances[1])
            if is_random_after(optimisation)
            else random.variances[size] + in_order.variances[larger]
            for size, larger in zip(sizes, becomes(optimisation, sizes, sizes), strict=True)
        }
    return Curves(in_order, random, found)


def _shares(rows: Weights, times: Mapping[int, float], curve: Curve) -> Weights:
    """Say what part of the access time of every size comes from each measured one."""
    return {
        size: {each: weight * times[each] / curve.times_ns[size] for each, weight in row.items()}
        for size, row in rows.items()
    }


def _of_difference(
    shares: Mapping[int, float], others: Mapping[int, float], variances: Mapping[int, float]
) -> float:
    """Return the variance of the difference of two logarithms of one curve (delta method)."""
    return sum(
        (shares.get(each, 0.0) - others.get(each, 0.0)) ** 2 * variances[each]
        for each in {**shares, **others}
    )


def _kriged(
    intervals: Sequence[Interval],
    times: tuple[Mapping[int, float], Mapping[int, float]],
    variances: tuple[Mapping[int, float], Mapping[int, float]],
) -> Curves:
    from drivelab.profile.kriging import ASSUMED_VARIANCE
    from drivelab.profile.pair_kriging import PairKriging

    sizes = sorted({size for interval in intervals for size in interval.sizes})
    in_order, random = (
        spread or dict.fromkeys(its, ASSUMED_VARIANCE)
        for its, spread in zip(times, variances, strict=True)
    )
    pair = PairKriging(times, (in_order, random))
    is_known = all(variances)
    one, other = (
        Curve(_by_size(sizes, map(math.exp, logs)), _by_size(sizes, spread) if is_known else {})
        for logs, spread in pair.at(sizes)
    )
    if not is_known:
        return Curves(one, other)
    found: GainVariances = {}
    for optimisation in OPTIMISATIONS:
        larger = becomes(optimisation, sizes, sizes)
        gains = pair.gain_variances(sizes, larger, is_random=is_random_after(optimisation))
        found[optimisation] = _by_size(sizes, gains)
    return Curves(one, other, found)


def _by_size(sizes: Sequence[int], values: Iterable[float]) -> dict[int, float]:
    return {size: float(each) for size, each in zip(sizes, values, strict=True)}


@dataclass(frozen=True)
class Ratios:
    """Sequential over random throughput of one direction.

    Attributes
    ----------
    by_size
        The ratio at every size in bytes, rising.
    bounds
        Ends of the confidence interval of each; empty where nothing was repeated.
    """

    by_size: dict[int, float]
    bounds: dict[int, tuple[float, float]] = field(default_factory=dict)

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

    @property
    def half_width_ratio(self) -> float | None:
        """Half of an interval's length over its ratio, median over the sizes."""
        if not self.bounds:
            return None
        return statistics.median(
            (high - low) / 2 / self.by_size[size] for size, (low, high) in self.bounds.items()
        )


def ratios(
    in_order: Mapping[int, float],
    random: Mapping[int, float],
    bounds: dict[int, tuple[float, float]] | None = None,
) -> Ratios:
    """Return the ratios of two curves of access times with the same sizes."""
    return Ratios({size: random[size] / time for size, time in in_order.items()}, bounds or {})
