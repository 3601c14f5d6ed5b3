"""Parsing and formatting of sizes, durations and rates.

Inside Drivelab a size is a whole number of bytes and a time a whole number of nanoseconds.
``k``, ``M``, ``KiB`` and ``MiB`` are binary, ``kB``, ``MB`` and ``GB`` are decimal; neither
meaning is never guessed from the other, so an unknown suffix is an error.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from drivelab.errors import UsageError

_BINARY: Final = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_DECIMAL: Final = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE_FACTORS: Final[dict[str, int]] = {
    "": 1,
    "B": 1,
    "k": 2**10,
    **_BINARY,
    **{f"{letter}iB": factor for letter, factor in _BINARY.items()},
    **{f"{letter}B": factor for letter, factor in _DECIMAL.items()},
}
_DURATION_FACTORS: Final[dict[str, Fraction]] = {
    "": Fraction(1),
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 10**3),
    "s": Fraction(1),
    "m": Fraction(60),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
}
# fio and SQLite keep offsets and sizes as signed 64-bit numbers.
MAX_SIZE_BYTES: Final = 2**63 - 1
MAX_DURATION_SECONDS: Final = 366 * 86400
_NUMBER: Final = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?([A-Za-z]{0,3})")

SIZE_RULE: Final = "k, M, G, T, KiB, MiB, GiB, TiB are binary; kB, MB, GB, TB are decimal"
DURATION_RULE: Final = "ns, us, ms, s, m, h or d; a plain number counts seconds"


def parse_size(text: str) -> int:
    """Read a size such as ``4KiB``, ``4k``, ``1.5MiB``, ``100MB`` or ``512``.

    Parameters
    ----------
    text
        A number with an optional suffix: ``k K M G T KiB MiB GiB TiB`` are binary,
        ``kB KB MB GB TB`` decimal, none or ``B`` means bytes.

    Returns
    -------
    int
        Bytes, 0 to 2**63 - 1.

    Raises
    ------
    UsageError
        When the text is not such a number, not a whole number of bytes, or too large.
    """
    match = _NUMBER.fullmatch(text.strip())
    factor = _SIZE_FACTORS.get(match[2]) if match else None
    if match is None or factor is None:
        raise UsageError(f"{text!r} is not a size; write for example 4KiB ({SIZE_RULE})")
    size = Fraction(match[1]) * factor
    if size.denominator != 1:
        raise UsageError(f"{text!r} is not a whole number of bytes ({SIZE_RULE})")
    if size > MAX_SIZE_BYTES:
        raise UsageError(f"{text!r} is too large; sizes end below 8388608 TiB")
    return int(size)


def parse_duration(text: str) -> float:
    """Read a duration such as ``90s``, ``1.5h`` or ``200ms``.

    Parameters
    ----------
    text
        A number with ``ns us ms s m h d``, or a plain number of seconds.

    Returns
    -------
    float
        Seconds, 0 to 366 days.

    Raises
    ------
    UsageError
        When the text is not such a number, or longer than 366 days.
    """
    match = _NUMBER.fullmatch(text.strip())
    factor = _DURATION_FACTORS.get(match[2]) if match else None
    if match is None or factor is None:
        raise UsageError(f"{text!r} is not a duration; write for example 90s ({DURATION_RULE})")
    seconds = Fraction(match[1]) * factor
    if seconds > MAX_DURATION_SECONDS:
        raise UsageError(f"{text!r} is too long; durations end at 366d")
    return float(seconds)


def format_size(size_bytes: int) -> str:
    """Write a size in the largest binary unit that is not larger than it.

    A whole number of that unit is written exactly (``4 KiB``), anything else with one
    decimal (``1.5 MiB``).
    """
    for letter in ("T", "G", "M", "K"):
        factor = _BINARY[letter]
        if size_bytes >= factor:
            whole, rest = divmod(size_bytes, factor)
            number = f"{whole}" if rest == 0 else f"{size_bytes / factor:.1f}"
            return f"{number} {letter}iB"
    return f"{size_bytes} B"


def format_decimal_size(size_bytes: float) -> str:
    """Write a size in decimal GB or TB with three significant digits, as for rated endurance."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        # Compared after rounding, as in `format_duration_ns`.
        if size_bytes >= factor * 0.9995:
            return f"{_three_digits(size_bytes / factor)} {unit}"
    return f"{_three_digits(size_bytes / 1e3)} kB"


def format_time_left(seconds: float) -> str:
    """Write the time that a job still needs, in seconds; in minutes from two minutes on."""
    whole = max(round(seconds), 0)
    return format_duration_ns(whole * 1e9) if whole >= 120 else f"{whole} s"


def format_duration_ns(duration_ns: float) -> str:
    """Write nanoseconds with three significant digits in ns, us, ms or s; minutes above two."""
    if duration_ns >= 120e9:
        minutes, seconds = divmod(round(duration_ns / 1e9), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        # Compared after rounding, so that 999.7 us is written as 1.00 ms, not as 1000 us.
        if duration_ns >= factor * 0.9995:
            return f"{_three_digits(duration_ns / factor)} {unit}"
    return f"{_three_digits(duration_ns)} ns"


def format_rate(bytes_per_second: float) -> str:
    """Write a bandwidth in decimal MB/s, as datasheets do."""
    return f"{_three_digits(bytes_per_second / 1e6)} MB/s"


def format_iops(operations_per_second: float) -> str:
    """Write a throughput in operations per second, with thousands separators."""
    if operations_per_second >= 1000:
        return f"{operations_per_second:,.0f} IOPS"
    return f"{_three_digits(operations_per_second)} IOPS"


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
