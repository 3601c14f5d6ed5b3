"""A drive used for hours: what is done to it adds up, until it is purged.

Where `Drive.measure` begins every measurement from one condition, a session goes on from the
state that the step before left, as the performance test specification wants it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from drivelab.drives.completed import Completed
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.protocol import NamedDrive, OpenDrive
from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    """What a drive did under one stimulus, or several at the same time.

    Attributes
    ----------
    duration_ns
        Of the drive's time.
    read, write
        What each direction did, of all streams; ``None`` where nothing was asked of it. Both are
        ``None`` where nothing completed in the time.
    extra
        What only some drives know: ``write_amplification_ratio``, ``energy_joules``, and of real
        ones ``began_unix_seconds``.
    streams
        Where several stimuli ran at the same time, what each of them did in the same duration;
        empty of a single one.
    """

    duration_ns: int
    read: OperationResult | None
    write: OperationResult | None
    extra: dict[str, float] = field(default_factory=dict)
    streams: tuple[StepResult, ...] = ()

    def __post_init__(self) -> None:
        if self.duration_ns < 1:
            raise RunError(f"a step took {self.duration_ns} ns")

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit."""
        values: dict[str, Any] = {
            "duration_ns": self.duration_ns,
            "read": None if self.read is None else self.read.to_json(),
            "write": None if self.write is None else self.write.to_json(),
            "extra": {name: self.extra[name] for name in sorted(self.extra)},
        }
        if self.streams:
            values["streams"] = [stream.to_json() for stream in self.streams]
        return values

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> StepResult:
        """Read what `to_json` wrote."""
        parts = {
            name: None if data[name] is None else OperationResult.from_json(data[name])
            for name in ("read", "write")
        }
        streams = tuple(cls.from_json(stream) for stream in data.get("streams", ()))
        extra = dict(data["extra"])
        return cls(data["duration_ns"], parts["read"], parts["write"], extra, streams)


class Askable(NamedDrive, Protocol):
    """A drive that says what it would take, whether it is open or not made yet."""

    def check(self, *stimuli: Stimulus, shares: Sequence[float] = ()) -> None:
        """Raise `UsageError` when the drive cannot be asked for these at once; nothing is sent."""
        ...


def check_end(stimuli: Sequence[Stimulus], seconds: float | None, total_bytes: int | None) -> None:
    """Refuse a step that nothing ends, or whose streams would not end together."""
    if seconds is None and total_bytes is None:
        raise UsageError("nothing ends the step: give seconds or total_bytes")
    if len(stimuli) != 1 and total_bytes is not None:
        raise UsageError(
            f"{len(stimuli)} stimuli at the same time end by time: give seconds, not total_bytes"
        )


def check_shares(stimuli: Sequence[Stimulus], shares: Sequence[float]) -> None:
    """Refuse shares of requests that are none: each above 0, one for each stimulus."""
    if shares and (len(shares) != len(stimuli) or not all(0 < share <= 1 for share in shares)):
        raise UsageError(
            f"shares of {len(stimuli)} stimuli are {list(shares)}; allowed: one for each, above 0 "
            "to 1"
        )


class DriveSession(OpenDrive, Askable, Protocol):
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

    def run(
        self,
        *stimuli: Stimulus,
        step: int,
        seconds: float | None = None,
        total_bytes: int | None = None,
        shares: Sequence[float] = (),
    ) -> StepResult:
        """Send stimuli for a time, or one until so much was transferred, whichever is first.

        Parameters
        ----------
        stimuli
            What is sent, inside the drive: one, or several at the same time, each by a program of
            its own.
        step
            Its place in the session, the key of its random numbers: the same steps in the same
            order on the same simulated drive give the same results.
        seconds
            Of the drive's time.
        total_bytes
            Transferred in both directions; of a single stimulus.
        shares
            Of the requests, for each stimulus: one that is ahead of its share waits for the others.
            Without shares each is as fast as it can be.

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

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Let a file made for the drive stay, for a session that goes on; give its path.

        It is removed when that one is closed. ``None`` where none would be removed; with
        `only_found` also where the file is new.
        """
        ...

    def load_state(self, state: bytes) -> None:
        """Take up what `save_state` gave on the same drive.

        Raises
        ------
        UsageError
            When it is of another drive, or damaged.
        """
        ...
