"""A campaign whose measurements models are fitted to: which workloads, and measuring them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from drivelab.campaign.campaign import accepted_by, run_campaign
from drivelab.campaign.finished import finished_run
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive, DriveLimits
from drivelab.errors import UsageError
from drivelab.models.evaluate import refuse_too_few
from drivelab.runs.failures import OnFailure
from drivelab.runs.stopping import found_file_stays
from drivelab.store import RunStore
from drivelab.workloads.design import Design
from drivelab.workloads.run_parts import with_check_and_sweeps
from drivelab.workloads.selection import Selection


def run_model_campaign(
    drive_name: str,
    opened: Callable[[], AbstractContextManager[Drive]],
    plan: MeasurementPlan,
    path: Path,
    *,
    design: Design,
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
    finished = finished_run(
        path,
        drive_name,
        plan,
        design_name=design.name,
        population=design.population,
        check=check,
        sweeps=sweeps,
        size_bytes=size_bytes,
    )
    if finished is not None:
        return finished
    with opened() as drive, found_file_stays(drive.leave):
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
