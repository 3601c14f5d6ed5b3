"""How sure the points of a sweep are, and how its values are written.

Two means differ when they are a tenth apart and their 95 % intervals do not meet. A drive under
a closed loop completes its queue depth once a mean latency, so the half-width of the mean latency,
as a share, is also that of its throughput and bandwidth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits.quantities import TIMES, share_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.exhibits.sweeps import Line

#: Half-widths of a mean latency from this share on are drawn; below, a marker covers them.
BARS_FROM: Final = 0.05
#: Values within a tenth of each other are the same for a buyer.
SAME: Final = 1.1


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
