"""How much of an operation is firmware, with flash of two kinds (Lee et al. 2021, figure 1).

Time of a request is that of the firmware on the target and that of the flash, one after the other,
as the paper adds them. Flash operations, those of collection too, are spread evenly over all dies.
Erases and transfers are left out, as there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from drivelab.firmware.profiled import Profiled


@dataclass(frozen=True)
class FlashTimes:
    """Of a page of 16 KiB (Lee et al. 2021, figure 1)."""

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


def operation_share(profiled: Profiled, flash: FlashTimes, dies: int) -> OperationShare:
    """Return the firmware's share in a workload's requests on so many dies."""
    counted = profiled.counted
    requests = counted.column("requests").sum()
    reads, programs = (counted.column(f"flash_{name}").sum() for name in ("reads", "programs"))
    flash_ns = (reads * flash.read_ns + programs * flash.program_ns) / dies / requests
    firmware_ns = profiled.target.column("time_ns").sum() / requests
    return OperationShare(profiled.label, flash.name, float(firmware_ns), float(flash_ns))
