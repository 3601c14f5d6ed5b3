"""The main job's accuracy: on a simulated drive, and on a file of this machine."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.campaign.campaign import accepted_by, run_campaign
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.models.evaluate import MODEL_KEYS
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.workloads.design import parse_design
from drivelab.workloads.parts import Parts
from drivelab.workloads.run_parts import with_check_and_sweeps
from validation.coverage import halved_coverage
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.protocol import Drive
    from drivelab.workloads.selection import Selection

_DRIVE: Final = "sim:x25m"
_DESIGN: Final = "huang2011:300"
_CHECK: Final = 1000
_SEED: Final = 1
# Each run on the file takes so long, and a warm-up and fio's start.
_FILE_SECONDS: Final = 0.5
# Of the 300 runs on the file so many are measured once more.
_REPEATED: Final = 100
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


def file_accuracy() -> Section:
    """Model a file of this machine from 300 workloads, of which 100 are measured twice."""
    command = (
        f"drivelab model FILE --design {_DESIGN} --seconds {_FILE_SECONDS} --no-sweeps "
        f"--seed {_SEED}"
    )
    section = Section("Accuracy of the models on a file of this machine", command)
    with (
        tempfile.TemporaryDirectory(dir=".") as folder,
        open_drive(str(Path(folder) / "drive.bin")) as drive,
    ):
        accepts = accepted_by(drive)
        selection = parse_design(_DESIGN).select(_SEED, accepts, drive.block_bytes)
        plan = MeasurementPlan.of_kind(drive.kind, seed=_SEED, seconds=_FILE_SECONDS)
        first = _measured(drive, selection, plan, Path(folder) / "first")
        # The reserved share is drawn at random; the rest of the hundred are the first trained on.
        reserved = selection.parts.range("calibration")
        again = [*reserved, *range(_REPEATED - len(reserved))]
        repeated = replace(
            selection,
            workloads=[selection.workloads[index] for index in again],
            parts=Parts(training=len(again)),
        )
        other = replace(plan, seed=_SEED + 1)
        second = _measured(drive, repeated, other, Path(folder) / "second")
    section.say(
        f"{len(first)} workloads, {_FILE_SECONDS} s each, {selection.left_out} of the design left "
        f"out because the file's blocks are of {drive.block_bytes} bytes. The disk of the machine "
        "that wrote this document is shared and noisy; the last table says how noisy."
    )
    model = PerformanceModel.fit(first, parts=selection.parts, seed=_SEED)
    _tabulate(section, model, selection.parts)
    _tabulate_floor(section, model, [first[index] for index in again], second)
    section.say(
        "Intervals: calibrated on a random half of the workloads drawn for them, asked for the "
        "other half, 200 times; the mean share of measured values that lie inside:"
    )
    told = halved_coverage(model)
    section.tabulate(
        ("performance", "share inside"), ((_SHOWN[name][0], text) for name, text in told.items())
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
        f"Fitted to {parts.training + parts.calibration} workloads, of them {parts.calibration} "
        f"drawn at random for intervals, {parts.check} others between the design's values "
        "(off-grid). R2, MAE (mean) and MRE as in Huang et al. 2011, section IV.A, "
        "cross-validated in ten groups of equal workloads:"
    )
    section.tabulate(("model", "R2", "MAE (mean)", "MRE", "in-sample MRE", "off-grid MRE"), rows)


def _tabulate_floor(
    section: Section,
    model: PerformanceModel,
    first: Sequence[Measurement],
    second: Sequence[Measurement],
) -> None:
    """Set the best model's error beside how far two measurements of one workload differ."""
    rows = []
    for metric in METRICS:
        pairs = [
            (getattr(one, metric), getattr(other, metric))
            for one, other in zip(first, second, strict=True)
        ]
        differences = sorted(abs(after / before - 1) for before, after in pairs)
        mean = sum(differences) / len(differences)
        error = model.evaluation.cross_validated[model.best[metric]].mre
        rows.append(
            (
                _SHOWN[metric][0],
                f"{100 * mean:.0f} %",
                f"{100 * differences[len(differences) // 2]:.0f} %",
                f"{100 * error:.0f} %",
            )
        )
    section.say(
        f"Repeatability: {len(first)} of the workloads measured a second time with other random "
        "numbers, how far the second differs from the first. A model that knew each workload's "
        "mean would still be off by about 0.7 of that (1 / sqrt 2 for normal noise):"
    )
    section.tabulate(
        ("performance", "mean difference", "median difference", "best model's MRE"), rows
    )
