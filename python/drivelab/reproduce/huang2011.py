"""Huang et al. 2011, Performance Modeling and Analysis of Flash-based Storage Devices.

Tables II and III for the drive that the paper calls SSD_I, an Intel X25-M of 80 GB, and what
sections III.A and III.B say in figures 3 to 7 of it and of the other drives. Published numbers,
measured on the real drives, stand beside ours, measured on presets: the same method on drives that
are simulated, so the numbers are compared in words and only what the paper concludes from them is
asserted.

The paper ran 12,000 of the workloads that its value sets span for a minute each and, it seems,
judged the models on the workloads that they were fitted to. Here a balanced sample is measured, and
the models are judged both so and by cross-validation.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.exhibits import Table
from drivelab.exhibits.quantities import METRICS as QUANTITIES
from drivelab.models.evaluate import best_model
from drivelab.models.measured import METRICS
from drivelab.reproduce.claims import Claim, Ordering, Reproduction
from drivelab.reproduce.huang2011_drives import (
    OTHER_DRIVES,
    SWEEP_PLAN,
    drive_orderings,
    drive_remarks,
    rotation_claims,
)
from drivelab.reproduce.huang2011_figures import figure_orderings, figure_remarks
from drivelab.workloads.design import parse_design
from drivelab.workloads.huang2011_sweeps import sweep_workloads
from drivelab.workloads.run_parts import with_check_and_sweeps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.models.accuracy import Accuracy
    from drivelab.models.evaluate import Evaluation
    from drivelab.workloads.parts import Parts

DRIVE: Final = "sim:x25m"
DESIGN: Final = "huang2011:1500"
# The paper measures each workload for a minute; ours is as long as it takes to know it to 1 %.
PLAN: Final = MeasurementPlan.of_kind("simulated", half_width_ratio=0.01)
REFERENCE: Final = (
    "Huang et al. 2011, Performance Modeling and Analysis of Flash-based Storage Devices"
)


@dataclass(frozen=True)
class _Published:
    """A row of table II or III: MAE and mean in ms, MB/s or IO/s."""

    r2: float
    mae: float
    mean: float
    mre_percent: float


# Tables II and III, the rows of SSD_I.
TABLE_2: Final = {
    "latency_ns_mean": _Published(0.627, 6.90, 15.97, 63.0),
    "bandwidth_bytes_per_second": _Published(0.515, 21.87, 68.61, 40.0),
    "iops": _Published(0.500, 1547.0, 3967.0, 53.0),
}
TABLE_3: Final = {
    "latency_ns_mean": _Published(0.986, 1.42, 15.97, 12.0),
    "bandwidth_bytes_per_second": _Published(0.981, 3.91, 68.61, 6.0),
    "iops": _Published(0.970, 254.0, 3967.0, 6.0),
}
_COLUMNS: Final = (
    "performance",
    "unit",
    "published_r2",
    "in_sample_r2",
    "cross_validated_r2",
    "published_mae",
    "in_sample_mae",
    "cross_validated_mae",
    "published_mean",
    "mean",
    "published_mre_percent",
    "in_sample_mre_percent",
    "cross_validated_mre_percent",
    "off_grid_mre_percent",
)


def reproduce(
    folder: Path | None = None,
    *,
    drive: str = DRIVE,
    design: str = DESIGN,
    check: int = 1000,
    plan: MeasurementPlan = PLAN,
    others: Mapping[str, str] = OTHER_DRIVES,
    sweep_plan: MeasurementPlan = SWEEP_PLAN,
) -> Reproduction:
    """Measure a sample of the paper's workloads and its sweeps, fit the models, compare.

    Parameters
    ----------
    folder
        Where the runs are kept, in folders of it: ``run``, and one by the name of each other
        drive; without it they are forgotten.
    drive, design
        What is measured; by default the paper's drive and 1,500 of its workloads.
    check
        Workloads off the paper's values on which the models are judged as well.
    plan
        How long each is measured.
    others, sweep_plan
        The paper's other devices by its names for them, and how long their sweeps are measured.
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            return reproduce(
                Path(temporary),
                drive=drive,
                design=design,
                check=check,
                plan=plan,
                others=others,
                sweep_plan=sweep_plan,
            )
    measured, parts = _measured(folder / "run", drive, design, check, plan)
    swept = {
        name: _swept(folder / name.lower(), other, sweep_plan) for name, other in others.items()
    }
    return _reproduced(measured, parts, design, swept, rotation_claims(others["HDD_S"]))


def _measured(
    path: Path, drive_name: str, design_name: str, check: int, plan: MeasurementPlan
) -> tuple[list[Measurement], Parts]:
    with open_drive(drive_name) as drive:
        selection = with_check_and_sweeps(
            parse_design(design_name).select(plan.seed, block_bytes=drive.block_bytes),
            check=check,
            sweeps=True,
            block_bytes=drive.block_bytes,
        )
        store = run_campaign(
            drive,
            selection.workloads,
            plan,
            path,
            design_name=design_name,
            parts=selection.parts,
            population=selection.population,
        )
        with store:
            return stored_measurements(store), selection.parts


def _swept(path: Path, drive_name: str, plan: MeasurementPlan) -> list[Measurement]:
    """Measure the sweeps of figures 3 to 7."""
    with (
        open_drive(drive_name) as drive,
        run_campaign(drive, sweep_workloads(), plan, path, design_name="huang2011-sweeps") as store,
    ):
        return stored_measurements(store)


def _reproduced(
    measurements: Sequence[Measurement],
    parts: Parts,
    design: str,
    swept: Mapping[str, Sequence[Measurement]],
    claims: Sequence[Claim],
) -> Reproduction:
    from drivelab.models.model import PerformanceModel

    by_drive = {"SSD_I": measurements, **swept}
    evaluation = PerformanceModel.fit(measurements, parts=parts, seed=PLAN.seed).evaluation
    return Reproduction(
        paper="huang2011",
        reference=REFERENCE,
        tables=(
            _table("table_2", "basic", TABLE_2, evaluation),
            _table("table_3", "extended", TABLE_3, evaluation),
        ),
        claims=tuple(claims),
        orderings=(
            *_accuracy_orderings(evaluation),
            *figure_orderings(measurements),
            *drive_orderings(by_drive),
        ),
        quoted=(
            f"Published: an Intel X25-M of 80 GB, 12,000 workloads of a minute. Ours: {DRIVE}, "
            f"simulated, {parts.training} workloads of {design} fitted to.",
            *figure_remarks(measurements),
            *drive_remarks(by_drive),
        ),
    )


def _table(
    name: str, features: str, published: dict[str, _Published], evaluation: Evaluation
) -> Table:
    rows = []
    for metric, printed in published.items():
        factor = QUANTITIES[metric].factor
        in_sample, cross_validated = _of_best(evaluation, metric, features)
        off_grid = None
        if evaluation.check is not None:
            key = best_model(evaluation.cross_validated, metric, {features})
            off_grid = 100 * evaluation.check[key].mre
        rows.append(
            (
                QUANTITIES[metric].label,
                QUANTITIES[metric].unit,
                printed.r2,
                in_sample.r2,
                cross_validated.r2,
                printed.mae,
                in_sample.mae * factor,
                cross_validated.mae * factor,
                printed.mean,
                in_sample.mean * factor,
                printed.mre_percent,
                100 * in_sample.mre,
                100 * cross_validated.mre,
                off_grid,
            )
        )
    return Table(name, _COLUMNS, tuple(rows))


def _of_best(evaluation: Evaluation, metric: str, features: str) -> tuple[Accuracy, Accuracy]:
    """Return in-sample and cross-validated accuracy of the estimator that suits best."""
    key = best_model(evaluation.cross_validated, metric, {features})
    return evaluation.in_sample[key], evaluation.cross_validated[key]


def _accuracy_orderings(evaluation: Evaluation) -> list[Ordering]:
    """Section IV.B: the extended model beats the basic one in every cell."""
    reason = "tables II and III: the extended model is better in every cell of SSD_I"
    orderings = []
    for metric in METRICS:
        quantity = QUANTITIES[metric]
        pairs = zip(
            ("in sample", "cross-validated"),
            _of_best(evaluation, metric, "extended"),
            _of_best(evaluation, metric, "basic"),
            strict=True,
        )
        for how, extended, basic in pairs:
            start = f"{quantity.label}, {how}: "
            factor = quantity.factor
            orderings += [
                Ordering(f"{start}R2 of basic below extended", basic.r2, extended.r2, "", reason),
                Ordering(
                    f"{start}MAE of extended below basic",
                    extended.mae * factor,
                    basic.mae * factor,
                    quantity.unit,
                    reason,
                ),
                Ordering(
                    f"{start}MRE of extended below basic",
                    100 * extended.mre,
                    100 * basic.mre,
                    "%",
                    reason,
                ),
            ]
    return orderings
