"""The settings on a drive: the size of its range, the length of a minute, what is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import UsageError
from drivelab.pts.settings import Settings
from drivelab.units import format_size
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus

if TYPE_CHECKING:
    from drivelab.drives.session import Askable
    from drivelab.workloads.workload import Workload

#: Default preconditioning writes the capacity this many times, in requests of this size.
PRECONDITIONING_FILLS: Final = 2
PRECONDITIONING_BYTES: Final = 128 * 1024
_MINUTE_SECONDS: Final = 60.0
#: Ranges end at whole multiples of this, or of the drive's block if that is larger.
_RANGE_STEP_BYTES: Final = 4096


@dataclass(frozen=True)
class Extent:
    """The size of a drive under its settings.

    Attributes
    ----------
    capacity_bytes
        User capacity, of which multiples are written; scaled.
    range_bytes
        The active range, from the drive's beginning; scaled.
    block_bytes
        The drive's logical block.
    """

    capacity_bytes: int
    range_bytes: int
    block_bytes: int

    @classmethod
    def of(cls, capacity_bytes: int, block_bytes: int, settings: Settings) -> Extent:
        """Return the extent of a drive; `UsageError` if nothing of it would be left."""
        step = max(block_bytes, _RANGE_STEP_BYTES)
        capacity = int(capacity_bytes * settings.scale)
        length = int(capacity * settings.active_range_ratio) // step * step
        if length < step:
            raise UsageError(
                f"an active range of {length} bytes is left of {format_size(capacity_bytes)}; "
                "allowed: larger drives, ranges or scales"
            )
        return cls(capacity, length, block_bytes)

    def check_holds(self, size_bytes: int, threads: int) -> None:
        """Refuse a range too small for each of `threads` to send one request in its own part."""
        if self.range_bytes < size_bytes * threads:
            many = f" for each of {threads} threads" if threads > 1 else ""
            raise UsageError(
                f"the active range of {format_size(self.range_bytes)} is smaller than one "
                f"request of {format_size(size_bytes)}{many}; use a larger drive, --active-range "
                "or --scale, or fewer --threads"
            )


@dataclass(frozen=True)
class AppliedSettings:
    """Settings applied to a drive.

    Attributes
    ----------
    settings, extent
        The settings, and the size of the drive.
    is_simulated
        Whether the drive is simulated. A real drive's write cache is switched; a simulated drive's
        writes are forced.
    accepts
        Raises `UsageError` for what the drive cannot be asked for.
    """

    settings: Settings
    extent: Extent
    is_simulated: bool
    accepts: Callable[[Workload], None] = field(compare=False)

    @classmethod
    def of(cls, drive: Askable, settings: Settings) -> AppliedSettings:
        """Apply settings to a drive; `UsageError` if nothing of it would be left."""
        extent = Extent.of(drive.capacity_bytes, drive.block_bytes, settings)
        return cls(settings, extent, drive.kind == "simulated", drive.check)

    def minutes(self, count: float) -> float:
        """Return this number of minutes in seconds, scaled."""
        return count * _MINUTE_SECONDS * self.settings.scale

    def seconds(self, count: float) -> float:
        """Return this number of seconds, scaled."""
        return count * self.settings.scale

    def stimulus(
        self, sizes: int | tuple[tuple[int, float], ...], read_ratio: float, **others: Any
    ) -> Stimulus:
        """Return a stimulus over the active range; the default values are the settings'.

        Raises
        ------
        UsageError
            If the drive's blocks are larger than a request, its range is too small, or it cannot be
            asked for that.
        """
        values: dict[str, Any] = {
            "threads": self.settings.threads,
            "queue_depth": self.settings.queue_depth,
            "content": self.settings.content,
            "is_forced": self.settings.writes_are_forced and self.is_simulated,
            **others,
        }
        parts = ((sizes, 1.0),) if isinstance(sizes, int) else sizes
        block_bytes = self.extent.block_bytes
        for size, _ in parts:
            if size % block_bytes:
                raise UsageError(
                    f"a request of {size} bytes on a drive with blocks of "
                    f"{format_size(block_bytes)}; allowed: multiples of that"
                )
        # For sequential access each thread has its own part of the range.
        parted = 1 if values.get("is_random", True) else values["threads"]
        largest = max(size for size, _ in parts)
        self.extent.check_holds(largest, parted)
        for _, share in values.get("zones", ()):
            if self.extent.range_bytes * share < largest:
                raise UsageError(
                    f"{100 * share:g} % of the active range of "
                    f"{format_size(self.extent.range_bytes)} is smaller than a request of "
                    f"{format_size(largest)}; use a larger drive, --active-range or --scale"
                )
        stimulus = Stimulus(
            read_ratio=read_ratio, sizes=parts, range_bytes=self.extent.range_bytes, **values
        )
        self.accepts(Stimuli((stimulus,)))
        return stimulus

    def preconditioning(self, size_bytes: int = PRECONDITIONING_BYTES) -> Stimulus:
        """Return the sequential writes that precondition a drive; errors as for `stimulus`."""
        return self.stimulus(size_bytes, 0.0, is_random=False)
