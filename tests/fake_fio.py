"""A program that answers like fio: sends nothing, and says that every request completed.

A test's script calls `answer`, which replays the iolog that it is given and may spoil what it
says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from drivelab._core import histogram_bin, histogram_value

NAMES = ("read", "write")
Row = tuple[int, int, int, int, int]  # ms, latency in ns, direction, size, offset


def options() -> dict[str, str]:
    """Return the options of this process, without leading dashes."""
    pairs = (word.removeprefix("--").partition("=") for word in sys.argv[1:])
    return {name: value for name, _, value in pairs}


def rows_of(iolog: str, every_ns: int = 100_000) -> list[Row]:
    """Return the latency log of a drive that answers a request every `every_ns`."""
    rows = []
    for line in Path(iolog).read_text().splitlines()[3:]:
        _, direction, offset, size = line.split()
        number = len(rows)
        latency = every_ns - 1000 + 37 * (number % 50)
        at = every_ns * (number + 1) // 1_000_000
        rows.append((at, latency, int(direction == "write"), int(size), int(offset)))
    return rows


def operation(rows: list[Row]) -> dict[str, Any]:
    """Return what fio's JSON says of the requests of one direction."""
    latencies = [latency for _, latency, *_ in rows]
    bins: dict[str, int] = {}
    for latency in latencies:
        key = str(histogram_value(histogram_bin(latency)))
        bins[key] = bins.get(key, 0) + 1
    count = len(rows)
    return {
        "io_bytes": sum(row[3] for row in rows),
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        "lat_ns": {
            "min": min(latencies, default=0),
            "max": max(latencies, default=0),
            "mean": sum(latencies) / max(count, 1),
            "N": count,
            "bins": bins,
        },
    }


def report_of(rows: list[Row], runtime_ms: int | None = None) -> dict[str, Any]:
    """Return fio's JSON for requests that completed so."""
    last = max((row[0] for row in rows), default=0)
    parts = {name: [row for row in rows if row[2] == bit] for bit, name in enumerate(NAMES)}
    return {
        "fio version": "fio-3.33",
        "jobs": [
            {
                "jobname": "segment",
                "error": 0,
                "job_runtime": last if runtime_ms is None else runtime_ms,
                **{name: operation(part) for name, part in parts.items()},
            }
        ],
    }


def log_of(rows: list[Row]) -> str:
    """Return the text of a latency log."""
    return "".join(", ".join(map(str, (*row, 0))) + "\n" for row in rows)


def answer(
    *,
    every_ns: int = 100_000,
    spoil: Callable[[dict[str, Any]], None] = lambda report: None,
) -> None:
    """Answer as fio would on a drive that takes `every_ns` a request."""
    given = options()
    limit_ms = int(given["runtime"].removesuffix("ms"))
    rows = rows_of(given["read_iolog"], every_ns)
    sent = [row for row in rows if row[0] < limit_ms]
    report = report_of(sent, limit_ms if len(sent) < len(rows) else None)
    spoil(report)
    Path(f"{given['write_lat_log']}_lat.1.log").write_text(log_of(sent))
    sys.stdout.write(json.dumps(report))
