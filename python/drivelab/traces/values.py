"""What is known of a trace, as in its JSON (docs/json-trace.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.traces.characterization import DIRECTIONS
from drivelab.traces.saved import window_columns
from drivelab.traces.words import caution_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.traces.characterization import Characterization

_OPERATIONS: Final = ("read", "write", "trim", "flush", "other")
_ORDERS: Final = ("sequential", "strided", "backward", "random", "adjacent")
_TIMES: Final = ("mean", "min", "max", "p50", "p90", "p99", "p99_9")
_PARTS: Final = ("response", "queue", "device")
#: Number of devices that are listed one by one.
_MOST_DEVICES: Final = 20


def info_values(trace: Characterization) -> dict[str, Any]:
    """Return what ``trace info --json`` prints."""
    checks, found = trace.checks, trace.found
    return {
        "files": list(checks["files"]),
        "format": checks["format"],
        "place": checks["place"],
        "places": checks["lines"],
        "requests": trace.requests,
        "span_ns": trace.span_ns,
        "requests_per_second": trace.requests_per_second,
        "bytes_per_second": trace.bytes_per_second,
        "operations": {
            name: {"requests": found[f"{name}_requests"], "bytes": found[f"{name}_bytes"]}
            for name in _OPERATIONS
        },
        "characteristics": trace.characteristics,
        "end_bytes": checks["most_end_bytes"],
        "footprint": {
            name: found["footprint"][name]
            for name in (
                *("bytes", "read_bytes", "written_bytes", "read_and_written_bytes"),
                *("block_bytes", "sampled_ratio"),
            )
        },
        "responses": checks["responses"],
        "device_count": found["device_count"],
        "ties": checks["ties"],
        "skipped": checks["skipped"],
        "filtered": checks["filtered"],
        "findings": [
            {
                "name": name,
                "count": finding["count"],
                "is_bad": finding["is_bad"],
                "places": [
                    {"file": checks["files"][file], "position": position}
                    for file, position in finding["places"]
                ],
            }
            for name, finding in checks["findings"].items()
        ],
        "cautions": list(caution_lines(trace)),
    }


def characterization_values(trace: Characterization, *, windows: bool = False) -> dict[str, Any]:
    """Return what ``trace characterize --json`` prints, with windows as requested."""
    found = trace.found
    arrivals = found["arrivals"]
    values = info_values(trace) | {
        "window_ns": trace.window_ns,
        "window_count": len(trace.windows["begin_ns"]),
        "arrivals": {
            "gap_variation": arrivals["gap_cv"],
            "gaps": _times(arrivals["gaps"]),
            "counted": [dict(each) for each in arrivals["counted"]],
        },
        "hottest_blocks": [
            {"share": share, "accesses_ratio": part} for share, part in trace.hottest
        ],
        "cache": [
            {"bytes": round(size), "held_ratio": share} for size, share in trace.held_ratio()
        ],
        "devices": [_device(trace, one) for one in found["devices"][:_MOST_DEVICES]],
        "queue_depth": _depth(trace),
    }
    for direction in DIRECTIONS:
        own = found[direction]
        values[direction] = {
            "order": {name: found[f"{direction}_{name}_requests"] for name in _ORDERS},
            "streams": own["ranks"],
            "sizes": [{"bytes": size, "requests": count} for size, count in own["sizes"]["exact"]],
            "other_sizes": own["sizes"]["others"],
            **{part: _times(trace.times(direction, part)) for part in _PARTS},
        }
    if windows:
        values["windows"] = {name: cells for name, _, cells in window_columns(trace)}
    return values


def _depth(trace: Characterization) -> dict[str, Any] | None:
    if not trace.has_depth:
        return None
    at_arrival = trace.found["outstanding"]
    return {
        "mean_while_busy": trace.found["queue_depth"],
        "busy_ns": trace.found["busy_ns"],
        "at_arrival": {name: at_arrival[name] for name in _TIMES},
    }


def _times(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"count": found["count"], **{f"{name}_ns": found[name] for name in _TIMES}}


def _device(trace: Characterization, one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": trace.devices[one["device"]],
        "operations": {
            name: {"requests": one[f"{name}_requests"], "bytes": one[f"{name}_bytes"]}
            for name in _OPERATIONS
        },
        "read_random": one["read_random"],
        "write_random": one["write_random"],
        "queue_depth": one["queue_depth"] if trace.has_depth else None,
        "response_ns_mean": one["response_ns_mean"],
        "end_bytes": one["end_bytes"],
        "first_ns": one["first_ns"],
        "last_ns": one["last_ns"],
    }
