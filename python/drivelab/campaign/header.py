"""The header of a campaign's run: the drive, the design and the plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.errors import UsageError
from drivelab.runs.header import CAMPAIGN_COMMAND, command_of, drive_header
from drivelab.store import RunStore, damaged
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts

# How to see runs of other commands.
_INSTEAD: Final = {
    "pts": "`drivelab pts report {path}` reports it",
    "profile": "its report is {path}/report.html",
}
#: Header key of a run that asks round by round: the list of `Asked` so far.
ASKED: Final = "asked"
# Keys that readers of a header rely on.
_KEYS: Final[dict[str, set[str]]] = {
    "drive": {"name", "kind", "capacity_bytes", "identity"},
    "design": {"name", "seed", "workloads", "left_out_workloads", "parts", "population"},
    "plan": {"seed"},
    "origin": set(),
}


def campaign_header(
    drive: Drive,
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    *,
    design_name: str,
    parts: Parts,
    population: str,
    left_out: int,
    origin: dict[str, Any],
) -> dict[str, Any]:
    """Return the header of a run.

    Returns
    -------
    dict
        ``drive`` (name, kind, capacity_bytes, identity), ``design`` (name, seed, workloads,
        distinct_workloads, left_out_workloads, parts, population, workloads_sha256) and ``plan``
        identify the run; ``origin`` says when it was started, and on which machine.
    """
    return {
        "drive": drive_header(drive),
        "design": {
            "name": design_name,
            "seed": plan.seed,
            "left_out_workloads": left_out,
            "population": population,
            **asked_header(workloads, parts),
        },
        "plan": plan.to_json(),
        "origin": origin,
    }


def asked_header(workloads: Sequence[Characteristics], parts: Parts) -> dict[str, Any]:
    """Return the part of a design's header that describes the workloads themselves."""
    if parts.total != len(workloads):
        raise ValueError(f"{len(workloads)} workloads in parts of {parts.total}")
    return {
        "workloads": len(workloads),
        "distinct_workloads": len({workload.key() for workload in workloads}),
        "parts": parts.to_json(),
        "workloads_sha256": workloads_digest(workloads),
    }


def workloads_digest(workloads: Sequence[Characteristics]) -> str:
    """Return the SHA-256 of a sequence of workloads."""
    described = json.dumps([workload.to_json() for workload in workloads], sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def stored_header(store: RunStore) -> dict[str, Any]:
    """Return the header of a run, after checking that it is complete.

    Raises
    ------
    UsageError
        When the run belongs to another command than a campaign.
    RunError
        When the database is damaged.
    """
    command = command_of(store.header)
    if command != CAMPAIGN_COMMAND:
        instead = _INSTEAD.get(command, "see `drivelab {command} --help`")
        raise UsageError(
            f"{store.path} is a run of `drivelab {command}`, not of `drivelab {CAMPAIGN_COMMAND}`; "
            + instead.format(path=store.path, command=command)
        )
    for name, keys in _KEYS.items():
        part = store.header.get(name)
        if not isinstance(part, dict) or not keys <= part.keys():
            raise damaged(store.path, f"its {name} is missing")
    return store.header
