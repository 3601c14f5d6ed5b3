"""Regions of a drive for requests that do not follow earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The most regions of a fitted scenario.
MOST_REGIONS: Final = 128
#: Bounds of regions are rounded to this.
ROUNDED_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class Region:
    """A part of the drive."""

    range_offset_bytes: int
    range_bytes: int


def regions_of(offsets: NDArray[np.int64], end_bytes: int) -> tuple[Region, ...]:
    """Cut a drive into regions in each of which offsets are nearly uniform.

    A region is cut at its longest gap if that is a tenth of it, else in the middle of its requests.
    The next region to cut is the one with the most requests times bytes. The last region ends where
    the trace does, and may be one where no request begins.
    """
    end = -(-end_bytes // ROUNDED_BYTES) * ROUNDED_BYTES
    cells = np.sort(offsets // ROUNDED_BYTES)
    parts = [cells] if len(cells) else []
    while 0 < len(parts) < MOST_REGIONS - 1:
        widest = max(range(len(parts)), key=lambda each: _spread(parts[each]))
        if _spread(parts[widest]) == 0:
            break
        parts[widest : widest + 1] = _cut(parts[widest])
    regions = [
        Region(int(part[0]) * ROUNDED_BYTES, int(part[-1] - part[0] + 1) * ROUNDED_BYTES)
        for part in parts
    ]
    reached = regions[-1].range_offset_bytes + regions[-1].range_bytes if regions else 0
    if reached < end:
        regions.append(Region(reached, end - reached))
    return tuple(regions)


def region_numbers(regions: tuple[Region, ...], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the region of each of the offsets that the regions were made from."""
    begins = np.array([each.range_offset_bytes for each in regions])
    return np.asarray(np.searchsorted(begins, offsets, "right") - 1, np.int64)


def _spread(cells: NDArray[np.int64]) -> int:
    return len(cells) * int(cells[-1] - cells[0])


def _cut(cells: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Cut sorted cells, which are not all the same, into two."""
    steps = np.diff(cells)
    widest = int(steps.argmax())
    if steps[widest] * 10 < cells[-1] - cells[0]:
        middle = cells[len(cells) // 2]
        middle = middle if middle > cells[0] else cells[np.searchsorted(cells, middle, "right")]
        place = int(np.searchsorted(cells, middle, "left"))
    else:
        place = widest + 1
    return [cells[:place], cells[place:]]
