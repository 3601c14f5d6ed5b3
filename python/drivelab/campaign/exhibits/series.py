"""What a series of numbers shows: a drift, a lasting step down, a queue that is deep enough.

Each function answers None where the series does not show it. The thresholds are the module's
constants, each with its reason; docs/report.md says them in words.

What is looked at are batches of consecutive requests, in the order in which they completed::

    mean latency of a batch  ─ drift: the last third lies elsewhere than the first
    requests a second        ─ step_down: fast, then slower, and slower until the end
    requests a second by queue depth  ─ knee: more depth, no more throughput
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Thirds of fewer than five batches say nothing about their own scatter.
FEWEST_BATCHES: Final = 15
#: A mean that moves by less would not change which drive is bought; models err by as much.
DRIFT_SHARE: Final = 0.1
#: Half-widths (95 %, Student's t) that a drift lies beyond. Of a thousand steady series fewer
#: than one does so by chance, and of those whose neighbours correlate by a half some six.
DRIFT_HALF_WIDTHS: Final = 2.0
#: The most that neighbouring batches are believed to depend on each other: more is the drift.
_MOST_CORRELATION: Final = 0.8
# 97.5 % of the normal distribution.
_NORMAL_QUANTILE: Final = 1.959964
#: A drive that slows down to protect itself, or whose cache is full, loses at least a fifth.
STEP_SHARE: Final = 0.2
#: Neither the fast nor the slow part is shorter than this share of the batches: a fast start
#: is a short warm-up, a slow end may be one stall.
STEP_EDGE: Final = 0.2
#: A step leaves less than this of what a straight line through the series leaves; a slow
#: decline leaves more, and is a drift.
STEP_AGAINST_LINE: Final = 0.5
#: Throughput within a tenth of the most is the most, for a buyer.
KNEE_SHARE: Final = 0.9
#: The queue behind the knee is at least so many times deeper: a last doubling that gains
#: nothing is where every sweep ends.
KNEE_DEPTHS: Final = 4.0


class Drift(NamedTuple):
    """How far the last third of a series lies from the first."""

    first: float
    last: float

    @property
    def ratio(self) -> float:
        """Last over first."""
        return self.last / self.first


def drift(values: Sequence[float]) -> Drift | None:
    """Return whether a series still moves.

    The mean of the last third is compared with that of the first. The half-width of their
    difference is taken from the scatter inside the thirds, around a line through each, because
    the scatter of the whole series would hold the drift itself; it is widened for neighbours
    that depend on each other.

    Parameters
    ----------
    values
        Above 0, in the order in which they came; fewer than `FEWEST_BATCHES` say nothing.
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
    # Rounding leaves something of a straight line.
    if squares <= sum(float(part @ part) for part in parts) * 1e-24:
        return 0.0
    correlation = sum(float(part[1:] @ part[:-1]) for part in deviations) / squares
    # Taking the line away takes correlation away too, about (2 + 4 r) / n of it.
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
    """Return how far each value lies from the least-squares line through all."""
    across = np.arange(len(part)) - (len(part) - 1) / 2
    centred = part - part.mean()
    off: FloatArray = centred - across * (across @ centred) / (across @ across)
    return off


class Step(NamedTuple):
    """A step down: the mean before and after it, and the first place after it."""

    before: float
    after: float
    place: int

    @property
    def share_lost(self) -> float:
        """What was lost, as a share of the mean before."""
        return 1 - self.after / self.before


def step_down(values: Sequence[float]) -> Step | None:
    """Return whether a series falls at one place and stays down until its end.

    Parameters
    ----------
    values
        Above 0, such as requests a second of each batch, in the order in which they came.
    """
    count = len(values)
    if count < FEWEST_BATCHES:
        return None
    series = np.asarray(values, dtype=np.float64)
    edge = max(2, round(STEP_EDGE * count))
    places = np.arange(edge, count - edge + 1)
    # What a step leaves is least where what it explains is most.
    sums = np.cumsum(series - series.mean())[places - 1]
    explained = sums**2 * (1 / places + 1 / (count - places))
    place = int(places[np.argmax(explained)])
    before, after = series[:place], series[place:]
    step = Step(float(before.mean()), float(after.mean()), place)
    if step.share_lost < STEP_SHARE:
        return None
    # Sustained: but for one batch in ten, all that follow are slower than all before.
    if np.quantile(after, 0.9) >= np.quantile(before, 0.1):
        return None
    off_line = _off_line(series)
    left = sum(float(part @ part) for part in (before - before.mean(), after - after.mean()))
    return step if left < STEP_AGAINST_LINE * float(off_line @ off_line) else None


class Knee(NamedTuple):
    """The depth from which a deeper queue only waits longer.

    Attributes
    ----------
    depth, deepest
        Queue depth of the knee, and the deepest that was tried.
    iops_ratio, latency_ratio
        What the deepest queue gives over the knee.
    """

    depth: float
    deepest: float
    iops_ratio: float
    latency_ratio: float


def knee(depths: Sequence[float], iops: Sequence[float], latencies: Sequence[float]) -> Knee | None:
    """Find the queue depth that a drive uses.

    Parameters
    ----------
    depths
        Rising, at least two.
    iops, latencies
        At each depth, above 0.

    Returns
    -------
    Knee or None
        The smallest depth whose throughput is `KNEE_SHARE` of the most that a deeper one
        gives, if the deepest is `KNEE_DEPTHS` times as deep.
    """
    for place, depth in enumerate(depths[:-1]):
        if depths[-1] < KNEE_DEPTHS * depth:
            return None
        if iops[place] >= KNEE_SHARE * max(iops[place + 1 :]):
            return Knee(depth, depths[-1], iops[-1] / iops[place], latencies[-1] / latencies[place])
    return None
