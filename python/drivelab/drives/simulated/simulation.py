"""The result of a run of a simulated drive: everything that was counted, and its cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.operation_result import OperationResult
from drivelab.drives.stream_result import StreamResult
from drivelab.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.completed import Completed

# Keys of a stream that says where its writes go.
_WHERE: Final = ("placement", "reclaim_group", "zones", "zone_bytes")
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


@dataclass(frozen=True)
class Simulation:
    """A run of a simulated drive.

    Attributes
    ----------
    values
        Everything about it (docs/json-measure.md).
    asked
        What each stream asked for, by name.
    log
        Its requests by themselves as a Parquet file, if they were asked for.
    state
        The drive's state after it, if it was asked for.
    """

    values: dict[str, Any]
    asked: list[dict[str, Any]]
    log: bytes | None
    state: bytes | None


def percentile_is_supported(requests: int, percent: float) -> bool:
    """Tell whether at least one of `requests` lies above the percentile.

    Otherwise it would be the maximum under a name that promises more.
    """
    return requests * (_WHOLE - round(percent * 1000)) >= _WHOLE


def submitted_requests(told: Mapping[str, Any]) -> int:
    """Return how many requests a run submitted: all completed, and each was counted once.

    Raises
    ------
    RunError
        When the run's own numbers say that one was lost.
    """
    submitted: int = sum(stream["submitted_requests"] for stream in told["streams"])
    completed = sum(told[f"{part}_requests"] for part in ("warmup", "counted", "drained"))
    counted = sum(
        0 if stream["result"][operation] is None else stream["result"][operation]["requests"]
        for stream in told["streams"]
        for operation in ("read", "write", "trim", "flush")
    )
    if submitted != completed or counted != told["counted_requests"]:
        raise RunError(
            f"the simulation lost requests: {submitted} submitted, {completed} completed, "
            f"{counted} of {told['counted_requests']} in histograms; this is a fault of the "
            "simulator, please report it with the preset and the seed"
        )
    return submitted


def operations(
    told: Mapping[str, Any],
) -> tuple[OperationResult | None, OperationResult | None]:
    """Return what reads and writes did, as the native core reports it."""
    read, write = (
        None if told[name] is None else OperationResult(**told[name]) for name in ("read", "write")
    )
    return read, write


def streams_told(told: Mapping[str, Any]) -> tuple[StreamResult, ...]:
    """Return what each stream did, as the native core reports it."""
    duration_ns = max(1, told["duration_ns"])
    return tuple(StreamResult.of_core(each, duration_ns) for each in told["streams"])


def stream_json(
    plan: Mapping[str, Any], told: Mapping[str, Any], duration_ns: int
) -> dict[str, Any]:
    """Give one stream as ``--json`` prints it (docs/json-measure.md).

    Parameters
    ----------
    plan
        The stream as the scenario says it.
    told
        As the native core reports it: what it did, by operation the parts of its latencies, and
        how many requests it submitted.
    duration_ns
        Of the window in which they were counted.
    """
    result = StreamResult.of_core(told["result"], duration_ns)
    operations = {
        name: _operation_json(done, told["parts"][name], duration_ns)
        for name, done in result.by_operation.items()
    }
    start, length = plan["range"] or (None, None)
    return {
        "name": result.name,
        "source": plan["source"],
        "rate_iops": plan["rate_iops"],
        "range_offset_bytes": start,
        "range_bytes": length,
        "writes_as": plan["writes_as"],
        "writes_per_flush": plan["writes_per_flush"] or None,
        "priority": plan["priority"],
        "queue_pair": plan["queue_pair"],
        "share": plan["share"],
        "content": plan["content"],
        # Of streams that say so.
        **{key: plan[key] for key in _WHERE if plan[key] is not None},
        "submitted_requests": told["submitted_requests"],
        **({} if result.lateness is None else {"lateness": result.lateness.to_json()}),
        **_rates(result, duration_ns),
        "operations": operations,
    }


def series_json(series: Mapping[str, Any], duration_ns: int) -> dict[str, Any]:
    """Give the time series as ``--json`` prints it: a row an interval, stream and operation."""
    interval_ns = series["interval_ns"]
    rows = []
    for stream, operation, bins in series["rows"]:
        for place, counts in enumerate(_within(bins, interval_ns, duration_ns)):
            start_ns = place * interval_ns
            # The last interval ends with the window.
            end_ns = min(start_ns + interval_ns, duration_ns)
            rows.append(
                {
                    "stream": stream,
                    "operation": operation,
                    "start_ns": start_ns,
                    "end_ns": end_ns,
                    **_interval_json(counts, end_ns - start_ns),
                }
            )
    return {"interval_ns": interval_ns, "rows": rows}


def _within(
    bins: Sequence[Sequence[int]], interval_ns: int, duration_ns: int
) -> Sequence[Sequence[int]]:
    """Join what completes in the very instant in which the window ends to what was before."""
    if (len(bins) - 1) * interval_ns < duration_ns or len(bins) == 1:
        return bins
    requests, moved_bytes, latency_sum_ns, latency_max_ns = bins[-1]
    before = bins[-2]
    joined = (
        before[0] + requests,
        before[1] + moved_bytes,
        before[2] + latency_sum_ns,
        max(before[3], latency_max_ns),
    )
    return [*bins[:-2], joined]


def _interval_json(counts: Sequence[int], lasting_ns: int) -> dict[str, Any]:
    requests, moved_bytes, latency_sum_ns, latency_max_ns = counts
    return {
        **_rates_json(requests, moved_bytes, lasting_ns),
        "latency_ns_mean": latency_sum_ns / requests if requests else None,
        "latency_ns_max": latency_max_ns if requests else None,
    }


def _operation_json(
    done: OperationResult, parts: Mapping[str, tuple[int, int]], duration_ns: int
) -> dict[str, Any]:
    requests, kept = done.requests, done.to_json()
    histogram = kept.pop("latency_ns_histogram")
    return {
        **_rates(done, duration_ns),
        **kept,
        **{
            f"latency_ns_{name}": done.percentile_ns(percent)
            if percentile_is_supported(requests, percent)
            else None
            for name, percent in PERCENTILES.items()
        },
        "latency_parts": {
            part: {"latency_ns_mean": sum_ns / requests, "latency_ns_max": max_ns}
            for part, (sum_ns, max_ns) in parts.items()
        },
        "latency_ns_histogram": histogram,
    }


def _rates(done: Completed | OperationResult, duration_ns: int) -> dict[str, Any]:
    return _rates_json(done.requests, done.bytes, duration_ns)


def _rates_json(requests: int, moved_bytes: int, duration_ns: int) -> dict[str, Any]:
    return {
        "requests": requests,
        "bytes": moved_bytes,
        "iops": requests * 1e9 / duration_ns,
        "bandwidth_bytes_per_second": moved_bytes * 1e9 / duration_ns,
    }
