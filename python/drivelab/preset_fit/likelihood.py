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

from drivelab.preset_fit.search import REACH, loss_of

if TYPE_CHECKING:
    from drivelab.preset_fit.candidate import FloatArray
    from drivelab.preset_fit.search import Bench, Found

LEVEL: Final = 0.95
#: A value that may be this many times as large or as small is not told.
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
    """Return an interval for each parameter.

    Parameters
    ----------
    bench
        Simulates.
    found
        Where the search ended.
    """
    from scipy.stats import f as f_distribution

    count, parameters = found.slopes.shape
    free = max(count - parameters, 1)
    allowed = found.loss / free * float(f_distribution.ppf(LEVEL, 1, free))
    return [
        Interval(
            *sorted(
                found.logarithms[place] + sign * _reach(bench, found, place, sign, allowed)
                for sign in (-1, 1)
            )
        )
        for place in range(parameters)
    ]


def _reach(bench: Bench, found: Found, place: int, sign: int, allowed: float) -> float:
    """Return how far a parameter can be moved before the loss rises by more than chance."""
    # Less than slopes say is the roughness of simulations, not what the measurements tell.
    reach = _expected(found, place, allowed)
    while reach < 2 * math.log(UNTOLD):
        further = max(2 * reach, _LEAST)
        if _rise(bench, found, place, sign * further) > allowed:
            return reach
        reach = further
    return math.inf


def _expected(found: Found, place: int, allowed: float) -> float:
    """Return what slopes alone say of it."""
    normal = found.slopes.T @ found.slopes + 1e-9 * np.eye(found.slopes.shape[1])
    return math.sqrt(max(float(np.linalg.inv(normal)[place, place]), 0.0) * allowed)


def _rise(bench: Bench, found: Found, place: int, by: float) -> float:
    """Return by how much the least loss is higher with a parameter moved."""
    others = [each for each in range(len(found.logarithms)) if each != place]
    here: FloatArray = found.logarithms.copy()
    here[place] += by
    slopes = found.slopes[:, others]
    least = math.inf
    # What slopes say the others do about it, then what is left of that.
    left: FloatArray | None = found.left + by * found.slopes[:, place]
    for _ in range(_AGAIN + 1):
        if left is None:
            return math.inf
        if others:
            here[others] -= np.linalg.lstsq(slopes, left, rcond=1e-3)[0]
            here[others] = np.clip(here[others], -REACH, REACH)
        left = bench.left(here)
        if left is not None:
            least = min(least, loss_of(left, here))
    return least - found.loss
