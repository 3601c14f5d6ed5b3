"""The runs below a folder and the state of each; damaged ones are listed too."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from drivelab.errors import DamagedError, RunError, UsageError
from drivelab.runs.kind import RunKind, Standing
from drivelab.store import RunStore, is_held, is_run

State = Literal["complete", "incomplete", "measuring", "damaged", "unreadable"]


@dataclass(frozen=True)
class RunSummary:
    """The state of a run.

    Attributes
    ----------
    path
        Its folder.
    state
        ``complete``; ``incomplete``, where measurements are missing or failed; ``measuring``,
        while a process is at it; ``damaged``; ``unreadable``, of another version or foreign.
    size_bytes
        Of all files in its folder.
    problem
        Why it cannot be read, else `None`; then the rest is `None`.
    drive, kind, started_at
        From its header; `started_at` in ISO 8601.
    standing
        What was asked for, and how far it is.
    measured, failed
        Measurements that it holds, and those that failed and are missing.
    """

    path: Path
    state: State
    size_bytes: int
    problem: str | None = None
    drive: str | None = None
    kind: str | None = None
    standing: Standing | None = None
    measured: int | None = None
    failed: int | None = None
    started_at: str | None = None


def find_runs(folder: Path) -> list[Path]:
    """List the runs in `folder` and below it, ordered by path; links are not followed.

    Raises
    ------
    UsageError
        When there is no such folder.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise UsageError(f"{folder} {what}; name a folder with runs")
    found = []
    for place, folders, _ in os.walk(folder):
        path = Path(place)
        if is_run(path):
            found.append(path)
            # What is in a run belongs to it.
            folders.clear()
    return sorted(found)


def summarise(path: Path, kind_of: Callable[[RunStore], RunKind]) -> RunSummary:
    """Return the state of the run in `path`, also if it is damaged.

    Parameters
    ----------
    path
        Its folder.
    kind_of
        Gives what a stored run is of.
    """
    size_bytes = folder_size_bytes(path)
    try:
        with RunStore.open(path) as store:
            standing = kind_of(store).standing(store)
            header, measured, failures = store.header, len(store.done()), len(store.failures())
    except DamagedError as error:
        return RunSummary(path, "damaged", size_bytes, problem=str(error))
    except (RunError, UsageError) as error:
        return RunSummary(path, "unreadable", size_bytes, problem=str(error))
    state: State = "complete" if standing.is_complete else "incomplete"
    return RunSummary(
        path,
        "measuring" if is_held(path) else state,
        size_bytes,
        drive=header["drive"]["name"],
        kind=header["drive"]["kind"],
        standing=standing,
        measured=measured,
        failed=failures,
        started_at=header.get("origin", {}).get("started_at"),
    )


def folder_size_bytes(path: Path) -> int:
    """Add up the files in a folder and below; what goes away meanwhile counts nothing."""
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue
    return total
