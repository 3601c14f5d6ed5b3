"""A real drive, measured with fio: a file on a file system, or a block device.

Requests go past the page cache (``direct=1``); where a file system does not let them, nothing
is measured, because what would be measured is memory. How one measurement runs is told in
`drivelab.drives.real.fio.measurement`.
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

# Requests in flight at the end of the run time: drives try for seconds to read a bad block.
SLACK_SECONDS: Final = 15.0


class FioDrive(ClosedOnExit):
    """A real drive. Made by `open_real_drive`; close it.

    Parameters
    ----------
    name
        As the user named it.
    target
        What is measured; closed with the drive.
    program
        A checked fio.
    engine
        fio's I/O engine, where it is known that the target takes it.
    slack_seconds
        How long requests in flight may take beyond the run time before fio is killed.

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
        #: Told now and then which share of a trace's replay is over.
        self.watch: ReplayWatch | None = None
        self._files = FioFiles()
        self._settling = Settling(self.session())

    @property
    def block_bytes(self) -> int:
        """The smallest request past the page cache that the target takes."""
        return self._block_bytes

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Let a file that was made stay when it is closed, for whoever resumes; give its path.

        It is removed when that one is closed. ``None`` where none would be removed; with
        `only_found` also where the file is new.
        """
        target = self.target
        return target.leave(only_found=only_found) if isinstance(target, TargetFile) else None

    def take_up(self) -> None:
        """Go on with a file that `leave` let stay: it is removed when this drive is closed."""
        if isinstance(self.target, TargetFile):
            self.target.take_up()

    @property
    def file(self) -> dict[str, int | None] | None:
        """Which file it is: it may be recreated for another start; ``None`` for a device."""
        return file_key(self.target.descriptor) if isinstance(self.target, TargetFile) else None

    def identity(self) -> dict[str, Any]:
        """Give what identifies the drive; what may change on the way is under ``volatile``."""
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
        """Raise when this drive cannot be asked for `workload`.

        Raises
        ------
        CannotAnswerError
            When the drive may not be written, has larger blocks, or memory lacks.
        UsageError
            When no drive of this size could be asked for it.
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

        Where the plan's writes are sustained, `drivelab.drives.real.fio.settling` writes to the
        drive before; it writes least where workloads of one kind of writing follow each other.

        The file of a pass is the part of the target that the pass names. Of an existing file or
        device it is transferred as it lies there; a file that Drivelab made was written when it was
        made. A random order is keyed by the plan's seed and the pass's index, as on a simulated
        drive. A pass ends before its last request where the plan says, but not at a half-width.

        Raises
        ------
        RunError
            When fio fails, hangs, or answers what cannot be; or the file goes away.
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
        """Begin with the drive as it is; `FioSession` says what the rest means."""
        return FioSession(self, seed=seed, purge_method=purge_method, write_cache=write_cache)

    def close(self) -> None:
        """Close the target; a file that was made and is not kept is removed."""
        self._files.close()
        self.target.close()

    @contextlib.contextmanager
    def _prepared(self, written: Written | None) -> Iterator[FioSetup]:
        """Check before and after that the target is there and may be used; say what runs."""
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
            # A file that went away is the reason, and fio's words for it are others.
            self.target.check_present()
            raise


def _written(workload: Workload, requests: Characteristics, content: str) -> Written | None:
    if requests.write_ratio == 0:
        return None
    largest = max(requests.read_size, requests.write_size)
    # Jobs of a trace at its times fill their buffers anew.
    is_timed = isinstance(workload, Trace) and workload.speed is not None
    keeps = keeps_buffers(content) and not is_timed
    return Written(content, (requests.queue_depth, largest) if keeps else None)


def clear_caches(target: Target) -> None:
    """Write out what the machine and the drive still hold of `target`, and drop its pages.

    Requests pass the page cache anyway. A drive's cache of what was read cannot be cleared
    from here; nor are other files' caches dropped, which would slow the whole machine.

    Raises
    ------
    RunError
        When what was written before does not reach the drive.
    """
    try:
        os.fsync(target.descriptor)
        os.posix_fadvise(target.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError as error:
        # Some file systems have nothing to write out, and say so.
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
    """Open a block device or a file to be measured; a path that does not exist is made.

    Parameters
    ----------
    name
        The path as the user wrote it.
    size_bytes, keep, allow_destructive
        As for `drivelab.drives.real.target_file.open_target_file`.
    intended
        Workloads that must be possible; else no file is made for nothing.
    before_filling
        Called before a file that is made is filled, with its size and its direct block in bytes
        and fio's I/O engine; what it raises prevents the file.
    roots
        The kernel's view of devices and mounts.

    Raises
    ------
    UsageError
        When fio is missing or too old, or the path cannot be measured.
    CannotAnswerError
        When a file would have to be made and an intended workload is not possible on it.
    RunError
        When making the file or reading it for a try fails.
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

    # Before a gibibyte is written for nothing.
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
