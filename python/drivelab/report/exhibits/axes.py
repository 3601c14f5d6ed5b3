"""Axes and numbers that all exhibits have in common."""

from __future__ import annotations

import math
import re
from textwrap import fill
from typing import TYPE_CHECKING, Final, Literal

from drivelab.report.svg import log_axis, log_limits, log_ticks
from drivelab.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from drivelab.pts.exhibits import Axis

#: Bytes a unit, of axes that show sizes.
_SIZE_UNITS: Final = {"KiB": 1024.0, "bytes": 1.0, "B": 1.0, "MiB": 1024.0**2}
_UNIT: Final = re.compile(r" ?\((\w+)\)$")
# More values than these get ticks at powers of two only.
_MOST_TICKS: Final = 14
_LETTER_INCHES: Final = 0.072
_LABEL_LETTER_INCHES: Final = 0.078
# Their texts are set smaller.
_MANY_TICKS: Final = 8


def value_text(value: float) -> str:
    """Write a number with the digits that it deserves: four, and all before the point.

    Numbers of one column keep their zeros, 998.0 above 1,002.
    """
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "not finite"
    whole = max(0, 3 - math.floor(math.log10(abs(value))))
    if whole == 0:
        return f"{value:,.0f}"
    if whole > 8:
        return f"{value:.3e}"
    return f"{value:,.{whole}f}"


def number_text(value: float) -> str:
    """Write a number that stands alone, as on an axis: no zeros that say nothing."""
    return f"{value:,.10g}" if abs(value) >= 1000 else f"{value:.6g}"


def size_text(size_bytes: float) -> str:
    """Write a block size as the specification does: 512 bytes are 0.5 KiB."""
    if size_bytes < 1024:
        return f"{size_bytes / 1024:g} KiB"
    return format_size(round(size_bytes))


def axis_text(axis: Axis) -> Callable[[float], str]:
    """Give what writes one value of an axis: its category, its size, or the number."""
    if axis.categories:
        names = axis.categories
        return lambda value: names[round(value)]
    factor = _size_factor(axis)
    if factor is not None:
        return lambda value: size_text(value * factor)
    return number_text


def axis_label(axis: Axis) -> str:
    """Give an axis's label, without the unit where each tick carries its own."""
    return axis.label if _size_factor(axis) is None else _UNIT.sub("", axis.label)


def _size_factor(axis: Axis) -> float | None:
    """Give how many bytes one of the axis is, for block sizes; None for anything else."""
    match = _UNIT.search(axis.label)
    if axis.scale != "log2" or match is None:
        return None
    return _SIZE_UNITS.get(match[1])


def upright_label(axis: Axis, height_inches: float) -> str:
    """Give an upright axis's label, in as many lines as its height needs."""
    return fill(axis_label(axis), max(12, int(height_inches / _LABEL_LETTER_INCHES)))


def left_inches(axis: Axis, values: Sequence[float], height_inches: float) -> float:
    """Give the room that an upright axis of a height needs for its ticks and its label."""
    if axis.categories:
        longest = max(map(len, axis.categories))
    else:
        most = max((abs(value) for value in values if drawable(axis, value)), default=0.0)
        # Of round values, none is longer than the largest number, or than 0.0005.
        longest = max(len(f"{most:,.0f}"), 6)
    lines = 1 + upright_label(axis, height_inches).count("\n")
    return 0.22 + 0.16 * lines + _LETTER_INCHES * longest


def drawable(axis: Axis, value: float) -> bool:
    """Say whether a value has a place on the axis: on a logarithmic one only above 0."""
    return math.isfinite(value) and (axis.scale == "linear" or value > 0)


def set_axis(
    axes: Axes,
    which: Literal["x", "y"],
    axis: Axis,
    values: Sequence[float],
    *,
    from_zero: bool = False,
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
    """
    shown = sorted({value for value in values if drawable(axis, value)}) or [1.0]
    if axis.categories:
        _category_axis(axes, which, axis)
    elif axis.scale == "log2":
        _doubling_axis(axes, which, axis, shown)
    elif axis.scale == "log10":
        logarithmic_axis(axes, which, log_limits(shown), number_text)
    else:
        _linear_axis(axes, which, shown, from_zero=from_zero)
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


def _category_axis(axes: Axes, which: str, axis: Axis) -> None:
    count = len(axis.categories)
    getattr(axes, f"set_{which}ticks")(range(count), axis.categories)
    getattr(axes, f"set_{which}lim")(-0.5, count - 0.5)


def _doubling_axis(axes: Axes, which: str, axis: Axis, shown: Sequence[float]) -> None:
    text = axis_text(axis)
    first, last = math.floor(math.log2(shown[0])), math.ceil(math.log2(shown[-1]))
    ticks = [2.0**power for power in range(first, last + 1)]
    if len(ticks) > _MOST_TICKS:
        ticks = ticks[:: math.ceil(len(ticks) / _MOST_TICKS)]
    getattr(axes, f"set_{which}scale")("log", base=2)
    getattr(axes, f"set_{which}ticks")(
        ticks, [text(tick) for tick in ticks], fontsize=8 if len(ticks) > _MANY_TICKS else 9
    )
    getattr(axes, f"set_{which}ticks")([], minor=True)
    getattr(axes, f"set_{which}lim")(shown[0] / 2**0.4, shown[-1] * 2**0.4)


def _linear_axis(axes: Axes, which: str, shown: Sequence[float], *, from_zero: bool) -> None:
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
    drawn.set_major_locator(MaxNLocator(nbins=8 if which == "x" else 6, integer=counted))
    drawn.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
