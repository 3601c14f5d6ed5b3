"""A session on a drive: steps share one state, until the drive is purged.

`Drive.measure` begins every measurement in the same condition. A session continues from the state
that the previous step left, as the performance test specification requires.
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

#: ``done``: the drive is as new from the factory. ``unavailable``: it has no such command, or none
#: was allowed. ``refused``: the drive refused.
PurgeOutcome = Literal["done", "unavailable", "refused"]


@dataclass(frozen=True)
class Purge:
    """The result of purging a drive.

    Attributes
    ----------
    outcome
        See `PurgeOutcome`.
    method
        The method in words: ``a fresh state``, ``nvme format``.
    reason
        Why it was not done, in one line; empty if it was.
    """

    outcome: PurgeOutcome
    method: str
    reason: str = ""


@dataclass(frozen=True)
class StepPlan:
    """When a step ends: at `seconds`, at `total_bytes` or at the workload's own end.

    Whatever comes first ends it, as in a measurement (`drivelab.drives.plan`). A pass, a trace or a
    scenario with a duration needs neither.

    Attributes
    ----------
    seconds
        Time of the drive; for a scenario after its warm-up.
    total_bytes
        Bytes transferred in both directions, for a single stream.
    """

    seconds: float | None = None
    total_bytes: int | None = None

    def check(self, work: Workload, streams: Sequence[Stream]) -> None:
        """Refuse a step without an end, or whose streams would not end together; `UsageError`."""
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
    """Return the measurement of a step.

    Parameters
    ----------
    step
        Its position in the session.
    work, sent
        What was sent, and its streams.
    duration_ns
        Time of the drive.
    streams
        Results of each stream.
    whole
        Results of all reads and writes, if they are known better than by adding up.
    plan
        The plan of the step.
    ended
        What ended it, if it was not the plan's bytes.
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
    """A drive that reports what it would accept, whether it is open or not made yet."""

    def check(self, work: Workload) -> None:
        """Raise `UsageError` if the drive cannot be asked for this; nothing is sent."""
        ...


class DriveSession(OpenDrive, Askable, Protocol):
    """A drive that is used step after step."""

    @property
    def is_whole_device(self) -> bool:
        """Return whether results are those of a device, not of a file or a partition."""
        ...

    def header(self) -> dict[str, str]:
        """Return what a report says about drive and host, by field in words.

        ``vendor``, ``model``, ``serial``, ``firmware``, ``interface``, ``form factor``,
        ``media``, ``host``, ``operating system``, ``driver``, ``write cache``; empty if unknown.
        """
        ...

    def purge(self) -> Purge:
        """Purge the drive with its own command, so that it is as new from the factory."""
        ...

    def run(self, work: Workload, plan: StepPlan, step: int) -> Measurement:
        """Send a workload to the drive in the state that the previous step left.

        Parameters
        ----------
        work
            What to send. Simulated drives accept any kind, real ones all but scenarios and traces.
        plan
            When it ends, unless the workload ends first.
        step
            Its position in the session, and the key of its random numbers: the same steps in the
            same order on the same simulated drive give the same results.

        Raises
        ------
        UsageError
            If the drive cannot be asked for it, or nothing ends it.
        RunError
            If the drive fails or disappears.
        """
        ...

    def idle(self, seconds: float) -> None:
        """Leave the drive idle for this much of its time."""
        ...

    def save_state(self) -> bytes | None:
        """Return the state as bytes; ``None`` if the drive keeps it itself."""
        ...

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Keep a file made for the drive, for a session that resumes; return its path.

        The resumed session removes it at its end. ``None`` if no file would be removed; with
        `only_found` also if the file is new.
        """
        ...

    def load_state(self, state: bytes) -> None:
        """Load a state that `save_state` returned for the same drive.

        Raises
        ------
        UsageError
            If it is from another drive, or damaged.
        """
        ...
