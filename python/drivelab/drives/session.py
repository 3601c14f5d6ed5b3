"""A drive used for hours: what is done to it adds up, until it is purged.

Where `Drive.measure` begins every measurement from one condition, a session goes on from the
state that the step before left, as the performance test specification wants it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult, added_up
from drivelab.drives.protocol import NamedDrive, OpenDrive
from drivelab.errors import UsageError
from drivelab.workloads.stimuli import Stimuli

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


#: What reads and writes did.
Operations = tuple[OperationResult | None, OperationResult | None]


def step_measurement(
    step: int,
    work: Stimuli,
    duration_ns: int,
    done: Sequence[Operations],
    *,
    whole: Operations | None = None,
    total_bytes: int | None,
    extra: dict[str, float] | None = None,
) -> Measurement:
    """Give the measurement of a step.

    Parameters
    ----------
    step
        Its place in the session.
    work
        What was sent.
    duration_ns
        Of the drive's time.
    done
        What reads and writes of each stimulus did.
    whole
        What all of them did, where that is known better than by adding up.
    total_bytes
        What was to end it, beside time.
    extra
        See `Measurement.extra`.
    """
    read, write = (
        tuple(added_up(parts) for parts in zip(*done, strict=True)) if whole is None else whole
    )
    moved = sum(part.bytes for part in (read, write) if part is not None)
    is_moved = total_bytes is not None and moved >= total_bytes
    at_once = zip(work.stimuli, done, strict=True) if len(done) > 1 else ()
    return Measurement(
        index=step,
        workload=work,
        duration_ns=duration_ns,
        read=read,
        write=write,
        extra={} if extra is None else extra,
        stopped_by="bytes" if is_moved else "seconds",
        streams=tuple(
            Measurement(step, Stimuli((stimulus,)), duration_ns, *each, stopped_by="seconds")
            for stimulus, each in at_once
        ),
    )


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
    ) -> Measurement:
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
