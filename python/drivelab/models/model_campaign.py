"""A campaign whose measurements models are fitted to: which workloads, and measuring them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from drivelab.campaign.campaign import accepted_by, run_campaign
from drivelab.campaign.finished import finished_run
from drivelab.campaign.header import stored_header
from drivelab.campaign.rounds import Pool, run_rounds
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive, DriveLimits
from drivelab.errors import DrivelabError, UsageError
from drivelab.models.adaptive_rounds import AdaptiveRounds
from drivelab.models.evaluate import refuse_too_few
from drivelab.models.goal import FEWEST_MEASUREMENTS, Goal
from drivelab.models.settling_time import affordable_writes, refuse_budget_of_settling
from drivelab.runs.executor import Executors, nobody_else
from drivelab.runs.failures import OnFailure
from drivelab.runs.stopping import found_file_stays
from drivelab.store import RunStore, is_run
from drivelab.workloads.adaptive import AdaptiveDesign, Pools
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.design import Design
from drivelab.workloads.parts import PartName, Parts
from drivelab.workloads.probes import FILLS, Fill, every_probe
from drivelab.workloads.run_parts import with_check_and_sweeps
from drivelab.workloads.selection import Selection


def run_model_campaign(
    drive_name: str,
    opened: Callable[[], AbstractContextManager[Drive]],
    plan: MeasurementPlan,
    path: Path,
    *,
    design: Design,
    goal: Goal | None = None,
    check: int,
    sweeps: bool,
    size_bytes: int | None = None,
    may_settle: bool = False,
    on_failure: OnFailure = "stop",
    command: str | None = None,
    executors: Executors = nobody_else,
    progress: bool = True,
) -> RunStore:
    """Measure what the run in `path` lacks, with the parts that models need.

    Parameters
    ----------
    drive_name
        The string that names the drive.
    opened
        Opens it; not called where the run is complete and was measured on a file that is gone.
    plan, path, on_failure, command, progress
        As `drivelab.campaign.campaign.run_campaign` takes them.
    design, check, sweeps
        As `campaign_selection` takes them.
    goal
        When a run of the design ``adaptive`` has enough.
    size_bytes
        The size that a file was asked to have, if any.
    may_settle
        Whether `writes` was left to the default: on a real drive they are sustained if the budget
        allows, whatever the plan says.
    executors
        Returns who measures on the open drive, until it is closed; ``None`` is the drive itself.

    Returns
    -------
    RunStore
        The run, open for reading. It is complete but for its `RunStore.failures`.

    Raises
    ------
    UsageError, RunError, KeyboardInterrupt, TerminatedError
        As `run_campaign` raises them.
    """
    refuse_goal(design, goal)
    refuse_short_budget(goal, plan)
    if may_settle and (begun := _writes_of(path)) is not None:
        # It resumes with its own settings.
        plan = replace(plan, writes=begun)
    finished = finished_run(
        path,
        drive_name,
        plan,
        design_name=design.name,
        population=design.population,
        check=check,
        sweeps=sweeps,
        size_bytes=size_bytes,
        goal=None if goal is None else goal.to_json(),
    )
    if finished is not None:
        return finished
    with opened() as drive, found_file_stays(drive.leave), executors(drive) as executor:
        if isinstance(design, AdaptiveDesign):
            pools, pool = adaptive_pool(design, drive, seed=plan.seed, check=check, sweeps=sweeps)
            is_real = drive.kind == "real"
            if is_real and goal is not None and not is_run(path):
                if may_settle:
                    plan = replace(plan, writes=affordable_writes(goal, plan, drive, pool))
                else:
                    refuse_budget_of_settling(goal, plan, drive, pool)
            return run_rounds(
                drive,
                pool,
                plan,
                path,
                AdaptiveRounds(goal or Goal(), pool, plan, is_real=is_real, fills=fills_of(drive)),
                design_name=design.name,
                population=pools.population,
                left_out=pools.left_out,
                on_failure=on_failure,
                command=command,
                executor=executor,
                progress=progress,
            )
        selection = campaign_selection(design, drive, seed=plan.seed, check=check, sweeps=sweeps)
        return run_campaign(
            drive,
            selection.workloads,
            plan,
            path,
            design_name=design.name,
            parts=selection.parts,
            population=selection.population,
            left_out=selection.left_out,
            on_failure=on_failure,
            command=command,
            executor=executor,
            progress=progress,
        )


def _writes_of(path: Path) -> str | None:
    """Return what the writes of a run that is there find; None where none can be read."""
    if not is_run(path):
        return None
    try:
        with RunStore.open(path) as store:
            return MeasurementPlan.from_json(stored_header(store)["plan"]).writes
    except DrivelabError:
        # Opening the run reports what is wrong.
        return None


def refuse_goal(design: Design, goal: Goal | None) -> None:
    """Raise `UsageError` when a goal is set for a design that already sets what it measures."""
    if goal is not None and not isinstance(design, AdaptiveDesign):
        raise UsageError(
            f"{design.name} already sets how much it measures; measurements, error and budget are "
            "for the design adaptive"
        )


def refuse_short_budget(goal: Goal | None, plan: MeasurementPlan) -> None:
    """Raise `UsageError` when a budget holds too few measurements that each take a stated time."""
    budget = None if goal is None else goal.budget_seconds
    if budget is None or plan.seconds is None:
        return
    each = plan.warmup_seconds + plan.seconds
    if FEWEST_MEASUREMENTS * each > budget:
        raise UsageError(
            f"a budget of {budget:g} s is too short: a model needs at least {FEWEST_MEASUREMENTS} "
            f"measurements, and each takes {each:g} s"
        )


def adaptive_pool(
    design: AdaptiveDesign, drive: DriveLimits, *, seed: int, check: int, sweeps: bool
) -> tuple[Pools, Pool]:
    """Return what a run that chooses as it goes may ask for, by part.

    Parameters
    ----------
    design, drive, seed, check, sweeps
        As `campaign_selection` takes them.
    """
    accepts = accepted_by(drive)
    pools = design.pools(seed, accepts, drive.block_bytes)
    held = Selection(
        [*pools.spread, *pools.drawn],
        Parts(len(pools.spread), len(pools.drawn)),
        distinct=None,
        left_out=pools.left_out,
        population=pools.population,
    )
    settings: dict[str, Any] = {"accepts": accepts, "block_bytes": drive.block_bytes}
    whole = with_check_and_sweeps(held, check=check, sweeps=False, **settings)
    # What may be asked for is not what will be: curves have all their points.
    nothing = replace(held, workloads=[], parts=Parts())
    curves = with_check_and_sweeps(nothing, check=0, sweeps=sweeps, **settings)
    names: tuple[PartName, ...] = ("training", "calibration", "check")
    pool: dict[PartName, Sequence[Characteristics]] = {
        name: [whole.workloads[index] for index in whole.parts.range(name)] for name in names
    }
    pool["sweeps"] = curves.workloads
    probes = [each for each in every_probe(drive.capacity_bytes) if accepts(each)]
    fills = [one.workload for one in fills_of(drive)]
    return pools, {**pool, "chosen": pool["training"], "probes": probes, "fills": fills}


def fills_of(drive: DriveLimits) -> list[Fill]:
    """Return `FILLS` as far as they fit: none of a formula, and where the drive refuses one.

    None writes more than the drive holds: after that nothing new is found.
    """
    if drive.kind == "closed_form" or not all(map(accepted_by(drive), [f.workload for f in FILLS])):
        return []
    return [
        replace(one, requests=min(one.requests, drive.capacity_bytes // one.workload.write_size))
        for one in FILLS
    ]


def campaign_selection(
    design: Design, drive: DriveLimits, *, seed: int, check: int, sweeps: bool
) -> Selection:
    """Choose the workloads of every part of the run.

    Parameters
    ----------
    design
        Which workloads train and calibrate.
    drive
        What it cannot run is left out.
    seed
        Key of the random numbers.
    check
        How many off-grid workloads to check the models on.
    sweeps
        Whether to add the workloads for curves.

    Raises
    ------
    UsageError
        When the drive can express too few of the design's workloads.
    """
    accepts = accepted_by(drive)
    selection = design.select(seed, accepts, drive.block_bytes)
    training = selection.parts.range("training")
    # Told now: measuring may take hours.
    try:
        refuse_too_few(len({selection.workloads[index].key() for index in training}))
    except UsageError as error:
        if not selection.left_out:
            raise
        why = _refusal(design, seed, drive)
        raise UsageError(
            f"{error}, as the drive cannot run {selection.left_out:,} of {design.name}: {why}"
        ) from error
    return with_check_and_sweeps(
        selection, check=check, sweeps=sweeps, accepts=accepts, block_bytes=drive.block_bytes
    )


def _refusal(design: Design, seed: int, drive: DriveLimits) -> str:
    """Say why the drive cannot run the first of a design's workloads that it cannot."""
    for workload in design.select(seed, None, drive.block_bytes).workloads:
        try:
            drive.check(workload)
        except UsageError as error:
            return str(error)
    return "it accepts none"
