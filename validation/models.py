"""The main job's accuracy: on a simulated drive, and on a file of this machine."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.blackbox.evaluate import MODEL_KEYS
from drivelab.blackbox.measured import METRICS
from drivelab.blackbox.model import PerformanceModel
from drivelab.drives.measurement import MeasurementPlan
from drivelab.drives.registry import open_drive
from drivelab.measure.campaign import accepted_by, run_campaign
from drivelab.measure.stored import stored_measurements
from drivelab.workloads.design import parse_design
from validation.document import Section

if TYPE_CHECKING:
    from drivelab.blackbox.evaluate import Evaluation
    from drivelab.drives.measurement import Measurement
    from drivelab.workloads.parts import Parts
    from drivelab.workloads.selection import Selection

_SIMULATED: Final = ("sim:x25m", "huang2011:300")
_FILE_DESIGN: Final = "huang2011:60"
_SEED: Final = 1
# Name with the unit that people read, and what divides the stored value.
_SHOWN: Final = {
    "latency_ns_mean": ("mean latency (ms)", 1e6),
    "bandwidth_bytes_per_second": ("bandwidth (MB/s)", 1e6),
    "iops": ("throughput (IOPS)", 1.0),
}


def simulated_accuracy() -> Section:
    """Model `sim:x25m` from 300 workloads."""
    drive, design = _SIMULATED
    command = f"drivelab model {drive} --design {design} --seed {_SEED}"
    section = Section(f"Accuracy of the models on {drive}", command)
    with tempfile.TemporaryDirectory() as folder:
        measurements, selection = _campaign(drive, design, Path(folder) / "run")
    evaluation = _tabulate(section, measurements, selection.parts)
    for metric in METRICS:
        section.claim(
            f"{_SHOWN[metric][0]}: the best model knows all eight characteristics",
            holds=evaluation.best[metric].features == "extended",
        )
    section.say(
        "Each workload is measured from the preconditioned state after 2,000 requests of warm-up: "
        "long before random writes reach their steady state (above), which is the drive as its "
        "user finds it after writing it in order, not after months of random writes."
    )
    return section


def file_accuracy() -> Section:
    """Model a file of this machine from 60 workloads, measured twice."""
    command = f"drivelab model FILE --design {_FILE_DESIGN} --seed {_SEED}"
    section = Section("Accuracy of the models on a file of this machine", command)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        target = str(Path(folder) / "drive.bin")
        first, selection = _campaign(target, _FILE_DESIGN, Path(folder) / "first")
        second, _ = _campaign(target, _FILE_DESIGN, Path(folder) / "second")
    _tabulate(section, first, selection.parts)
    repeated = []
    for metric in METRICS:
        pairs = zip(first, second, strict=True)
        differences = [abs(getattr(b, metric) / getattr(a, metric) - 1) for a, b in pairs]
        repeated.append(f"{100 * sum(differences) / len(differences):.0f} % ({_SHOWN[metric][0]})")
    section.say(
        f"{len(first)} workloads, {selection.left_out} of the design left out because fio's "
        "options cannot express them. Repeatability: the same workloads measured a second time "
        f"differ on average by {', '.join(repeated)}. A model that knew each workload's mean would "
        "still be off by about 0.7 of that (1 / sqrt 2 for normal noise). The disk of the machine "
        "that wrote this "
        "document is shared and noisy."
    )
    return section


def _campaign(drive_name: str, design_name: str, path: Path) -> tuple[list[Measurement], Selection]:
    # Kept, so that a file that is measured twice is the same file.
    with open_drive(drive_name, keep=True) as drive:
        selection = parse_design(design_name).select(_SEED, accepted_by(drive))
        plan = MeasurementPlan(seed=_SEED)
        store = run_campaign(
            drive,
            selection.workloads,
            plan,
            path,
            design_name=design_name,
            parts=selection.parts,
            population=selection.population,
            progress=False,
        )
        with store:
            return stored_measurements(store), selection


def _tabulate(section: Section, measurements: list[Measurement], parts: Parts) -> Evaluation:
    evaluation = PerformanceModel.fit(measurements, parts=parts, seed=_SEED).evaluation
    rows = []
    for key in MODEL_KEYS:
        accuracy = evaluation.cross_validated[key]
        in_sample = evaluation.in_sample[key]
        name, divisor = _SHOWN[key.metric]
        best = " (best)" if evaluation.best[key.metric] == key else ""
        rows.append(
            (
                f"{name}, {key.features}, {key.estimator}{best}",
                f"{accuracy.r2:.3f}",
                f"{accuracy.mae / divisor:,.3g} ({accuracy.mean / divisor:,.3g})",
                f"{100 * accuracy.mre:.0f} %",
                f"{100 * in_sample.mre:.0f} %",
            )
        )
    section.say(
        "R2, MAE (mean) and MRE as in Huang et al. 2011, section IV.A, cross-validated in five "
        "groups of equal workloads; the last column is the MRE on the workloads fitted to."
    )
    section.tabulate(("model", "R2", "MAE (mean)", "MRE", "in-sample MRE"), rows)
    return evaluation
