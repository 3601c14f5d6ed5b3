"""Values per time window, reduced to lines with few enough points to draw."""

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

#: Most points of a line; with more windows, several share one point.
MOST_POINTS: Final = 500
_TIMES: Final = (("h", 7_200e9), ("min", 120e9), ("s", 2e9), ("ms", 2e6), ("µs", 2e3), ("ns", 0.0))
_TIME_FACTORS: Final = {"h": 3_600e9, "min": 60e9, "s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1.0}
_SIZES: Final = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))


@dataclass(frozen=True)
class Unit:
    """A unit that suits numbers up to a given largest one."""

    name: str
    factor: float

    @classmethod
    def of_time(cls, most_ns: float) -> Unit:
        """Choose the unit for times up to `most_ns`."""
        name = next(name for name, least in _TIMES if most_ns >= least)
        return cls(name, _TIME_FACTORS[name])

    @classmethod
    def of_bytes(cls, most: float) -> Unit:
        """Choose the unit for addresses up to `most`."""
        return cls(
            *next((name, factor) for name, factor in _SIZES if most >= 2 * factor or name == "B")
        )


@dataclass(frozen=True)
class Course:
    """Consecutive windows from the first to the last, including windows without data.

    Attributes
    ----------
    unit
        Unit of time.
    begins
        Time of each point, in this unit.
    places
        For each known window, the index of the point that it belongs to.
    seconds
        Duration of each point in seconds.
    together
        Number of windows per point.
    """

    unit: Unit
    begins: NDArray[np.float64]
    places: NDArray[np.int64]
    seconds: NDArray[np.float64]
    together: int

    @classmethod
    def of(cls, numbers: NDArray[np.int64], window_ns: float, end_ns: float) -> Course:
        """Group windows into points.

        Parameters
        ----------
        numbers
            Indices of the windows with data, rising, from 0 on.
        window_ns
            Length of each window.
        end_ns
            End of the last window. A rate over a last window that is too short would be a false
            peak.
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
        """Return how many windows a point stands for; empty if it is one."""
        if self.together == 1:
            return ""
        return f"Each point stands for {self.together} windows; windows.csv has every one."

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sums over the windows of each point."""
        return np.bincount(self.places, values, len(self.begins)).astype(np.float64)

    def rate(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return counts per second; NaN for a last point that is too short."""
        rates = self.sums(counts) / self.seconds
        is_short = self.seconds[-1] < self.seconds[0] / 10
        if len(rates) > 1 and is_short:
            rates[-1] = np.nan
        return rates

    def means(
        self, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return means over the windows with a value; NaN if no window of a point has one.

        Parameters
        ----------
        values
            One per window; NaN if unknown.
        weights
            Weight of each window; equal by default.
        """
        known = ~np.isnan(values)
        weighed = known * (1.0 if weights is None else weights)
        counts = self.sums(weighed)
        sums = self.sums(weighed * np.where(known, values, 0.0))
        return np.where(counts > 0, sums / np.where(counts > 0, counts, 1.0), np.nan)

    def line(self, label: str, values: NDArray[np.float64], role: Role = "trace") -> Line:
        """Return a line with one value per point."""
        return Line(label, tuple(self.begins.tolist()), tuple(values.tolist()), role)

    def figure(
        self, name: str, title: str, y: Axis, lines: Sequence[tuple[str, NDArray[np.float64]]]
    ) -> LineFigure:
        """Return a figure of lines over time."""
        drawn = tuple(self.line(*each) for each in lines)
        return LineFigure(name, title, Axis(f"time ({self.unit.name})"), y, drawn)
