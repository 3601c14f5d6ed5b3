"""The folder of a run: made where nothing else is, held by one process, found again when moved."""

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
# Whoever only asks whether a run is held holds it for a moment.
_LOCK_TRIES: Final = 5
_LOCK_PAUSE_SECONDS: Final = 0.05


def is_run(path: Path) -> bool:
    """Tell whether `path` is a folder with a run in it, without opening it."""
    return (path / DATABASE).is_file()


def holds_more_than_a_journal(path: Path) -> bool:
    """Tell whether anything was made of a run: a table, a report, a saved state."""
    return any(
        not (entry.name == LOCK or entry.name.startswith(DATABASE)) for entry in path.iterdir()
    )


def is_held(path: Path) -> bool:
    """Tell whether a process is measuring into a run right now."""
    try:
        with (path / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def check_inside(run: Path, path: Path) -> None:
    """Raise `UsageError` when a name in a run's folder leads out of it.

    A folder may come from anybody, and a link in it lead to any file.
    """
    if without_links(run) not in without_links(path).parents:
        raise UsageError(f"{path} is a link out of the run {run}; remove the link")


def no_run(path: Path) -> UsageError:
    """Give the error that there is no run to read."""
    if not path.exists():
        return UsageError(f"{path} does not exist; {_RUNS}")
    if not path.is_dir():
        return UsageError(f"{path} is a file; {_RUNS}")
    return UsageError(f"{path} is no run: it has no {DATABASE}; {_RUNS}")


def make_folder(path: Path) -> None:
    """Make the folder of a run, or find that it holds one or nothing.

    Raises
    ------
    UsageError
        When it holds anything else, or cannot be made.
    RunError
        When the disk is full.
    """
    with _refused(path, "made", "choose another folder"):
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} is a file; a run is a folder, choose another name")
        if path.is_dir() and not _holds_anything(path / DATABASE):
            others = files_beside(path)
            if others:
                raise UsageError(
                    f"{path} contains {others[0]} and no run; choose a new or an empty folder"
                )
        for parent in path.parents:
            if parent.exists() and not parent.is_dir():
                raise UsageError(f"{path} cannot be made: {parent} is a file, not a folder")
        path.mkdir(parents=True, exist_ok=True)


def files_beside(path: Path) -> list[str]:
    """Give what a folder contains in addition to the lock and the database, sorted.

    Those alone, and empty, are what a process leaves that was killed at once.
    """
    ours = {LOCK, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal"}
    return sorted(entry.name for entry in path.iterdir() if entry.name not in ours)


def _holds_anything(database: Path) -> bool:
    return database.is_file() and database.stat().st_size > 0


class FolderLock:
    """Held by the one process that may write into a run's folder; given up by `close`.

    Parameters
    ----------
    path
        The folder, which exists.
    when_held, when_refused
        What to do when another process holds it, and when it cannot be written.

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
        """Raise `RunError` when the folder was moved or deleted meanwhile.

        SQLite would continue silently, in files that no name leads to.
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
        """Give the folder up."""
        self._file.close()


def make_durable(path: Path) -> None:
    """Bring the names of a new folder and of what it holds to the medium."""
    for folder in (path, path.resolve().parent):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # Not every file system knows it for folders.
            with contextlib.suppress(OSError):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _refused(path: Path, what: str, remedy: str) -> Iterator[None]:
    """Tell why a folder cannot be made or written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _NO_SPACE:
            raise RunError(f"no space left for {path}; free some space") from error
        raise UsageError(f"{path} cannot be {what}: {reason}; {remedy}") from error
