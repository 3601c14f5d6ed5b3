"""The reads and writes of a trace in memory, as a drive receives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab._core import TRACE_OPERATIONS
from drivelab.errors import UsageError
from drivelab.traces.source import BATCH, refuse_without_requests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from drivelab.traces.source import Progress
    from drivelab.workloads.recorded import RecordedFiles

SECTOR_BYTES: Final = 512
#: Each device is rounded up to this; the next device begins after it.
REGION_BYTES: Final = 1 << 20
#: A larger request is split.
_MOST_REQUEST_BYTES: Final = 64 << 20
#: They are kept in memory, a few hundred bytes each.
MOST_REQUESTS: Final = 10_000_000

_TYPES: Final = {
    "arrival_ns": np.uint64,
    "device": np.uint32,
    "operation": np.uint8,
    "offset_bytes": np.uint64,
    "size_bytes": np.uint64,
}


@dataclass(frozen=True)
class Requests:
    """Reads and writes in order of arrival, on one drive.

    Attributes
    ----------
    arrival_ns, offset_bytes, size_bytes
        Time after the first request, address, and size, in whole sectors.
    action
        0 for a read, 1 for a write.
    left_out
        Number of trims, flushes and other operations, which are left out.
    format
        Format of the files.
    cautions
        Sentences about doubts in the trace's units.
    """

    arrival_ns: NDArray[np.int64]
    offset_bytes: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    action: NDArray[np.int64]
    left_out: int
    format: str
    cautions: tuple[str, ...]

    @property
    def end_bytes(self) -> int:
        """Return the bytes of drive that they need, from address 0."""
        return int((self.offset_bytes + self.size_bytes).max())


def read_requests(source: RecordedFiles, progress: Progress | None = None) -> Requests:
    """Read the reads and writes of a trace.

    Raises
    ------
    UsageError
        If it is not a trace, is too long, or has too little to fit to.
    RunError
        If reading a file fails.
    """
    reader = source.open()
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in _TYPES}
    count = 0
    while (batch := reader.next_batch(BATCH)) is not None:
        for name, kind in _TYPES.items():
            parts[name].append(np.frombuffer(batch[name], kind))
        count += len(parts["operation"][-1])
        if count > MOST_REQUESTS:
            raise UsageError(
                f"{source.name} has more than {MOST_REQUESTS:,} requests; cut a part out of it "
                "with `drivelab trace cut`, and fit that"
            )
        if progress is not None:
            progress(count)
    checks = reader.checks()
    refuse_without_requests(reader, checks)
    columns = {name: np.concatenate(part) for name, part in parts.items()}
    kept = columns["operation"] < 2
    if TRACE_OPERATIONS[:2] != ["read", "write"] or not kept.any():
        raise UsageError(f"{source.name} has no reads or writes; name a trace that has some")
    columns = {name: column[kept].astype(np.int64) for name, column in columns.items()}
    columns["arrival_ns"] -= columns["arrival_ns"][0]
    _refuse_too_little(source.name, columns["arrival_ns"])
    offsets, sizes = _in_sectors(_on_one_drive(columns), columns["size_bytes"])
    place, offsets, sizes = _in_pieces(offsets, sizes)
    return Requests(
        columns["arrival_ns"][place],
        offsets,
        sizes,
        columns["operation"][place],
        int((~kept).sum()),
        str(checks["format"]),
        tuple(str(sentence) for _, sentence in checks["cautions"]),
    )


def _refuse_too_little(name: str, arrival_ns: NDArray[np.int64]) -> None:
    if len(arrival_ns) == 1:
        raise UsageError(f"{name} has one read or write; a fit needs at least two, at two times")
    if arrival_ns[-1] == 0:
        raise UsageError(
            f"all {len(arrival_ns):,} requests of {name} arrive at the same time, so their rate "
            "is unknown; name a trace with a finer clock"
        )


def _on_one_drive(columns: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Place devices one after the other, in the order of their first requests."""
    offsets, device = columns["offset_bytes"].copy(), columns["device"]
    ends = offsets + columns["size_bytes"]
    base = 0
    for each in dict.fromkeys(device.tolist()):
        mine = device == each
        offsets[mine] += base
        base += -(-int(ends[mine].max()) // REGION_BYTES) * REGION_BYTES
    return offsets


def _in_sectors(
    offsets: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    begins = offsets // SECTOR_BYTES * SECTOR_BYTES
    ends = -(-(offsets + sizes) // SECTOR_BYTES) * SECTOR_BYTES
    return begins, ends - begins


def _in_pieces(
    offsets: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    """Split requests that are too large; return also which request each piece is from."""
    pieces = -(-sizes // _MOST_REQUEST_BYTES)
    place = np.repeat(np.arange(len(sizes)), pieces)
    number = np.arange(len(place)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    skipped = number * _MOST_REQUEST_BYTES
    return (
        place,
        offsets[place] + skipped,
        np.minimum(sizes[place] - skipped, _MOST_REQUEST_BYTES),
    )
