"""Patterns in a series of numbers: a drift, a lasting step down, a queue that is deep enough.

Each function returns None if the series does not show its pattern. The thresholds are constants of
this module, each with its reason; docs/report.md explains them.

The series consist of batches of consecutive requests, in the order of completion::

    mean latency of a batch  ─ drift: the last third differs from the first
    requests a second        ─ step_down: fast, then slower, and slower until the end
    requests a second by queue depth  ─ knee: a deeper queue gives no more throughput
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Thirds with fewer than five batches say nothing about their own scatter.
FEWEST_BATCHES: Final = 15
#: A smaller change of the mean would not affect which drive is bought; models err by as much.
DRIFT_SHARE: Final = 0.1
#: A drift exceeds this many half-widths (95 %, Student's t). By chance, fewer than one of a
#: thousand steady series does so, and about six if neighbouring batches correlate by a half.
DRIFT_HALF_WIDTHS: Final = 2.0
#: Upper limit of the correlation of neighbouring batches; more than this is due to the drift.
_MOST_CORRELATION: Final = 0.8
# The 97.5 % quantile of the normal distribution.
_NORMAL_QUANTILE: Final = 1.959964
#: A drive that slows down to protect itself, or whose cache is full, loses at least a fifth.
STEP_SHARE: Final = 0.2
#: Fast and slow part must each be longer than this share of the batches: a fast start can be a
#: short warm-up, and a slow end can be a single stall.
STEP_EDGE: Final = 0.2
#: The residual of a step is less than this part of the residual of a straight line. A slow decline
#: has a larger one, and is a drift.
STEP_AGAINST_LINE: Final = 0.5
#: Throughput within a tenth of the maximum counts as the maximum, for a buyer.
KNEE_SHARE: Final = 0.9
#: The deepest queue must be at least this many times deeper than the knee: a last doubling without
#: gain is where every sweep ends.
KNEE_DEPTHS: Final = 4.0


class Drift(NamedTuple):
    """The means of the first and the last third of a series."""

    first: float
    last: float

    @property
    def ratio(self) -> float:
        """Last mean over first mean."""
        return self.last / self.first


def drift(values: Sequence[float]) -> Drift | None:
    """Return the drift of a series; None if it does not drift.

    Compares the mean of the last third with that of the first. The half-width of their difference
    comes from the scatter within the thirds, around a line through each, because the scatter of the
    whole series would include the drift. It is widened if neighbouring batches are correlated.

    Parameters
    ----------
    values
        Values above 0 in their order; fewer than `FEWEST_BATCHES` give None.
    """
    if len(values) < FEWEST_BATCHES:
        return None
    series = np.asarray(values, dtype=np.float64)
    third = len(series) // 3
    parts = series[:third], series[-third:]
    first, last = (float(part.mean()) for part in parts)
    moved = abs(last - first)
    if moved <= DRIFT_SHARE * float(series.mean()):
        return None
    return Drift(first, last) if moved > DRIFT_HALF_WIDTHS * _half_width(parts) else None


def _half_width(parts: Sequence[FloatArray]) -> float:
    """Return the 95 % half-width of the difference of the means of two parts of equal length."""
    count = len(parts[0])
    deviations = [_off_line(part) for part in parts]
    freedom = 2 * (count - 2)
    squares = sum(float(part @ part) for part in deviations)
    # Rounding leaves a residual even for a straight line.
    if squares <= sum(float(part @ part) for part in parts) * 1e-24:
        return 0.0
    correlation = sum(float(part[1:] @ part[:-1]) for part in deviations) / squares
    # Removing the line also removes correlation, about (2 + 4 r) / n of it.
    correlation = (correlation * count + 2) / (count - 4)
    correlation = min(max(correlation, 0.0), _MOST_CORRELATION)
    widened = (1 + correlation) / (1 - correlation)
    return student_quantile(freedom) * math.sqrt(2 / count * squares / freedom * widened)


def student_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t, to 0.1 % from six degrees of freedom on.

    Abramowitz and Stegun 1964, equation 26.7.5.
    """
    z = _NORMAL_QUANTILE
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    result = z
    for power, term in enumerate(terms, 1):
        result += term / float(freedom) ** power
    return result


def _off_line(part: FloatArray) -> FloatArray:
    """Return the distance of each value from the least-squares line."""
    across = np.arange(len(part)) - (len(part) - 1) / 2
    centred = part - part.mean()
    off: FloatArray = centred - across * (across @ centred) / (across @ across)
    return off


class Step(NamedTuple):
    """A step down: the means before and after it, and the index of the first value after it."""

    before: float
    after: float
    place: int

    @property
    def share_lost(self) -> float:
        """Loss as a share of the mean before."""
        return 1 - self.after / self.before


def step_down(values: Sequence[float]) -> Step | None:
    """Return the step at which a series falls and then stays down; None if there is none.

    Parameters
    ----------
    values
        Values above 0 in their order, such as each batch's requests per second.
    """
    count = len(values)
    if count < FEWEST_BATCHES:
        return None
    series = np.asarray(values, dtype=np.float64)
    edge = max(2, round(STEP_EDGE * count))
    places = np.arange(edge, count - edge + 1)
    # The best place has the smallest residual, and so explains the most.
    sums = np.cumsum(series - series.mean())[places - 1]
    explained = sums**2 * (1 / places + 1 / (count - places))
    place = int(places[np.argmax(explained)])
    before, after = series[:place], series[place:]
    step = Step(float(before.mean()), float(after.mean()), place)
    if step.share_lost < STEP_SHARE:
        return None
    # Lasting: all later batches, except one in ten, are slower than all earlier ones.
    if np.quantile(after, 0.9) >= np.quantile(before, 0.1):
        return None
    off_line = _off_line(series)
    left = sum(float(part @ part) for part in (before - before.mean(), after - after.mean()))
    return step if left < STEP_AGAINST_LINE * float(off_line @ off_line) else None


class Knee(NamedTuple):
    """The queue depth beyond which requests only wait longer.

    Attributes
    ----------
    depth, deepest
        Queue depth of the knee, and the deepest one measured.
    iops_ratio, latency_ratio
        Throughput and latency at the deepest queue over those at the knee.
    """

    depth: float
    deepest: float
    iops_ratio: float
    latency_ratio: float


def knee(depths: Sequence[float], iops: Sequence[float], latencies: Sequence[float]) -> Knee | None:
    """Return the queue depth beyond which throughput does not grow; None if there is none.

    Parameters
    ----------
    depths
        Queue depths, rising, at least two.
    iops, latencies
        Values at each depth, above 0.

    Returns
    -------
    Knee or None
        The smallest depth with at least `KNEE_SHARE` of the highest throughput of a deeper queue,
        if the deepest one is at least `KNEE_DEPTHS` times as deep.
    """
    for place, depth in enumerate(depths[:-1]):
        if depths[-1] < KNEE_DEPTHS * depth:
            return None
        if iops[place] >= KNEE_SHARE * max(iops[place + 1 :]):
            return Knee(depth, depths[-1], iops[-1] / iops[place], latencies[-1] / latencies[place])
    return None
