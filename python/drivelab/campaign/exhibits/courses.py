"""Uncertainty of the points of a sweep, and the format of its values.

Two means differ if they are at least a tenth apart and their 95 % intervals do not overlap. In a
closed loop a drive completes as many requests as the queue depth in each mean latency. So the
relative half-width of the mean latency is also that of throughput and bandwidth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits.quantities import TIMES, share_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.exhibits.sweeps import Line

#: Relative half-widths from here on are drawn; the marker covers smaller ones.
BARS_FROM: Final = 0.05
#: Two values within a tenth of each other are equal for a buyer.
SAME: Final = 1.1


def times_text(ratio: float) -> str:
    """Write a factor of at least 1 with two digits, or as a whole number if it is large."""
    return f"{ratio:.1f}{TIMES}" if ratio < 9.95 else f"{ratio:,.0f}{TIMES}"


def noise_text(lines: Sequence[Line]) -> str:
    """Explain the bars at points; empty if no point has one."""
    widest = max((ratio for line in lines for ratio in line.half_widths), default=0.0)
    if widest < BARS_FROM:
        return ""
    reach = f"\N{PLUS-MINUS SIGN}{share_text(widest)}"
    return (
        f"A bar at a mean latency holds the true one 95 times of 100 (the widest: {reach}); what "
        "differs by less may be noise."
    )


def value_text(characteristic: str, value: float) -> str:
    """Write a value of the characteristic that a sweep varies, such as ``queue depth 4``."""
    if characteristic == "write_ratio":
        return f"{100 * value:.3g} % writes"
    if characteristic == "queue_depth":
        return f"queue depth {value:.0f}"
    return f"{value / 1024:.4g} KiB"
