"""Records of firmware made by a rule, for tests: nothing runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from drivelab.firmware.profiled import COUNTS, EVENTS, Profiled
from drivelab.firmware.record_logs import RecordColumn, RecordLog

Array = NDArray[np.float64]

TARGET = {"name": "made", "cores": 4, "frequency_hz": 1_000_000_000}
#: Cycles and nanoseconds of memory that a page read, a page written and a page moved cost.
CYCLES = {"read": 4000.0, "written": 6000.0, "moved": 2000.0}
MEMORY_NS = {"read": 1000.0, "written": 500.0, "moved": 250.0}


def log(values: dict[str, Array], parameters: dict[str, object] | None = None) -> RecordLog:
    columns = tuple(RecordColumn(name, "count", "counted") for name in values)
    return RecordLog(columns, np.column_stack(list(values.values())), dict(parameters or {}))


def made_profiled(
    label: str, write_ratio: float, *, records: int = 20, moved: float = 0.0, seed: int = 1
) -> Profiled:
    """Make records of 1000 requests of 16 KiB; `moved` pages are moved for each that is written."""
    rng = np.random.default_rng(seed)
    writes = np.round(1000 * np.clip(write_ratio + rng.uniform(-0.05, 0.05, records), 0, 1))
    reads = 1000 - writes
    moves = np.round(moved * writes * rng.uniform(0.8, 1.2, records))
    some = np.full(records, 1000.0)
    counts = {name: np.zeros(records) for name in COUNTS} | {
        "requests": some,
        "commands": some,
        "reads": reads,
        "writes": writes,
        "pages": some,
        "copied_bytes": 16_384 * some,
        "map_lookups": some,
        "flash_reads": reads + moves,
        "flash_programs": writes + moves,
        "pages_moved": moves,
    }
    parts = {"read": reads, "written": writes, "moved": moves}
    cycles = sum(CYCLES[name] * amount for name, amount in parts.items())
    memory = sum(MEMORY_NS[name] * amount for name, amount in parts.items())
    busy = cycles + memory
    target = {
        "time_low_ns": 0.4 * busy,
        "time_ns": 0.5 * busy,
        "time_high_ns": 0.6 * busy,
        "busy_cycles": busy,
        "memory_cycles": memory,
        "instructions": cycles,
    }
    events = {
        name: (1 + place) * busy + 1000 * place * rng.uniform(0, 1, records)
        for place, name in enumerate(EVENTS)
    }
    return Profiled(label, log(counts), log(events, {"name": "host"}), log(target, TARGET))
