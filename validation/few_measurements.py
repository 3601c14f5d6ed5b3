"""How good the models of 300 measurements are on ten drives, and what runs forecast beforehand."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.drives.asked import plan_for
from drivelab.drives.in_order import measured_in_order
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.models import of_run
from drivelab.models.goal import Goal
from drivelab.models.measured import METRICS
from drivelab.models.model_campaign import run_model_campaign
from drivelab.reproduce.processes import in_processes
from drivelab.workloads.design import parse_design
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.protocol import Drive
    from drivelab.drives.write_pattern import Writes

_SSDS: Final = (
    "sim:x25m",
    "sim:mlc-b",
    "sim:samsung-slc-32gb",
    "sim:intel-s3500",
    "sim:samsung-840",
    "sim:enterprise-tlc-pcie4",
    "sim:consumer-qlc",
    "sim:array-x25m",
)
_DISKS: Final = ("sim:spinpoint-m7", "sim:sas-15k")
_MEASUREMENTS: Final = 300
_CHECK: Final = 400
# Drives whose writes are sustained as well: those that are settled in minutes.
_SUSTAINED: Final = (
    "sim:x25m",
    "sim:mlc-b",
    "sim:enterprise-tlc-pcie4",
    "sim:consumer-qlc",
    "sim:array-x25m",
)
# What runs forecast is looked at early and often.
_EARLY: Final = 100
_EARLY_CHECK: Final = 200
_SEEDS: Final = 10
# Workloads that are measured twice, with other random numbers: what no model can know.
_REPEATED: Final = 400
# Mean relative errors of latency, bandwidth and throughput that models are to have.
_TARGETS: Final = {**dict.fromkeys(_SSDS, (0.04, 0.03, 0.03)), **dict.fromkeys(_DISKS, (0.08,) * 3)}
# Drives on which they have more although measurements repeat; the section says by how much.
_SHORTFALLS: Final = frozenset({"sim:samsung-slc-32gb", "sim:consumer-qlc", "sim:mlc-b"})
# The mean forecast may be off by a fifth of the mean error found.
_TOLERANCE: Final = 0.2


@dataclass(frozen=True)
class Job:
    """One run."""

    drive: str
    seed: int
    measurements: int = _MEASUREMENTS
    check: int = _CHECK
    writes: Writes = "burst"

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return f"{self.drive}, {self.writes}, {self.measurements} measurements, seed {self.seed}"


@dataclass(frozen=True)
class Found:
    """What a run forecast before its check part was measured, and what that found.

    Attributes
    ----------
    forecast
        The mean relative error of the performance that is worst.
    errors
        Mean relative errors found on the check part, by metric.
    repeated
        Mean relative difference of the latencies of workloads that are measured twice; None where
        that is not asked.
    """

    forecast: float
    errors: tuple[float, ...]
    repeated: float | None


def jobs() -> list[Job]:
    """Return every run of the section."""
    whole = [Job(drive, 0) for drive in _TARGETS]
    sustained = [Job(drive, 0, writes="sustained") for drive in _SUSTAINED]
    early = [Job(drive, seed, _EARLY, _EARLY_CHECK) for seed in range(_SEEDS) for drive in _TARGETS]
    return [*whole, *sustained, *early]


def few_measurements() -> Section:
    """Compare errors off the grid with the targets, and with what runs forecast."""
    every = jobs()
    found = in_processes(run, every, what="runs", name=lambda job: job.name)
    return told(dict(zip(every, found, strict=True)))


def told(every: Mapping[Job, Found]) -> Section:
    """Put what was found into a section."""
    section = Section(f"Models from {_MEASUREMENTS} measurements", "python -m validation few")
    section.say(
        f"`drivelab model DRIVE --writes burst --check {_CHECK}` on {len(_TARGETS)} drives: "
        f"{_MEASUREMENTS} measurements, chosen as it goes. Found: mean relative errors of latency, "
        f"bandwidth and throughput on {_CHECK} other workloads spread over the whole ranges, one "
        "run. Forecast: the error that the run expects of the worst of the three, by "
        "cross-validation, before it measures those. Repeated: how far two measurements of "
        f"{_REPEATED} workloads with other random numbers are apart; a model that is closer has "
        "learnt more than a second measurement would tell."
    )
    whole = {job: one for job, one in every.items() if job.measurements == _MEASUREMENTS}
    missing = _targets(section, {job: one for job, one in whole.items() if job.writes == "burst"})
    section.claim(
        f"the target is met on all drives whose measurements repeat, but {len(_SHORTFALLS)}",
        holds=missing <= _SHORTFALLS,
    )
    section.say(
        "The same with `--writes sustained`, every workload from a state that hours of its own "
        "kind of writing have reached:"
    )
    _sustained(section, {job: one for job, one in whole.items() if job.writes == "sustained"})
    _forecasts(section, {job: one for job, one in every.items() if job.measurements == _EARLY})
    return section


def _targets(section: Section, found: Mapping[Job, Found]) -> set[str]:
    """Show errors beside the targets; give the drives on which a model limits them."""
    rows = []
    missing: set[str] = set()
    noisy: set[str] = set()
    for job, one in found.items():
        target, repeated = _TARGETS[job.drive], one.repeated or 0.0
        if any(error > most for error, most in zip(one.errors, target, strict=True)):
            (noisy if repeated > max(one.errors) else missing).add(job.drive)
        cells = (_percent(each) for each in (one.errors, target, (one.forecast,), (repeated,)))
        rows.append((job.drive, *cells))
    head = ("drive", "found (%)", "target (%)", "forecast (%)", "repeated (%)")
    section.tabulate(head, rows)
    met = len(found) - len(missing) - len(noisy)
    section.say(
        f"The target is met on {met} of {len(found)} drives. Of the others, "
        f"{_listed(noisy)} vary more from one measurement to the next than the models err: a few "
        "measurements in a hundred take many times as long. The model limits the error on "
        f"{_listed(missing)}."
    )
    return missing


def _sustained(section: Section, found: Mapping[Job, Found]) -> None:
    """Show the errors of drives whose writes are sustained, and by how much targets are missed."""
    rows = []
    missed = []
    for job, one in found.items():
        target = _TARGETS[job.drive]
        over = max(error - most for error, most in zip(one.errors, target, strict=True))
        if over > 0:
            missed.append(f"{job.drive} by {100 * over:.1f}")
        rows.append((job.drive, *map(_percent, (one.errors, target, (one.forecast,)))))
    section.tabulate(("drive", "found (%)", "target (%)", "forecast (%)"), rows)
    section.say(
        f"The target is met on {len(found) - len(missed)} of {len(found)}. Missed, in percentage "
        f"points of the worst of the three: {', '.join(missed) or 'none'}."
    )


def _forecasts(section: Section, found: Mapping[Job, Found]) -> None:
    """Compare what early runs forecast with what they find, as means over seeds."""
    section.say(
        f"What a run forecasts is looked at after {_EARLY} measurements, where it is hardest, in "
        f"{_SEEDS} runs a drive with other random numbers, beside the worst of the three errors "
        f"found on {_EARLY_CHECK} other workloads; mean over the runs, and from the smallest to "
        "the largest:"
    )
    rows = []
    for drive in dict.fromkeys(job.drive for job in found):
        ones = [one for job, one in found.items() if job.drive == drive]
        forecasts, errors = [one.forecast for one in ones], [max(one.errors) for one in ones]
        rows.append((drive, _range(forecasts), _range(errors)))
    section.tabulate(("drive", "forecast (%)", "found (%)"), rows)
    forecast = fmean(one.forecast for one in found.values())
    worst = fmean(max(one.errors) for one in found.values())
    section.claim(
        f"the mean forecast of {len(found)} runs, {100 * forecast:.1f} %, is within a fifth of the "
        f"mean error found, {100 * worst:.1f} %",
        holds=abs(forecast / worst - 1) <= _TOLERANCE,
    )


def _listed(drives: set[str]) -> str:
    *others, last = sorted(drives) or ["none"]
    return f"{', '.join(others)} and {last}" if others else last


def _percent(ratios: Sequence[float]) -> str:
    return " / ".join(f"{100 * ratio:.1f}" for ratio in ratios)


def _range(ratios: Sequence[float]) -> str:
    return f"{100 * fmean(ratios):.1f} ({100 * min(ratios):.1f} to {100 * max(ratios):.1f})"


def run(job: Job) -> Found:
    """Do one run, and check it."""
    with tempfile.TemporaryDirectory() as folder, open_drive(job.drive) as drive:
        store = run_model_campaign(
            job.drive,
            lambda: nullcontext(drive),
            plan_for(job.drive, seed=job.seed, asked={"writes": job.writes, "workers": 1}),
            Path(folder) / "run",
            design=parse_design("adaptive"),
            goal=Goal(job.measurements),
            check=job.check,
            sweeps=False,
            progress=False,
        )
        with store:
            forecast = store.header["ended"]["expected_error_ratio"]
            model, _ = of_run.fit(store)
        is_repeated = job.measurements == _MEASUREMENTS and job.writes == "burst"
        repeated = _repeated(drive) if is_repeated else None
    check = model.evaluation.check
    if check is None:
        raise ValueError(f"nothing of the check part of {job.drive} lies inside")
    return Found(forecast, tuple(check[model.best[metric]].mre for metric in METRICS), repeated)


def _repeated(drive: Drive) -> float:
    """Measure workloads twice; return how far latencies are apart, as a mean ratio."""
    selection = parse_design(f"sobol:{_REPEATED}").select(0, block_bytes=drive.block_bytes)
    first, second = (
        np.array(
            [
                one.latency_ns_mean
                for one in measured_in_order(
                    drive, selection.workloads, MeasurementPlan.of_kind(drive.kind, seed=seed)
                )
            ]
        )
        for seed in (1, 2)
    )
    return float(np.abs(first / second - 1).mean())
