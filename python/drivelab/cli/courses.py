"""What changes over time, as a line of bars on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BARS: Final = "▁▂▃▄▅▆▇█"
_MOST_BARS: Final = 36
#: What a line's label takes.
LABEL: Final = 10


def bar_width(intervals: int) -> int:
    """Say how many intervals a bar is of: one, or as many as a line needs."""
    return -(-intervals // _MOST_BARS)


def spans(intervals: int) -> list[slice]:
    """Give the intervals of each bar."""
    width = bar_width(intervals)
    return [slice(at, at + width) for at in range(0, intervals, width)]


def head(intervals: int, interval_ns: float, what: str = "interval") -> str:
    """Say what the bars are of."""
    width = bar_width(intervals)
    joined = f", {width} a character" if width > 1 else ""
    length = format_duration_ns(interval_ns)
    return line("over time", f"{intervals:,} {what}{'s' * (intervals != 1)} of {length}{joined}")


def course(label: str, told: Sequence[float], between: Callable[[float, float], str]) -> str:
    """Draw values, and say between what they lie; 0 where nothing was, which has no bar."""
    most = max(told)
    bars = "".join(_bar(value, most) for value in told)
    # Nothing completed, or in no time, where there is no bar.
    return line(label, f"{bars}  {between(min(filter(None, told), default=0.0), most)}")


def line(label: str, said: str) -> str:
    """Write a line behind its label."""
    return f"{label:<{LABEL}}{said}"


def durations_between(least: float, most: float) -> str:
    """Say between what times lie."""
    return f"{format_duration_ns(least)} to {format_duration_ns(most)}"


def iops_between(least: float, most: float) -> str:
    """Say between what rates lie."""
    return f"{rate(least, 0)} to {rate(most, 0)} IOPS"


def rate(value: float, digits: int) -> str:
    """Write a rate; small ones with three digits, as they would be 0 otherwise."""
    return f"{value:,.{digits}f}" if value >= 100 or not value else f"{value:.3g}"


def _bar(value: float, most: float) -> str:
    if not value:
        return " "
    return _BARS[min(int(value / most * len(_BARS)), len(_BARS) - 1)]
