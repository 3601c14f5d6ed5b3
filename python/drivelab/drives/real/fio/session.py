"""A real drive, step after step: each step of stimuli is one fio.

Characteristics and whole passes are measured as outside of sessions (`FioDrive.measure`), from the
state that the previous step left.

::

    stimulus ──► fio_step: options ──► fio_program: fio runs ──► fio_result: what its JSON says
        ▲                                                              │
                └── the drive keeps its state; between two steps it rests ◄────┘
                    for some tenths of a second, while fio ends and starts

The page cache is bypassed (``direct=1``). The drive's own cache is a different one: see
`drivelab.drives.real.write_cache`.
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

# Time for fio's start, and for that of each of its threads.
_START_SECONDS: Final = 5.0
_SECONDS_A_THREAD: Final = 0.05
# If only bytes end a step: no drive that still answers is slower than this.
_SLOWEST_BYTES_PER_SECOND: Final = 100_000.0


class OpenedWithFio(OpenDrive, Protocol):
    """An open drive that fio measures; see `drivelab.drives.real.fio.drive.FioDrive`."""

    target: Target
    program: FioProgram
    engine: str
    slack_seconds: float

    @property
    def file(self) -> dict[str, int | None] | None:
        """Return which file it is; ``None`` for a device."""
        ...

    def measure(
        self, work: Sequence[tuple[int, Workload]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Measure one workload after the other; see `FioDrive.measure`."""
        ...

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Keep a file that was made; see `DriveSession.leave`."""
        ...


class FioSession(ClosedOnExit):
    """A real drive that keeps what is done to it. Made by `FioDrive.session`; close it.

    Parameters
    ----------
    drive
        An open real drive; closed with the session.
    seed
        Key of fio's random numbers, together with a step's position.
    purge_method
        The method that the user named for purging it.
    write_cache
        The drive's own cache is switched to this until the session is closed; ``None`` leaves it.
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
        """Return whether it is a drive, not a file, a partition or a device made of others."""
        return self._drive.target.is_whole

    def identity(self) -> dict[str, Any]:
        """Return everything that identifies the drive; see `FioDrive.identity`.

        ``volatile`` also has the ``file``, because another start may recreate it.
        """
        identity, file = self._drive.identity(), self._drive.file
        if file is None:
            return identity
        return {**identity, "volatile": {**identity["volatile"], "file": file}}

    def header(self) -> dict[str, str]:
        """Return what a report says about drive and host, by field in words; see `DriveSession`.

        Also ``software``, ``I/O scheduler`` and ``file system`` (of a file, with its options).
        """
        drive, target = self._drive, self._drive.target
        host = host_header(f"{drive.program.version}, {drive.engine}")
        fields = {**drive_header(target.device, target.place), **host}
        if self._cache is not None:
            fields["write cache"] = self._cache.words
        return fields

    def purge(self) -> Purge:
        """Purge the drive with its own command, if the user named one.

        Raises
        ------
        RunError
            If it may not be written any more, or disappeared.
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
        """Send stimuli (several as one fio job each), characteristics or a whole pass.

        See `DriveSession.run`.

        Raises
        ------
        UsageError
            If the drive cannot be asked for it, or nothing ends it.
        RunError
            If fio fails, hangs, or reports the impossible; or if the drive disappears.
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
        # Used to match a log of the drive's power.
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
        # A whole pass may end before this many bytes have moved.
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
            # The missing drive is the reason; fio's own words for it differ.
            target.check_present()
            raise
        target.check_present()
        by_stream = streams_of_reads_and_writes(streams, duration_ns, done)
        return step_measurement(step, sent, streams, duration_ns, by_stream, plan=plan)

    def idle(self, seconds: float) -> None:
        """Leave the drive alone for this time."""
        time.sleep(max(0.0, seconds))

    def save_state(self) -> None:
        """Return None: the drive keeps its state."""

    def load_state(self, state: bytes) -> None:
        """Refuse a state: the drive has its own."""
        raise UsageError(
            f"{self.name} is a real drive and keeps its own state; a saved one of {len(state)} "
            "bytes is a simulated drive's"
        )

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Keep a file made for the drive; see `DriveSession`."""
        return self._drive.leave(only_found=only_found)

    def close(self) -> None:
        """Release the drive and restore its write cache.

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
        """Raise `UsageError` if the drive or fio cannot be asked for it."""
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
        Name as the user gave it.
    capacity_bytes, block_bytes
        Capacity of the file, and block size of direct requests to it.
    engine
        fio's I/O engine.
    """

    name: str
    capacity_bytes: int
    block_bytes: int
    engine: str
    kind: Literal["real"] = "real"

    def check(self, work: Workload) -> None:
        """Raise `UsageError` if the file could not be asked for it."""
        check_step(self.name, self.capacity_bytes, self.block_bytes, work, engine=self.engine)
