"""Numbers as a reader wants them: with the digits that they deserve, and the unit that fits."""

from __future__ import annotations

import math

from drivelab.units import format_size


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


def duration_text(duration_ns: float) -> str:
    """Write a round duration with its unit, which changes along an axis."""
    if duration_ns == 0:
        return "0"
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)):
        if duration_ns >= factor * 0.999:
            return f"{duration_ns / factor:,.6g} {unit}"
    return f"{duration_ns:,.6g} ns"
