"""A drive used for hours: what is done to it adds up, until it is purged.

Where `Drive.measure` begins every measurement from one condition, a session goes on from the
state that the step before left, as the performance test specification wants it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from drivelab.drives.measurement import Measurement
from drivelab.drives.open_drive import NamedDrive, OpenDrive
from drivelab.drives.operation_result import added_up
from drivelab.errors import UsageError
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.workload import ends_by_itself, told_by_stream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from drivelab._core import Stream
    from drivelab.drives.operation_result import OperationResult
    from drivelab.drives.plan import StoppedBy
    from drivelab.drives.stream_result import StreamResult
    from drivelab.workloads.workload import Workload

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
class StepPlan:
    """When a step ends: at `seconds`, at `total_bytes` or where the workload ends by itself.

    Whatever comes first ends it, as it ends a measurement (`drivelab.drives.plan`): for a pass, a
    trace or a scenario that says when, neither need be given.

    Attributes
    ----------
    seconds
        Of the drive's time; of a scenario after its warm-up.
    total_bytes
        Transferred in both directions; of a single stream.
    """

    seconds: float | None = None
    total_bytes: int | None = None

    def check(self, work: Workload, streams: Sequence[Stream]) -> None:
        """Refuse what nothing ends, or whose streams would not end together; `UsageError`."""
        if self.seconds is None and self.total_bytes is None:
            if not ends_by_itself(work, streams):
                raise UsageError("nothing ends the step: give seconds or total_bytes")
            return
        if len(streams) != 1 and self.total_bytes is not None:
            noun = "stimuli" if isinstance(work, Stimuli) else "streams"
            raise UsageError(
                f"{len(streams)} {noun} at the same time end by time: give seconds, not total_bytes"
            )


def step_measurement(
    step: int,
    work: Workload,
    sent: Sequence[Stream],
    duration_ns: int,
    streams: Sequence[StreamResult],
    *,
    whole: tuple[OperationResult | None, OperationResult | None] | None = None,
    plan: StepPlan,
    ended: StoppedBy = "seconds",
    extra: dict[str, float] | None = None,
) -> Measurement:
    """Give the measurement of a step.

    Parameters
    ----------
    step
        Its place in the session.
    work, sent
        What was sent, and the streams that it consists of.
    duration_ns
        Of the drive's time.
    streams
        What each of its streams did.
    whole
        What reads and writes of all of them did, where that is known better than by adding up.
    plan
        What was to end it.
    ended
        What did, where it was not the bytes of the plan.
    extra
        See `Measurement.extra`.
    """
    read, write = whole or (
        added_up([each.read for each in streams]),
        added_up([each.write for each in streams]),
    )
    moved = sum(part.bytes for part in (read, write) if part is not None)
    is_moved = plan.total_bytes is not None and moved >= plan.total_bytes
    return Measurement(
        index=step,
        workload=work,
        duration_ns=duration_ns,
        read=read,
        write=write,
        extra={} if extra is None else extra,
        stopped_by="bytes" if is_moved else ended,
        streams=tuple(streams) if told_by_stream(work, sent) else (),
    )


class Askable(NamedDrive, Protocol):
    """A drive that says what it would take, whether it is open or not made yet."""

    def check(self, work: Workload) -> None:
        """Raise `UsageError` when the drive cannot be asked for this; nothing is sent."""
        ...


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

    def run(self, work: Workload, plan: StepPlan, step: int) -> Measurement:
        """Send a workload, inside the drive, in the state that the step before left.

        Parameters
        ----------
        work
            What is sent. Simulated drives take any kind, real ones all but scenarios and traces.
        plan
            When it ends, unless it ends by itself before.
        step
            Its place in the session, the key of its random numbers: the same steps in the same
            order on the same simulated drive give the same results.

        Raises
        ------
        UsageError
            When the drive cannot be asked for it, or nothing ends it.
        RunError
            When the drive fails, or vanishes.
        """
        ...

    def idle(self, seconds: float) -> None:
        """Leave the drive alone for this much of its time."""
        ...

    def save_state(self) -> bytes | None:
        """Return the state as bytes; ``None`` where the drive keeps it itself."""
        ...

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Let a file made for the drive stay, for a session that resumes; give its path.

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
