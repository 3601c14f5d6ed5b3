"""What fio reads and writes beside the drive: files in memory, which no kill leaves behind.

::

    iolog         memfd, inherited by fio      ──► requests to send
    latency log   memfd  ◄── a link in a folder of its own, because fio appends to names

On a disk these megabytes would be written back while the drive is measured, perhaps to the very
same one. All that lies in the folder for temporary files is one link; what a killed Drivelab
leaves of it is removed by the next one.
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
# What fio 3.25 and later append for the only job's latency log.
_LOG_SUFFIX: Final = "_lat.1.log"


class FioFiles(ClosedOnExit):
    """The iolog and the latency log of one fio after another. Close them.

    Raises
    ------
    RunError
        When there is no place for them.
    """

    def __init__(self) -> None:
        with contextlib.ExitStack() as undo:
            try:
                self._folder, lock = _locked_folder()
                undo.callback(_remove, self._folder, lock)
                self._lock = lock
                self._iolog = os.memfd_create("drivelab-iolog", os.MFD_CLOEXEC)
                undo.callback(os.close, self._iolog)
                self.log_descriptor = os.memfd_create("drivelab-latency", os.MFD_CLOEXEC)
                undo.callback(os.close, self.log_descriptor)
                link = self._folder / f"{_LOG_PREFIX}{_LOG_SUFFIX}"
                link.symlink_to(_inherited(self.log_descriptor))
            except OSError as error:
                raise RunError(
                    f"fio's logs have no place in {tempfile.gettempdir()}: {error.strerror}"
                ) from error
            self._undo = undo.pop_all()

    @property
    def iolog(self) -> str:
        """The iolog as fio names it."""
        return _inherited(self._iolog)

    @property
    def log_prefix(self) -> str:
        """The latency log as fio is told of it."""
        return str(self._folder / _LOG_PREFIX)

    @property
    def descriptors(self) -> list[int]:
        """What fio has to inherit."""
        return [self._iolog, self.log_descriptor]

    @contextlib.contextmanager
    def holding(self, iolog: bytes) -> Iterator[None]:
        """Keep this iolog, and whatever log is written meanwhile, as long as the block lasts."""
        try:
            self._write(iolog)
            del iolog  # kept once is enough
            yield
        finally:
            for descriptor in self.descriptors:
                os.ftruncate(descriptor, 0)

    def _write(self, iolog: bytes) -> None:
        view = memoryview(iolog)
        try:
            while view:
                view = view[os.pwrite(self._iolog, view, len(iolog) - len(view)) :]
        except OSError as error:
            raise RunError(f"no memory for fio's iolog: {error.strerror}") from error

    def latency_log(self) -> bytes:
        """Read what fio wrote."""
        parts = []
        size = 0
        while part := os.pread(self.log_descriptor, 2**24, size):
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Forget everything; may be called again."""
        self._undo.close()


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
            # Between making and locking it another process took it for left behind.
            ours = False
        except OSError:
            # A file system without locks: then nobody else can tell either.
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
