"""The state of a served drive in Prometheus' text format, version 0.0.4.

Names begin with ``drivelab_``. Units are seconds and bytes. Counters end in ``_total``. Times of
the drive are in its own time, without the dilation.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from drivelab import _core
from drivelab.live.state import RESULTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from drivelab.live.state import About

#: The content type of the answer.
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# Bucket bounds are where histogram bins begin, so that counts are exact: 1 us to 17 s.
_OCTAVES: Final = range(10, 35)
_MOST_COUNTERS_OF: Final = ("flash", "disk")


def metrics(about: About, watched: Mapping[str, Any]) -> str:
    """Return every metric at the end of a second."""
    return "\n".join([*_lines(about, watched), ""])


def _lines(about: About, watched: Mapping[str, Any]) -> Iterator[str]:
    total, media = watched["total"], watched["media"]
    yield from _family(
        "info",
        "gauge",
        "The drive that is served, always 1",
        [({"drive": about.drive, "kind": about.kind, "version": version("drivelab")}, 1)],
    )
    wall_seconds = total["wall_ns"] / 1e9
    for name, meaning, value in (
        ("wall_seconds_total", "Wall time since the server began", wall_seconds),
        (
            "drive_seconds_total",
            "The drive's own time since then",
            wall_seconds / about.dilation,
        ),
        ("clients_total", "Clients that came", total["clients"]),
        ("late_replies_total", "Replies later than allowed", total["late_replies"]),
        ("no_space_requests_total", "Requests that found no space", total["no_space"]),
        ("failed_requests_total", "Requests that failed otherwise", total["failed"]),
    ):
        yield from _family(name, "counter", meaning, [({}, value)])
    for name, meaning, value in (
        ("capacity_bytes", "Size of the drive", about.capacity_bytes),
        ("dilation_ratio", "How many times longer everything takes", about.dilation),
        ("connected_clients", "Connected clients", total["connected"]),
    ):
        yield from _family(name, "gauge", meaning, [({}, value)])
    yield from _requests(total)
    yield from _busy(about, media)
    yield from _counters(media)
    if watched["stretch"] is not None:
        yield from _held(watched["stretch"])


def _requests(total: Mapping[str, Any]) -> Iterator[str]:
    results = {name: total[name] for name in RESULTS if total[name] is not None}
    yield from _family(
        "request_bytes_total",
        "counter",
        "Bytes that requests named",
        [({"operation": name}, of["bytes"]) for name, of in results.items()],
    )
    yield from _head("latency_seconds", "histogram", "How long the drive took, in its own time")
    for name, of in results.items():
        spent_ns = of["latency_ns_mean"] * of["requests"]
        yield from _histogram("latency_seconds", {"operation": name}, of, spent_ns)
    late = total["lateness"]
    if late is not None:
        meaning = "How long after it was due a reply went out, wall time"
        yield from _head("lateness_seconds", "histogram", meaning)
        late_ns = late["late_ns_mean"] * late["requests"]
        yield from _histogram("lateness_seconds", {}, late, late_ns)


def _busy(about: About, media: Mapping[str, Any]) -> Iterator[str]:
    channels, units = media["channel_busy_seconds"], media["unit_busy_seconds"]
    a_member = max(len(channels) // about.members, 1)
    yield from _family(
        "channel_busy_seconds_total",
        "counter",
        "How long each channel transferred, in the drive's own time",
        [
            ({"member": place // a_member, "channel": place % a_member}, busy)
            for place, busy in enumerate(channels)
        ],
    )
    units_of_member = max(len(units) // about.members, 1)
    yield from _family(
        "unit_busy_seconds_total",
        "counter",
        "How long each die (in plane mode plane) worked or held an operation",
        [
            (
                {
                    "member": place // units_of_member,
                    "channel": place % units_of_member % a_member,
                    "unit": place % units_of_member,
                },
                busy,
            )
            for place, busy in enumerate(units)
        ],
    )
    yield from _family(
        "disk_busy_seconds_total",
        "counter",
        "How long each disk was at an access, reading ahead apart",
        [({"member": place}, busy) for place, busy in enumerate(media["disk_busy_seconds"])],
    )


def _counters(media: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counters of the one table, under their names."""
    for row in _core.counters():
        kind, _, name = str(row["key"]).partition(".")
        value = media[kind].get(name) if kind in _MOST_COUNTERS_OF and media[kind] else None
        if not isinstance(value, (int, float)):
            continue
        meaning = str(row["meaning"]).partition(";")[0].replace("inside the window", "so far")
        meaning = meaning.replace("of the window", "of the time so far")
        if row["unit"] == "ratio":
            yield from _family(f"{kind}_{name}", "gauge", meaning, [({}, value)])
        else:
            yield from _family(f"{kind}_{name}_total", "counter", meaning, [({}, value)])


def _held(stretch: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the drive contains."""
    room = stretch["room"] or {}
    for name, meaning, value in (
        ("outstanding_requests", "Outstanding requests", stretch["outstanding"]),
        ("buffer_bytes", "Size of the write buffer or write cache", stretch["buffer_bytes"]),
        ("buffer_taken_bytes", "Bytes of it that are taken", stretch["buffered_bytes"]),
        ("blocks", "Blocks of the flash", room.get("blocks")),
        ("free_blocks", "Erased blocks that are not being filled", room.get("free_blocks")),
        (
            "reserve_blocks",
            "Collection begins in a plane when it has no more free blocks than its part of these",
            room.get("reserve_blocks"),
        ),
        ("planes", "Planes of the flash", room.get("planes")),
        (
            "collecting_planes",
            "Planes that are collecting garbage",
            room.get("collecting_planes"),
        ),
    ):
        if value is not None:
            yield from _family(name, "gauge", meaning, [({}, value)])


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    sentence = meaning[0].upper() + meaning[1:]
    yield f"# HELP drivelab_{name} {_escaped(sentence)}."
    yield f"# TYPE drivelab_{name} {kind}"


def _family(
    name: str, kind: str, meaning: str, samples: Iterable[tuple[Mapping[str, Any], float]]
) -> Iterator[str]:
    """Yield a metric with its samples; nothing if it has none."""
    lines = [f"drivelab_{name}{_labels(labels)} {value!r}" for labels, value in samples]
    if lines:
        yield from _head(name, kind, meaning)
        yield from lines


def _histogram(
    name: str, labels: Mapping[str, Any], of: Mapping[str, Any], sum_ns: float
) -> Iterator[str]:
    """Yield cumulative buckets; a bound is the last nanosecond of an octave, where a bin ends."""
    below = 0
    bins = sorted(of["histogram"].items())
    place = 0
    for octave in _OCTAVES:
        bound = 2**octave - 1
        while place < len(bins) and _core.histogram_range(bins[place][0])[1] <= bound:
            below += bins[place][1]
            place += 1
        upper = {**labels, "le": repr(bound / 1e9)}
        yield f"drivelab_{name}_bucket{_labels(upper)} {below}"
    yield f"drivelab_{name}_bucket{_labels({**labels, 'le': '+Inf'})} {of['requests']}"
    yield f"drivelab_{name}_sum{_labels(labels)} {sum_ns / 1e9!r}"
    yield f"drivelab_{name}_count{_labels(labels)} {of['requests']}"


def _labels(labels: Mapping[str, Any]) -> str:
    if not labels:
        return ""
    said = (f'{name}="{_escaped(str(value), quote=True)}"' for name, value in labels.items())
    return f"{{{','.join(said)}}}"


def _escaped(text: str, *, quote: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quote else text
