"""What a simulated drive did for each of its namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.drives.operation_result import added_up
from drivelab.drives.simulated.simulation import done_json
from drivelab.drives.stream_result import OPERATIONS, StreamResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def namespaces_json(
    counters: Mapping[str, Sequence[int]],
    preset: Mapping[str, Any],
    streams: Sequence[tuple[str | None, Mapping[str, Any]]],
    duration_ns: int,
) -> dict[str, Any]:
    """Give the object ``namespaces`` of what ``drivelab simulate --json`` prints.

    Parameters
    ----------
    counters
        Pages programmed, a list entry a namespace, as the native core counts them.
    preset
        The drive's, resolved.
    streams
        The namespace of each stream and what the core reports of the stream.
    duration_ns
        The measurement window, in ns of simulated time.
    """
    names, sizes = preset["namespaces"]["names"], preset["namespaces"]["sizes_bytes"]
    all_media = sum(counters["media_pages"])
    each = []
    for place, (name, size_bytes) in enumerate(zip(names, sizes, strict=True)):
        host, media = counters["host_pages"][place], counters["media_pages"][place]
        results = [
            StreamResult.of_core(reported, duration_ns)
            for where, reported in streams
            if where == name
        ]
        each.append(
            {
                "name": name,
                "size_bytes": size_bytes,
                "streams": [result.name for result in results],
                "operations": _operations(results, duration_ns),
                "host_pages": host,
                "media_pages": media,
                "write_amplification_ratio": media / host if host else None,
                "media_share_ratio": media / all_media if all_media else None,
            }
        )
    return {**counters, "each": each}


def _operations(results: Sequence[StreamResult], duration_ns: int) -> dict[str, Any]:
    """Give the requests of all streams of a namespace together, by what they are."""
    found = {}
    for operation in OPERATIONS:
        done = added_up([result.by_operation.get(operation) for result in results])
        if done is not None:
            reported = done_json(done, duration_ns)
            del reported["latency_ns_histogram"]
            found[operation] = reported
    return found
