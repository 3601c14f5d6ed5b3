"""The baseline: a time from counts alone, as simulators that model firmware statically give one.

::

    time = (pages read x instructions of a read + pages written x instructions of a write) / clock
           + payload / memory's rate + map entries x latency of memory

Instructions are counted once, on records during which nothing was collected, and every instruction
takes one cycle of one core. Of memory only payload and the map are counted. Left out, as there:
what depends on how the firmware runs (caches, branches, waiting, work side by side) and work in the
background (Lee et al. 2021, section 4.2, of Amber).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from drivelab.firmware.profiled import Profiled

    Array = NDArray[np.float64]

# Of the board of Lee et al. 2021, table 3: 1.2 GHz, DDR4 of 2400 MT/s, 8 bytes wide.
_CLOCK_HZ: Final = 1.2e9
_MEMORY_BYTES_PER_SECOND: Final = 2400e6 * 8
# A line that nothing foresaw, at 1.2 GHz: the likely penalty of the emulated target.
_MEMORY_NS: Final = 140 / 1.2


@dataclass(frozen=True)
class StaticCount:
    """Instructions of the ways that host requests take.

    Attributes
    ----------
    read_instructions, written_instructions
        Of a page.
    """

    read_instructions: float
    written_instructions: float

    @classmethod
    def of(cls, profiles: Sequence[Profiled]) -> StaticCount:
        """Count them on records without collection.

        Raises
        ------
        RunError
            Where collection never rests while pages are read and written.
        """
        ways, counts = [], []
        for each in profiles:
            quiet = each.counted.column("pages_moved") == 0
            ways.append(_pages(each)[quiet])
            counts.append(each.target.column("instructions")[quiet])
        rows = np.concatenate(ways)
        if np.linalg.matrix_rank(rows) < 2:
            raise RunError(
                "instructions of reads and writes cannot be told apart: no records without "
                "collection read and write; profile YA or TC too"
            )
        found, *_ = np.linalg.lstsq(rows, np.concatenate(counts), rcond=None)
        return cls(float(found[0]), float(found[1]))

    def times(self, profiled: Profiled) -> Array:
        """Return the times of a workload's records, ns, shape (records,)."""
        counted = profiled.counted
        cycles = _pages(profiled) @ np.array([self.read_instructions, self.written_instructions])
        payload_ns = counted.column("copied_bytes") / _MEMORY_BYTES_PER_SECOND * 1e9
        map_ns = counted.column("map_lookups") * _MEMORY_NS
        found: Array = cycles / _CLOCK_HZ * 1e9 + payload_ns + map_ns
        return found


def _pages(profiled: Profiled) -> Array:
    """Return the pages that each record reads and writes, shape (records, 2)."""
    reads, writes = (profiled.counted.column(name) for name in ("reads", "writes"))
    pages = profiled.counted.column("pages")
    share = writes / np.maximum(reads + writes, 1)
    return np.column_stack([pages * (1 - share), pages * share])
