"""Intervals of fitted values by profile likelihood (Venzon and Moolgavkar 1988).

A value is moved a little and everything else is fitted again; the loss may rise by what chance can
explain. If it never rises by more within the search range, the measurements do not determine the
value, because others can compensate for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.preset_fit.bench import loss_of
from drivelab.preset_fit.descent import REACH

if TYPE_CHECKING:
    from drivelab.preset_fit.bench import Bench
    from drivelab.preset_fit.candidate import FloatArray
    from drivelab.preset_fit.search import Found

LEVEL: Final = 0.95
#: A value that may change by this factor in both directions is undetermined.
UNDETERMINED: Final = 2.0
# The first step of the search for an end of the interval; each further step is twice as long.
_LEAST: Final = 0.005
# Number of times that the other values are fitted again at each step.
_AGAIN: Final = 1


@dataclass(frozen=True)
class Interval:
    """The interval of a fitted value, as factors on the base preset's value.

    Attributes
    ----------
    low, high
        Logarithms of the factors; infinite for an end beyond the search range.
    """

    low: float
    high: float

    @property
    def is_determined(self) -> bool:
        """Whether the measurements determine the value."""
        return bool(self.high - self.low < 2 * math.log(UNDETERMINED))


def intervals(bench: Bench, found: Found) -> list[Interval]:
    """Return an interval for each parameter; an infinite one if the parameter has no effect.

    Parameters
    ----------
    bench
        Runs the simulations.
    found
        The end of the search.
    """
    from scipy.stats import f as f_distribution

    # Reads and writes of one workload are not independent, so they count as one.
    free = max(len(bench.observed.workloads) - len(bench.active), 1)
    allowed = min(found.loss, found.ground) / free * float(f_distribution.ppf(LEVEL, 1, free))
    every = [Interval(-math.inf, math.inf)] * len(found.logarithms)
    for place in bench.active:
        low, high = (_reach(bench, found, place, sign, allowed) for sign in (-1, 1))
        here = float(found.logarithms[place])
        every[place] = Interval(here - low, here + high)
    return every


def _reach(bench: Bench, found: Found, place: int, sign: int, allowed: float) -> float:
    """Return how far a parameter can move before the loss rises by more than chance."""
    # A reach below what the slopes say is due to the roughness of simulations.
    reach = _expected(found, place, allowed)
    if _is_rough(found, allowed):
        return reach if reach < 2 * math.log(UNDETERMINED) else math.inf
    while reach < 2 * math.log(UNDETERMINED):
        further = max(2 * reach, _LEAST)
        if not _is_within(bench, found, place, sign * further, allowed):
            return reach
        reach = further
    return math.inf


def _is_rough(found: Found, allowed: float) -> bool:
    """Return whether candidates vary too much for a single one to mean anything."""
    return float((found.lines.scatter**2).sum()) > allowed


def _expected(found: Found, place: int, allowed: float) -> float:
    """Return the distance that the fitted lines alone predict."""
    # A value without effect may be anywhere in the range, and shifts others only by its share.
    normal = found.lines.steadier.normal + allowed / REACH**2 * np.eye(len(found.logarithms))
    return math.sqrt(max(float(np.linalg.inv(normal)[place, place]), 0.0) * allowed)


def _is_within(bench: Bench, found: Found, place: int, by: float, allowed: float) -> bool:
    """Return whether moving a parameter raises the least loss by no more than chance does."""
    others = [each for each in bench.active if each != place]
    here: FloatArray = found.logarithms.copy()
    here[place] += by
    slopes = found.lines.slopes[:, others]
    # Let the others compensate as the slopes predict, then compensate for the rest again.
    left: FloatArray | None = found.left + by * found.lines.slopes[:, place]
    for _ in range(_AGAIN + 1):
        if left is None:
            return False
        if others:
            here[others] -= np.linalg.lstsq(slopes, left, rcond=1e-3)[0]
            here[others] = np.clip(here[others], -REACH, REACH)
        left = bench.left(here)
        if left is not None and loss_of(left, here) - found.loss <= allowed:
            return True
    return False
