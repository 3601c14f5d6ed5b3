"""Removing a run. A folder with a file that Drivelab did not make is left as it is."""

from __future__ import annotations

import os
import re
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

from drivelab.errors import RunError, UsageError
from drivelab.store.database import OtherLayoutError
from drivelab.store.folder import DATABASE, LOCK, FolderLock, is_run, no_run
from drivelab.store.run_store import RunStore

# SQLite's own files next to the database.
_OWN: Final = {DATABASE, LOCK, *(f"{DATABASE}-{end}" for end in ("wal", "shm", "journal"))}
_MOST_NAMED: Final = 3


def remove_run(path: Path, made: AbstractSet[str]) -> list[str]:
    """Delete the folder of a run.

    Parameters
    ----------
    path
        The folder of the run, even if the run is damaged.
    made
        Names of the files that Drivelab made there in addition to the database, relative to the
        folder.

    Returns
    -------
    list of str
        Names of the removed files.

    Raises
    ------
    UsageError
        When it is not a run, or holds any other file; then nothing is removed.
    RunError
        When another process is measuring into it, or a file cannot be removed.
    """
    refuse_no_run(path)
    lock = FolderLock(
        path,
        when_held="wait for it, or stop it first",
        when_refused="allow it first; nothing was removed",
    )
    try:
        names = sorted(_names(path))
        foreign = [name for name in names if name not in _OWN and _draft_of(name) not in made]
        if foreign:
            named = ", ".join(foreign[:_MOST_NAMED])
            more = f" and {len(foreign) - _MOST_NAMED} more" if len(foreign) > _MOST_NAMED else ""
            raise UsageError(
                f"{path} contains {named}{more}, which Drivelab did not make: move that "
                "elsewhere; nothing was removed"
            )
        _delete(path, names)
    finally:
        lock.close()
    return names


def refuse_no_run(path: Path) -> None:
    """Raise `UsageError` if a folder is not a run; damaged runs and other layouts are accepted."""
    if path.is_symlink():
        raise UsageError(f"{path} is a link to {path.resolve()}; name that")
    if not is_run(path):
        raise no_run(path)
    try:
        RunStore.open(path).close()
    except (OtherLayoutError, RunError):
        return


def _names(path: Path) -> list[str]:
    found = []
    for place, folders, files in os.walk(path):
        inside = Path(place).relative_to(path)
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        found += [str(inside / name) for name in (*files, *links)]
    return found


def _draft_of(name: str) -> str:
    """Return the final name of a draft that a killed process left."""
    folder, _, last = name.rpartition("/")
    match = re.fullmatch(r"\.(.+)\.[a-z0-9_]{8}", last)
    return name if match is None else f"{folder}/{match[1]}".lstrip("/")


def _delete(path: Path, names: list[str]) -> None:
    # Remove the database last, except for the lock: until then the folder is still a run.
    last = [name for name in (*sorted(_OWN - {DATABASE, LOCK}), DATABASE, LOCK) if name in names]
    try:
        for name in [name for name in names if name not in last] + last:
            (path / name).unlink()
        for place, _, _ in os.walk(path, topdown=False):
            Path(place).rmdir()
    except OSError as error:
        raise RunError(
            f"{error.filename} cannot be removed: {error.strerror}; the rest of {path} may be gone"
        ) from error
