"""Small tables of measurements that somebody could have made, for tests of `models/own`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np


def own_rows(count: int = 60, seed: int = 0, noise: float = 0.02) -> list[dict[str, Any]]:
    """Give rows of a drive that is asked by depth and block size, through two engines."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        depth = int(random.choice([1, 2, 4, 8, 16, 32]))
        kib = int(random.choice([4, 16, 64, 256]))
        engine = str(random.choice(["libaio", "psync"]))
        seconds = (80e-6 + kib * 2e-6) * (1.5 if engine == "psync" else 1) * depth**0.3
        seconds *= math.exp(random.normal(0, noise))
        rows.append(
            {
                "depth": depth,
                "block_size_kib": kib,
                "engine": engine,
                "latency_us": round(seconds * 1e6, 4),
                "p99_ms": round(seconds * 3e3, 6),
                "iops": round(depth / seconds, 3),
            }
        )
    return rows


def csv_of(rows: list[dict[str, Any]]) -> str:
    """Give rows as CSV."""
    names = list(rows[0])
    lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)]
    return "\n".join(lines) + "\n"


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as CSV and give the path."""
    path.write_text(csv_of(rows))
    return path


def own_words(rows: Path, out: Path, *options: str) -> list[str]:
    """Give the words that fit models to a file."""
    return ["model", "--from", str(rows), "--out", str(out), *options]


def fio_report(jobs: list[dict[str, Any]], **common: str) -> str:
    """Give fio's JSON of jobs; each has ``name``, ``options`` and directions' results."""
    entries = []
    for number, job in enumerate(jobs):
        entries.append(
            {
                "jobname": job.get("name", f"job{number}"),
                "groupid": job.get("group", number),
                "error": job.get("error", 0),
                "job options": job.get("options", {}),
                **{of: fio_direction(*job.get(of, (0, 0.0))) for of in ("read", "write")},
            }
        )
    return json.dumps({"fio version": "fio-3.33", "global options": common, "jobs": entries})


def fio_direction(requests: int, mean_ns: float) -> dict[str, Any]:
    """Give what fio says of one direction in a second of 4 KiB requests."""
    return {
        "total_ios": requests,
        "iops": float(requests),
        "bw_bytes": requests * 4096,
        "lat_ns": {"mean": mean_ns},
        "clat_ns": {
            "mean": 0.9 * mean_ns,
            "percentile": {"50.000000": round(0.8 * mean_ns), "99.000000": round(3 * mean_ns)},
        },
    }
