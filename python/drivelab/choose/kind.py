"""One drive of a choice as a kind of run: its identity, its progress, its exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.measurement import Measurement
from drivelab.errors import UsageError
from drivelab.runs.columns import Column, Rows
from drivelab.runs.kind import RunKind, Standing
from drivelab.store import RunStore, damaged
from drivelab.workloads.workload import workload_of_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.workloads.workload import Workload

#: The key that does not identify a run, because a run may be extended by more repetitions.
REPETITIONS: Final = "repetitions"


def entry_of(measurement: Measurement) -> dict[str, Any]:
    """Return the journal's entry for a repetition; the workload is in the header."""
    return {"index": measurement.index, **measurement.results_json()}


def stored_repetitions(store: RunStore, workload: Workload) -> dict[int, Measurement]:
    """Return a run's repetitions of a workload, by index.

    Raises
    ------
    RunError
        When the database is damaged.
    """
    try:
        return {
            index: Measurement.of_results(index, workload, entry)
            for index, entry in zip(sorted(store.done()), store.measurements(), strict=True)
        }
    except UsageError as error:
        raise damaged(store.path, str(error)) from error


def _asked(store: RunStore) -> Mapping[str, Any]:
    asked = store.header.get("asked")
    if not isinstance(asked, dict) or not isinstance(asked.get(REPETITIONS), int):
        raise damaged(store.path, "what it was asked for is missing")
    return asked


def _standing(store: RunStore) -> Standing:
    planned = _asked(store)[REPETITIONS]
    design = f"{CHOICE.what} under {_asked(store).get('name', 'a workload')}"
    seed = (store.header.get("plan") or {}).get("seed")
    done = len(store.done())
    return Standing(design, seed, is_complete=done >= planned, planned=max(planned, done))


def _stored_rows(store: RunStore) -> Rows:
    asked = _asked(store)
    try:
        workload = workload_of_json(asked.get("workload"))
    except UsageError as error:
        raise damaged(store.path, str(error)) from error
    found = list(stored_repetitions(store, workload).values())
    labels = [Column("workload", "text", [asked.get("name")] * len(found))]
    return Rows(found, labels)


def _without_repetitions(header: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the number of repetitions: a run with another number is the same run."""
    asked = dict(header.get("asked") or {})
    asked.pop(REPETITIONS, None)
    return {**header, "asked": asked}


CHOICE: Final = RunKind(
    "choose",
    "choice",
    one="repetition",
    many="repetitions",
    compared=("drive", "asked", "plan"),
    rows=_stored_rows,
    standing=_standing,
    as_compared=_without_repetitions,
)
