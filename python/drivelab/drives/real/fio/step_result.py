"""Read fio's report on a step: missing or contradictory values are errors, never numbers.

Latencies are ``lat_ns``, from submission to completion. With io_uring a few requests complete while
they are submitted, which ``clat_ns`` shows as times near 0.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

from drivelab.drives.operation_result import OperationResult
from drivelab.drives.real.fio.program import message_of
from drivelab.drives.real.fio.result import field_of, histogram_of
from drivelab.errors import RunError

# fio looks at its clock, which has whole milliseconds, once per request.
_CLOCK_MILLISECONDS: Final = 2
_NANOSECONDS: Final = 1_000_000
_NAMES: Final = ("read", "write")

_Operations = tuple[OperationResult | None, OperationResult | None]


def step_result(
    report: dict[str, Any],
    remarks: Sequence[str],
    *,
    streams: int,
    milliseconds: int | None,
    total_bytes: int | None,
    end_at_once: bool = False,
) -> tuple[int, list[_Operations]]:
    """Read fio's JSON of a step: one group per stream, its threads reported together.

    Parameters
    ----------
    report
        The JSON in the form ``json+`` with ``lat_percentiles=1``.
    remarks
        The lines around the JSON.
    streams
        Number of stimuli at the same time; several end by time.
    milliseconds, total_bytes
        The limits of the step.
    end_at_once
        Whether the first stream that ends ends them all, however late others began.

    Returns
    -------
    tuple
        The duration in ns, and the results of each stream's reads and writes.

    Raises
    ------
    RunError
        If fio met an error, ended too early or contradicts itself.
    UnknownReportError
        If its JSON lacks a field.
    """
    jobs = field_of(report, "jobs", list)
    if len(jobs) != streams:
        raise RunError(f"fio reports {len(jobs)} groups of threads; it was asked for {streams}")
    found: list[_Operations] = []
    longest = all_moved = 0
    for place in range(streams):
        job = field_of(jobs, place, dict)
        error = field_of(job, "error", int)
        if error:
            raise RunError(f"fio met an error: {message_of(remarks) or os.strerror(error)}")
        read, write = (_operation(field_of(job, name, dict), name) for name in _NAMES)
        ran = max(field_of(field_of(job, name, dict), "runtime", int) for name in _NAMES)
        moved = sum(part.bytes for part in (read, write) if part is not None)
        if not end_at_once:
            _check_end(ran, moved, milliseconds, total_bytes, remarks)
        found.append((read, write))
        longest, all_moved = max(longest, ran), all_moved + moved
    if end_at_once:
        _check_end(longest, all_moved, milliseconds, total_bytes, remarks)
    # Without a completed request fio reports no run time.
    duration = (longest or milliseconds or 0) * _NANOSECONDS
    return duration, found


def _operation(part: dict[str, Any], name: str) -> OperationResult | None:
    requests: int = field_of(part, "total_ios", int)
    for field in ("short_ios", "drop_ios"):
        if field_of(part, field, int):
            raise RunError(f"fio counts {part[field]} {name}s in {field}: the drive cut them short")
    moved: int = field_of(part, "io_bytes", int)
    latency = field_of(part, "lat_ns", dict)
    counted = field_of(latency, "N", int)
    if requests == 0:
        if moved or counted:
            raise RunError(
                f"fio's numbers disagree: no {name}s sent, {moved} bytes moved, {counted} latencies"
            )
        return None
    histogram = histogram_of(field_of(latency, "bins", dict), name)
    binned = sum(histogram.values())
    if not requests == counted == binned:
        raise RunError(
            f"fio's numbers disagree: {requests} {name}s completed, {counted} have a latency and "
            f"{binned} are in its bins"
        )
    return OperationResult(
        requests=requests,
        bytes=moved,
        latency_ns_mean=float(field_of(latency, "mean", (int, float))),
        latency_ns_min=field_of(latency, "min", int),
        latency_ns_max=field_of(latency, "max", int),
        histogram=histogram,
    )


def _check_end(
    ran: int,
    moved: int,
    milliseconds: int | None,
    total_bytes: int | None,
    remarks: Sequence[str],
) -> None:
    """Refuse a step that neither its time nor its bytes ended."""
    if total_bytes is not None and moved >= total_bytes:
        return
    if milliseconds is not None and ran >= milliseconds - _CLOCK_MILLISECONDS:
        return
    # No completion in the time is a result, not an error.
    if milliseconds is not None and moved == 0 and not remarks:
        return
    asked = " or ".join(
        [
            *([] if milliseconds is None else [f"{milliseconds} ms"]),
            *([] if total_bytes is None else [f"{total_bytes} bytes"]),
        ]
    )
    message = message_of(remarks)
    raise RunError(
        f"fio ended after {ran} ms and {moved} bytes; it was asked for {asked}"
        + (f": {message}" if message else "")
    )
