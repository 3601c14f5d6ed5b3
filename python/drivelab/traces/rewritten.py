"""A trace, or a part of it, written as another file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab._core import TRACE_OPERATIONS, TraceWriter
from drivelab.errors import UsageError
from drivelab.exhibits.quantities import count_text
from drivelab.traces.source import BATCH, refuse_without_requests
from drivelab.traces.words import in_span

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from drivelab._core import TraceReader
    from drivelab.traces.source import Progress
    from drivelab.workloads.recorded import RecordedFiles

_TYPES: Final = {
    "arrival_ns": np.uint64,
    "device": np.uint32,
    "operation": np.uint8,
    "offset_bytes": np.uint64,
    "size_bytes": np.uint64,
    "response_ns": np.uint64,
    "queue_ns": np.uint64,
    "device_ns": np.uint64,
    "process": np.uint32,
}


@dataclass(frozen=True)
class Cut:
    """Which requests of a trace are kept.

    Attributes
    ----------
    from_ns, to_ns
        Keep requests that arrive from the one and before the other, after the first; None is no
        end.
    most_requests
        Keep the first so many of these; None for all.
    operations
        Keep only these operations; all if empty.
    """

    from_ns: int = 0
    to_ns: int | None = None
    most_requests: int | None = None
    operations: tuple[str, ...] = ()

    def kept(self, batch: Mapping[str, NDArray[Any]], before: int) -> NDArray[np.bool_]:
        """Return which requests of a batch are kept; `before` were kept already."""
        arrival = batch["arrival_ns"]
        kept = arrival >= np.uint64(self.from_ns)
        if self.to_ns is not None:
            kept &= arrival < np.uint64(self.to_ns)
        if self.operations:
            numbers = [TRACE_OPERATIONS.index(name) for name in self.operations]
            kept &= np.isin(batch["operation"], numbers)
        if self.most_requests is not None:
            kept &= np.cumsum(kept) <= self.most_requests - before
        return kept

    def is_over(self, batch: Mapping[str, NDArray[Any]], kept: int) -> bool:
        """Return whether nothing after this batch can be kept."""
        if self.most_requests is not None and kept >= self.most_requests:
            return True
        return self.to_ns is not None and int(batch["arrival_ns"][-1]) >= self.to_ns


@dataclass(frozen=True)
class Rewritten:
    """What was read and written.

    Attributes
    ----------
    read
        Number of requests read.
    kept
        Number of these that were to be written.
    begin_ns
        Time of the first kept request in the trace, ns; it arrives at 0 in what was written.
    span_ns
        Time from the first to the last kept request, ns.
    written
        What `TraceWriter.finish` returned.
    checks
        What `TraceReader.checks` found in what was read.
    """

    read: int
    kept: int
    begin_ns: int
    span_ns: int
    written: Mapping[str, Any]
    checks: Mapping[str, Any]

    @property
    def left_out(self) -> int:
        """Return how many requests the format cannot represent."""
        return sum(self.written["left_out"].values())


def rewrite(
    source: RecordedFiles,
    path: Path,
    *,
    format_name: str,
    compression: str = "none",
    may_drop: bool = False,
    cut: Cut | None = None,
    progress: Progress | None = None,
    reader: TraceReader | None = None,
) -> Rewritten:
    """Write a trace as another file.

    Parameters
    ----------
    source
        The trace.
    path
        An existing file, which is overwritten.
    format_name, compression, may_drop
        As for `TraceWriter`.
    cut
        Which requests; None for all. The first that is kept arrives at 0.
    progress
        Called with the number of requests read so far.
    reader
        An already open reader of the source: a pipe can be opened only once.

    Raises
    ------
    UsageError, RunError
        If it cannot be read, has nothing to write, or something that the format cannot represent.
    """
    reader = source.open() if reader is None else reader
    data: dict[str, bytes] | None = None
    writer = TraceWriter(path, format=format_name, compression=compression, leave_out=may_drop)
    read, kept, span_ns = 0, 0, 0
    first_ns: int | None = None
    if cut is None:
        while added := writer.copy(reader, BATCH):
            read += added
            if progress is not None:
                progress(read)
        checks = reader.checks()
        kept, span_ns = read, int(checks["span_ns"])
    else:
        while (data := reader.next_batch(BATCH)) is not None:
            batch = {name: np.frombuffer(data[name], kind) for name, kind in _TYPES.items()}
            mask = cut.kept(batch, kept)
            read += len(mask)
            if mask.any():
                part = {name: column[mask] for name, column in batch.items()}
                first_ns = int(part["arrival_ns"][0]) if first_ns is None else first_ns
                span_ns = int(part["arrival_ns"][-1]) - first_ns
                part["arrival_ns"] = part["arrival_ns"] - np.uint64(first_ns)
                writer.write(part, [name for name, _ in reader.devices])
                kept += len(part["arrival_ns"])
            if progress is not None:
                progress(read)
            if cut.is_over(batch, kept):
                break
        checks = reader.checks()
    if cut is None or data is None:
        refuse_without_requests(reader, checks)
    if kept == 0:
        _refuse_nothing(source, checks, read)
    begin_ns = int(checks["origin_ns"]) + (first_ns or 0)
    return Rewritten(read, kept, begin_ns, span_ns, writer.finish(), checks)


def _refuse_nothing(source: RecordedFiles, checks: dict[str, Any], read: int) -> None:
    lasting = in_span(checks["span_ns"])
    raise UsageError(
        f"no request of {source.name} is left: it has {count_text(read, 'request')}{lasting}; "
        "choose other --from, --to, --reads or --writes"
    )
