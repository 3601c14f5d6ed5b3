"""Which runs there are below a folder, and how each stands; a damaged one is one among others."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from drivelab.campaign.header import stored_header
from drivelab.campaign.stored import stored_indices
from drivelab.errors import RunError, UsageError
from drivelab.runs.header import CAMPAIGN_COMMAND, command_of
from drivelab.store import RunStore, is_held, is_run

State = Literal["complete", "incomplete", "measuring", "damaged", "unreadable"]


@dataclass(frozen=True)
class RunSummary:
    """How a run stands.

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
    drive, kind, design, seed, planned, started_at
        From its header; `started_at` in ISO 8601. `planned` is `None` where nobody knows before.
    measured, failed
        Measurements that it holds, and those that failed and are missing.
    """

    path: Path
    state: State
    size_bytes: int
    problem: str | None = None
    drive: str | None = None
    kind: str | None = None
    design: str | None = None
    seed: int | None = None
    planned: int | None = None
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


def summarise(path: Path) -> RunSummary:
    """Say how the run in `path` stands, whatever state it is in."""
    size_bytes = folder_size_bytes(path)
    try:
        with RunStore.open(path) as store:
            if command_of(store.header) != CAMPAIGN_COMMAND:
                return _other_summary(path, store, size_bytes)
            header = stored_header(store)
            measured, failures = len(stored_indices(store)), len(store.failures())
    except RunError as error:
        return RunSummary(path, "damaged", size_bytes, problem=str(error))
    except UsageError as error:
        return RunSummary(path, "unreadable", size_bytes, problem=str(error))
    design = header["design"]
    state: State = "complete" if measured == design["workloads"] else "incomplete"
    return RunSummary(
        path,
        "measuring" if is_held(path) else state,
        size_bytes,
        drive=header["drive"]["name"],
        kind=header["drive"]["kind"],
        design=design["name"],
        seed=design["seed"],
        planned=design["workloads"],
        measured=measured,
        failed=failures,
        started_at=header["origin"].get("started_at"),
    )


def _other_summary(path: Path, store: RunStore, size_bytes: int) -> RunSummary:
    """Say how a run stands whose steps nobody can count before: it is complete when it says so."""
    header = store.header
    last: dict[str, Any] = {}
    for last in store.measurements():  # noqa: B007
        pass
    action = last.get("action")
    ended = isinstance(action, dict) and action.get("kind") == "end"
    # A profile ends when enough is known, and says so in its answer alone.
    ended |= (path / "profile.json").is_file()
    asked = header.get(str(header["kind"]), {})
    state: State = "complete" if ended else "incomplete"
    # A test calls its settings so, a profile its plan.
    drive, settings = header.get("drive", {}), asked.get("settings", header.get("plan", {}))
    return RunSummary(
        path,
        "measuring" if is_held(path) else state,
        size_bytes,
        drive=drive.get("name"),
        kind=drive.get("kind"),
        design=f"{header['kind']} {asked.get('test', '')}".strip(),
        seed=settings.get("seed"),
        measured=len(store.done()),
        failed=len(store.failures()),
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
