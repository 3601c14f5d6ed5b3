"""Huang et al. 2011, Performance Modeling and Analysis of Flash-based Storage Devices.

Tables II to VI and figures 9 and 10 for the paper's five devices, and the statements of sections
III.A and III.B about figures 3 to 7. Published numbers were measured on real drives; ours are
measured on presets by the same method. So the tables show both, but only the paper's conclusions
are checked.

The paper ran 12,000 workloads for a minute each on every drive. It seems to have judged the models
on the workloads that they were fitted to. Here a balanced sample is measured, and the models are
judged both on it and by cross-validation.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.reproduce.claims import Reproduction
from drivelab.reproduce.huang2011_claims import accuracy_orderings, noise_remark, shortfall_remarks
from drivelab.reproduce.huang2011_drives import (
    DRIVES,
    SWEEP_PLAN,
    drive_orderings,
    drive_remarks,
    rotation_claims,
)
from drivelab.reproduce.huang2011_figures import figure_orderings, figure_remarks
from drivelab.reproduce.huang2011_published import SPECIFIC_DEVICES
from drivelab.reproduce.huang2011_runs import Job, found_of
from drivelab.reproduce.huang2011_tables import accuracy_tables, improvement_figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.exhibits import Table
    from drivelab.reproduce.claims import Drawing
    from drivelab.reproduce.huang2011_models import Fitted
    from drivelab.reproduce.huang2011_runs import Found

DESIGN: Final = "huang2011:1500"
CHECK: Final = 400
#: Largest number of workloads for each workload-specific model.
SPECIFIC_COUNT: Final = 300
# The paper measures each workload for a minute. Ours is measured until it is known to 1 %, and no
# longer. Counting begins when the buffer of SSD_A, the largest, is full: a window inside the buffer
# would measure a state that a longer measurement never sees.
PLAN: Final = MeasurementPlan.of_kind(
    "simulated", half_width_ratio=0.01, seconds=60.0, warmup_seconds=3.0
)
REFERENCE: Final = (
    "Huang et al. 2011, Performance Modeling and Analysis of Flash-based Storage Devices"
)
_FIGURES: Final = ("figure_9", "figure_10")


def reproduce(
    folder: Path | None = None,
    *,
    drives: Mapping[str, str] = DRIVES,
    design: str = DESIGN,
    check: int = CHECK,
    specific: int | None = SPECIFIC_COUNT,
    plan: MeasurementPlan = PLAN,
    sweep_plan: MeasurementPlan = SWEEP_PLAN,
) -> Reproduction:
    """Measure the paper's workloads and sweeps on every drive, fit the models and compare.

    Parameters
    ----------
    folder
        Folder that stores the runs, one subfolder per device. Without it, nothing is stored.
    drives
        Presets of the paper's devices, by their names in the paper.
    design
        Design for the basic and extended models. Default: 1,500 of the paper's workloads.
    check
        Workloads between the paper's values, on which these models are judged as well.
    specific
        Largest number of workloads for each workload-specific model; None takes all.
    plan, sweep_plan
        How long the workloads, and those of the sweeps, are measured.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="drivelab-") as temporary:
            return reproduce(
                Path(temporary),
                drives=drives,
                design=design,
                check=check,
                specific=specific,
                plan=plan,
                sweep_plan=sweep_plan,
            )
    grids = [Job("grid", name, drive, plan, design, check) for name, drive in drives.items()]
    specifics = [
        Job(what, name, drives[name], plan, count=specific)
        for what in ("specific", "repeats")
        for name in SPECIFIC_DEVICES
    ]
    sweeps = [Job("sweeps", name, drive, sweep_plan) for name, drive in drives.items()]
    # The longest jobs first, so that all cores finish at about the same time.
    return _reproduced(found_of([*specifics, *grids, *sweeps], folder), drives)


def _reproduced(found: Mapping[Job, Found], drives: Mapping[str, str]) -> Reproduction:
    models: dict[str, dict[str, Mapping[str, Fitted]]] = {name: {} for name in drives}
    for job, of_job in found.items():
        models[job.device] |= of_job.models
    swept = {job.device: of_job.sweeps for job, of_job in found.items() if job.what == "sweeps"}
    counts = {(job.what, job.device): of_job.workloads for job, of_job in found.items()}
    noise = {job.device: of_job.noise for job, of_job in found.items() if job.what == "repeats"}
    tables = accuracy_tables(models, noise)
    return Reproduction(
        paper="huang2011",
        reference=REFERENCE,
        tables=tables,
        claims=tuple(rotation_claims(drives["HDD_S"])),
        orderings=(
            *accuracy_orderings(models),
            *figure_orderings(swept["SSD_I"]),
            *drive_orderings(swept),
        ),
        quoted=(
            "Published: 12,000 workloads of a minute on each drive. Ours, simulated: "
            + "; ".join(
                f"{name} {drive}, {counts['grid', name]:,} workloads"
                for name, drive in drives.items()
            )
            + ".",
            "Workload-specific models, section IV.A: each workload only reads or only writes, with "
            "finer values. The paper does not name their steps; here they are powers of two and "
            "tenths. Measured: "
            + "; ".join(f"{name} {counts['specific', name]:,}" for name in SPECIFIC_DEVICES)
            + " workloads.",
            noise_remark(models, noise),
            *shortfall_remarks(models),
            *figure_remarks(swept["SSD_I"]),
            *drive_remarks(swept),
        ),
        drawings={
            f"{table.name}.svg": _drawing(table) for table in tables if table.name in _FIGURES
        },
    )


def _drawing(table: Table) -> Drawing:
    from drivelab.report.drawing.bars import bars_document

    return partial(bars_document, improvement_figure(table))
