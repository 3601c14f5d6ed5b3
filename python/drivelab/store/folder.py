"""The folder of a run: created only if new or empty, locked by one process, found when moved."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from drivelab.errors import RunError, UsageError
from drivelab.whole_file import without_links

DATABASE: Final = "run.sqlite"
LOCK: Final = "run.lock"
_RUNS: Final = "a run is a folder made by `drivelab model`, `profile` or `pts run`"
_NO_SPACE: Final = {errno.ENOSPC, errno.EDQUOT}
# A process that only checks for the lock holds it for a moment.
_LOCK_TRIES: Final = 5
_LOCK_PAUSE_SECONDS: Final = 0.05


def is_run(path: Path) -> bool:
    """Return whether `path` is a folder with a run, without opening the run."""
    return (path / DATABASE).is_file()


def holds_more_than_a_journal(path: Path) -> bool:
    """Return whether the folder contains outputs of the run: a table, a report, a saved state."""
    return any(
        not (entry.name == LOCK or entry.name.startswith(DATABASE)) for entry in path.iterdir()
    )


def is_held(path: Path) -> bool:
    """Return whether a process is measuring into the run right now."""
    try:
        with (path / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def check_inside(run: Path, path: Path) -> None:
    """Raise `UsageError` if a path in a run's folder is a link that leads out of it.

    A folder may come from anybody, and a link in it may lead to any file.
    """
    if without_links(run) not in without_links(path).parents:
        raise UsageError(f"{path} is a link out of the run {run}; remove the link")


def no_run(path: Path) -> UsageError:
    """Return the error that no run is at this path."""
    if not path.exists():
        return UsageError(f"{path} does not exist; {_RUNS}")
    if not path.is_dir():
        return UsageError(f"{path} is a file; {_RUNS}")
    return UsageError(f"{path} is not a run: it has no {DATABASE}; {_RUNS}")


def make_folder(path: Path) -> None:
    """Make the folder of a run, or check that it is empty or holds a run.

    Raises
    ------
    UsageError
        When it holds something else, or cannot be made.
    RunError
        When the disk is full.
    """
    with _refused(path, "made", "choose another folder"):
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} is a file; a run is a folder, choose another name")
        if path.is_dir() and not _holds_anything(path / DATABASE):
            others = other_files(path)
            if others:
                raise UsageError(
                    f"{path} contains {others[0]} and no run; choose a new or an empty folder"
                )
        for parent in path.parents:
            if parent.exists() and not parent.is_dir():
                raise UsageError(f"{path} cannot be made: {parent} is a file, not a folder")
        path.mkdir(parents=True, exist_ok=True)


def other_files(path: Path) -> list[str]:
    """Return the names in a folder other than the lock and the database, sorted.

    If a process is killed right at its start, it leaves only those two, empty.
    """
    ours = {LOCK, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal"}
    return sorted(entry.name for entry in path.iterdir() if entry.name not in ours)


def _holds_anything(database: Path) -> bool:
    return database.is_file() and database.stat().st_size > 0


class FolderLock:
    """A lock on a run's folder, held by the one process that may write there until `close`.

    Parameters
    ----------
    path
        The folder; it exists.
    when_held, when_refused
        End of the error message: what to do if another process holds the lock, and if the folder
        cannot be written.

    Raises
    ------
    RunError
        When another process holds it.
    UsageError
        When the folder cannot be written.
    """

    def __init__(
        self,
        path: Path,
        *,
        when_held: str = "wait for it or choose another folder",
        when_refused: str = "choose another folder",
    ) -> None:
        self._path = path
        with _refused(path, "written", when_refused):
            self._file: IO[bytes] = (path / LOCK).open("ab")
        for attempt in range(_LOCK_TRIES):
            if attempt:
                time.sleep(_LOCK_PAUSE_SECONDS)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
        self._file.close()
        raise RunError(f"another process is measuring into {path}; {when_held}")

    def check_in_place(self) -> None:
        """Raise `RunError` if the folder was moved or deleted since it was locked.

        Otherwise SQLite would continue silently in files that have no name any more.
        """
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found, held = (self._path / LOCK).stat(), os.fstat(self._file.fileno())
            if (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino):
                return
        now = Path(f"/proc/self/fd/{self._file.fileno()}").readlink()
        if now.is_file():
            raise RunError(
                f"{self._path} was moved to {now.parent}; the measurements are in there: give "
                "that folder as --out to resume"
            )
        raise RunError(f"{self._path} was deleted while its campaign ran, and what it held with it")

    def close(self) -> None:
        """Release the lock."""
        self._file.close()


def make_durable(path: Path) -> None:
    """Flush the names of a new folder and of its files to the medium."""
    for folder in (path, path.resolve().parent):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # Not every file system supports this for folders.
            with contextlib.suppress(OSError):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _refused(path: Path, what: str, remedy: str) -> Iterator[None]:
    """Explain why a folder cannot be made or written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _NO_SPACE:
            raise RunError(f"no space left for {path}; free some space") from error
        raise UsageError(f"{path} cannot be {what}: {reason}; {remedy}") from error
