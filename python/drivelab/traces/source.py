"""Which files a trace consists of, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab._core import TraceReader
from drivelab.errors import UsageError
from drivelab.near_names import meant

#: Called with the requests so far.
Told = Callable[[int], None]

#: Formats whose addresses count something that a trace does not tell, or may be told wrongly.
_WITH_ADDRESS_UNIT = frozenset(
    {"disksim", "fiu", "mqsim", "parquet", "spc", "tencent", "vscsi", "vscsi-text"}
)
#: So many devices are named in an error.
_MOST_NAMED = 8
#: So many requests are read at a time: then a stop is heard, and progress told.
BATCH = 262_144


@dataclass(frozen=True)
class TraceSource:
    """Files of one trace, and the options by which they are read.

    Attributes
    ----------
    paths
        One file or several, which are merged by their times.
    format
        Its name; told by the content where it is none.
    devices
        Only requests to these; None for all.
    skip_bad_lines
        Whether bad lines are counted and left out; else the first one is an error.
    device_bytes
        Requests that end beyond are bad.
    time_unit_ns, sector_bytes
        Units of times and of addresses, where they are not the format's.
    sort_window
        A request may come behind so many later ones.
    columns
        Of a Parquet file, what stands in which column.
    """

    paths: tuple[str, ...]
    format: str | None = None
    devices: tuple[str, ...] | None = None
    skip_bad_lines: bool = False
    device_bytes: int | None = None
    time_unit_ns: int | None = None
    sector_bytes: int | None = None
    sort_window: int = 4096
    columns: tuple[tuple[str, str], ...] | None = None

    def open(self) -> TraceReader:
        """Open it; raises `UsageError` or `RunError` with one line that says what is wrong."""
        reader = TraceReader(
            list(self.paths),
            format=self.format,
            skip_bad_lines=self.skip_bad_lines,
            devices=None if self.devices is None else list(self.devices),
            device_bytes=self.device_bytes,
            time_unit_ns=self.time_unit_ns,
            sector_bytes=self.sector_bytes,
            sort_window=self.sort_window,
            columns=None if self.columns is None else list(self.columns),
        )
        if self.columns is not None and reader.format != "parquet":
            raise UsageError(
                f"{self.name} is of the format {reader.format}; only Parquet has columns to map: "
                "leave --column out"
            )
        if self.sector_bytes is not None and reader.format not in _WITH_ADDRESS_UNIT:
            raise UsageError(
                f"{self.name} is of the format {reader.format}, whose unit of addresses is known: "
                "leave --address-unit out"
            )
        return reader

    @property
    def name(self) -> str:
        """What people call it: its file, or the first of several."""
        more = len(self.paths) - 1
        return Path(self.paths[0]).name + (f" and {more} more" if more else "")


def refuse_without_requests(reader: TraceReader, checks: dict[str, Any]) -> None:
    """Refuse a trace that is read to its end and had nothing.

    Raises
    ------
    UsageError
        When it has no request, or none of the devices that were asked for, or not all of them.
    """
    name = ", ".join(checks["files"][:2]) + (", ..." if len(checks["files"]) > 2 else "")
    missing = checks["missing_devices"]
    if missing:
        known = [device for device, _ in reader.devices]
        listed = ", ".join(known[:_MOST_NAMED]) + (", ..." if len(known) > _MOST_NAMED else "")
        raise UsageError(
            f"{name} has no device {missing[0]!r}; {meant(missing[0], known)}its devices are "
            f"{listed or 'none'}"
        )
    if checks["requests"] == 0:
        skipped = checks["skipped"]
        lines = f"{checks['place']}{'' if skipped == 1 else 's'}"
        why = f" ({skipped:,} bad {lines} skipped)" if skipped else ""
        raise UsageError(
            f"{name} holds no request of format {checks['format']}{why}; name another file, or "
            "the right --format"
        )
