"""A drive used for hours: what is done to it adds up, until it is purged.

Where `Drive.measure` begins every measurement from one condition, a session goes on from the
state that the step before left, as the performance test specification wants it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from drivelab.drives.completed import Completed
from drivelab.drives.drive import OpenDrive
from drivelab.drives.measurement import OperationResult
from drivelab.errors import RunError

if TYPE_CHECKING:
    from drivelab.workloads.stimulus import Stimulus

#: ``done``: the drive is as it left the factory. ``unavailable``: it has no such command, or none
#: was allowed. ``refused``: the drive said no.
PurgeOutcome = Literal["done", "unavailable", "refused"]


@dataclass(frozen=True)
class Purge:
    """What became of purging a drive.

    Attributes
    ----------
    outcome
        See `PurgeOutcome`.
    method
        How, in words: ``a fresh state``, ``nvme format``.
    reason
        Why not, one line; empty when it was done.
    """

    outcome: PurgeOutcome
    method: str
    reason: str = ""


@dataclass(frozen=True)
class StepResult(Completed):
    """What a drive did under one stimulus.

    Attributes
    ----------
    duration_ns
        Of the drive's time.
    read, write
        What each direction did; ``None`` where nothing was asked of it. Both are ``None`` where
        nothing completed in the time.
    extra
        What only some drives know: ``write_amplification_ratio``, ``energy_joules``, and of real
        ones ``began_unix_seconds``.
    """

    duration_ns: int
    read: OperationResult | None
    write: OperationResult | None
    extra: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.duration_ns < 1:
            raise RunError(f"a step took {self.duration_ns} ns")

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit."""
        return {
            "duration_ns": self.duration_ns,
            "read": None if self.read is None else self.read.to_json(),
            "write": None if self.write is None else self.write.to_json(),
            "extra": {name: self.extra[name] for name in sorted(self.extra)},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> StepResult:
        """Read what `to_json` wrote."""
        parts = {
            name: None if data[name] is None else OperationResult.from_json(data[name])
            for name in ("read", "write")
        }
        return cls(data["duration_ns"], parts["read"], parts["write"], dict(data["extra"]))


class DriveSession(OpenDrive, Protocol):
    """A drive, step after step."""

    @property
    def is_whole_device(self) -> bool:
        """Whether results are of a device, not of a file or a partition."""
        ...

    def header(self) -> dict[str, str]:
        """Give what a report says of drive and host, by field in words.

        ``vendor``, ``model``, ``serial``, ``firmware``, ``interface``, ``form factor``,
        ``media``, ``host``, ``operating system``, ``driver``, ``write cache``; empty where
        nobody knows.
        """
        ...

    def purge(self) -> Purge:
        """Bring the drive back to how it left the factory, by its own command."""
        ...

    def check(self, stimulus: Stimulus) -> None:
        """Raise `UsageError` when the drive cannot be asked for a stimulus; nothing is sent."""
        ...

    def run(
        self,
        stimulus: Stimulus,
        *,
        step: int,
        seconds: float | None = None,
        total_bytes: int | None = None,
    ) -> StepResult:
        """Send one stimulus for a time, or until so much was transferred, whichever is first.

        Parameters
        ----------
        stimulus
            What is sent, inside the drive.
        step
            Its place in the session, the key of its random numbers: the same steps in the same
            order on the same simulated drive give the same results.
        seconds
            Of the drive's time.
        total_bytes
            Transferred in both directions.

        Raises
        ------
        UsageError
            When the drive cannot be asked for it, or nothing ends it.
        RunError
            When the drive fails, or vanishes.
        """
        ...

    def idle(self, seconds: float) -> None:
        """Leave the drive alone for so much of its time."""
        ...

    def save_state(self) -> bytes | None:
        """Return the state as bytes; ``None`` where the drive keeps it itself."""
        ...

    def load_state(self, state: bytes) -> None:
        """Take up what `save_state` gave on the same drive.

        Raises
        ------
        UsageError
            When it is of another drive, or damaged.
        """
        ...
