"""A real drive, step after step: each step of stimuli is one fio.

Characteristics and whole passes are measured as by themselves (`FioDrive.measure`), from the state
that the step before left.

::

    stimulus ──► fio_step: options ──► fio_program: fio runs ──► fio_result: what its JSON says
        ▲                                                              │
        └── the drive keeps its state; between two steps it rests ◄────┘
            for some tenths of a second, as long as fio ends and starts

The page cache is passed by (``direct=1``), never switched off in the hope that this is the drive's
cache; that one belongs to `drivelab.drives.real.write_cache`.
"""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.open_drive import OpenDrive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio.asked import check_step, requests_of
from drivelab.drives.real.fio.program import run_fio
from drivelab.drives.real.fio.step import milliseconds, step_options
from drivelab.drives.real.fio.step_result import step_result
from drivelab.drives.real.header import drive_header, host_header
from drivelab.drives.real.made_file import Written
from drivelab.drives.real.purge import purge_drive
from drivelab.drives.real.target import Target, writing
from drivelab.drives.real.write_cache import switch_write_cache
from drivelab.drives.session import step_measurement
from drivelab.drives.stream_result import streams_of_reads_and_writes
from drivelab.errors import RunError, UsageError
from drivelab.workloads.stimuli import Stimuli

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from drivelab._core import Stream
    from drivelab.drives.real.fio.program import FioProgram
    from drivelab.drives.real.purge import PurgeMethod
    from drivelab.drives.real.write_cache import CacheState, Switched
    from drivelab.drives.session import Purge, StepPlan
    from drivelab.workloads.stimulus import Stimulus
    from drivelab.workloads.workload import Workload

# fio's start, and that of each of its threads.
_START_SECONDS: Final = 5.0
_SECONDS_A_THREAD: Final = 0.05
# Where bytes alone end a step: slower than this no drive is that still answers.
_SLOWEST_BYTES_PER_SECOND: Final = 100_000.0


class OpenedWithFio(OpenDrive, Protocol):
    """An open drive that fio measures; see `drivelab.drives.real.fio.drive.FioDrive`."""

    target: Target
    program: FioProgram
    engine: str
    slack_seconds: float

    @property
    def file(self) -> dict[str, int | None] | None:
        """Which file it is; ``None`` of a device."""
        ...

    def measure(
        self, work: Sequence[tuple[int, Workload]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Measure one workload after the other; see `FioDrive.measure`."""
        ...

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Let a file that was made stay; see `DriveSession.leave`."""
        ...


class FioSession(ClosedOnExit):
    """A real drive that keeps what is done to it. Made by `FioDrive.session`; close it.

    Parameters
    ----------
    drive
        An open real drive; closed with the session.
    seed
        Key of fio's random numbers, with a step's place.
    purge_method
        What the user named to purge it with.
    write_cache
        What the drive's own cache is switched to until the session is closed; ``None`` leaves it.
    """

    kind: Literal["real"] = "real"

    def __init__(
        self,
        drive: OpenedWithFio,
        *,
        seed: int = 0,
        purge_method: PurgeMethod | None = None,
        write_cache: CacheState | None = None,
    ) -> None:
        self.name = drive.name
        self.capacity_bytes = drive.capacity_bytes
        self.block_bytes = drive.block_bytes
        self._drive = drive
        self._seed = seed
        self._purge_method = purge_method
        self._cache = None if write_cache is None else self._switched(write_cache)

    @property
    def is_whole_device(self) -> bool:
        """Whether results are of a device, not of a file, a partition or what is made of others."""
        return self._drive.target.is_whole

    def identity(self) -> dict[str, Any]:
        """Give everything that identifies the drive; see `FioDrive.identity`.

        Under ``volatile`` also which ``file`` it is: one may be made anew for another start.
        """
        told, file = self._drive.identity(), self._drive.file
        if file is None:
            return told
        return {**told, "volatile": {**told["volatile"], "file": file}}

    def header(self) -> dict[str, str]:
        """Give what a report says of drive and host, by field in words; see `DriveSession`.

        Also ``software``, ``I/O scheduler`` and ``file system`` (of a file, with its options).
        """
        drive, target = self._drive, self._drive.target
        host = host_header(f"{drive.program.version}, {drive.engine}")
        fields = {**drive_header(target.device, target.place), **host}
        if self._cache is not None:
            fields["write cache"] = self._cache.words
        return fields

    def purge(self) -> Purge:
        """Bring the drive back by the command of its own that was named, if one was.

        Raises
        ------
        RunError
            When it may not be written any more, or went away.
        """
        target, method = self._drive.target, self._purge_method
        if method is None or not target.is_whole or target.write_refusal is not None:
            return purge_drive(target.device, method, is_whole=False)
        target.check_present()
        target.before_writing()
        purge = purge_drive(target.device, method, is_whole=True)
        target.check_present()
        return purge

    def run(self, work: Workload, plan: StepPlan, step: int) -> Measurement:
        """Send stimuli, several as a fio job each, characteristics or a whole pass.

        See `DriveSession.run`.

        Raises
        ------
        UsageError
            When the drive cannot be asked for it, or nothing ends it.
        RunError
            When fio fails, hangs, or answers what cannot be; or the drive goes away.
        """
        streams = work.streams()
        plan.check(work, streams)
        self.check(work)
        began = time.time()
        found = (
            self._sent(work, streams, plan, step)
            if isinstance(work, Stimuli)
            else self._measured(work, plan, step)
        )
        # By which a log of the drive's power is joined to it.
        return replace(found, extra={**found.extra, "began_unix_seconds": began})

    def _measured(self, work: Workload, plan: StepPlan, step: int) -> Measurement:
        requests = None
        if plan.total_bytes is not None:
            mean_bytes = requests_of(work, self.name).mean_request_bytes
            requests = max(1, math.ceil(plan.total_bytes / mean_bytes))
        until = MeasurementPlan(
            seed=self._seed, warmup_requests=0, requests=requests, seconds=plan.seconds
        )
        [found] = self._drive.measure([(step, work)], until)
        # A whole pass that is over before has not moved so many.
        is_moved = requests is not None and found.requests >= requests
        return replace(found, stopped_by="bytes") if is_moved else found

    def _sent(
        self, sent: Stimuli, streams: Sequence[Stream], plan: StepPlan, step: int
    ) -> Measurement:
        stimuli, shares = sent.stimuli, sent.shares
        seconds, total_bytes = plan.seconds, plan.total_bytes
        drive = self._drive
        target = drive.target
        target.check_present()
        options = step_options(
            stimuli,
            engine=drive.engine,
            filename=f"/proc/self/fd/{target.descriptor}",
            key=(self._seed, step),
            seconds=seconds,
            total_bytes=total_bytes,
            shares=shares,
            mark=target.mark,
        )
        try:
            with contextlib.ExitStack() as writes:
                for content in sorted({each.content for each in stimuli if each.read_ratio < 1}):
                    writes.enter_context(writing(target, Written(content)))
                output = run_fio(
                    drive.program,
                    options,
                    deadline_seconds=self._deadline(stimuli, seconds, total_bytes),
                    descriptors=list(target.locks),
                )
            duration_ns, done = step_result(
                output.report,
                output.remarks,
                streams=len(stimuli),
                milliseconds=None if seconds is None else milliseconds(seconds),
                total_bytes=total_bytes,
                end_at_once=bool(shares),
            )
        except RunError:
            # A drive that went away is the reason, and fio's words for it are others.
            target.check_present()
            raise
        target.check_present()
        by_stream = streams_of_reads_and_writes(streams, duration_ns, done)
        return step_measurement(step, sent, streams, duration_ns, by_stream, plan=plan)

    def idle(self, seconds: float) -> None:
        """Leave the drive alone for this time."""
        time.sleep(max(0.0, seconds))

    def save_state(self) -> None:
        """Give nothing: the drive keeps its state."""

    def load_state(self, state: bytes) -> None:
        """Refuse a state: the drive has its own."""
        raise UsageError(
            f"{self.name} is a real drive and keeps its own state; a saved one of {len(state)} "
            "bytes is a simulated drive's"
        )

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Let a file made for the drive stay; see `DriveSession`."""
        return self._drive.leave(only_found=only_found)

    def close(self) -> None:
        """Give the drive back, its write cache as it was found.

        A file that was made and is not kept is removed.
        """
        try:
            cache, self._cache = self._cache, None
            if cache is not None and cache.found is not None and cache.found != cache.now:
                self._switched(cache.found)
        finally:
            self._drive.close()

    def _switched(self, wanted: CacheState) -> Switched:
        target = self._drive.target
        may_be = target.is_whole and target.write_refusal is None
        return switch_write_cache(target.device, wanted, is_whole=may_be)

    def check(self, work: Workload) -> None:
        """Raise `UsageError` when the drive cannot be asked for it, or not by fio."""
        check_step(
            self.name,
            self.capacity_bytes,
            self.block_bytes,
            work,
            engine=self._drive.engine,
            write_refusal=self._drive.target.write_refusal,
        )

    def _deadline(
        self, stimuli: Sequence[Stimulus], seconds: float | None, total_bytes: int | None
    ) -> float:
        if seconds is None:
            seconds = (total_bytes or 0) / _SLOWEST_BYTES_PER_SECOND
        slack = self._drive.slack_seconds + _START_SECONDS
        threads = sum(stimulus.threads for stimulus in stimuli)
        return seconds + slack + threads * _SECONDS_A_THREAD


@dataclass(frozen=True)
class UnmadeFile:
    """A file that is about to be made for a session, and what it would be asked for.

    Attributes
    ----------
    name
        As the user named it.
    capacity_bytes, block_bytes
        Of the file, and of direct requests to it.
    engine
        fio's I/O engine.
    """

    name: str
    capacity_bytes: int
    block_bytes: int
    engine: str
    kind: Literal["real"] = "real"

    def check(self, work: Workload) -> None:
        """Raise `UsageError` when the file could not be asked for it."""
        check_step(self.name, self.capacity_bytes, self.block_bytes, work, engine=self.engine)
