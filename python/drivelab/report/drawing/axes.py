"""Axes and numbers that all exhibits have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Final, Literal

from drivelab.exhibits.number_text import duration_text, number_text, size_text
from drivelab.exhibits.quantities import TIMES
from drivelab.report.drawing.svg import log_axis, log_limits, log_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from drivelab.exhibits import Axis

#: Bytes a unit, of axes that show sizes.
_SIZE_UNITS: Final = {"KiB": 1024.0, "bytes": 1.0, "B": 1.0, "MiB": 1024.0**2}
_UNIT: Final = re.compile(r" ?\((\w+)\)$")
# More values than these get ticks at powers of two only.
MOST_TICKS: Final = 14
_PERCENTILES: Final = (50.0, 90.0, 99.0, 99.9, 99.99)
_LETTER_INCHES: Final = 0.072
_LABEL_LETTER_INCHES: Final = 0.078
# Between the texts of two ticks.
_GAP_INCHES: Final = 0.09
# Of letters of the drawings' font, over its size; a digit has 0.64.
_WIDTHS: Final = {" ": 0.32, ".": 0.32, ",": 0.32, "i": 0.28, "M": 0.86, "%": 0.95}
# Doublings beyond the first and the last value.
_DOUBLING_AIR: Final = 0.4
# Their texts are set smaller.
_MANY_TICKS: Final = 8


#: What writes a value, by the quantity of its axis.
_TEXTS: Final[dict[str, Callable[[float], str]]] = {
    "number": number_text,
    "duration": duration_text,
    "share": lambda value: f"{100 * value:.6g} %",
    "times": lambda value: f"{number_text(value)}{TIMES}",
}


def axis_text(axis: Axis) -> Callable[[float], str]:
    """Return what writes one value of an axis: its category, its size, or the number."""
    if axis.categories:
        names = axis.categories
        return lambda value: names[round(value)]
    factor = _size_factor(axis)
    if factor is not None:
        return lambda value: size_text(value * factor)
    return _TEXTS[axis.quantity]


def placed(axis: Axis, values: Sequence[float]) -> list[float]:
    """Return where values stand on an axis: a percentile by its number of nines."""
    if axis.scale != "nines":
        return list(values)
    return [-math.log10(1 - value / 100) for value in values]


def axis_label(axis: Axis) -> str:
    """Return an axis's label, without the unit where each tick carries its own."""
    return axis.label if _size_factor(axis) is None else _UNIT.sub("", axis.label)


def _size_factor(axis: Axis) -> float | None:
    """Return how many bytes one of the axis is, for block sizes; None for anything else."""
    match = _UNIT.search(axis.label)
    if axis.scale != "log2" or match is None:
        return None
    return _SIZE_UNITS.get(match[1])


def upright_label(axis: Axis, height_inches: float) -> str:
    """Return an upright axis's label, in as many lines as its height needs."""
    return fill(axis_label(axis), max(12, int(height_inches / _LABEL_LETTER_INCHES)))


def left_inches(axis: Axis, values: Sequence[float], height_inches: float) -> float:
    """Return the room that an upright axis of a height needs for its ticks and its label."""
    if axis.categories:
        longest = max(map(len, axis.categories))
    else:
        most = max((abs(value) for value in values if drawable(axis, value)), default=0.0)
        # Of round values, none is longer than the largest number, or than 0.0005 or 0.5 ms.
        longest = max(len(f"{most:,.0f}"), 6) if axis.quantity == "number" else 6
    lines = 1 + upright_label(axis, height_inches).count("\n")
    return 0.22 + 0.16 * lines + _LETTER_INCHES * longest


def drawable(axis: Axis, value: float) -> bool:
    """Return whether a value has a place on the axis: on a logarithmic one only above 0."""
    if axis.scale == "nines":
        return 0 <= value < 100
    return math.isfinite(value) and (axis.scale == "linear" or value > 0)


def set_axis(
    axes: Axes,
    which: Literal["x", "y"],
    axis: Axis,
    values: Sequence[float],
    *,
    from_zero: bool = False,
    most_ticks: int = MOST_TICKS,
) -> None:
    """Give an axis its scale, its ends, few round ticks and its label.

    Parameters
    ----------
    axes
        Where.
    which
        The axis.
    axis
        What it shows.
    values
        Everything that is to be seen on it.
    from_zero
        Whether a linear axis begins at 0.
    most_ticks
        Of block sizes and depths.
    """
    every = (*values, *axis.also)
    shown = sorted({value for value in every if drawable(axis, value)}) or [1.0]
    if axis.categories:
        _category_axis(axes, which, axis)
    elif axis.scale == "log2":
        _doubling_axis(axes, which, axis, shown, most_ticks)
    elif axis.scale == "nines":
        _nines_axis(axes, which, axis, shown)
    elif axis.scale == "log10":
        logarithmic_axis(axes, which, log_limits(shown), axis_text(axis))
    else:
        _linear_axis(axes, which, axis, shown, from_zero=from_zero)
    getattr(axes, f"set_{which}label")(axis_label(axis))


def logarithmic_axis(
    axes: Axes,
    which: Literal["x", "y"],
    limits: tuple[float, float],
    text: Callable[[float], str],
) -> None:
    """Make an axis logarithmic; between two powers of ten its ticks are evenly spaced."""
    from matplotlib.ticker import MaxNLocator

    log_axis(axes, which, limits, text)
    if len(log_ticks(*limits)) < 3 and limits[1] / limits[0] < 10:
        found = MaxNLocator(nbins=5).tick_values(*limits)
        ticks = [float(tick) for tick in found if limits[0] <= tick <= limits[1]]
        getattr(axes, f"set_{which}ticks")(ticks, [text(tick) for tick in ticks])


def plot_inches(axes: Axes) -> float:
    """Return how wide the frame is."""
    return float(axes.bbox.width / axes.figure.dpi)


def stand_apart(texts: Sequence[str], step_inches: float) -> bool:
    """Return whether texts of ticks this far from each other do not touch."""
    points = tick_points(len(texts))
    wide = [sum(_WIDTHS.get(letter, 0.64) for letter in text) * points / 72 for text in texts]
    longest = max(((one + other) / 2 for one, other in pairwise(wide)), default=0.0)
    return longest + _GAP_INCHES <= step_inches


def tick_points(count: int) -> int:
    """Return how large the texts of so many ticks are."""
    return 8 if count > _MANY_TICKS else 9


def _category_axis(axes: Axes, which: str, axis: Axis) -> None:
    count = len(axis.categories)
    getattr(axes, f"set_{which}ticks")(range(count), axis.categories)
    getattr(axes, f"set_{which}lim")(-0.5, count - 0.5)


def _nines_axis(axes: Axes, which: str, axis: Axis, shown: Sequence[float]) -> None:
    ends = placed(axis, (shown[0], shown[-1]))
    ticks = [value for value in _PERCENTILES if shown[0] <= value <= shown[-1] + 1e-9]
    getattr(axes, f"set_{which}ticks")(placed(axis, ticks), [f"{value:g} %" for value in ticks])
    getattr(axes, f"set_{which}lim")(ends[0], ends[1] + 0.05)


def _doubling_axis(
    axes: Axes, which: str, axis: Axis, shown: Sequence[float], most_ticks: int
) -> None:
    text = axis_text(axis)
    first, last = math.floor(math.log2(shown[0])), math.ceil(math.log2(shown[-1]))
    every = sorted(axis.ticks) or [2.0**power for power in range(first, last + 1)]
    step = math.ceil(len(every) / most_ticks)
    ticks = every[::step]
    if which == "x":
        inches = plot_inches(axes) / (math.log2(shown[-1] / shown[0]) + 2 * _DOUBLING_AIR)
        while step < len(every) and not stand_apart(
            [text(tick) for tick in ticks], _least_doublings(ticks) * inches
        ):
            step += 1
            ticks = every[::step]
    getattr(axes, f"set_{which}scale")("log", base=2)
    getattr(axes, f"set_{which}ticks")(
        ticks, [text(tick) for tick in ticks], fontsize=tick_points(len(ticks))
    )
    getattr(axes, f"set_{which}ticks")([], minor=True)
    getattr(axes, f"set_{which}lim")(shown[0] / 2**_DOUBLING_AIR, shown[-1] * 2**_DOUBLING_AIR)


def _least_doublings(ticks: Sequence[float]) -> float:
    """Return how many doublings the nearest two ticks are apart."""
    return min((math.log2(high / low) for low, high in pairwise(ticks)), default=math.inf)


def _linear_axis(
    axes: Axes, which: str, axis: Axis, shown: Sequence[float], *, from_zero: bool
) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    low, high = shown[0], shown[-1]
    counted = which == "x" and all(float(value).is_integer() for value in shown)
    if from_zero and low >= 0:
        limits = (0.0, 1.06 * high or 1.0)
    else:
        air = 0.06 * (high - low) or (1.0 if counted else 0.06 * abs(high)) or 1.0
        limits = (low - air, high + air)
    getattr(axes, f"set_{which}lim")(*limits)
    drawn = getattr(axes, f"{which}axis")
    steps = (1, 2, 5, 10) if counted else (1, 2, 2.5, 5, 10)
    text = "{:,.10g}".format if axis.quantity == "number" else axis_text(axis)
    for bins in range(8 if which == "x" else 6, 2, -1):
        locator = MaxNLocator(nbins=bins, steps=steps, integer=counted)
        ticks = [float(tick) for tick in locator.tick_values(*limits)]
        texts = [text(tick) for tick in ticks if limits[0] <= tick <= limits[1]]
        step = (ticks[1] - ticks[0]) / (limits[1] - limits[0]) if len(ticks) > 1 else 1.0
        if which == "y" or stand_apart(texts, step * plot_inches(axes)):
            break
    drawn.set_major_locator(locator)
    drawn.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
