"""One drive of a pool as a kind of run: what was tried on it, alone and together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.drives.measurement import Measurement
from drivelab.errors import UsageError
from drivelab.runs.columns import Column, Rows
from drivelab.runs.kind import RunKind, Standing
from drivelab.store import RunStore, damaged
from drivelab.workloads.side_by_side import SideBySide

if TYPE_CHECKING:
    from drivelab.workloads.workload import Workload

#: Of the header: how many groups were asked for so far; the answer decides which come next.
PLANNED: Final = "planned"


def stored_groups(store: RunStore) -> dict[int, Measurement]:
    """Return every group that a run holds, by its index.

    Raises
    ------
    RunError
        When the database is damaged.
    """
    try:
        found = [Measurement.from_json(each) for each in store.measurements()]
    except UsageError as error:
        raise damaged(store.path, str(error)) from error
    return {each.index: each for each in found}


def _standing(store: RunStore) -> Standing:
    done = len(store.done())
    planned = store.header.get(PLANNED)
    if not isinstance(planned, int):
        planned = None
    seed = (store.header.get("plan") or {}).get("seed")
    return Standing(
        PLACEMENT.what,
        seed,
        is_complete=planned is not None and done >= planned,
        planned=None if planned is None else max(planned, done),
    )


def _stored_rows(store: RunStore) -> Rows:
    found = list(stored_groups(store).values())
    names = [_names(each.workload) for each in found]
    return Rows(found, [Column("workloads", "text", names)])


def _names(workload: Workload) -> str:
    if not isinstance(workload, SideBySide):
        return workload.describe()
    return ", ".join(
        each.name if each.copies == 1 else f"{each.copies} x {each.name}" for each in workload.parts
    )


PLACEMENT: Final = RunKind(
    "place",
    "placement",
    one="group",
    many="groups",
    compared=("drive", "plan"),
    rows=_stored_rows,
    standing=_standing,
)
