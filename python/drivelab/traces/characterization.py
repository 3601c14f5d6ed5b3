"""What a trace asks of a drive: the core's counts, and numbers computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab._core import TraceCharacterizer
from drivelab.traces.source import BATCH, refuse_without_requests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from drivelab.traces.source import Progress
    from drivelab.workloads.recorded import RecordedFiles

#: Reads and writes, in the order of the core.
DIRECTIONS: Final = ("read", "write")
#: A queue depth is reported if at least this share of the requests has a response time.
LEAST_KNOWN: Final = 0.9
_WHOLE: Final = ("begin_ns", "duration_ns")
#: The eight characteristics (Huang et al. 2011, equation 4).
CHARACTERISTICS: Final = (
    *("write_ratio", "queue_depth", "read_size_bytes", "write_size_bytes"),
    *("read_random", "write_random", "read_stride_bytes", "write_stride_bytes"),
)


@dataclass(frozen=True)
class Characterization:
    """A trace that was read to its end.

    Attributes
    ----------
    name
        Its name for people.
    checks
        What `TraceReader.checks` found.
    found
        What `TraceCharacterizer.finish` returned.
    devices
        The names of its devices.
    window_ns
        Length of a window in ns; None without windows.
    """

    name: str
    checks: Mapping[str, Any]
    found: Mapping[str, Any]
    devices: tuple[str, ...]
    window_ns: int | None = None

    @property
    def requests(self) -> int:
        """All requests."""
        return int(self.checks["requests"])

    @property
    def span_ns(self) -> int:
        """Return the time from the first arrival to the last, in ns."""
        return int(self.checks["span_ns"])

    @property
    def known_ratio(self) -> float:
        """Return the share of the requests whose response time is known."""
        return float(self.checks["responses"]) / self.requests

    @property
    def has_depth(self) -> bool:
        """Return whether enough completions are known to compute how many were outstanding."""
        return self.known_ratio >= LEAST_KNOWN and self.found["queue_depth"] is not None

    @property
    def moved_bytes(self) -> int:
        """Return the bytes that reads and writes moved."""
        return int(self.found["read_bytes"] + self.found["write_bytes"])

    @property
    def requests_per_second(self) -> float | None:
        """Return the arrival rate; None if all requests arrive at the same time."""
        return self.requests / (self.span_ns / 1e9) if self.span_ns else None

    @property
    def bytes_per_second(self) -> float | None:
        """Return the requested bytes per second."""
        return self.moved_bytes / (self.span_ns / 1e9) if self.span_ns else None

    @cached_property
    def characteristics(self) -> dict[str, float | None]:
        """The eight characteristics; None if the trace does not show one."""
        values = {name: self.found[name] for name in CHARACTERISTICS}
        if not self.has_depth:
            values["queue_depth"] = None
        return values

    @cached_property
    def windows(self) -> dict[str, NDArray[Any]]:
        """Return columns of numbers, one row per window with requests; NaN if unknown."""
        columns = {
            name: np.frombuffer(data, np.uint64 if name in _WHOLE else np.float64)
            for name, data in self.found["windows"].items()
        }
        if not self.has_depth:
            columns["queue_depth"] = np.full(len(columns["begin_ns"]), np.nan)
        return columns

    def has_times(self, part: str) -> bool:
        """Return whether ``response``, ``queue`` or ``device`` times are known for any request."""
        return any(self.times(direction, part) is not None for direction in DIRECTIONS)

    def times(self, direction: str, part: str) -> dict[str, Any] | None:
        """Return the times of one part of the requests, or None."""
        found: dict[str, Any] | None = self.found[direction]["service"][part]
        return found

    @property
    def hottest(self) -> list[tuple[float, float]]:
        """Return shares of the blocks, the hottest ones, and the share of accesses to each.

        Only shares that make up at least one block.
        """
        found = self.found["footprint"]
        blocks = found["bytes"] / found["block_bytes"]
        return [
            (share, part)
            for share, part in found["hottest"]
            if part is not None and share * blocks >= 1
        ]

    def held_ratio(self) -> list[tuple[float, float]]:
        """Return cache sizes in bytes, and the share of accesses that each would serve.

        The cache keeps the most recently used blocks, read or written.
        """
        block = self.found["footprint"]["block_bytes"]
        curves = [dict(self.found[name]["held"]) for name in DIRECTIONS]
        accesses = sum(self.found[name]["block_accesses"] for name in DIRECTIONS)
        held, points = [0.0, 0.0], []
        for blocks in sorted(set(curves[0]) | set(curves[1])):
            held = [curve.get(blocks, last) for curve, last in zip(curves, held, strict=True)]
            points.append((float(blocks * block), sum(held) / accesses))
        return points


def characterize(
    source: RecordedFiles, *, window_ns: int | None = None, progress: Progress | None = None
) -> Characterization:
    """Read a trace to its end, and compute what it asks of a drive.

    Parameters
    ----------
    source
        The trace.
    window_ns
        Length of windows in ns; None for no windows.
    progress
        Called with the number of requests read so far.

    Raises
    ------
    UsageError, RunError
        If the trace cannot be read or used; the error is one line.
    """
    reader = source.open()
    characterizer = TraceCharacterizer(window_ns=window_ns)
    requests = 0
    while added := characterizer.add(reader, BATCH):
        requests += added
        if progress is not None:
            progress(requests)
    checks = reader.checks()
    refuse_without_requests(reader, checks)
    names = tuple(name for name, _ in reader.devices)
    return Characterization(source.name, checks, characterizer.finish(), names, window_ns)
