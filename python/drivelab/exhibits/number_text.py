"""Numbers written for people, with a suitable number of digits and a suitable unit."""

from __future__ import annotations

import math

from drivelab.units import format_size


def value_text(value: float) -> str:
    """Write a number with four significant digits and all digits before the decimal point.

    Trailing zeros stay, so that numbers in a column line up: 998.0 above 1,002.
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
    """Write a number that stands alone, as on an axis, without trailing zeros."""
    return f"{value:,.10g}" if abs(value) >= 1000 else f"{value:.6g}"


def size_text(size_bytes: float) -> str:
    """Write a block size as the SNIA specification does: 512 bytes are 0.5 KiB."""
    if size_bytes < 1024:
        return f"{size_bytes / 1024:g} KiB"
    return format_size(round(size_bytes))


def duration_text(duration_ns: float) -> str:
    """Write a round duration with the unit that suits it, as on an axis."""
    if duration_ns == 0:
        return "0"
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)):
        if duration_ns >= factor * 0.999:
            return f"{duration_ns / factor:,.6g} {unit}"
    return f"{duration_ns:,.6g} ns"
