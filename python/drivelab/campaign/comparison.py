"""Whether a run is the same campaign: it goes on only where nothing that matters changed.

Numbers of two drives, or of two plans, in one run would be worthless.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from drivelab.campaign.header import other_kind
from drivelab.campaign.stored import stored_indices
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import UsageError
from drivelab.store import EmptyRunError, RunStore, is_run

# What has to agree before a run goes on; everything else in the header is for the reader.
_COMPARED: Final = ("drive", "design", "plan")
_MOST_DIFFERENCES_TOLD: Final = 3
# Characters of a value that are told.
_LONGEST_VALUE: Final = 40


def refuse_other_campaign(
    path: Path,
    stored: Mapping[str, Any],
    wanted: Mapping[str, Any],
    *,
    compared: Sequence[str] = _COMPARED,
    what: str = "campaign",
) -> None:
    """Raise `UsageError` saying what differs when a run belongs to another campaign.

    Parameters
    ----------
    path
        The run's folder.
    stored, wanted
        Its header, and what it would be now.
    compared
        The parts of the header that have to agree.
    what
        What the run is, in words.
    """
    made_by = other_kind(stored) or "model"
    if made_by != (other_kind(wanted) or "model"):
        raise UsageError(f"{path} is a run of `drivelab {made_by}`; choose another --out")
    before, now = (
        dict(_flattened({key: header.get(key) for key in compared}))
        for header in (stored, json.loads(json.dumps(wanted)))
    )
    # The design's seed is the plan's, and its workloads have a digest: told once.
    keys = (before.keys() | now.keys()) - {"design.seed", "design.distinct_workloads"}
    differing = sorted(key for key in keys if before.get(key) != now.get(key))
    # The digest differs whenever name or seed do; alone it says that the design changed.
    if len(differing) > 1:
        differing = [key for key in differing if not key.endswith("_sha256")]
    if differing:
        told = [
            "{} was {} and is now {}".format(key, *_short(before.get(key), now.get(key)))
            for key in differing[:_MOST_DIFFERENCES_TOLD]
        ]
        raise UsageError(
            f"{path} holds another {what}: {'; '.join(told)}; choose another --out or ask "
            "for the same"
        )


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
) -> RunStore | None:
    """Open the finished run in `path` of a campaign on a file that is not there any more.

    Opening such a drive would make the file again, although nothing is missing. Without the
    drive its identity cannot be compared: name and path have to do.

    Parameters
    ----------
    path
        The run folder, or where there is none yet.
    drive_name, plan, design_name
        As for `drivelab.campaign.campaign.run_campaign`.
    population
        What the design draws from, where that is known without the drive: a file of workloads
        may have changed under its name.
    check, sweeps
        How many workloads its check part has, and whether it has sweeps.
    size_bytes
        The size that the file was asked to have, if any.

    Returns
    -------
    RunStore or None
        Open for reading; `None` where the drive has to be opened to know, or to go on.
    """
    if not is_run(path) or os.path.lexists(drive_name):
        return None
    wanted = {
        "drive.kind": "real",
        "drive.name": drive_name,
        "drive.identity.path": os.path.realpath(drive_name),
        "design.name": design_name,
        "design.parts.check": check,
        **dict(_flattened({"plan": plan.to_json()})),
    }
    if size_bytes is not None:
        wanted["drive.capacity_bytes"] = size_bytes
    try:
        store = RunStore.open(path)
    except EmptyRunError:
        return None
    try:
        stored = dict(_flattened(store.header))
        same = all(stored.get(key) == value for key, value in wanted.items())
        same = same and bool(stored.get("design.parts.sweeps")) == sweeps
        # Behind it stands what the drive left of it.
        same = same and str(stored.get("design.population")).startswith(population or "")
        if same and len(stored_indices(store)) == stored.get("design.workloads"):
            return store
    except BaseException:
        store.close()
        raise
    store.close()
    return None


def _flattened(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield name, value
        return
    for key, inner in value.items():
        if key != "volatile":
            yield from _flattened(inner, f"{name}.{key}" if name else str(key))


def _short(*values: Any) -> list[str]:
    """Write values as JSON, long ones from shortly before they differ."""
    texts = [json.dumps(value, sort_keys=True) for value in values]
    if max(map(len, texts)) <= _LONGEST_VALUE:
        return texts
    pairs = enumerate(zip(*texts, strict=False))
    alike = next((place for place, signs in pairs if len(set(signs)) > 1), 0)
    begin = max(0, alike - _LONGEST_VALUE // 2)
    return [_part(text, begin) for text in texts]


def _part(text: str, begin: int) -> str:
    part = text[begin : begin + _LONGEST_VALUE]
    before, after = ("..." if begin else ""), ("..." if begin + len(part) < len(text) else "")
    return f"{before}{part}{after}"
