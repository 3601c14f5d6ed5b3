"""How a line of a sweep runs, in words that claim no more than its half-widths allow.

Two means differ when they are a tenth apart and their 95 % intervals do not meet. A drive under
a closed loop completes its queue depth once a mean latency, so the half-width of the mean latency,
as a share, is also that of its throughput and bandwidth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits.quantities import METRICS, TIMES, share_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.exhibits.sweeps import Line

#: Half-widths of a mean latency from this share on are drawn; below, a marker covers them.
BARS_FROM: Final = 0.05
#: Values within a tenth of each other are the same for a buyer.
SAME: Final = 1.1


def course(line: Line, metric: str) -> str:
    """Say how a line runs, such as ``rises from 1.9 ms to 4.0 ms (2.1 times)``.

    Parameters
    ----------
    line
        With at least one point.
    metric
        Which of its metrics.
    """
    values = line.performance[metric]
    text = METRICS[metric].text
    first, last, low, high = values[0], values[-1], min(values), max(values)
    if text(low) == text(high):
        return f"stays at about {text(first)}"
    if high < SAME * low:
        return f"hardly changes, {text(low)} to {text(high)}"
    end = len(values) - 1
    bottom, top = values.index(low), values.index(high)
    places = range(len(values))
    if not any(_differ(line, values, one, other) for one in places for other in places):
        return f"lies between {text(low)} and {text(high)}, which may be noise"
    peaks = all(_differ(line, values, one, top) for one in (0, end))
    dips = all(_differ(line, values, bottom, one) for one in (0, end))
    if peaks or dips:
        turn = high if peaks else low
        verbs = ("rises", "falls") if peaks else ("falls", "rises")
        at = value_text(line.characteristic, line.values[values.index(turn)])
        return (
            f"{verbs[0]} from {text(first)} to {text(turn)} at {at} and {verbs[1]} again to "
            f"{text(last)}"
        )
    if not _differ(line, values, *((0, end) if last > first else (end, 0))):
        return f"lies between {text(low)} and {text(high)}, without a clear direction"
    verb = "rises" if last > first else "falls"
    return f"{verb} from {text(first)} to {text(last)} ({_change(last / first)})"


def _differ(line: Line, values: Sequence[float], low: int, high: int) -> bool:
    """Tell whether the value at one place is above that at another."""
    halves = line.half_widths
    return above(values[high], halves[high], values[low], halves[low])


def above(high: float, high_half_width: float, low: float, low_half_width: float) -> bool:
    """Tell whether one value is above another by a tenth and by more than their half-widths.

    Half-widths are shares of their values.
    """
    apart = high * (1 - high_half_width) > low * (1 + low_half_width)
    return high >= SAME * low and apart


def _change(ratio: float) -> str:
    if ratio >= 1:
        return times_text(ratio)
    return f"{times_text(1 / ratio)} less"


def times_text(ratio: float) -> str:
    """Write a factor of at least 1 with two digits, or whole where it is large."""
    return f"{ratio:.1f}{TIMES}" if ratio < 9.95 else f"{ratio:,.0f}{TIMES}"


def noise_text(lines: Sequence[Line]) -> str:
    """Say what the bars at points are; empty where no point has one."""
    widest = max((ratio for line in lines for ratio in line.half_widths), default=0.0)
    if widest < BARS_FROM:
        return ""
    reach = f"\N{PLUS-MINUS SIGN}{share_text(widest)}"
    return (
        f"A bar at a mean latency holds the true one 95 times of 100 (the widest: {reach}); what "
        "differs by less may be noise."
    )


def value_text(characteristic: str, value: float) -> str:
    """Say a value of what a sweep varies, such as ``queue depth 4``."""
    if characteristic == "write_ratio":
        return f"{100 * value:.3g} % writes"
    if characteristic == "queue_depth":
        return f"queue depth {value:.0f}"
    return f"{value / 1024:.4g} KiB"
