"""Which workloads a campaign measures so that models can be fitted to them and checked."""

from __future__ import annotations

from drivelab.drives.protocol import DriveLimits
from drivelab.errors import UsageError
from drivelab.measure.campaign import accepted_by
from drivelab.models.evaluate import refuse_too_few
from drivelab.workloads.design import Design
from drivelab.workloads.run_parts import with_check_and_sweeps
from drivelab.workloads.selection import Selection


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
