"""A campaign: every workload of a design on one drive, stored one by one.

The journal is the run folder. A campaign that was stopped, by whatever, is started again
with the same words and goes on with what is missing. It goes on only on the same drive with
the same design, seed and plan, because numbers of two drives in one run would be worthless.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from drivelab.drives.drive import Drive
from drivelab.drives.measurement import Measurement, MeasurementPlan
from drivelab.errors import DrivelabError, RunError, UsageError
from drivelab.measure.export import write_measurements
from drivelab.measure.progress import Progress
from drivelab.store import RunStore, damaged, is_run
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from drivelab.workloads.selection import Accepts

# What has to agree before a run goes on; everything else in the header is for the reader.
_COMPARED: Final = ("drive", "design", "plan")
_MOST_DIFFERENCES_TOLD: Final = 3
# What readers of a header count on.
_HEADER: Final[dict[str, set[str]]] = {
    "drive": {"name", "kind", "capacity_bytes", "identity"},
    "design": {"name", "seed", "workloads", "left_out_workloads", "parts", "population"},
    "plan": {"seed"},
    "origin": set(),
}


def run_campaign(
    drive: Drive,
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    path: Path,
    *,
    design_name: str,
    parts: Parts | None = None,
    population: str = "",
    left_out: int = 0,
    progress: bool = True,
) -> RunStore:
    """Measure what `path` does not hold yet, and export all of it.

    Parameters
    ----------
    drive
        Where to measure.
    workloads
        The design's workloads; a measurement's index is its place in this sequence.
    plan
        How long each is measured, and the seed.
    path
        The run folder, made when it does not exist.
    design_name
        As the user named it, ``huang2011:300``.
    parts
        What the workloads are for; all train unless given.
    population
        What the design draws from, in words.
    left_out
        Workloads of the design that this drive cannot run.
    progress
        Show progress on standard error.

    Returns
    -------
    RunStore
        The complete run, open for reading.

    Raises
    ------
    UsageError
        When the drive cannot run a workload, or `path` holds another campaign.
    RunError
        When a measurement fails; those before it are kept.
    KeyboardInterrupt
        On Ctrl-C, with a text that says how to go on.
    """
    for workload in workloads:
        drive.check(workload)
    parts = Parts(len(workloads)) if parts is None else parts
    header = campaign_header(
        drive,
        workloads,
        plan,
        design_name=design_name,
        parts=parts,
        population=population,
        left_out=left_out,
    )
    with RunStore.resume_or_create(path, header, durable=drive.kind == "real") as store:
        refuse_other_campaign(path, store.header, header)
        _measure_missing(drive, workloads, plan, store, shown=progress)
        write_measurements(stored_measurements(store), path, header["drive"])
    return RunStore.open(path)


def accepted_by(drive: Drive) -> Accepts:
    """Return what tells of a workload whether `drive` can run it."""

    def accepts(workload: Characteristics) -> bool:
        try:
            drive.check(workload)
        except UsageError:
            return False
        return True

    return accepts


def finished_run(
    path: Path,
    drive_name: str,
    plan: MeasurementPlan,
    *,
    design_name: str,
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
        As for `run_campaign`.
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
        **dict(_flattened({"plan": plan.to_json()})),
    }
    if size_bytes is not None:
        wanted["drive.capacity_bytes"] = size_bytes
    store = RunStore.open(path)
    stored = dict(_flattened(store.header))
    done = store.done()
    if (
        all(stored.get(key) == value for key, value in wanted.items())
        and stored.get("design.workloads") == len(done)
        and done == set(range(len(done)))
    ):
        return store
    store.close()
    return None


def stored_measurements(store: RunStore) -> list[Measurement]:
    """Read every measurement of a run, ordered by index.

    Raises
    ------
    RunError
        When the database is damaged.
    """
    try:
        return [Measurement.from_json(stored) for stored in store.measurements()]
    except UsageError as error:
        raise damaged(store.path, str(error)) from error


def stored_header(store: RunStore) -> dict[str, Any]:
    """Give what a run keeps about itself, having checked that it is all there.

    Raises
    ------
    RunError
        When the database is damaged.
    """
    for name, keys in _HEADER.items():
        part = store.header.get(name)
        if not isinstance(part, dict) or not keys <= part.keys():
            raise damaged(store.path, f"its {name} is not there")
    return store.header


def campaign_header(
    drive: Drive,
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    *,
    design_name: str,
    parts: Parts,
    population: str,
    left_out: int,
) -> dict[str, Any]:
    """Give what a run keeps about itself.

    Returns
    -------
    dict
        ``drive`` (name, kind, capacity_bytes, identity), ``design`` (name, seed, workloads,
        distinct_workloads, left_out_workloads, parts, population, workloads_sha256) and
        ``plan`` identify the run; ``origin`` says when and on what it was started.
    """
    from importlib.metadata import version

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
        "origin": {
            "drivelab_version": version("drivelab"),
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": platform.node(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "python_version": platform.python_version(),
        },
    }


def refuse_other_campaign(path: Path, stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise `UsageError` saying what differs when a run belongs to another campaign."""
    before, now = (
        dict(_flattened({key: header.get(key) for key in _COMPARED}))
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
            f"{key} was {_short(before.get(key))} and is now {_short(now.get(key))}"
            for key in differing[:_MOST_DIFFERENCES_TOLD]
        ]
        raise UsageError(
            f"{path} holds another campaign: {'; '.join(told)}; choose another --out or ask "
            "for the same"
        )


def _measure_missing(
    drive: Drive,
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    store: RunStore,
    *,
    shown: bool,
) -> None:
    done = store.done()
    missing = [(index, work) for index, work in enumerate(workloads) if index not in done]
    stored = len(workloads) - len(missing)
    try:
        with Progress(len(workloads), stored, "measurements", shown=shown) as progress:
            for measurement in _measured(drive, missing, plan):
                store.append(measurement.to_json(), measurement.index)
                stored += 1
                progress.advance()
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(f"stopped; {_kept(store, stored, workloads)}") from interrupt
    except DrivelabError as error:
        raise type(error)(f"{error}; {_kept(store, stored, workloads)}") from error


def _kept(store: RunStore, stored: int, workloads: Sequence[Characteristics]) -> str:
    return (
        f"{stored} of {len(workloads)} measurements are kept in {store.path}: run the same "
        "command again to go on"
    )


def _measured(
    drive: Drive, missing: list[tuple[int, Characteristics]], plan: MeasurementPlan
) -> Iterator[Measurement]:
    """Give the drive's answers, having checked that they answer what was asked."""
    answers = drive.measure(missing, plan)
    try:
        for index, workload in missing:
            answer = next(answers, None)
            if answer is None or (answer.index, answer.characteristics) != (index, workload):
                found = "nothing" if answer is None else f"measurement {answer.index}"
                raise RunError(f"{drive.name} answered {found} when asked for {index}")
            yield answer
    finally:
        # A generator ends its tools (fio) when it is closed, not when it is forgotten.
        close = getattr(answers, "close", None)
        if close is not None:
            close()


def _flattened(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield name, value
        return
    for key, inner in value.items():
        if key != "volatile":
            yield from _flattened(inner, f"{name}.{key}" if name else str(key))


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
