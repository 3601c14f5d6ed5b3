"""Latencies by request size, and the values of the equations of Yoo et al. 2014 that explain them.

A single request of n pages takes, with rho pages in flight at once (equations 1 to 7)::

    latency |                       o
            |            o   o   o        W_ch more for each page of a cycle,
            |  o   o   o                  t_wait more where a cycle begins
            +---------------------------
               1  2 .. rho      2 rho     pages

So a curve shows W_ch, rho and the time of a page. For every possible rho the other values are found
by least squares on the logarithms of latencies. An interval holds every value with which the others
can be fitted so that the loss rises by no more than chance explains (profile likelihood).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from drivelab.preset_fit.likelihood import LEVEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.preset_fit.candidate import FloatArray

Direction = Literal["read", "write"]

# No latency is known better than this, whatever the residuals say.
_KNOWN: Final = 1e-4
# Of so many numbers of pages in flight each is tried, of more only some at first.
_EACH: Final = 256
# Of the likely ones so many are tried for each end of an interval.
_FOR_AN_END: Final = 12
# Losses are the same within this share of what chance explains.
_ALIKE: Final = 1e-3
# An interval's end is found to this on the logarithm.
_STEP: Final = 1e-4
# Least and most time that is searched, as logarithms of ns: less than one counts as none.
_LEAST, _MOST = 0.0, math.log(1e15)


def record_ns(pages: FloatArray, rho: int, dispatch_ns: float, page_ns: float) -> FloatArray:
    """Return the latency of single requests, in ns.

    Parameters
    ----------
    pages
        N_page of each, shape (n,).
    rho
        Most pages in flight.
    dispatch_ns, page_ns
        W_ch, and W_page or R_page.
    """
    cycles = np.ceil(pages / rho)
    wait_ns = max(page_ns - rho * dispatch_ns, 0.0)  # Eq. 3.
    return dispatch_ns * (pages - 1) + wait_ns * (cycles - 1) + page_ns  # Eq. 6, eq. 7.


@dataclass(frozen=True)
class Curve:
    """The measured latencies of a direction by request size.

    Attributes
    ----------
    pages
        Pages of each request, shape (n,).
    logarithms
        Logarithms of the mean latencies in ns, shape (n,).
    dispatch_ns
        W_ch if it is held.
    rest_ns
        W_reg + W_cell if both are held.
    """

    pages: FloatArray
    logarithms: FloatArray
    dispatch_ns: float | None = None
    rest_ns: float | None = None

    @property
    def held(self) -> list[float | None]:
        """Logarithms of W_ch and W_reg + W_cell as far as they are held."""
        return [
            None if one is None else math.log(max(one, 1.0))
            for one in (self.dispatch_ns, self.rest_ns)
        ]

    @property
    def free(self) -> int:
        """How many of the two values are fitted."""
        return self.held.count(None)

    def loss(self, rho: int, place: int | None = None, at: float = 0.0) -> tuple[float, FloatArray]:
        """Return the least sum of squared residuals, and the logarithms of W_ch and the rest there.

        Parameters
        ----------
        rho
            Most pages in flight.
        place, at
            Index of a logarithm that is held, and its value.
        """
        held = self.held
        if place is not None:
            held[place] = at
        free = [each for each, value in enumerate(held) if value is None]
        values = np.array([math.nan if one is None else one for one in held])
        if len(free) == 2:
            values = self._both(rho)
        elif free:
            values[free] = self._one(rho, values, free[0])
        return float((self._left(rho, values) ** 2).sum()), values

    def _left(self, rho: int, values: FloatArray) -> FloatArray:
        dispatch_ns, rest_ns = np.exp(np.clip(values, _LEAST, _MOST))
        said = record_ns(self.pages, rho, dispatch_ns, dispatch_ns + rest_ns)
        left: FloatArray = np.log(said) - self.logarithms
        return left

    def _both(self, rho: int) -> FloatArray:
        from scipy.optimize import least_squares

        found = [
            least_squares(
                lambda given: self._left(rho, given),
                start,
                method="lm",
                xtol=1e-12,
                ftol=1e-12,
                gtol=1e-12,
            )
            for start in self._starts(rho)
        ]
        best: FloatArray = min(found, key=lambda one: float(one.cost)).x
        return np.clip(best, _LEAST, _MOST)

    def _one(self, rho: int, values: FloatArray, place: int) -> float:
        from scipy.optimize import minimize_scalar

        def loss(at: float) -> float:
            values[place] = at
            return float((self._left(rho, values) ** 2).sum())

        # No part takes longer than the longest request.
        most = float(self.logarithms.max()) + 1.0
        found = minimize_scalar(
            loss, bounds=(_LEAST, most), method="bounded", options={"xatol": 1e-7}
        )
        return float(found.x)

    def _starts(self, rho: int) -> list[FloatArray]:
        """Return where to search from: the linear solutions with and without waiting."""
        from scipy.optimize import nnls

        cycles = np.ceil(self.pages / rho)
        # With t_wait: rho x W_ch of each further cycle is in W_page. Without: W_ch for each page.
        own = self.pages - 1
        kinds = [(own - rho * (cycles - 1) + cycles, cycles), (own + 1, np.ones(len(own)))]
        latencies = np.exp(self.logarithms)
        starts = []
        for of_dispatch, of_rest in kinds:
            parts = np.column_stack([of_dispatch, of_rest]) / latencies[:, np.newaxis]
            solution, _ = nnls(np.maximum(parts, 0.0), np.ones(len(latencies)))
            start = np.log(np.maximum(solution, 1e-3 * latencies.min()))
            starts.append(np.clip(start, _LEAST + 1e-3, _MOST - 1e-3))
        return starts


@dataclass(frozen=True)
class Ends:
    """The ends of an interval; None for one beyond what is searched."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class Curves:
    """The curves of one drive, which share rho.

    Attributes
    ----------
    by_direction
        The curves.
    tried
        Every rho that may be the drive's.
    is_free
        Whether rho is fitted.
    """

    by_direction: Mapping[Direction, Curve]
    tried: Sequence[int]
    is_free: bool

    @cached_property
    def losses(self) -> dict[int, float]:
        """The least loss for every rho, thinly where there are many."""
        every = list(self.tried)
        if len(every) <= _EACH:
            return {rho: self._loss(rho) for rho in every}
        places = np.unique(np.geomspace(1, len(every), _EACH).astype(int)) - 1
        found = {every[place]: self._loss(every[place]) for place in places.tolist()}
        best = every.index(min(found, key=lambda rho: found[rho]))
        around = int(places.searchsorted(best))
        low, high = int(places[max(around - 2, 0)]), int(places[min(around + 2, len(places) - 1)])
        found |= {rho: self._loss(rho) for rho in every[low : high + 1] if rho not in found}
        return dict(sorted(found.items()))

    def _loss(self, rho: int) -> float:
        return sum(curve.loss(rho)[0] for curve in self.by_direction.values())

    @cached_property
    def allowed(self) -> float:
        """How much the loss may rise by chance, at 95 %."""
        from scipy.stats import f as f_distribution

        count = sum(len(curve.pages) for curve in self.by_direction.values())
        values = sum(curve.free for curve in self.by_direction.values()) + self.is_free
        free = max(count - values, 1)
        variance = max(min(self.losses.values()) / free, _KNOWN**2)
        return variance * float(f_distribution.ppf(LEVEL, 1, free))

    def best(self, usual: int, chips: int) -> int:
        """Return the most likely rho; of those that chance explains, a multiple if there is one.

        Parameters
        ----------
        usual
            The base preset's, if it is as likely as any.
        chips
            Units of a channel in the base preset: no drive has half a channel.
        """
        whole = [rho for rho in self.likely if rho % chips == 0] or self.likely
        least = min(self.losses[rho] for rho in whole)
        alike = [rho for rho in whole if self.losses[rho] <= least + _ALIKE * self.allowed]
        return usual if usual in alike else alike[0]

    @cached_property
    def likely(self) -> list[int]:
        """Every rho that chance may explain."""
        least = min(self.losses.values())
        return [rho for rho, loss in self.losses.items() if loss <= least + self.allowed]

    @cached_property
    def _for_an_end(self) -> list[int]:
        """Some of the likely ones, from end to end, the likeliest first."""
        likely = self.likely
        if len(likely) > _FOR_AN_END:
            places = np.unique(np.geomspace(1, len(likely), _FOR_AN_END).astype(int)) - 1
            best = min(likely, key=lambda rho: self.losses[rho])
            likely = [*{best, *(likely[place] for place in places)}]
        return sorted(likely, key=lambda rho: self.losses[rho])

    def interval(self, direction: Direction, place: int, here: float) -> Ends:
        """Return the interval of W_ch (place 0) or of W_reg + W_cell (1), in ns.

        Parameters
        ----------
        direction, place
            Which value.
        here
            Its logarithm where the loss is least.
        """
        limit = min(self.losses.values()) + self.allowed
        curve = self.by_direction[direction]
        others = [(rho, self.losses[rho] - curve.loss(rho)[0]) for rho in self._for_an_end]
        # No part takes longer than the longest request.
        most = float(curve.logarithms.max()) + 1.0

        def is_within(at: float) -> bool:
            return any(other + curve.loss(rho, place, at)[0] <= limit for rho, other in others)

        def end(sign: int, furthest: float) -> float | None:
            inside, outside = 0.0, _STEP
            while is_within(here + sign * outside):
                if outside >= furthest:
                    return None
                inside, outside = outside, min(2 * outside, furthest)
            while outside - inside > _STEP:
                middle = (inside + outside) / 2
                if is_within(here + sign * middle):
                    inside = middle
                else:
                    outside = middle
            return math.exp(here + sign * outside)

        return Ends(end(-1, max(here - _LEAST, _STEP)), end(1, max(most - here, _STEP)))
