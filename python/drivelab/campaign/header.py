"""What a run keeps about itself: the drive, the design, the plan, and who measured when."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.errors import UsageError
from drivelab.store import RunStore, damaged
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts

# What readers of a header count on.
_KEYS: Final[dict[str, set[str]]] = {
    "drive": {"name", "kind", "capacity_bytes", "identity"},
    "design": {"name", "seed", "workloads", "left_out_workloads", "parts", "population"},
    "plan": {"seed"},
    "origin": set(),
}
# Their numbers may change what is drawn, fitted or measured.
_PACKAGES: Final = {"drivelab": "drivelab", "numpy": "numpy", "scikit_learn": "scikit-learn"}


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
    """Give what a run keeps about itself.

    Returns
    -------
    dict
        ``drive`` (name, kind, capacity_bytes, identity), ``design`` (name, seed, workloads,
        distinct_workloads, left_out_workloads, parts, population, workloads_sha256) and
        ``plan`` identify the run; ``origin`` says when and on what it was started.
    """
    if parts.total != len(workloads):
        raise ValueError(f"{len(workloads)} workloads in parts of {parts.total}")
    described = json.dumps([workload.to_json() for workload in workloads], sort_keys=True)
    return {
        "drive": {
            "name": drive.name,
            "kind": drive.kind,
            "capacity_bytes": drive.capacity_bytes,
            "identity": drive.identity(),
        },
        "design": {
            "name": design_name,
            "seed": plan.seed,
            "workloads": len(workloads),
            "distinct_workloads": len({workload.key() for workload in workloads}),
            "left_out_workloads": left_out,
            "parts": parts.to_json(),
            "population": population,
            "workloads_sha256": hashlib.sha256(described.encode()).hexdigest(),
        },
        "plan": plan.to_json(),
        "origin": origin,
    }


def this_start(command: str | None) -> dict[str, Any]:
    """Describe this process and its machine: when, where, with which versions.

    Parameters
    ----------
    command
        The command line that the user gave, if any.
    """
    from importlib.metadata import version

    return {
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        **{f"{name}_version": version(package) for name, package in _PACKAGES.items()},
        "python_version": platform.python_version(),
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
    }


def run_of(header: Mapping[str, Any]) -> str:
    """Name a run of any command, the same wherever its folder is moved to."""
    drive, origin = header["drive"], header.get("origin", {})
    digest = hashlib.sha256(json.dumps([drive, origin], sort_keys=True).encode()).hexdigest()
    return f"the run of {drive['name']} begun {origin.get('started_at')} ({digest[:12]})"


def stored_header(store: RunStore) -> dict[str, Any]:
    """Give what a run keeps about itself, having checked that it is all there.

    Raises
    ------
    UsageError
        When it is no run of a campaign, but of another command.
    RunError
        When the database is damaged.
    """
    kind = other_kind(store.header)
    if kind is not None:
        raise UsageError(
            f"{store.path} is a run of `drivelab {kind}`, not of `drivelab model`; see "
            f"`drivelab {kind} --help`"
        )
    for name, keys in _KEYS.items():
        part = store.header.get(name)
        if not isinstance(part, dict) or not keys <= part.keys():
            raise damaged(store.path, f"its {name} is not there")
    return store.header


def other_kind(header: Mapping[str, Any]) -> str | None:
    """Name the command that made a run which is no campaign; ``None`` for a campaign."""
    kind = header.get("kind")
    return kind if isinstance(kind, str) else None


def _processor() -> str | None:
    """Give the processor's model as the kernel tells it; ARM kernels tell none."""
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return None
    found = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(\S.*)$", text, re.MULTILINE)
    return found[1].strip() if found else None
