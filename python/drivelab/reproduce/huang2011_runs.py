"""The runs behind Huang et al. 2011: grid, sweeps and workload-specific models, one job each.

Every drive has up to four runs, each in its own folder, so that a stopped one resumes::

    FOLDER/hdd_s/grid        basic and extended models (tables II, III, V, VI)
    FOLDER/hdd_s/sweeps      figures 3 to 7
    FOLDER/hdd_s/specific    the eight workload-specific models (table IV)
    FOLDER/hdd_s/repeats     some of their workloads, each twice

Each of the eight models has its own design; a workload in several designs is measured once. Two
measurements of one workload start at different addresses and draw different requests. No model can
predict how much they differ.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab.campaign.campaign import accepted_by, run_campaign
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.naming import open_drive
from drivelab.models.measured import METRICS
from drivelab.reproduce.huang2011_models import Fitted, fitted_models
from drivelab.reproduce.processes import in_processes
from drivelab.workloads.design import parse_design
from drivelab.workloads.huang2011_specific import SPECIFIC_MODELS
from drivelab.workloads.huang2011_sweeps import sweep_workloads
from drivelab.workloads.run_parts import with_check_and_sweeps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import Drive
    from drivelab.workloads.characteristics import Characteristics

    #: By metric.
    Models = Mapping[str, Fitted]

What = Literal["grid", "sweeps", "specific", "repeats"]
#: Largest number of workloads of each workload-specific model that are measured twice.
REPEATED: Final = 25


@dataclass(frozen=True)
class Job:
    """One run of one drive, and the models that are fitted to it.

    Attributes
    ----------
    what
        Which run.
    device
        The device's name in the paper, such as ``SSD_I``.
    drive
        The preset that represents it.
    plan
        How long each workload is measured.
    design
        The design of the grid.
    check
        Workloads between the grid's values.
    count
        Largest number of workloads for each workload-specific model.
    """

    what: What
    device: str
    drive: str
    plan: MeasurementPlan
    design: str = ""
    check: int = 0
    count: int | None = None

    @property
    def name(self) -> str:
        """Return the name that is reported when the job is done."""
        return f"{self.device} {self.what}"


@dataclass(frozen=True)
class Found:
    """What a job found.

    Attributes
    ----------
    workloads
        Number of measured workloads.
    models
        Models by name, ``basic``, ``extended`` or one of table IV; empty for sweeps.
    sweeps
        The measurements of figures 3 to 7; empty for others.
    noise
        How far one measurement is off its mean over repetitions, as a ratio, averaged over
        workloads; by workload-specific model and metric. Empty for other jobs.
    """

    workloads: int
    models: Mapping[str, Models]
    sweeps: Sequence[Measurement] = ()
    noise: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def found_of(jobs: Sequence[Job], folder: Path) -> dict[Job, Found]:
    """Carry out every job that `folder` lacks, one per core at the same time.

    Results do not depend on the number of cores.
    """
    found = in_processes(
        _kept_in, [(job, folder) for job in jobs], what="runs", name=lambda each: each[0].name
    )
    return dict(zip(jobs, found, strict=True))


def _kept_in(each: tuple[Job, Path]) -> Found:
    return result_of(*each)


def result_of(job: Job, folder: Path) -> Found:
    """Measure what the folder lacks of one run, and fit its models."""
    # The cores are shared among jobs.
    job = replace(job, plan=replace(job.plan, workers=1))
    path = folder / job.device.lower() / job.what
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_drive(job.drive) as drive:
        return _CARRY_OUT[job.what](job, drive, path)


def _measured(
    job: Job,
    drive: Drive,
    path: Path,
    workloads: Sequence[Characteristics],
    design: str,
    **words: Any,
) -> list[Measurement]:
    store = run_campaign(
        drive, workloads, job.plan, path, design_name=design, progress=False, **words
    )
    with store:
        return stored_measurements(store)


def _grid(job: Job, drive: Drive, path: Path) -> Found:
    selection = with_check_and_sweeps(
        parse_design(job.design).select(
            job.plan.seed, accepted_by(drive), block_bytes=drive.block_bytes
        ),
        check=job.check,
        sweeps=False,
        accepts=accepted_by(drive),
        block_bytes=drive.block_bytes,
    )
    words = {"parts": selection.parts, "population": selection.population}
    measured = _measured(job, drive, path, selection.workloads, job.design, **words)
    checked = selection.parts.range("check")
    check = [measured[index] for index in checked]
    # No interval is asked for, so all workloads are fitted to; none is set aside for calibration.
    trained = measured[: checked.start]
    models = {
        features: fitted_models(trained, features, check=check, seed=job.plan.seed)
        for features in ("basic", "extended")
    }
    return Found(len(trained), models)


def _sweeps(job: Job, drive: Drive, path: Path) -> Found:
    measured = _measured(job, drive, path, sweep_workloads(), "huang2011-sweeps")
    return Found(len(measured), {}, measured)


def _chosen(job: Job, drive: Drive, most: int | None) -> dict[str, list[Characteristics]]:
    """Choose the workloads of each workload-specific model."""
    return {
        model.name: model.design(most).select(job.plan.seed, accepted_by(drive)).workloads
        for model in SPECIFIC_MODELS
    }


def _specific(job: Job, drive: Drive, path: Path) -> Found:
    chosen = _chosen(job, drive, job.count)
    distinct = {each.key(): each for workloads in chosen.values() for each in workloads}
    measured = _measured(job, drive, path, list(distinct.values()), "huang2011-specific")
    by_key = dict(zip(distinct, measured, strict=True))
    models = {
        name: fitted_models(
            [by_key[each.key()] for each in workloads], "extended", seed=job.plan.seed
        )
        for name, workloads in chosen.items()
    }
    return Found(len(measured), models)


def _repeats(job: Job, drive: Drive, path: Path) -> Found:
    chosen = _chosen(job, drive, REPEATED if job.count is None else min(REPEATED, job.count))
    distinct = {each.key(): each for workloads in chosen.values() for each in workloads}
    twice = [each for each in distinct.values() for _ in range(2)]
    measured = _measured(job, drive, path, twice, "huang2011-repeats")
    pairs = dict(zip(distinct, zip(measured[::2], measured[1::2], strict=True), strict=True))
    noise = {
        name: {
            metric: statistics.fmean(_noise(*pairs[each.key()], metric) for each in workloads)
            for metric in METRICS
        }
        for name, workloads in chosen.items()
    }
    return Found(len(measured), {}, noise=noise)


def _noise(one: Measurement, other: Measurement, metric: str) -> float:
    """Estimate how far one measurement is off, over the mean of two.

    The mean difference of two measurements is sqrt(2) times the mean deviation of one.
    """
    first, second = getattr(one, metric), getattr(other, metric)
    return float(math.sqrt(2) * abs(first - second) / (first + second))


_CARRY_OUT: Final[dict[What, Callable[[Job, Drive, Path], Found]]] = {
    "grid": _grid,
    "sweeps": _sweeps,
    "specific": _specific,
    "repeats": _repeats,
}
