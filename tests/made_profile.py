"""Profiles of firmware whose counts and times are given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from drivelab.firmware.profiled import COUNTS, EVENTS, Profiled
from drivelab.firmware.record_logs import RecordColumn, RecordLog


def log(values: Mapping[str, float], scatter: np.ndarray) -> RecordLog:
    """Give a record for each factor of `scatter`, with all values times it."""
    columns = tuple(RecordColumn(name, "count", "counted") for name in values)
    rows = scatter[:, None] * np.array(list(values.values()), dtype=float)
    return RecordLog(columns, rows, {})


def profiled(
    label: str, reads: int, *, moved: int = 0, records: int = 3, scatter: float = 0.0
) -> Profiled:
    """Give 1000 requests of a page a record; 4000 instructions a read, 6000 a write.

    The target takes 1.5 ns an instruction, the host a quarter of that. Events and times of a
    record are larger or smaller by up to `scatter`, each by its own.
    """
    rng = np.random.default_rng(len(label) + reads)
    same = np.ones(records)
    factors = 1 + scatter * rng.uniform(-1, 1, records)
    writes = 1000 - reads
    counts = dict.fromkeys(COUNTS, 0.0) | {
        "requests": 1000,
        "reads": reads,
        "writes": writes,
        "pages": 1000,
        "copied_bytes": 1000 * 16384,
        "map_lookups": 1000,
        "flash_reads": reads + moved,
        "flash_programs": writes + moved,
        "pages_moved": moved,
    }
    instructions = 4000 * reads + 6000 * writes + 2000 * moved
    time = 1.5 * instructions
    target = {"time_low_ns": 0.9 * time, "time_ns": time, "time_high_ns": 1.2 * time}
    events = dict.fromkeys(EVENTS, 1.0) | {"instructions": instructions, "time_ns": time / 4}
    return Profiled(
        label,
        log(counts, same),
        log(events, factors),
        log({**target, "instructions": instructions}, factors),
    )
