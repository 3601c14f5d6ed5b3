"""A real drive, step after step: each step of a session is one fio.

::

    stimulus ──► fio_step: options ──► fio_program: fio runs ──► fio_result: what its JSON says
        ▲                                                              │
        └── the drive keeps its state; between two steps it rests ◄────┘
            for some tenths of a second, as long as fio ends and starts

The page cache is passed by (``direct=1``), never switched off in the hope that this is the drive's
cache; that one belongs to `drivelab.drives.write_cache`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.fio_program import run_fio
from drivelab.drives.fio_step import milliseconds, step_options, step_seed
from drivelab.drives.fio_step_result import step_result
from drivelab.drives.purge import purge_drive
from drivelab.drives.real_header import drive_header, host_header
from drivelab.drives.session import StepResult
from drivelab.drives.write_cache import switch_write_cache
from drivelab.errors import CannotAnswerError, RunError, UsageError

if TYPE_CHECKING:
    from drivelab.drives.fio import FioDrive
    from drivelab.drives.purge import PurgeMethod
    from drivelab.drives.session import Purge
    from drivelab.drives.write_cache import CacheState, Switched
    from drivelab.workloads.stimulus import Stimulus

# fio's start, and that of each of its threads.
_START_SECONDS: Final = 5.0
_SECONDS_A_THREAD: Final = 0.05
# Where bytes alone end a step: slower than this no drive is that still answers.
_SLOWEST_BYTES_PER_SECOND: Final = 100_000.0


class FioSession(ClosedOnExit):
    """A real drive that keeps what is done to it. Made by `drivelab.drives.sessions`; close it.

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
        drive: FioDrive,
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
        """Give everything that identifies the drive; see `FioDrive.identity`."""
        return self._drive.identity()

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

    def run(
        self,
        stimulus: Stimulus,
        *,
        step: int,
        seconds: float | None = None,
        total_bytes: int | None = None,
    ) -> StepResult:
        """Send one stimulus; see `DriveSession.run`.

        Raises
        ------
        UsageError
            When the drive cannot be asked for it, or nothing ends it.
        RunError
            When fio fails, hangs, or answers what cannot be; or the drive goes away.
        """
        if seconds is None and total_bytes is None:
            raise UsageError("nothing ends the step: give seconds or total_bytes")
        self.check(stimulus)
        drive = self._drive
        drive.target.check_present()
        if stimulus.read_ratio < 1:
            drive.target.before_writing()
        options = step_options(
            stimulus,
            engine=drive.engine,
            filename=f"/proc/self/fd/{drive.target.descriptor}",
            seed=step_seed(self._seed, step),
            seconds=seconds,
            total_bytes=total_bytes,
        )
        began = time.time()
        try:
            output = run_fio(
                drive.program,
                options,
                deadline_seconds=self._deadline(stimulus, seconds, total_bytes),
                descriptors=[drive.target.descriptor],
            )
            result = step_result(
                output.report,
                output.remarks,
                milliseconds=None if seconds is None else milliseconds(seconds),
                total_bytes=total_bytes,
            )
        except RunError:
            # A drive that went away is the reason, and fio's words for it are others.
            drive.target.check_present()
            raise
        drive.target.check_present()
        # By which a log of the drive's power is joined to it.
        return replace(result, extra={**result.extra, "began_unix_seconds": began})

    def idle(self, seconds: float) -> None:
        """Leave the drive alone for so much time."""
        time.sleep(max(0.0, seconds))

    def save_state(self) -> None:
        """Give nothing: the drive keeps its state."""

    def load_state(self, state: bytes) -> None:
        """Refuse a state: the drive has its own."""
        raise UsageError(
            f"{self.name} is a real drive and keeps its own state; a saved one of {len(state)} "
            "bytes is a simulated drive's"
        )

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

    def check(self, stimulus: Stimulus) -> None:
        """Raise `UsageError` when the drive cannot be asked for a stimulus, or not by fio."""
        end = stimulus.range_start_bytes + stimulus.range_bytes
        if end > self.capacity_bytes:
            raise UsageError(
                f"the stimulus goes to {end} bytes of {self.name}; allowed: at most "
                f"{self.capacity_bytes}"
            )
        refusal = self._drive.target.write_refusal
        if stimulus.read_ratio < 1 and refusal is not None:
            raise CannotAnswerError(f"no writes on {self.name}: {refusal}")
        block = self.block_bytes
        for size, _ in stimulus.sizes:
            if size % block:
                raise CannotAnswerError(
                    f"a request of {size} bytes is no multiple of {block} bytes, the block of "
                    f"direct requests to {self.name}"
                )
        if stimulus.range_start_bytes % block:
            raise CannotAnswerError(
                f"the range begins at {stimulus.range_start_bytes}, no multiple of {block} bytes, "
                f"the block of direct requests to {self.name}"
            )
        self._drive.check_depth(stimulus.queue_depth)

    def _deadline(
        self, stimulus: Stimulus, seconds: float | None, total_bytes: int | None
    ) -> float:
        if seconds is None:
            seconds = (total_bytes or 0) / _SLOWEST_BYTES_PER_SECOND
        slack = self._drive.slack_seconds + _START_SECONDS
        return seconds + slack + stimulus.threads * _SECONDS_A_THREAD
