"""Whether a run that chooses as it goes says honestly what error to expect."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.models import of_run
from drivelab.models.goal import Goal
from drivelab.models.measured import METRICS
from drivelab.models.model_campaign import run_model_campaign
from drivelab.workloads.design import parse_design
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

_DRIVES: Final = (
    "sim:x25m",
    "sim:apex",
    "sim:samsung-slc-32gb",
    "sim:intel-s3500",
    "sim:samsung-840",
    "sim:enterprise-tlc-pcie4",
    "sim:consumer-qlc",
    "sim:spinpoint-m7",
    "sim:sas-15k",
    "sim:array-x25m",
)
_SEEDS: Final = 10
_PLAN: Final = {"requests": 5000}
_MEASUREMENTS: Final = 300
_CHECK: Final = 400
# What is said on average may be off by a fifth of what is found on average.
_TOLERANCE: Final = 0.2


def error_forecast(drives: Sequence[str] = _DRIVES, seeds: int = _SEEDS) -> Section:
    """Compare the error that runs say is to be expected with that found off the grid."""
    command = f"drivelab model DRIVE --measurements {_MEASUREMENTS} --check {_CHECK} --seed N"
    section = Section("Forecast of the models' error", command)
    section.say(
        f"{len(drives)} drives, {seeds} seeds each, {_PLAN['requests']:,} requests a measurement. "
        "Said by the run when it ends (on the way): of kriging; unseen: of the model that "
        f"answers, by cross-validation; found: of that, on {_CHECK} other workloads. Mean relative "
        "errors of the performance that is worst, means over the seeds:"
    )
    rows, every = [], []
    for drive in drives:
        found = [_errors(drive, seed) for seed in range(seeds)]
        every += found
        said, unseen, checked = (fmean(column) for column in zip(*found, strict=True))
        ratio = f"{said / checked:.2f}"
        rows.append((drive, *(f"{100 * each:.1f} %" for each in (said, unseen, checked)), ratio))
    section.tabulate(("drive", "on the way", "unseen", "found", "on the way over found"), rows)
    said, unseen, checked = (fmean(column) for column in zip(*every, strict=True))
    for name, forecast in (("on the way", said), ("unseen", unseen)):
        section.claim(
            f"the mean error forecast ({name}), {100 * forecast:.1f} %, is within a fifth of that "
            f"found, {100 * checked:.1f} %",
            holds=abs(forecast / checked - 1) <= _TOLERANCE,
        )
    return section


def _errors(drive_name: str, seed: int) -> tuple[float, float, float]:
    """Return what a run said on the way and at its end, and what was found."""
    with tempfile.TemporaryDirectory() as folder, open_drive(drive_name) as drive:
        store = run_model_campaign(
            drive_name,
            lambda: nullcontext(drive),
            MeasurementPlan.of_kind(drive.kind, seed=seed, **_PLAN),
            Path(folder) / "run",
            design=parse_design("adaptive"),
            goal=Goal(_MEASUREMENTS),
            check=_CHECK,
            sweeps=False,
            progress=False,
        )
        with store:
            said = store.header["ended"]["expected_error_ratio"]
            model, _ = of_run.fit(store)
    evaluation = model.evaluation
    if evaluation.check is None:
        raise ValueError(f"nothing of the check part of {drive_name} lies inside")
    unseen, found = (
        max(accuracy[model.best[metric]].mre for metric in METRICS)
        for accuracy in (evaluation.cross_validated, evaluation.check)
    )
    return said, unseen, found
