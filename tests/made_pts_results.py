"""Made results of the IOPS test, whose rates follow a formula, and runs of a drive by hand."""

from __future__ import annotations

import copy
from typing import Any

from drivelab.pts.compared import KINDS, Compared

SIZES = (1048576, 131072, 65536, 32768, 16384, 8192, 4096, 512)
MIXES = (1.0, 0.95, 0.65, 0.5, 0.35, 0.05, 0.0)
#: Rounds of the window over their mean; their standard error is 0.01 x sqrt(0.5).
WOBBLE = (0.98, 0.99, 1.0, 1.01, 1.02)
SETTINGS = {
    "edition": "enterprise",
    "active_range_ratio": 1.0,
    "threads": 4,
    "queue_depth": 32,
    "content": "random",
    "rule": "pts",
    "seed": 0,
    "scale": 1.0,
    "workload": "4k-random",
    "idle_seconds": 0.0,
    "block_bytes": 4096,
    "write_ratio": 1.0,
    "operator": "",
}


def rate(size: int, reads: float, speed: float = 1.0) -> float:
    """Give a rate whose logarithm is linear in that of the size, and in the share of reads."""
    return speed * 1e6 / (size / 512) * 4.0**reads


def result(
    name: str = "sim:one", *, kind: str = "simulated", speed: float = 1.0, **changes: Any
) -> dict[str, Any]:
    """Give the result of a drive of a speed."""
    cells = [_cell(size, reads, speed) for reads in MIXES for size in SIZES]
    made = {
        "kind": "pts",
        "layout": 1,
        "test": "iops",
        "title": "IOPS test",
        "edition": "enterprise",
        "stamp": "",
        "verdict": "steady",
        "drive": {"name": name, "kind": kind, "capacity_bytes": 80_000_000_000},
        "header": {
            "date": "2026-11-22 03:04 UTC",
            "specification": "follows SNIA SSS PTS 2.0.x",
            "model": "not known",
            "firmware": "1.0",
            "purge": "done by a fresh state",
        },
        "settings": dict(SETTINGS),
        "sections": [{"name": "", "verdict": "steady", "rounds": 6, "cells": cells}],
    }
    settings = made["settings"]
    settings.update(changes.pop("settings", {}))
    outstanding = f"{settings['threads']} threads x queue depth {settings['queue_depth']}"
    made["header"]["outstanding"] = outstanding
    return copy.deepcopy({**made, **changes})


def _cell(size: int, reads: float, speed: float) -> dict[str, Any]:
    rounds = [rate(size, reads, speed) * share for share in WOBBLE]
    return {
        "block_bytes": size,
        "sizes": [[size, 1.0]],
        "read_ratio": reads,
        "is_random": True,
        "threads": 4,
        "queue_depth": 32,
        "iops_rounds": rounds,
        "bandwidth_bytes_per_second_rounds": [size * each for each in rounds],
        "latency_ns_mean_rounds": [128e9 / each for each in rounds],
        "iops_per_watt": None,
    }


def drive(name: str, **changes: Any) -> Compared:
    """Give a drive of a comparison."""
    made = result(f"sim:{name}", **changes)
    kind = made["drive"]["kind"]
    return Compared(f"{name} ({KINDS[kind]})", f"runs/{name}", made)


def saturation(name: str, fresh: float, settled: float) -> Compared:
    """Give a drive whose writes fell in one step after an hour."""
    minutes = [float(minute) for minute in range(1, 121)]
    section = {
        "name": "",
        "verdict": "steady",
        "cells": [],
        "fresh_iops": fresh,
        "settled_iops": settled,
        "lost_ratio": 1 - settled / fresh,
        "steady_after_minutes": 60.0,
        "run_minutes": 120,
        "drive_fills": 2.0,
        "minutes": {
            "end_minutes": minutes,
            "iops": [fresh if minute <= 60 else settled for minute in minutes],
        },
    }
    return drive(name, test="wsat", title="Write saturation test", sections=[section])
