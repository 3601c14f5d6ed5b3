"""The mean of a few rounds and its 95 % interval, by Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev
from typing import Final

#: Confidence level of all intervals here.
LEVEL: Final = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % confidence interval.

    Attributes
    ----------
    mean
        Mean of the rounds.
    low, high
        Ends of the interval. Both equal the mean if all rounds are equal; both are `None` for fewer
        than two rounds.
    """

    mean: float
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float] | None:
        """Low and high, if known."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def mean_interval(rounds: Sequence[float]) -> Interval:
    """Return the mean of rounds and its 95 % interval; five rounds have four degrees of freedom.

    Assumes that rounds are independent and normally distributed.

    Parameters
    ----------
    rounds
        At least one value.
    """
    mean = fmean(rounds)
    if len(rounds) < 2:
        return Interval(mean, None, None)
    half = student_quantile(len(rounds) - 1) * stdev(rounds) / math.sqrt(len(rounds))
    return Interval(mean, mean - half, mean + half)


def ratio_interval(rounds: Sequence[float], reference: Sequence[float]) -> Interval:
    """Return the ratio of two means and its 95 % interval; both means are uncertain.

    To first order the relative variances of the means add up. Degrees of freedom are those of
    Welch 1947. If the reference does not vary, this is the interval of the rounds, divided.

    Parameters
    ----------
    rounds, reference
        At least one value each; the mean of `reference` is above 0.
    """
    of = fmean(reference)
    ratio = fmean(rounds) / of
    if len(rounds) < 2 or len(reference) < 2:
        return Interval(ratio, None, None)
    # Contributions of the two means to the variance of the ratio.
    one = (stdev(rounds) / of) ** 2 / len(rounds)
    other = (ratio * stdev(reference) / of) ** 2 / len(reference)
    if one + other == 0:
        return Interval(ratio, ratio, ratio)
    freedom = (one + other) ** 2 / (one**2 / (len(rounds) - 1) + other**2 / (len(reference) - 1))
    # Rounded down, so that the interval becomes wider, never narrower.
    half = student_quantile(max(int(freedom + 1e-9), 1)) * math.sqrt(one + other)
    return Interval(ratio, ratio - half, ratio + half)


@cache
def student_quantile(freedom: int, level: float = LEVEL) -> float:
    """Return the two-sided quantile of Student's t: it is exceeded with probability 1 - `level`.

    Found by bisection. The probability is the finite sum of Abramowitz and Stegun 1964, equations
    26.7.3 and 26.7.4.
    """
    low, high = 0.0, 1.0
    while _probability(high, freedom) < level:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _probability(middle, freedom) < level else (low, middle)
    return high


def _probability(t: float, freedom: int) -> float:
    """Return the probability that Student's t lies between -t and t."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    # Odd: cos + 2/3 cos^3 + ...; even: 1 + 1/2 cos^2 + ...
    is_odd = freedom % 2 == 1
    term = math.cos(angle) if is_odd else 1.0
    total = 0.0
    for step in range(freedom // 2):
        total += term
        place = 2 * step + (2 if is_odd else 1)
        term *= square * place / (place + 1)
    return 2 / math.pi * (angle + sine * total) if is_odd else sine * total
