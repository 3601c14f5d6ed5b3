"""What `drivelab serve` prints for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.plain_text import escaped
from drivelab.units import format_duration_ns, format_iops, format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.live.served import Served

_LABEL = 9


def first_line(drive: str, capacity_bytes: int, dilation: float, *where: str) -> str:
    """Return what is served, and how to connect."""
    slowed = "" if dilation == 1 else f", slowed {dilation:g} times"
    return (
        f"serving {escaped(drive)} ({format_size(capacity_bytes)}{slowed}) at {' and '.join(where)}"
    )


def status(before: Served, now: Served) -> str:
    """Return what happened between two moments, as one line."""
    seconds = (now.wall_ns - before.wall_ns) / 1e9
    requests = now.requests - before.requests
    clients = f"{now.connected} client{'' if now.connected == 1 else 's'}"
    if seconds <= 0 or requests == 0:
        return f"{clients}, {now.requests:,} requests so far"
    total = sum(r.latency_ns_mean * r.requests for r in now.operations.values())
    total -= sum(r.latency_ns_mean * r.requests for r in before.operations.values())
    late = now.late_replies - before.late_replies
    return (
        f"{clients}, {format_iops(requests * now.dilation / seconds)}, latency "
        f"{format_duration_ns(max(0.0, total) / requests)}, {100 * late / requests:.2g} % late"
    )


def text(drive: str, served: Served) -> str:
    """Return what was served, and how well it kept its time."""
    return "\n".join(_lines(drive, served))


def _lines(drive: str, served: Served) -> Iterator[str]:
    clients = f"{served.clients:,} client{'' if served.clients == 1 else 's'}"
    yield (
        f"{'served':<{_LABEL}}{escaped(drive)} for {format_duration_ns(served.wall_ns)}, "
        f"{clients}, {served.requests:,} requests"
    )
    if served.dilation != 1:
        yield (
            f"{'time':<{_LABEL}}slowed {served.dilation:g} times; latencies are in the "
            "drive's own time"
        )
    for name, result in served.operations.items():
        facts = [
            f"{result.requests:,}",
            f"mean {format_duration_ns(result.latency_ns_mean)}",
            f"50 % {format_duration_ns(result.percentile_ns(50.0))}",
            f"99 % {format_duration_ns(result.percentile_ns(99.0))}",
        ]
        yield f"{name:<{_LABEL}}{', '.join(facts)}"
    lateness = served.lateness
    if lateness is not None:
        facts = [
            f"50 % {format_duration_ns(lateness.percentile_ns(50.0))}",
            f"99 % {format_duration_ns(lateness.percentile_ns(99.0))}",
            f"most {format_duration_ns(lateness.late_ns_max)}",
            f"{100 * served.late_ratio:.2g} % over {format_duration_ns(served.late_ns)}",
        ]
        yield f"{'lateness':<{_LABEL}}{', '.join(facts)}"
    if served.no_space:
        yield (
            f"{'no space':<{_LABEL}}{served.no_space:,} writes failed without space: allow more "
            "with --memory, or free space on the backing file's disk"
        )
    if served.power_cuts:
        cuts = f"{served.power_cuts:,} cut{'' if served.power_cuts == 1 else 's'}"
        yield f"{'power':<{_LABEL}}{cuts}, {format_size(served.lost_bytes)} lost"
    if served.failed:
        yield f"{'failed':<{_LABEL}}{served.failed:,} requests"
