"""What a run of a simulated drive tells: everything that was counted, and what the run cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.measurement import OperationResult

if TYPE_CHECKING:
    from collections.abc import Mapping

PERCENTILES: Final = {
    "p50": 50.0,
    "p90": 90.0,
    "p99": 99.0,
    "p99_9": 99.9,
    "p99_99": 99.99,
    "p99_999": 99.999,
}
# In thousandths of a percent, so that whether a count supports one is decided in whole numbers.
_WHOLE: Final = 100_000


def supported_percentile_ns(result: OperationResult, percent: float) -> int | None:
    """Return the latency that `percent` of a hundred requests do not exceed, in ns.

    ``None`` when not even one request lies above it: it would be the maximum under a name
    that promises more.
    """
    above = result.requests * (_WHOLE - round(percent * 1000))
    return result.percentile_ns(percent) if above >= _WHOLE else None


def stream_json(name: str, stream: Mapping[str, Any], duration_ns: int) -> dict[str, Any]:
    """Give one stream as ``--json`` prints it (docs/json.md).

    Parameters
    ----------
    name
        Of the stream.
    stream
        As the native core tells it: by operation counts, latencies and their parts.
    duration_ns
        Of the window in which they were counted.
    """
    operations = {
        operation: _operation_json(values, duration_ns)
        for operation, values in stream["operations"].items()
    }
    total_bytes = sum(each["bytes"] for each in operations.values())
    requests = sum(each["requests"] for each in operations.values())
    return {
        "name": name,
        "requests": requests,
        "bytes": total_bytes,
        "iops": requests * 1e9 / duration_ns,
        "bandwidth_bytes_per_second": total_bytes * 1e9 / duration_ns,
        "operations": operations,
    }


def _operation_json(values: Mapping[str, Any], duration_ns: int) -> dict[str, Any]:
    values = dict(values)
    parts: dict[str, tuple[int, int]] = values.pop("parts")
    result = OperationResult(**values)
    described = result.to_json()
    histogram = described.pop("latency_ns_histogram")
    return {
        **described,
        "iops": result.requests * 1e9 / duration_ns,
        "bandwidth_bytes_per_second": result.bytes * 1e9 / duration_ns,
        **{
            f"latency_ns_{name}": supported_percentile_ns(result, percent)
            for name, percent in PERCENTILES.items()
        },
        "latency_parts": {
            part: {"latency_ns_mean": sum_ns / result.requests, "latency_ns_max": max_ns}
            for part, (sum_ns, max_ns) in parts.items()
        },
        "latency_ns_histogram": histogram,
    }
