"""What changes from window to window, as lines of few enough points to be drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.exhibits.figures import Axis, Line, LineFigure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from drivelab.exhibits.figures import Role

#: Points of a line over windows; more are put together.
MOST_POINTS: Final = 500
_TIMES: Final = (("h", 7_200e9), ("min", 120e9), ("s", 2e9), ("ms", 2e6), ("µs", 2e3), ("ns", 0.0))
_TIME_FACTORS: Final = {"h": 3_600e9, "min": 60e9, "s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1.0}
_SIZES: Final = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))


@dataclass(frozen=True)
class Unit:
    """A unit that suits numbers up to some largest one."""

    name: str
    factor: float

    @classmethod
    def of_time(cls, most_ns: float) -> Unit:
        """Choose for times."""
        name = next(name for name, least in _TIMES if most_ns >= least)
        return cls(name, _TIME_FACTORS[name])

    @classmethod
    def of_bytes(cls, most: float) -> Unit:
        """Choose for addresses."""
        return cls(
            *next((name, factor) for name, factor in _SIZES if most >= 2 * factor or name == "B")
        )


@dataclass(frozen=True)
class Course:
    """Windows from the first to the last, also those that nothing is known of.

    Attributes
    ----------
    unit
        Of time.
    begins
        Where each point stands, in this unit.
    places
        Of each known window, the point that it is part of.
    seconds
        How long each point is.
    together
        Windows of a point.
    """

    unit: Unit
    begins: NDArray[np.float64]
    places: NDArray[np.int64]
    seconds: NDArray[np.float64]
    together: int

    @classmethod
    def of(cls, numbers: NDArray[np.int64], window_ns: float, end_ns: float) -> Course:
        """Lay out windows.

        Parameters
        ----------
        numbers
            Which windows are known, rising, from 0 on.
        window_ns
            Length of each.
        end_ns
            Where the last one ends: too short a one would be all peak.
        """
        together = max(1, math.ceil((int(numbers[-1]) + 1) / MOST_POINTS))
        count = int(numbers[-1]) // together + 1
        unit = Unit.of_time(end_ns)
        width_ns = window_ns * together
        begins = np.arange(count, dtype=np.float64) * (width_ns / unit.factor)
        starts = np.arange(count) * (width_ns / 1e9)
        seconds = np.minimum(width_ns / 1e9, np.maximum(end_ns / 1e9 - starts, 1e-9))
        return cls(unit, begins, numbers // together, seconds, together)

    @property
    def note(self) -> str:
        """Say how many windows a point stands for, if it is not one."""
        if self.together == 1:
            return ""
        return f"Each point stands for {self.together} windows; windows.csv has every one."

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give sums over the windows of each point."""
        return np.bincount(self.places, values, len(self.begins)).astype(np.float64)

    def rate(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give counts a second; not a number in an end that is too short."""
        rates = self.sums(counts) / self.seconds
        is_short = self.seconds[-1] < self.seconds[0] / 10
        if len(rates) > 1 and is_short:
            rates[-1] = np.nan
        return rates

    def means(
        self, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Give means over windows that know a value; not a number where none does.

        Parameters
        ----------
        values
            One a window, not a number where it is not known.
        weights
            How much each counts; all the same unless given.
        """
        known = ~np.isnan(values)
        weighed = known * (1.0 if weights is None else weights)
        counts = self.sums(weighed)
        sums = self.sums(weighed * np.where(known, values, 0.0))
        return np.where(counts > 0, sums / np.where(counts > 0, counts, 1.0), np.nan)

    def line(self, label: str, values: NDArray[np.float64], role: Role = "trace") -> Line:
        """Give a line of values, one a point."""
        return Line(label, tuple(self.begins.tolist()), tuple(values.tolist()), role)

    def figure(
        self, name: str, title: str, y: Axis, lines: Sequence[tuple[str, NDArray[np.float64]]]
    ) -> LineFigure:
        """Give a figure of lines over time."""
        drawn = tuple(self.line(*each) for each in lines)
        return LineFigure(name, title, Axis(f"time ({self.unit.name})"), y, drawn)
