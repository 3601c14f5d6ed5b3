"""Axes and numbers, shared by all kinds of exhibits."""

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

#: Bytes per unit, for axes that show sizes.
_SIZE_UNITS: Final = {"KiB": 1024.0, "bytes": 1.0, "B": 1.0, "MiB": 1024.0**2}
_UNIT: Final = re.compile(r" ?\((\w+)\)$")
# With more values than this, only powers of two get ticks.
MOST_TICKS: Final = 14
_PERCENTILES: Final = (50.0, 90.0, 99.0, 99.9, 99.99)
_LETTER_INCHES: Final = 0.072
_LABEL_LETTER_INCHES: Final = 0.078
# Least space between the texts of two ticks.
_GAP_INCHES: Final = 0.09
# Width of a letter over the size of the drawings' font; a digit has 0.64.
_WIDTHS: Final = {" ": 0.32, ".": 0.32, ",": 0.32, "i": 0.28, "M": 0.86, "%": 0.95}
# Space beyond the first and the last value, in doublings.
_DOUBLING_AIR: Final = 0.4
# Ticks whose texts are set smaller.
_MANY_TICKS: Final = 8


#: Functions that write a value, by the quantity of its axis.
_TEXTS: Final[dict[str, Callable[[float], str]]] = {
    "number": number_text,
    "duration": duration_text,
    "share": lambda value: f"{100 * value:.6g} %",
    "times": lambda value: f"{number_text(value)}{TIMES}",
}


def axis_text(axis: Axis) -> Callable[[float], str]:
    """Return the function that writes a value of an axis: as a category, a size or a number."""
    if axis.categories:
        names = axis.categories
        return lambda value: names[round(value)]
    factor = _size_factor(axis)
    if factor is not None:
        return lambda value: size_text(value * factor)
    return _TEXTS[axis.quantity]


def placed(axis: Axis, values: Sequence[float]) -> list[float]:
    """Return the positions of values on an axis; a percentile's is its number of nines."""
    if axis.scale != "nines":
        return list(values)
    return [-math.log10(1 - value / 100) for value in values]


def axis_label(axis: Axis) -> str:
    """Return an axis's label, without the unit if each tick already has one."""
    return axis.label if _size_factor(axis) is None else _UNIT.sub("", axis.label)


def _size_factor(axis: Axis) -> float | None:
    """Return the bytes per unit of an axis of block sizes; None for any other axis."""
    match = _UNIT.search(axis.label)
    if axis.scale != "log2" or match is None:
        return None
    return _SIZE_UNITS.get(match[1])


def upright_label(axis: Axis, height_inches: float) -> str:
    """Return the label of a vertical axis, broken into lines that fit its height."""
    return fill(axis_label(axis), max(12, int(height_inches / _LABEL_LETTER_INCHES)))


def left_inches(axis: Axis, values: Sequence[float], height_inches: float) -> float:
    """Return the space that the ticks and the label of a vertical axis need."""
    if axis.categories:
        longest = max(map(len, axis.categories))
    else:
        most = max((abs(value) for value in values if drawable(axis, value)), default=0.0)
        # No round value is longer than the largest number, 0.0005 or 0.5 ms.
        longest = max(len(f"{most:,.0f}"), 6) if axis.quantity == "number" else 6
    lines = 1 + upright_label(axis, height_inches).count("\n")
    return 0.22 + 0.16 * lines + _LETTER_INCHES * longest


def drawable(axis: Axis, value: float) -> bool:
    """Return whether an axis can show a value; a logarithmic one needs a value above 0."""
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
    """Set the scale, the ends, a few round ticks and the label of an axis.

    Parameters
    ----------
    axes
        Matplotlib axes.
    which
        Which of the two: x or y.
    axis
        The axis to show.
    values
        All values that must be visible.
    from_zero
        Whether a linear axis starts at 0.
    most_ticks
        Most ticks on an axis of block sizes or depths.
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
    """Make an axis logarithmic, with evenly spaced ticks between powers of ten."""
    from matplotlib.ticker import MaxNLocator

    log_axis(axes, which, limits, text)
    if len(log_ticks(*limits)) < 3 and limits[1] / limits[0] < 10:
        found = MaxNLocator(nbins=5).tick_values(*limits)
        ticks = [float(tick) for tick in found if limits[0] <= tick <= limits[1]]
        getattr(axes, f"set_{which}ticks")(ticks, [text(tick) for tick in ticks])


def plot_inches(axes: Axes) -> float:
    """Return the width of the frame in inches."""
    return float(axes.bbox.width / axes.figure.dpi)


def stand_apart(texts: Sequence[str], step_inches: float) -> bool:
    """Return whether tick texts at this distance do not touch."""
    points = tick_points(len(texts))
    wide = [sum(_WIDTHS.get(letter, 0.64) for letter in text) * points / 72 for text in texts]
    longest = max(((one + other) / 2 for one, other in pairwise(wide)), default=0.0)
    return longest + _GAP_INCHES <= step_inches


def tick_points(count: int) -> int:
    """Return the font size for the texts of `count` ticks."""
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
    """Return the distance of the two nearest ticks in doublings."""
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
