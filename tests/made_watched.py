"""What the core reports once a second about a served drive, made without one."""

from __future__ import annotations

from typing import Any

from drivelab import _core
from drivelab.live.state import About

COUNTS = {"page_reads": 700, "host_page_programs": 100, "collection_page_programs": 25}


def about(kind: str = "ssd", members: int = 1, dilation: float = 1.0) -> About:
    return About(
        drive='sim:"odd\\name".toml',
        name="odd",
        kind=kind,
        uri="nbd+unix:///?socket=/run/odd.sock",
        capacity_bytes=2 * 2**30,
        members=members,
        dilation=dilation,
        late_ns=100_000,
        late_share=0.01,
        has_delay=True,
    )


def operation(*latencies_ns: int) -> dict[str, Any]:
    histogram: dict[int, int] = {}
    for latency_ns in latencies_ns:
        place = _core.histogram_bin(latency_ns)
        histogram[place] = histogram.get(place, 0) + 1
    return {
        "requests": len(latencies_ns),
        "bytes": 4096 * len(latencies_ns),
        "latency_ns_mean": sum(latencies_ns) / len(latencies_ns),
        "latency_ns_min": min(latencies_ns),
        "latency_ns_max": max(latencies_ns),
        "histogram": histogram,
    }


def counted_second(*latencies_ns: int, wall_ns: int = 0) -> dict[str, Any]:
    reads = operation(*latencies_ns) if latencies_ns else None
    return {
        "read": reads,
        "write": None,
        "trim": None,
        "flush": None,
        "lateness": None
        if reads is None
        else {
            "requests": reads["requests"],
            "late_ns_mean": 500.0,
            "late_ns_max": 500,
            "histogram": {_core.histogram_bin(500): reads["requests"]},
        },
        "late_replies": 0,
        "clients": 2,
        "connected": 1,
        "no_space": 0,
        "failed": 0,
        "failure": None,
        "wall_ns": wall_ns,
    }


def flash_counters() -> dict[str, Any]:
    rows = (row["key"] for row in _core.counters())
    names = [key.partition(".")[2] for key in rows if key.startswith("flash.")]
    zeroes = {name: 0 for name in names if "." not in name}
    return {**zeroes, **COUNTS, "write_amplification_ratio": 1.25, "bad_blocks": None}


def disk_counters() -> dict[str, Any]:
    rows = (row["key"] for row in _core.counters())
    names = [key.partition(".")[2] for key in rows if key.startswith("disk.")]
    return {**dict.fromkeys(names, 3), "utilisation_ratio": 0.4}


def watched(
    channels: int = 10, units: int = 20, disks: int = 0, collecting: int = 0
) -> dict[str, Any]:
    """Give a second of an SSD, an array of such or, with `disks`, of as many of those."""
    flash = None if disks else flash_counters()
    disk = disk_counters() if disks else None
    busy = [] if disks else [0.5] * units
    room = {
        "blocks": 4000,
        "free_blocks": 80,
        "reserve_blocks": 40,
        "planes": 20,
        "collecting_planes": collecting,
    }
    member = {"utilisation_ratio": 0.4}
    return {
        "number": 7,
        "length_ns": 1_000_000_000,
        "second": counted_second(80_000, 90_000, 2_000_000),
        "total": counted_second(1000, 1024, 80_000, 90_000, 2_000_000, wall_ns=7_000_000_000),
        "stretch": {
            "length_ns": 1_000_000_000,
            "outstanding": 3,
            "buffer_bytes": 262_144,
            "buffered_bytes": 65_536,
            "room": None if disks else room,
            "flash": flash,
            "disk": disk,
            "channel_utilisation_ratio": None if disks else [0.25] * channels,
            "unit_utilisation_ratio": busy or None,
            "members": [member] * disks if disks > 1 else [],
        },
        "media": {
            "seconds": 7.0,
            "flash": flash,
            "disk": disk,
            "channel_busy_seconds": [] if disks else [1.5] * channels,
            "unit_busy_seconds": [2.5 for _ in busy],
            "disk_busy_seconds": [0.5] * disks,
        },
    }
