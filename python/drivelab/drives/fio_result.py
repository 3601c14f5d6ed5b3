"""fio's JSON into results, or an error: what is missing or does not add up is never a number."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from drivelab._core import histogram_bin, histogram_range
from drivelab.drives.fio_program import message_of
from drivelab.drives.measurement import Measurement, OperationResult
from drivelab.errors import RunError
from drivelab.workloads.characteristics import Characteristics


class UnknownReportError(RunError):
    """fio's JSON lacks what every fio known here has: it is another fio, not a bad run."""


def measurement_from(
    report: dict[str, Any], remarks: Sequence[str], index: int, workload: Characteristics
) -> Measurement:
    """Read the last job of `report`, in the form ``json+`` with ``lat_percentiles=1``.

    The jobs before it warmed up; that they met no error is checked. Warming up with fio's
    ``ramp_time`` would leave counts that agree only up to the queue depth: what is sent
    before its end and completes after it is in some of them.

    Raises
    ------
    RunError
        When fio met an error, completed nothing in a direction, or its JSON contradicts itself.
    UnknownReportError
        When its JSON lacks a field.
    """
    jobs = _field(report, "jobs", list)
    for job in jobs:
        error = _field(job, "error", int)
        if error:
            message = message_of(remarks)
            raise RunError(f"fio met an error: {message or os.strerror(error)}")
    job = _field(jobs, -1, dict)
    asked = {"read": workload.write_ratio < 1, "write": workload.write_ratio > 0}
    sizes = {"read": workload.read_size, "write": workload.write_size}
    results: dict[str, OperationResult | None] = {}
    for name, wanted in asked.items():
        part = _field(job, name, dict)
        if not wanted:
            if _field(part, "total_ios", int):
                raise RunError(f"fio sent {name}s that were not asked for")
            results[name] = None
            continue
        results[name] = _operation(part, name, sizes[name], remarks)
    runtimes = [_field(job[name], "runtime", int) for name, wanted in asked.items() if wanted]
    if min(runtimes) <= 0:
        raise RunError("fio measured for 0 ms")
    return Measurement(
        index=index,
        characteristics=workload,
        duration_ns=max(runtimes) * 1_000_000,
        read=results["read"],
        write=results["write"],
        stopped_by="seconds",
    )


def _operation(
    part: dict[str, Any], name: str, size: int, remarks: Sequence[str]
) -> OperationResult:
    sent, moved = _field(part, "total_ios", int), _field(part, "io_bytes", int)
    latency = _field(part, "lat_ns", dict)
    completed = _field(latency, "N", int)
    if sent == 0 or completed == 0:
        message = message_of(remarks)
        raise RunError(
            f"fio completed no {name} in the time given"
            + (f": {message}" if message else "; a longer one may do")
        )
    for field in ("short_ios", "drop_ios"):
        if _field(part, field, int):
            raise RunError(f"fio counts {part[field]} {name}s in {field}: the drive cut them short")
    if moved != sent * size:
        raise RunError(f"fio's numbers disagree: {sent} {name}s of {size} bytes moved {moved}")
    if completed != sent:
        raise RunError(f"fio's numbers disagree: {sent} {name}s sent, {completed} completed")
    histogram = _histogram(_field(latency, "bins", dict), name)
    counted = sum(histogram.values())
    if counted != completed:
        raise RunError(
            f"fio's numbers disagree: {completed} {name}s completed, {counted} in its bins"
        )
    result = OperationResult(
        requests=completed,
        bytes=completed * size,
        latency_ns_mean=float(_field(latency, "mean", (int, float))),
        latency_ns_min=_field(latency, "min", int),
        latency_ns_max=_field(latency, "max", int),
        histogram=histogram,
    )
    _check_against_bins(result, name)
    return result


def _histogram(bins: dict[str, Any], name: str) -> dict[int, int]:
    histogram: dict[int, int] = {}
    for value, count in bins.items():
        if not value.isdigit() or not isinstance(count, int) or count < 0:
            raise RunError(f"fio's {name} bins hold {value!r}: {count!r}, which is no count")
        # fio names a bin by the value in its middle.
        number = histogram_bin(int(value))
        histogram[number] = histogram.get(number, 0) + count
    return {number: histogram[number] for number in sorted(histogram) if histogram[number]}


def _check_against_bins(result: OperationResult, name: str) -> None:
    """Check that minimum, maximum and mean are possible with the counts in the bins."""
    ranges = [(*histogram_range(number), count) for number, count in result.histogram.items()]
    low = sum(first * count for first, _, count in ranges) / result.requests
    high = (
        sum(min(last, result.latency_ns_max) * count for _, last, count in ranges) / result.requests
    )
    possible = (
        ranges[0][0] <= result.latency_ns_min <= ranges[0][1]
        and ranges[-1][0] <= result.latency_ns_max <= ranges[-1][1]
        # fio's mean runs along in floating point.
        and low * (1 - 1e-6) - 1 <= result.latency_ns_mean <= high * (1 + 1e-6) + 1
    )
    if not possible:
        raise RunError(
            f"fio's {name} latencies disagree with its bins: mean {result.latency_ns_mean}, "
            f"from {result.latency_ns_min} to {result.latency_ns_max} ns"
        )


def _field(container: Any, key: str | int, kind: Any) -> Any:
    """Take a field of fio's JSON; a missing one means a fio that Drivelab does not know."""
    try:
        value = container[key]
    except (KeyError, IndexError, TypeError):
        raise UnknownReportError(
            f"fio's JSON lacks {key!r}: Drivelab does not know this fio"
        ) from None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UnknownReportError(
            f"fio's JSON has {type(value).__name__} as {key!r}, which makes no sense"
        )
    return value
