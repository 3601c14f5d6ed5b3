"""What the name of a column says: its unit, a workload characteristic, or a result.

A unit stands last, that of a time anywhere: ``latency_us``, ``latency_ns_p99``, ``size_kib``,
``bandwidth_mb_per_second``. Cells are numbers in that unit, and answers are given in it. A
characteristic is known in any unit, and kept in the one that Drivelab asks for it in:
``read_size_kib`` is `read_size` in bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from drivelab.models.features import UNITS

# By the ending of a name: how people write it, and how many of the base unit it is.
_TIMES: Final = {
    "ns": ("ns", 1.0),
    "us": ("µs", 1e3),
    "usec": ("µs", 1e3),
    "ms": ("ms", 1e6),
    "msec": ("ms", 1e6),
    "s": ("s", 1e9),
    "sec": ("s", 1e9),
    "seconds": ("s", 1e9),
}
# Of these the place in a name does not matter: latency_ns_p99.
_INNER_TIMES: Final = ("ns", "us", "usec", "ms", "msec")
_SIZES: Final = {
    "bytes": ("B", 1.0),
    "kib": ("KiB", 2.0**10),
    "mib": ("MiB", 2.0**20),
    "gib": ("GiB", 2.0**30),
    "kb": ("kB", 1e3),
    "mb": ("MB", 1e6),
    "gb": ("GB", 1e9),
}
_SHARES: Final = {"percent": ("%", 0.01), "pct": ("%", 0.01), "ratio": ("", 1.0)}
_A_SECOND: Final = re.compile(r"(?:_per_second|_per_sec|_per_s|ps|_s)$")
_RESULT: Final = re.compile(
    r"(?:^|_)(?:latency|lat|clat|slat|iops|bandwidth|bw|throughput|[kmg]i?bps|"
    r"p[0-9]{1,2}(?:_?[0-9]+)?|percentile|response_time)(?:_|$)"
)


@dataclass(frozen=True)
class Unit:
    """The unit of a column.

    Attributes
    ----------
    kind
        ``time``, ``size``, ``rate``, ``share``, or empty for a plain number.
    text
        As people write it behind a number: ``ms``; empty for none.
    factor
        How many ns, bytes, bytes a second or ratio of 1 it is.
    """

    kind: str = ""
    text: str = ""
    factor: float = 1.0


def plain(name: str) -> str:
    """Return a name in small letters, its words joined by ``_``."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def unit_of(name: str) -> tuple[str, Unit]:
    """Return the plain name of a column without its unit, and the unit."""
    words = plain(name)
    rate = _A_SECOND.sub("", words)
    base, _, ending = rate.rpartition("_")
    if rate != words and ending in _SIZES:
        text, factor = _SIZES[ending]
        return base, Unit("rate", f"{text}/s", factor)
    base, _, ending = words.rpartition("_")
    for kind, endings in (("time", _TIMES), ("size", _SIZES), ("share", _SHARES)):
        if base and ending in endings:
            text, factor = endings[ending]
            return base, Unit(kind, text, factor)
    inner = [word for word in words.split("_") if word in _INNER_TIMES]
    if inner:
        text, factor = _TIMES[inner[0]]
        return words, Unit("time", text, factor)
    return words, Unit()


def characteristic_of(name: str) -> tuple[str, float] | None:
    """Return which workload characteristic a column holds, and the factor to its own unit."""
    words = plain(name)
    if words in UNITS:
        return words, 1.0
    base, unit = unit_of(name)
    fitting = {"bytes": "size", "ratio": "share"}
    for known in (base, f"{base}_ratio"):
        if known in UNITS and fitting.get(UNITS[known]) == unit.kind:
            return known, unit.factor
    return None


def is_result(name: str) -> bool:
    """Return whether a column's name says that it was measured: latency, IOPS, a percentile."""
    return characteristic_of(name) is None and _RESULT.search(plain(name)) is not None
