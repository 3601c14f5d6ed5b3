"""Files that fio reads and writes apart from the drive: in memory, so that a kill leaves none.

::

    iolog         memfd, inherited by fio      ──► requests to send
        latency log   memfd  ◄── a link in its own folder, because fio appends to names

On a disk these megabytes would be written back during the measurement, perhaps to the measured
drive. The folder for temporary files contains only one link. What a killed Drivelab leaves of it is
removed by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.errors import RunError

_PREFIX: Final = "drivelab-fio-"
_LOG_PREFIX: Final = "segment"
# Suffixes that fio 3.25 and later append to logs of latencies, and of their parts, job 1 first.
_LOG_SUFFIX: Final = "_lat.{job}.log"
_UNREAD_SUFFIX: Final = "_clat.{job}.log"


class FioFiles(ClosedOnExit):
    """The iologs and latency logs of one fio after another. Close them.

    Parameters
    ----------
    jobs
        The largest number of jobs of a fio, each with its own iolog and log.

    Raises
    ------
    RunError
        If there is no space for them.
    """

    def __init__(self, jobs: int = 1) -> None:
        self._iologs: list[int] = []
        self._logs: list[int] = []
        with contextlib.ExitStack() as undo:
            try:
                self._folder, lock = _locked_folder()
                undo.callback(_remove, self._folder, lock)
                self._lock = lock
                for job in range(1, jobs + 1):
                    self._iologs.append(_in_memory(undo, "drivelab-iolog"))
                    self._logs.append(_in_memory(undo, "drivelab-latency"))
                    self._link(_LOG_SUFFIX, job, _inherited(self._logs[-1]))
                    self._link(_UNREAD_SUFFIX, job, os.devnull)
            except OSError as error:
                raise RunError(
                    f"fio's logs have no place in {tempfile.gettempdir()}: {error.strerror}"
                ) from error
            self._undo = undo.pop_all()

    def _link(self, suffix: str, job: int, to: str) -> None:
        (self._folder / f"{_LOG_PREFIX}{suffix.format(job=job)}").symlink_to(to)

    @property
    def iolog(self) -> str:
        """Return the first job's iolog as fio names it."""
        return self.iologs[0]

    @property
    def iologs(self) -> list[str]:
        """Return each job's iolog as fio names it."""
        return [_inherited(descriptor) for descriptor in self._iologs]

    @property
    def log_prefix(self) -> str:
        """Return the latency logs as fio's options name them."""
        return str(self._folder / _LOG_PREFIX)

    @property
    def log_descriptors(self) -> list[int]:
        """Return descriptors of the latency logs, one per job."""
        return list(self._logs)

    @property
    def descriptors(self) -> list[int]:
        """Return the descriptors that fio has to inherit."""
        return [*self._iologs, *self._logs]

    @contextlib.contextmanager
    def holding(self, *iologs: bytes) -> Iterator[None]:
        """Write each job's iolog, and clear the logs, for as long as the block lasts."""
        try:
            for descriptor, iolog in zip(self._iologs, iologs, strict=False):
                _write(descriptor, iolog)
            del iologs  # kept once is enough
            yield
        finally:
            for descriptor in self.descriptors:
                os.ftruncate(descriptor, 0)

    def latency_log(self, job: int = 0) -> bytes:
        """Read the latency log of the job at this position."""
        parts = []
        size = 0
        while part := os.pread(self._logs[job], 2**24, size):
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Release everything; may be called again."""
        self._undo.close()


def _in_memory(undo: contextlib.ExitStack, name: str) -> int:
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    undo.callback(os.close, descriptor)
    return descriptor


def _write(descriptor: int, iolog: bytes) -> None:
    view = memoryview(iolog)
    try:
        while view:
            view = view[os.pwrite(descriptor, view, len(iolog) - len(view)) :]
    except OSError as error:
        raise RunError(f"no memory for fio's iolog: {error.strerror}") from error


def _inherited(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _locked_folder() -> tuple[Path, int]:
    """Make a folder that nobody else removes while this process lives."""
    parent = Path(tempfile.gettempdir())
    _remove_left_behind(parent)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours = folder.stat().st_ino == os.fstat(lock).st_ino
        except (BlockingIOError, FileNotFoundError):
            # Another process removed it between its creation and locking, taking it for abandoned.
            ours = False
        except OSError:
            # The file system has no locks, so nobody else can check them either.
            ours = True
        if ours:
            return folder, lock
        os.close(lock)


def _remove_left_behind(parent: Path) -> None:
    for folder in sorted(parent.glob(f"{_PREFIX}*")):
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder)
            finally:
                os.close(lock)


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
