"""Reading the measurements of a run, checked against the run's header."""

from __future__ import annotations

from collections.abc import Iterable

from drivelab.drives.measurement import Measurement
from drivelab.errors import UsageError
from drivelab.store import RunStore, damaged


def stored_measurements(store: RunStore) -> list[Measurement]:
    """Return all measurements of a run, ordered by index.

    Raises
    ------
    RunError
        When the database is damaged, or has measurements that are not in the design.
    """
    try:
        measurements = [Measurement.from_json(stored) for stored in store.measurements()]
    except UsageError as error:
        raise damaged(store.path, str(error)) from error
    indices = stored_indices(store)
    misplaced = [one.index for one in measurements if one.index not in indices]
    if misplaced:
        raise damaged(store.path, f"measurement {misplaced[0]} is stored as another")
    return measurements


def stored_indices(store: RunStore) -> set[int]:
    """Return the indices of a run's measurements; raises as `stored_measurements`."""
    done = store.done()
    _check_planned(store, done)
    return done


def _check_planned(store: RunStore, indices: Iterable[int]) -> None:
    design = store.header.get("design")
    planned = design.get("workloads") if isinstance(design, dict) else None
    if not isinstance(planned, int):
        raise damaged(store.path, "its design is missing")
    beyond = [index for index in indices if not 0 <= index < planned]
    if beyond:
        raise damaged(
            store.path, f"measurement {min(beyond)} is none of the {planned} of its design"
        )
