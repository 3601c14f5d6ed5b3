"""The firmware's share of an operation, with flash of two kinds (Lee et al. 2021, figure 1).

The time of a request is the firmware's time on the target plus that of the flash, as in the paper.
Flash operations are spread evenly over all dies: all of them, or only those that host requests
need. Erases and transfers are left out, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from drivelab.firmware.profiled import Profiled
    from drivelab.firmware.record_logs import RecordLog


@dataclass(frozen=True)
class FlashTimes:
    """Times for a page of 16 KiB (Lee et al. 2021, figure 1)."""

    name: str
    read_ns: float
    program_ns: float


FLASHES: Final = (
    FlashTimes("Z-NAND", 12_000, 400_000),
    FlashTimes("conventional NAND", 150_000, 2_600_000),
)


@dataclass(frozen=True)
class OperationShare:
    """A workload's request on flash of one kind.

    Attributes
    ----------
    workload
        Its label.
    flash
        Which.
    firmware_ns, flash_ns
        Of a request.
    """

    workload: str
    flash: str
    firmware_ns: float
    flash_ns: float

    @property
    def ratio(self) -> float:
        """The firmware's part of both."""
        return self.firmware_ns / (self.firmware_ns + self.flash_ns)


def flash_times(
    counted: RecordLog, flash: FlashTimes, dies: int, *, with_collection: bool = True
) -> NDArray[np.float64]:
    """Return the time of each record's flash operations on so many dies, ns, shape (records,).

    Parameters
    ----------
    counted
        The firmware's own counts.
    flash, dies
        What carries them out.
    with_collection
        Whether to count those that move valid pages, too.
    """
    moved = 0.0 if with_collection else counted.column("pages_moved")
    reads = counted.column("flash_reads") - moved
    programs = counted.column("flash_programs") - moved
    found: NDArray[np.float64] = (reads * flash.read_ns + programs * flash.program_ns) / dies
    return found


def operation_share(
    profiled: Profiled, flash: FlashTimes, dies: int, *, with_collection: bool = True
) -> OperationShare:
    """Return the firmware's share in a workload's requests (parameters as of `flash_times`)."""
    requests = profiled.counted.column("requests").sum()
    flash_ns = flash_times(profiled.counted, flash, dies, with_collection=with_collection)
    firmware_ns = profiled.target.column("time_ns").sum() / requests
    return OperationShare(
        profiled.label, flash.name, float(firmware_ns), float(flash_ns.sum() / requests)
    )
