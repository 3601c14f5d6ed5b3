"""The runs of a few hundred measurements: which there are, and what one forecast and found."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.drives.asked import plan_for
from drivelab.drives.in_order import measured_in_order
from drivelab.drives.naming import open_drive
from drivelab.models import of_run
from drivelab.models.goal import Goal
from drivelab.models.measured import METRICS
from drivelab.models.model_campaign import run_model_campaign
from drivelab.workloads.design import parse_design

if TYPE_CHECKING:
    from drivelab.drives.protocol import Drive
    from drivelab.drives.write_pattern import Writes
    from drivelab.models.features import FloatArray

#: Measured at ten seeds as well, early.
SSDS: Final = (
    "sim:x25m",
    "sim:mlc-b",
    "sim:samsung-slc-32gb",
    "sim:intel-s3500",
    "sim:samsung-840",
    "sim:enterprise-tlc-pcie4",
    "sim:consumer-qlc",
    "sim:array-x25m",
)
DISKS: Final = ("sim:spinpoint-m7", "sim:sas-15k")
#: Takes three times as long as the others, so it is measured once, in a section of its own.
SLOW: Final = ("sim:apex",)
MEASUREMENTS: Final = 300
CHECK: Final = 400
#: Drives whose writes are sustained as well: those that are settled in minutes.
SUSTAINED: Final = (
    "sim:x25m",
    "sim:mlc-b",
    "sim:enterprise-tlc-pcie4",
    "sim:consumer-qlc",
    "sim:array-x25m",
)
#: What runs forecast is looked at early and often.
EARLY: Final = 100
EARLY_CHECK: Final = 200
SEEDS: Final = 10
#: Workloads that are measured twice, with other random numbers, by how they write.
REPEATED: Final[dict[Writes, int]] = {"burst": 400, "sustained": 150}
#: How often they are measured on drives whose measurements are far apart.
SCATTERED: Final = 6


@dataclass(frozen=True)
class Job:
    """One run."""

    drive: str
    seed: int
    measurements: int = MEASUREMENTS
    check: int = CHECK
    writes: Writes = "burst"

    @property
    def name(self) -> str:
        """Its properties that differ from the others'."""
        return f"{self.drive}, {self.writes}, {self.measurements} measurements, seed {self.seed}"


@dataclass(frozen=True)
class Found:
    """What a run forecast before its check part was measured, and the error found then.

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


def whole_jobs() -> list[Job]:
    """Return the runs whose errors are compared with the targets."""
    whole = [Job(drive, 0) for drive in (*SSDS, *DISKS)]
    return [*whole, *(Job(drive, 0, writes="sustained") for drive in SUSTAINED)]


def slow_jobs() -> list[Job]:
    """Return the runs that take three times as long as the others."""
    return [Job(drive, 0) for drive in SLOW]


def early_jobs() -> list[Job]:
    """Return the runs whose forecasts are looked at early and often."""
    often = (*SSDS, *DISKS)
    return [Job(drive, seed, EARLY, EARLY_CHECK) for seed in range(SEEDS) for drive in often]


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
        repeated = _repeated(drive, job.writes) if job.measurements == MEASUREMENTS else None
    check = model.evaluation.check
    if check is None:
        raise ValueError(f"nothing of the check part of {job.drive} lies inside")
    return Found(forecast, tuple(check[model.best[metric]].mre for metric in METRICS), repeated)


def scatter(job: Job) -> tuple[float, float]:
    """Return how far single measurements of a drive are from the median of others.

    Returns
    -------
    tuple of float
        Mean relative differences of latency and of bandwidth, as of a model that knows the drive.
    """
    with open_drive(job.drive) as drive:
        every = [_latencies_ns(drive, job.writes, seed) for seed in range(1, SCATTERED + 1)]
    latency, bandwidth = [], []
    for place, one in enumerate(every):
        median = np.median(every[:place] + every[place + 1 :], axis=0)
        latency.append(np.abs(median / one - 1).mean())
        bandwidth.append(np.abs(one / median - 1).mean())
    return float(np.mean(latency)), float(np.mean(bandwidth))


def _repeated(drive: Drive, writes: Writes) -> float:
    """Measure workloads twice; return how far latencies are apart, as a mean ratio."""
    first, second = (_latencies_ns(drive, writes, seed) for seed in (1, 2))
    return float(np.abs(first / second - 1).mean())


def _latencies_ns(drive: Drive, writes: Writes, seed: int) -> FloatArray:
    """Measure workloads once; return their mean latencies."""
    design = parse_design(f"sobol:{REPEATED[writes]}")
    workloads = design.select(0, block_bytes=drive.block_bytes).workloads
    plan = plan_for(drive.name, seed=seed, asked={"writes": writes})
    return np.array([one.latency_ns_mean for one in measured_in_order(drive, workloads, plan)])
