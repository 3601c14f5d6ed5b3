"""The result of a run of a simulated drive: everything that was counted, and its cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.operation_result import OperationResult
from drivelab.drives.stream_result import OPERATIONS, StreamResult
from drivelab.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.completed import Completed

# Keys of a stream that says where its writes go.
_WHERE: Final = (
    "namespace",
    "placement",
    "reclaim_group",
    "zones",
    "zone_bytes",
    "ranges_per_trim",
)
PERCENTILES: Final = {
    "p50": 50.0,
    "p90": 90.0,
    "p99": 99.0,
    "p99_9": 99.9,
    "p99_99": 99.99,
    "p99_999": 99.999,
}
# In thousandths of a percent, so that whole numbers decide whether a count supports one.
_WHOLE: Final = 100_000


@dataclass(frozen=True)
class Simulation:
    """A run of a simulated drive.

    Attributes
    ----------
    values
        All results (docs/json-measure.md).
    asked
        What each stream asked for, by name.
    log
        Its single requests as a Parquet file, if they were asked for.
    state
        The drive's final state, if it was asked for.
    """

    values: dict[str, Any]
    asked: list[dict[str, Any]]
    log: bytes | None
    state: bytes | None


def percentile_is_supported(requests: int, percent: float) -> bool:
    """Return whether at least one of `requests` is above the percentile.

    Otherwise the percentile would only be the maximum.
    """
    return requests * (_WHOLE - round(percent * 1000)) >= _WHOLE


def submitted_requests(reported: Mapping[str, Any]) -> int:
    """Return how many requests a run submitted: all completed, and each was counted once.

    Raises
    ------
    RunError
        If the run's own numbers show that one was lost.
    """
    submitted: int = sum(stream["submitted_requests"] for stream in reported["streams"])
    completed = sum(reported[f"{part}_requests"] for part in ("warmup", "counted", "drained"))
    counted = sum(
        0 if stream["result"][operation] is None else stream["result"][operation]["requests"]
        for stream in reported["streams"]
        for operation in OPERATIONS
    )
    if submitted != completed or counted != reported["counted_requests"]:
        raise RunError(
            f"the simulation lost requests: {submitted} submitted, {completed} completed, "
            f"{counted} of {reported['counted_requests']} in histograms; this is a fault of the "
            "simulator, please report it with the preset and the seed"
        )
    return submitted


def operations(
    reported: Mapping[str, Any],
) -> tuple[OperationResult | None, OperationResult | None]:
    """Return the results of reads and writes, as the native core reports them."""
    read, write = (
        None if reported[name] is None else OperationResult(**reported[name])
        for name in ("read", "write")
    )
    return read, write


def stream_results(
    reported: Mapping[str, Any], *, may_be_late: bool = True
) -> tuple[StreamResult, ...]:
    """Return the results of each stream, as the native core reports them."""
    duration_ns = max(1, reported["duration_ns"])
    found = tuple(StreamResult.of_core(each, duration_ns) for each in reported["streams"])
    return found if may_be_late else tuple(replace(each, lateness=None) for each in found)


def stream_json(
    plan: Mapping[str, Any], reported: Mapping[str, Any], duration_ns: int
) -> dict[str, Any]:
    """Return one stream as ``--json`` prints it (docs/json-measure.md).

    Parameters
    ----------
    plan
        The stream as the scenario defines it.
    reported
        The native core's report: results, parts of latencies by operation, and the number of
        submitted requests.
    duration_ns
        Length of the window in which they were counted.
    """
    result = StreamResult.of_core(reported["result"], duration_ns)
    operations = {
        name: _operation_json(done, reported["parts"][name], duration_ns)
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
        # Only for streams with these keys.
        **{key: plan[key] for key in _WHERE if plan[key] is not None},
        "submitted_requests": reported["submitted_requests"],
        **({} if result.lateness is None else {"lateness": result.lateness.to_json()}),
        **_rates(result, duration_ns),
        "operations": operations,
    }


def series_json(series: Mapping[str, Any], duration_ns: int) -> dict[str, Any]:
    """Return the time series for ``--json``: one row per interval, stream and operation."""
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
    """Merge completions at the exact end of the window into the interval before."""
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
    told = done_json(done, duration_ns)
    histogram = told.pop("latency_ns_histogram")
    return {
        **told,
        "latency_parts": {
            part: {"latency_ns_mean": sum_ns / done.requests, "latency_ns_max": max_ns}
            for part, (sum_ns, max_ns) in parts.items()
        },
        "latency_ns_histogram": histogram,
    }


def done_json(done: OperationResult, duration_ns: int) -> dict[str, Any]:
    """Give rates, latencies and percentiles as far as enough requests support them."""
    return {
        **_rates(done, duration_ns),
        **done.to_json(),
        **{
            f"latency_ns_{name}": done.percentile_ns(percent)
            if percentile_is_supported(done.requests, percent)
            else None
            for name, percent in PERCENTILES.items()
        },
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
