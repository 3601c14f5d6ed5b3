"""Opening a finished campaign on a file that is gone, without opening the drive."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drivelab.campaign.stored import stored_indices
from drivelab.drives.plan import MeasurementPlan
from drivelab.runs.same_run import flattened
from drivelab.store import EmptyRunError, RunStore, is_run


def finished_run(
    path: Path,
    drive_name: str,
    plan: MeasurementPlan,
    *,
    design_name: str,
    population: str | None = None,
    check: int = 0,
    sweeps: bool = False,
    size_bytes: int | None = None,
    goal: Mapping[str, Any] | None = None,
) -> RunStore | None:
    """Open the finished run in `path` if the file that it measured no longer exists.

    Opening such a drive would make the file again although nothing is missing. Without the drive
    its identity cannot be compared, so the name and the path must be enough. The same holds for a
    drive of another machine, which then need not be reachable.

    Parameters
    ----------
    path
        The run folder, which need not exist.
    drive_name, plan, design_name
        As in `drivelab.campaign.campaign.run_campaign`.
    population
        Population of the design, if it is known without the drive: a file of workloads may have
        changed under the same name.
    check, sweeps
        Number of workloads in the check part, and whether there are sweeps.
    size_bytes
        Required size of the file, if any.
    goal
        Goal of a run that asks round by round.

    Returns
    -------
    RunStore or None
        Open for reading; `None` if the drive must be opened to decide, or to resume.
    """
    if not is_run(path) or os.path.lexists(drive_name):
        return None
    plan = plan.holding(ends_by_itself=False)
    wanted = {
        "drive.kind": "real",
        "drive.name": drive_name,
        "design.name": design_name,
        "design.parts.check": check,
    }
    if goal is not None:
        wanted |= dict(flattened({"ended": {"goal": goal}}))
    if size_bytes is not None:
        wanted["drive.capacity_bytes"] = size_bytes
    try:
        store = RunStore.open(path)
    except EmptyRunError:
        return None
    try:
        stored = dict(flattened(store.header))
        if stored.get("drive.identity.host.name") is None:
            wanted["drive.identity.path"] = os.path.realpath(drive_name)
        same = all(stored.get(key) == value for key, value in wanted.items())
        same = same and store.header.get("plan") == plan.to_json()
        same = same and bool(stored.get("design.parts.sweeps")) == sweeps
        # The text continues with what the drive left of the design.
        same = same and str(stored.get("design.population")).startswith(population or "")
        if same and len(stored_indices(store)) == stored.get("design.workloads"):
            return store
    except BaseException:
        store.close()
        raise
    store.close()
    return None
