"""How sure each fitted value is: profile likelihood (Venzon and Moolgavkar 1988).

A value is held a little off, everything else is fitted again, and the loss may rise by what chance
explains. Where it never does within reach, these measurements do not tell the value: others take
over what it loses.
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
#: A value that may be this many times as large or as small is not determined.
UNTOLD: Final = 2.0
# A search for where the loss has risen enough goes twice as far each time, at first so far.
_LEAST: Final = 0.005
# How often the others are fitted again at each place.
_AGAIN: Final = 1


@dataclass(frozen=True)
class Interval:
    """Between which factors on the base preset's value a fitted one lies.

    Attributes
    ----------
    low, high
        Logarithms of the factors; infinite where the end is out of reach.
    """

    low: float
    high: float

    @property
    def is_told(self) -> bool:
        """Whether the measurements tell the value."""
        return bool(self.high - self.low < 2 * math.log(UNTOLD))


def intervals(bench: Bench, found: Found) -> list[Interval]:
    """Return an interval for each parameter; of those that change nothing an open one.

    Parameters
    ----------
    bench
        Simulates.
    found
        Where the search ended.
    """
    from scipy.stats import f as f_distribution

    # Reads and writes of a workload say no more than one of them would.
    free = max(len(bench.observed.workloads) - len(bench.active), 1)
    allowed = min(found.loss, found.ground) / free * float(f_distribution.ppf(LEVEL, 1, free))
    every = [Interval(-math.inf, math.inf)] * len(found.logarithms)
    for place in bench.active:
        low, high = (_reach(bench, found, place, sign, allowed) for sign in (-1, 1))
        here = float(found.logarithms[place])
        every[place] = Interval(here - low, here + high)
    return every


def _reach(bench: Bench, found: Found, place: int, sign: int, allowed: float) -> float:
    """Return how far a parameter can be moved before the loss rises by more than chance."""
    # Less than slopes say is the roughness of simulations, not what the measurements tell.
    reach = _expected(found, place, allowed)
    if _is_rough(found, allowed):
        return reach if reach < 2 * math.log(UNTOLD) else math.inf
    while reach < 2 * math.log(UNTOLD):
        further = max(2 * reach, _LEAST)
        if not _is_within(bench, found, place, sign * further, allowed):
            return reach
        reach = further
    return math.inf


def _is_rough(found: Found, allowed: float) -> bool:
    """Return whether candidates scatter by more than chance allows: one says nothing then."""
    return float((found.lines.scatter**2).sum()) > allowed


def _expected(found: Found, place: int, allowed: float) -> float:
    """Return what lines alone say of it."""
    # What nothing tells may be anywhere within reach, and takes along no more than its share.
    normal = found.lines.normal + allowed / REACH**2 * np.eye(len(found.logarithms))
    return math.sqrt(max(float(np.linalg.inv(normal)[place, place]), 0.0) * allowed)


def _is_within(bench: Bench, found: Found, place: int, by: float, allowed: float) -> bool:
    """Return whether moving a parameter raises the least loss by no more than chance does."""
    others = [each for each in bench.active if each != place]
    here: FloatArray = found.logarithms.copy()
    here[place] += by
    slopes = found.lines.slopes[:, others]
    # What slopes say the others do about it, then what is left of that.
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
