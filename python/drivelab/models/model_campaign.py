"""A campaign whose measurements models are fitted to: which workloads, and measuring them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from drivelab.campaign.campaign import accepted_by, run_campaign
from drivelab.campaign.finished import finished_run
from drivelab.campaign.rounds import Pool, run_rounds
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive, DriveLimits
from drivelab.drives.write_pattern import SETTLING_CAPACITIES, settled_patterns
from drivelab.errors import UsageError
from drivelab.models.adaptive_rounds import AdaptiveRounds
from drivelab.models.evaluate import refuse_too_few
from drivelab.models.goal import FEWEST_MEASUREMENTS, Goal
from drivelab.runs.failures import OnFailure
from drivelab.runs.stopping import found_file_stays
from drivelab.store import RunStore, is_run
from drivelab.units import format_duration_ns, format_size
from drivelab.workloads.adaptive import AdaptiveDesign, Pools
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.design import Design
from drivelab.workloads.parts import PartName, Parts
from drivelab.workloads.probes import every_probe
from drivelab.workloads.run_parts import with_check_and_sweeps
from drivelab.workloads.selection import Selection

# What a drive takes fastest.
_TRIED: Final = {"queue_depth": 32, "write_size": 128 << 10}


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
    on_failure: OnFailure = "stop",
    command: str | None = None,
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
    with opened() as drive, found_file_stays(drive.leave):
        if isinstance(design, AdaptiveDesign):
            pools, pool = adaptive_pool(design, drive, seed=plan.seed, check=check, sweeps=sweeps)
            is_real = drive.kind == "real"
            if is_real and goal is not None and not is_run(path):
                refuse_budget_of_settling(goal, plan, drive, pool)
            return run_rounds(
                drive,
                pool,
                plan,
                path,
                AdaptiveRounds(goal or Goal(), pool, plan, is_real=is_real),
                design_name=design.name,
                population=pools.population,
                left_out=pools.left_out,
                on_failure=on_failure,
                command=command,
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
            progress=progress,
        )


def refuse_goal(design: Design, goal: Goal | None) -> None:
    """Raise `UsageError` when a goal is asked of a design that says itself what it measures."""
    if goal is not None and not isinstance(design, AdaptiveDesign):
        raise UsageError(
            f"{design.name} says itself how much it measures; measurements, error and budget are "
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


def refuse_budget_of_settling(goal: Goal, plan: MeasurementPlan, drive: Drive, pool: Pool) -> None:
    """Raise `UsageError` when a budget would end while a real drive is still being settled.

    How fast the drive takes writes is tried for a second: it only becomes slower.

    Parameters
    ----------
    goal, plan
        The budget, and whether writes are to be sustained.
    drive
        An open drive; written to.
    pool
        Everything that may be asked for.
    """
    patterns = settled_patterns((each for part in pool.values() for each in part), plan.writes)
    if goal.budget_seconds is None or not patterns:
        return
    writes = Characteristics(write_ratio=1.0, write_random=0.0, **_TRIED)
    trial = replace(MeasurementPlan.of_kind("real", seconds=1.0), content=plan.content)
    [found] = drive.measure([(0, writes)], trial)
    written = len(patterns) * SETTLING_CAPACITIES * drive.capacity_bytes
    seconds = written / found.bytes * found.duration_ns / 1e9
    if seconds > goal.budget_seconds:
        raise UsageError(
            f"a budget of {format_duration_ns(goal.budget_seconds * 1e9)} is too short for "
            f"sustained writes: they need {format_size(written)} written to {drive.name} before, "
            f"which takes at least {format_duration_ns(seconds * 1e9)}; give a longer budget, or "
            "ask for burst writes"
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
    probes = [each for each in every_probe() if accepts(each)]
    return pools, {**pool, "chosen": pool["training"], "probes": probes}


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
