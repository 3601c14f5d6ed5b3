"""A real drive, measured with fio: a file on a file system, or a block device.

Requests bypass the page cache (``direct=1``). On a file system that does not allow this nothing is
measured, because the result would be that of memory. See `drivelab.drives.real.fio.measurement` for
how one measurement runs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.block_devices import THIS_MACHINE, SystemRoots
from drivelab.drives.real.direct_io import direct_block_bytes
from drivelab.drives.real.fio.asked import (
    check_kept_depth,
    check_on_drive,
    check_with_engine,
    requests_of,
)
from drivelab.drives.real.fio.buffers import buffers_with
from drivelab.drives.real.fio.content import keeps_buffers
from drivelab.drives.real.fio.engine import find_engine
from drivelab.drives.real.fio.files import FioFiles
from drivelab.drives.real.fio.measurement import FioSetup, measure_with_fio
from drivelab.drives.real.fio.passes import check_pass_plan, pass_with_fio
from drivelab.drives.real.fio.program import FioProgram, find_fio
from drivelab.drives.real.fio.replay import ReplayWatch, replay_with_fio
from drivelab.drives.real.fio.replay_asked import check_replay_plan
from drivelab.drives.real.fio.session import FioSession
from drivelab.drives.real.fio.settling import Settling
from drivelab.drives.real.made_file import Written
from drivelab.drives.real.purge import PurgeMethod
from drivelab.drives.real.side_file import file_key
from drivelab.drives.real.target import Target, writing
from drivelab.drives.real.target_device import open_target_device
from drivelab.drives.real.target_file import TargetFile, UnfilledFile, open_target_file
from drivelab.drives.real.write_cache import CacheState
from drivelab.errors import RunError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.content import USUAL
from drivelab.workloads.trace import Trace
from drivelab.workloads.whole_pass import WholePass
from drivelab.workloads.workload import Workload

# Time for outstanding requests after the run time: drives retry a bad block for seconds.
SLACK_SECONDS: Final = 15.0


class FioDrive(ClosedOnExit):
    """A real drive. Made by `open_real_drive`; close it.

    Parameters
    ----------
    name
        Name as the user gave it.
    target
        What is measured; closed with the drive.
    program
        A checked fio.
    engine
        fio's I/O engine, if it is known that the target accepts it.
    slack_seconds
        How long outstanding requests may take beyond the run time before fio is killed.

    Attributes
    ----------
    name, target, program, slack_seconds
        As given.
    capacity_bytes
        Bytes that requests may address.
    engine
        The one given, or found by a short read.
    """

    kind: Literal["real"] = "real"

    def __init__(
        self,
        name: str,
        target: Target,
        program: FioProgram,
        *,
        engine: str | None = None,
        slack_seconds: float = SLACK_SECONDS,
    ) -> None:
        self.name = name
        self.capacity_bytes = target.capacity_bytes
        self.target = target
        self.program = program
        self.slack_seconds = slack_seconds
        self._block_bytes = direct_block_bytes(target.path, target.descriptor)
        if engine is None:
            with self._told_when_gone():
                engine = find_engine(
                    name, target.descriptor, target.capacity_bytes, program, slack_seconds
                )
        self.engine = engine
        #: Called now and then with the finished share of a trace's replay.
        self.watch: ReplayWatch | None = None
        self._files = FioFiles()
        self._settling = Settling(self.session())

    @property
    def block_bytes(self) -> int:
        """Return the smallest request past the page cache that the target accepts."""
        return self._block_bytes

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Keep a new file after closing, so that a resumed run finds it; return its path.

        The resumed run removes it at its end. ``None`` if no file would be removed; with
        `only_found` also if the file is new.
        """
        target = self.target
        return target.leave(only_found=only_found) if isinstance(target, TargetFile) else None

    def take_up(self) -> None:
        """Undo `leave`: the file is removed when this drive is closed."""
        if isinstance(self.target, TargetFile):
            self.target.take_up()

    @property
    def file(self) -> dict[str, int | None] | None:
        """Return which file it is; it may be recreated later. ``None`` for a device."""
        return file_key(self.target.descriptor) if isinstance(self.target, TargetFile) else None

    def identity(self) -> dict[str, Any]:
        """Return what identifies the drive; what may change in between is under ``volatile``."""
        return {
            "path": str(self.target.path),
            "size_bytes": self.capacity_bytes,
            **self.target.describe(),
            "direct_io": True,
            "direct_block_bytes": self._block_bytes,
            "io_engine": self.engine,
            "fio_version": self.program.version,
            "volatile": {"kernel_release": platform.release()},
        }

    def check(self, workload: Workload) -> None:
        """Raise if this drive cannot be asked for `workload`.

        Raises
        ------
        CannotAnswerError
            If the drive may not be written, has larger blocks, or memory is too small.
        UsageError
            If no drive of this size could be asked for it.
        """
        check_with_engine(
            workload,
            self.name,
            self.capacity_bytes,
            self._block_bytes,
            engine=self.engine,
            write_refusal=self.target.write_refusal,
        )

    def measure(
        self, work: Sequence[tuple[int, Workload]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Measure one workload after the other, each when it is asked for.

        If the plan's writes are sustained, `drivelab.drives.real.fio.settling` writes to the drive
        first. It writes least if workloads of one kind of writing follow each other.

        The file of a pass is the part of the target that the pass names. An existing file or device
        is transferred unchanged; a file that Drivelab made was filled when it was made. A random
        order is keyed by the plan's seed and the pass's index, as on a simulated drive. The plan
        may end a pass before its last request, but not at a half-width.

        Raises
        ------
        RunError
            If fio fails, hangs, or reports the impossible; or if the file disappears.
        """
        for index, workload in work:
            self.check(workload)
            requests = requests_of(workload, self.name)
            self._settling.before(workload, plan, writes=requests.write_ratio > 0)
            is_pass, is_trace = isinstance(workload, WholePass), isinstance(workload, Trace)
            holding = plan.holding(ends_by_itself=is_pass or is_trace)
            if is_pass:
                check_pass_plan(holding, self.name)
            if is_trace:
                check_replay_plan(holding, self.name)
            written = _written(workload, requests, USUAL if is_pass else plan.content)
            with self._prepared(written) as setup:
                if isinstance(workload, WholePass):
                    measured = pass_with_fio(setup, index, workload, holding)
                elif isinstance(workload, Trace):
                    measured = replay_with_fio(
                        setup, index, workload, holding, name=self.name, watch=self.watch
                    )
                else:
                    measured = measure_with_fio(setup, index, requests, holding)
            yield measured

    def session(
        self,
        *,
        seed: int = 0,
        purge_method: PurgeMethod | None = None,
        write_cache: CacheState | None = None,
    ) -> FioSession:
        """Start a session with the drive unchanged; `FioSession` explains the other parameters."""
        return FioSession(self, seed=seed, purge_method=purge_method, write_cache=write_cache)

    def close(self) -> None:
        """Close the target; a file that was made and is not kept is removed."""
        self._files.close()
        self.target.close()

    @contextlib.contextmanager
    def _prepared(self, written: Written | None) -> Iterator[FioSetup]:
        """Check before and after that the target is there and may be used; yield what runs."""
        target = self.target
        target.check_present()
        with self._told_when_gone(), writing(target, written):
            clear_caches(target)
            yield FioSetup(
                program=self.program,
                files=self._files,
                descriptor=target.descriptor,
                locks=target.locks,
                capacity_bytes=self.capacity_bytes,
                engine=self.engine,
                slack_seconds=self.slack_seconds,
                mark=target.mark,
            )
        target.check_present()

    @contextlib.contextmanager
    def _told_when_gone(self) -> Iterator[None]:
        try:
            yield
        except RunError:
            # The missing file is the reason; fio's own words for it differ.
            self.target.check_present()
            raise


def _written(workload: Workload, requests: Characteristics, content: str) -> Written | None:
    if requests.write_ratio == 0:
        return None
    largest = max(requests.read_size, requests.write_size)
    # Jobs of a trace at its recorded times refill their buffers.
    is_timed = isinstance(workload, Trace) and workload.speed is not None
    keeps = keeps_buffers(content) and not is_timed
    return Written(content, (requests.queue_depth, largest) if keeps else None)


def clear_caches(target: Target) -> None:
    """Flush what the machine and the drive still buffer of `target`, and drop its pages.

    Requests bypass the page cache anyway. A drive's read cache cannot be cleared from here. Other
    files' caches are not dropped, because that would slow the whole machine.

    Raises
    ------
    RunError
        If earlier writes do not reach the drive.
    """
    try:
        os.fsync(target.descriptor)
        os.posix_fadvise(target.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError as error:
        # Some file systems have nothing to flush, and report that.
        if error.errno in (errno.EINVAL, errno.EROFS, errno.ENOSYS):
            return
        raise RunError(
            f"{target.path} does not take what was written to it: {error.strerror}"
        ) from error


def open_real_drive(
    name: str,
    *,
    size_bytes: int | None = None,
    keep: bool = False,
    allow_destructive: str | None = None,
    intended: Sequence[Workload] = (),
    before_filling: Callable[[int, int, str], None] | None = None,
    roots: SystemRoots = THIS_MACHINE,
) -> FioDrive:
    """Open a block device or a file to be measured; a path that does not exist is created.

    Parameters
    ----------
    name
        The path as the user wrote it.
    size_bytes, keep, allow_destructive
        As for `drivelab.drives.real.target_file.open_target_file`.
    intended
        Workloads that must be possible, or no file is made.
    before_filling
        Called before a new file is filled, with its size and its direct block in bytes and fio's
        I/O engine; an exception prevents the file.
    roots
        The kernel's view of devices and mounts.

    Raises
    ------
    UsageError
        If fio is missing or too old, or the path cannot be measured.
    CannotAnswerError
        If a file would have to be made and an intended workload is not possible on it.
    RunError
        If making the file or a trial read fails.
    """
    engine: str | None = None

    def check_intended(file: UnfilledFile) -> None:
        nonlocal engine
        size, block = file.capacity_bytes, file.block_bytes
        for workload in intended:
            check_on_drive(workload, name, size, block, None)
        engine = find_engine(name, file.descriptor, size, program, SLACK_SECONDS)
        for workload in intended:
            check_kept_depth(engine, name, workload)
        if before_filling is not None:
            before_filling(size, block, engine)

    # Checked before a gibibyte is written in vain.
    program = find_fio()
    target: Target
    if Path(name).is_block_device():
        target = open_target_device(
            name,
            size_bytes=size_bytes,
            keep=keep,
            allow_destructive=allow_destructive,
            roots=roots,
        )
    else:
        target = open_target_file(
            name,
            size_bytes=size_bytes,
            keep=keep,
            allow_destructive=allow_destructive,
            before_filling=check_intended,
            buffers_of=buffers_with(program),
            roots=roots,
        )
    try:
        return FioDrive(name, target, program, engine=engine)
    except BaseException:
        target.close()
        raise
