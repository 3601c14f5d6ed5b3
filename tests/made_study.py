"""Drives as Coughlin et al. 2010 describe theirs, made up."""

from __future__ import annotations

from typing import Any

from drivelab.pts.procedures.iops import SIZES
from drivelab.reproduce.snia2010 import CONTENTS, DISK, MLC, SLC, Study


def course(lost: float, settled: int | None = 300) -> dict[str, Any]:
    """Give a drive of 1000 IOPS that falls linearly for as long as it takes to settle."""
    last = 1000.0 * (1 - lost)
    count = 320
    iops = [max(last, 1000.0 - (1000.0 - last) * minute / 200) for minute in range(count)]
    return {
        "fresh_iops": iops[0],
        "settled_iops": None if settled is None else last,
        "steady_after_minutes": settled,
        "drive_fills": 2.5,
        "minutes": {"iops": iops, "end_minutes": [minute + 1.0 for minute in range(count)]},
    }


def peaked(at: int, height: float = 8000.0) -> dict[int, float]:
    """Give IOPS that halve with every doubling away from a block size."""
    return {size: height * min(size, at) / max(size, at) for size in SIZES}


def study() -> Study:
    ssds = (*SLC, *MLC)
    blocks = {drive: peaked(4096) for drive in ssds} | {DISK: dict.fromkeys(SIZES, 100.0)}
    random = {size: 2000.0 * 512 / size for size in SIZES}
    return Study(
        {drive: course(0.7) for drive in ssds} | {DISK: course(0.01)},
        blocks,
        dict(zip(CONTENTS, (peaked(4096), peaked(4096), random), strict=True)),
    )
