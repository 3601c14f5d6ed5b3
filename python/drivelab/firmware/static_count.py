"""The baseline: a time from counts alone, as in simulators with a static firmware model.

::

    time = (pages read x instructions of a read + pages written x instructions of a write) / clock
           + payload / memory's rate + map entries x latency of memory

Instructions are counted once, on records without collection. If there are none with reads and with
writes, all records are used, and instructions for moved pages are left out. Every instruction takes
one cycle of one core. Only payload and map accesses count as memory. As in the baseline of the
paper, this leaves out what depends on how the firmware runs (caches, branches, waiting, parallel
work) and background work (Lee et al. 2021, section 4.2, of Amber).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.errors import RunError
from drivelab.firmware_model.costs import COUNTS, Cost, Costs

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
        """Count them.

        Raises
        ------
        RunError
            If records do not separate reads, writes and collection.
        """
        if any(each.board is not None for each in profiles):
            raise RunError("a board reports no instructions; profile the emulated target for it")
        ways = np.concatenate([_pages(each) for each in profiles])
        moved = np.concatenate([each.counted.column("pages_moved") for each in profiles])
        counts = np.concatenate([each.target.column("instructions") for each in profiles])
        quiet = moved == 0
        if np.linalg.matrix_rank(ways[quiet]) == 2:
            rows, counts = ways[quiet], counts[quiet]
        else:
            rows = np.column_stack([ways, moved])
        if np.linalg.matrix_rank(rows) < rows.shape[1]:
            raise RunError(
                "instructions of reads, writes and collection cannot be separated; profile "
                "workloads that only read, that only write, and that do both"
            )
        found, *_ = np.linalg.lstsq(rows, counts, rcond=None)
        return cls(max(float(found[0]), 0.0), max(float(found[1]), 0.0))

    def costs(self) -> Costs:
        """Return the same as costs of counts; a page that no buffer holds is looked up once."""
        found = dict.fromkeys(COUNTS, Cost())
        found["read_page"] = Cost(cycles=self.read_instructions)
        found["written_page"] = Cost(cycles=self.written_instructions)
        found["copied_kib"] = Cost(memory_ns=1024 / _MEMORY_BYTES_PER_SECOND * 1e9)
        found["flash_read"] = found["flash_program"] = Cost(memory_ns=_MEMORY_NS)
        return Costs(found)

    def times(self, profiled: Profiled) -> Array:
        """Return the times of a workload's records, ns, shape (records,)."""
        counted = profiled.counted
        cycles = _pages(profiled) @ np.array([self.read_instructions, self.written_instructions])
        payload_ns = counted.column("copied_bytes") / _MEMORY_BYTES_PER_SECOND * 1e9
        map_ns = counted.column("map_lookups") * _MEMORY_NS
        clock_hz = float(profiled.target.parameters.get("frequency_hz", _CLOCK_HZ))
        found: Array = cycles / clock_hz * 1e9 + payload_ns + map_ns
        return found


def _pages(profiled: Profiled) -> Array:
    """Return the pages that each record reads and writes, shape (records, 2)."""
    reads, writes = (profiled.counted.column(name) for name in ("reads", "writes"))
    pages = profiled.counted.column("pages")
    share = writes / np.maximum(reads + writes, 1)
    return np.column_stack([pages * (1 - share), pages * share])
