"""What each thing that a firmware does costs one core.

::

    time of one core = sum over counts n_k (cycles_k / clock + memory_ns_k)

Cycles scale with the clock: instructions, near caches, missed branches. Memory's nanoseconds do
not. Both are 0 or more, so that no count makes a firmware faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

#: What is counted, in the firmware program's records and in the simulator alike.
COUNTS: Final[dict[str, str]] = {
    "command": "a command of the host: read, write, trim or flush",
    "read_page": "a page that a read of the host touches",
    "written_page": "a page that a write of the host touches",
    "copied_kib": "KiB copied between the host's memory and buffers",
    "flash_read": "a page read from flash for the host, or to fill one that is written in part",
    "flash_program": "a page programmed for the host",
    "page_moved": "a valid page that collection or wear levelling moves: its read and its program",
    "flash_erase": "a block erased",
}
#: The most cycles, and nanoseconds of memory, of one of a count that a preset may have.
MOST_OF_ONE: Final = 1e6
#: The most cores of a preset, and its slowest and fastest clock.
MOST_CORES: Final = 64
CLOCKS_MHZ: Final = (10, 100_000)


@dataclass(frozen=True)
class Cost:
    """What one of a count costs.

    Attributes
    ----------
    cycles
        Of a core; they scale with the clock.
    memory_ns
        Waiting for memory; it does not.
    """

    cycles: float = 0.0
    memory_ns: float = 0.0


@dataclass(frozen=True)
class Costs:
    """What one of each count costs.

    Attributes
    ----------
    of
        By count, each of `COUNTS`.
    """

    of: Mapping[str, Cost]

    def core_ns(self, counts: Mapping[str, float], clock_mhz: float) -> float:
        """Return how long one core works on so many of each count, ns."""
        return sum(
            amount * (self.of[name].cycles * 1000 / clock_mhz + self.of[name].memory_ns)
            for name, amount in counts.items()
        )

    def table(self) -> dict[str, float]:
        """Return a preset's table ``[firmware.cost]``: ``command_cycles`` and so on."""
        return {
            key: value
            for name in COUNTS
            for key, value in (
                (f"{name}_cycles", self.of[name].cycles),
                (f"{name}_memory_ns", self.of[name].memory_ns),
            )
        }
