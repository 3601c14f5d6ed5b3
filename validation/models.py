"""The main job's accuracy on a simulated drive: the grid of Huang et al. 2011."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.models.evaluate import MODEL_KEYS
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.workloads.design import parse_design
from drivelab.workloads.parts import Parts
from drivelab.workloads.run_parts import with_check_and_sweeps
from validation.document import Section

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.drives.protocol import Drive
    from drivelab.workloads.selection import Selection

_DRIVE: Final = "sim:x25m"
_DESIGN: Final = "huang2011:300"
_CHECK: Final = 1000
_SEED: Final = 1
# Name with the unit that people read, and what divides the stored value.
_SHOWN: Final = {
    "latency_ns_mean": ("mean latency (ms)", 1e6),
    "bandwidth_bytes_per_second": ("bandwidth (MB/s)", 1e6),
    "iops": ("throughput (IOPS)", 1.0),
}


def simulated_accuracy() -> Section:
    """Model `sim:x25m` from 300 workloads."""
    words = f"--design {_DESIGN} --writes burst --check {_CHECK} --seed {_SEED}"
    command = f"drivelab model {_DRIVE} {words}"
    section = Section(f"Accuracy of the models on {_DRIVE}", command)
    with tempfile.TemporaryDirectory() as folder, open_drive(_DRIVE) as drive:
        selection = with_check_and_sweeps(
            parse_design(_DESIGN).select(_SEED), check=_CHECK, sweeps=False
        )
        plan = MeasurementPlan.of_kind(drive.kind, seed=_SEED)
        measurements = _measured(drive, selection, plan, Path(folder) / "run")
    model = PerformanceModel.fit(measurements, parts=selection.parts, seed=_SEED)
    _tabulate(section, model, selection.parts)
    for metric in METRICS:
        section.claim(
            f"{_SHOWN[metric][0]}: the best model knows all eight characteristics",
            holds=model.best[metric].features == "extended",
        )
    return section


def _measured(
    drive: Drive, selection: Selection, plan: MeasurementPlan, path: Path
) -> list[Measurement]:
    store = run_campaign(
        drive,
        selection.workloads,
        plan,
        path,
        design_name=_DESIGN,
        parts=selection.parts,
        population=selection.population,
        progress=False,
    )
    with store:
        return stored_measurements(store)


def _tabulate(section: Section, model: PerformanceModel, parts: Parts) -> None:
    evaluation = model.evaluation
    rows = []
    for key in MODEL_KEYS:
        accuracy = evaluation.cross_validated[key]
        name, divisor = _SHOWN[key.metric]
        best = " (best)" if model.best[key.metric] == key else ""
        checked = evaluation.check
        rows.append(
            (
                f"{name}, {key.features}, {key.estimator}{best}",
                f"{accuracy.r2:.3f}",
                f"{accuracy.mae / divisor:,.3g} ({accuracy.mean / divisor:,.3g})",
                f"{100 * accuracy.mre:.1f} %",
                f"{100 * evaluation.in_sample[key].mre:.1f} %",
                "not measured" if checked is None else f"{100 * checked[key].mre:.1f} %",
            )
        )
    section.say(
        f"The models are fitted to {parts.training + parts.calibration} workloads. "
        f"{parts.calibration} of these are drawn at random, for intervals. {parts.check} others "
        "are between the design's values (off-grid). R2, MAE (mean) and MRE are as in Huang et "
        "al. 2011, section IV.A, cross-validated in ten groups of equal workloads:"
    )
    section.tabulate(("model", "R2", "MAE (mean)", "MRE", "in-sample MRE", "off-grid MRE"), rows)
