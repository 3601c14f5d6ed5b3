"""Values over time, as a line of bars on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BARS: Final = "▁▂▃▄▅▆▇█"
_MOST_BARS: Final = 36
#: Width of a line's label.
LABEL: Final = 10


def bar_width(intervals: int) -> int:
    """Return how many intervals each bar covers, so that all bars fit a line."""
    return -(-intervals // _MOST_BARS)


def spans(intervals: int) -> list[slice]:
    """Return the intervals of each bar."""
    width = bar_width(intervals)
    return [slice(at, at + width) for at in range(0, intervals, width)]


def head(intervals: int, interval_ns: float, what: str = "interval") -> str:
    """Return the line above the bars: how many intervals, and how long."""
    width = bar_width(intervals)
    joined = f", {width} a character" if width > 1 else ""
    length = format_duration_ns(interval_ns)
    return line("over time", f"{intervals:,} {what}{'s' * (intervals != 1)} of {length}{joined}")


def course(label: str, values: Sequence[float], between: Callable[[float, float], str]) -> str:
    """Return a line of bars and the range of the values; 0 is no completion and has no bar."""
    most = max(values)
    bars = "".join(_bar(value, most) for value in values)
    # The smallest value with a bar; 0 if there is none.
    return line(label, f"{bars}  {between(min(filter(None, values), default=0.0), most)}")


def line(label: str, said: str) -> str:
    """Return a line with its label."""
    return f"{label:<{LABEL}}{said}"


def durations_between(least: float, most: float) -> str:
    """Return the range of times."""
    return f"{format_duration_ns(least)} to {format_duration_ns(most)}"


def iops_between(least: float, most: float) -> str:
    """Return the range of rates."""
    return f"{rate(least, 0)} to {rate(most, 0)} IOPS"


def rate(value: float, digits: int) -> str:
    """Return a rate as text; small ones with three digits, because they would round to 0."""
    return f"{value:,.{digits}f}" if value >= 100 or not value else f"{value:.3g}"


def _bar(value: float, most: float) -> str:
    if not value:
        return " "
    return _BARS[min(int(value / most * len(_BARS)), len(_BARS) - 1)]
