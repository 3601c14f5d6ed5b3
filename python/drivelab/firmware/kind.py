"""Profiles of firmware as a kind of run: when they are the same, their state, their export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.errors import RunError, UsageError
from drivelab.firmware.profiled import Observed, Profiled
from drivelab.firmware.record_logs import RecordColumn, RecordLog
from drivelab.firmware.requests import RECORD_REQUESTS
from drivelab.runs.columns import Column, Rows
from drivelab.runs.header import command_of
from drivelab.runs.kind import RunKind, Standing
from drivelab.store import RunStore, damaged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_LOGS: Final = ("counted", "host", "target")


def observed_of(entry: Mapping[str, Any]) -> Observed:
    """Return the records that a journal's entry holds: a `Profiled` where a target was watched.

    Raises
    ------
    RunError
        When the entry is not a workload's.
    """
    try:
        counted, host = (_log(entry[name]) for name in _LOGS[:2])
        label = str(entry["label"])
        if _LOGS[2] in entry:
            return Profiled(label, counted, host, _log(entry[_LOGS[2]]))
        return Observed(label, counted, host)
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"the journal contains a workload without its records ({error})") from error


def stored_records(store: RunStore) -> list[Observed]:
    """Return the workloads in a run, in order.

    Raises
    ------
    RunError
        When it is damaged.
    """
    try:
        return [observed_of(entry) for entry in store.measurements()]
    except RunError as error:
        raise damaged(store.path, str(error)) from error


def stored_profile(store: RunStore) -> list[Profiled]:
    """Return the workloads in a run, each with times of a target.

    Raises
    ------
    UsageError
        When no target was watched.
    RunError
        When the run is damaged.
    """
    found = stored_records(store)
    profiled = [each for each in found if isinstance(each, Profiled)]
    if len(profiled) < len(found):
        raise UsageError(
            f"{store.path} contains no times of a target: `drivelab firmware predict` made it; "
            "name a run of `drivelab firmware profile`"
        )
    return profiled


def incomplete(store: RunStore, found: Sequence[Observed]) -> list[str]:
    """Say what a run lacks of what it was asked for, and how to resume: cautions, mostly none.

    Parameters
    ----------
    store
        The run.
    found
        What it holds.
    """
    cautions = []
    asked = [str(each["label"]) for each in _asked_workloads(store)]
    missing = [label for label in asked if label not in {each.label for each in found}]
    if missing:
        starts = store.starts()
        command = starts[-1].get("command") if starts else None
        cautions.append(
            f"the profile is incomplete: {len(found)} of {len(asked)} workloads exist, without "
            f"{', '.join(missing)}; `{command or 'drivelab firmware profile'}` resumes it"
        )
    plan = store.header.get("plan") or {}
    requests = (plan.get("requests") or {}).get("requests")
    if requests is not None:
        wanted = requests // (plan.get("firmware") or {}).get("record_requests", RECORD_REQUESTS)
        cautions += [
            f"{each.label} has {len(each):,} of {wanted:,} records that were asked for: it ends "
            "there; profile a longer one, or ask for fewer (--records)"
            for each in found
            if len(each) < wanted
        ]
    return cautions


def firmware_run(path: Path) -> RunStore:
    """Open a run of firmware; close what this gives.

    Raises
    ------
    UsageError
        When it is none.
    """
    store = RunStore.open(path)
    command = command_of(store.header)
    if command != FIRMWARE_PROFILE.command:
        store.close()
        raise UsageError(
            f"{path} is a run of `drivelab {command}`; name one of `drivelab firmware profile`"
        )
    return store


def _log(value: Mapping[str, Any]) -> RecordLog:
    columns = tuple(RecordColumn(**each) for each in value["columns"])
    rows = np.array(value["values"], dtype=np.float64).reshape(-1, len(columns))
    return RecordLog(columns, rows, dict(value["parameters"]))


def _asked_workloads(store: RunStore) -> list[Mapping[str, Any]]:
    workloads = (store.header.get("asked") or {}).get("workloads")
    if not isinstance(workloads, list) or not all(
        isinstance(each, dict) and "label" in each for each in workloads
    ):
        raise damaged(store.path, "what it was asked for is missing")
    return workloads


def _standing(store: RunStore) -> Standing:
    workloads = _asked_workloads(store)
    plan = store.header.get("plan") or {}
    done = len(store.done())
    return Standing(
        f"firmware under {len(workloads)} workloads",
        (plan.get("requests") or {}).get("seed"),
        is_complete=done >= len(workloads),
        planned=max(len(workloads), done),
    )


def _stored_rows(store: RunStore) -> Rows:
    """Give a row a record: its workload, its place there, and what every observer wrote of it."""
    profiles = stored_records(store)
    columns = [
        Column("workload", "text", [each.label for each in profiles for _ in range(len(each))]),
        Column("record", "integer", [place for each in profiles for place in range(len(each))]),
    ]
    for name in _LOGS:
        logs: list[RecordLog] = [getattr(each, name) for each in profiles if hasattr(each, name)]
        for column in logs[0].columns if logs else ():
            cells = [int(value) for log in logs for value in log.column(column.name)]
            columns.append(Column(f"{name}_{column.name}", "integer", cells))
    return Rows((), columns, is_labelled_alone=True)


FIRMWARE_PROFILE: Final = RunKind(
    "firmware",
    "profile of firmware",
    one="workload",
    many="workloads",
    compared=("drive", "asked", "plan"),
    rows=_stored_rows,
    standing=_standing,
)
