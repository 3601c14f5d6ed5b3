"""Whether intervals hold as often as they say, as a mean over many seeds."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.models.intervals import LEVELS, half_width
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.workloads.parts import Parts
from drivelab.workloads.ranges import population, workload_at
from drivelab.workloads.sobol_points import DIMENSIONS, SCALE
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement

_DRIVE: Final = "sim:x25m"
_PLAN: Final = MeasurementPlan(requests=5000)
# Drawn once; every seed deals them out anew.
_POOL: Final = 1200
_PARTS: Final = Parts(training=240, calibration=60)
_ASKED: Final = 300
_SEEDS: Final = 30
# One seed's coverage scatters by about 0.04 (60 reserved, 300 asked, at 90 %), the mean of 30 that
# share a pool by about a fifth of that; 0.02 is more than two of those.
_TOLERANCE: Final = 0.02
_HALVINGS: Final = 200


def simulated_coverage() -> Section:
    """Deal out measured workloads to training, calibration and questions, many times."""
    section = Section(f"Coverage of the intervals on {_DRIVE}", "python -m validation coverage")
    pool = _pool()
    shares = np.array([_coverage(pool, seed) for seed in range(_SEEDS)])
    section.say(
        f"{_POOL:,} workloads drawn at random ({population(512)}), {_PLAN.requests:,} requests "
        f"each after {_PLAN.warmup_requests:,} of warm-up. For each of {_SEEDS} seeds "
        f"{_PARTS.training} of them train, {_PARTS.calibration} others do and calibrate, {_ASKED} "
        "others are asked for; the share of these whose measured value lies in its interval, as "
        "mean and range over the seeds:"
    )
    rows = []
    for column, metric in enumerate(METRICS):
        for row, level in enumerate(LEVELS):
            over_seeds = shares[:, column, row]
            mean = float(over_seeds.mean())
            extremes = f"{100 * over_seeds.min():.0f} to {100 * over_seeds.max():.0f} %"
            rows.append((metric, f"{100 * level:g} %", f"{100 * mean:.1f} %", extremes))
            # At most one more of the workloads than the level asks for.
            most = level + 1 / (_PARTS.calibration + 1) + _TOLERANCE
            section.claim(
                f"{metric}: intervals at {100 * level:g} % hold {100 * (level - _TOLERANCE):.0f} "
                f"to {100 * most:.0f} % of the workloads, as a mean over {_SEEDS} seeds",
                holds=level - _TOLERANCE <= mean <= most,
            )
    section.tabulate(("performance", "level", "mean share", "over the seeds"), rows)
    return section


def halved_coverage(model: PerformanceModel) -> dict[str, str]:
    """Calibrate on half of the workloads drawn for that, ask for the other half, many times.

    Returns
    -------
    dict
        By metric, the mean share of each level in words.
    """
    draw = np.random.default_rng(0)
    told = {}
    for metric in METRICS:
        scores = model.scores[model.best[metric]]
        halves = [draw.permutation(len(scores)) for _ in range(_HALVINGS)]
        cut = len(scores) // 2
        parts = []
        for level in LEVELS:
            held = [
                np.mean(scores[order[cut:]] <= half_width(np.sort(scores[order[:cut]]), level))
                for order in halves
            ]
            parts.append(f"{100 * float(np.mean(held)):.0f} % (asked for {100 * level:g} %)")
        told[metric] = ", ".join(parts)
    return told


def _pool() -> list[Measurement]:
    uniform = random.Random("coverage").random  # noqa: S311
    workloads = [
        workload_at([int(uniform() * SCALE) for _ in range(DIMENSIONS)], 512) for _ in range(_POOL)
    ]
    with tempfile.TemporaryDirectory() as folder, open_drive(_DRIVE) as drive:
        store = run_campaign(
            drive, workloads, _PLAN, Path(folder) / "run", design_name="pool", progress=False
        )
        with store:
            return stored_measurements(store)


def _coverage(pool: Sequence[Measurement], seed: int) -> list[list[float]]:
    """Return the share of questions that intervals hold, by metric and level."""
    order = np.random.default_rng(seed).permutation(len(pool))[: _PARTS.total + _ASKED]
    dealt = [replace(pool[place], index=index) for index, place in enumerate(order)]
    model = PerformanceModel.fit(dealt[: _PARTS.total], parts=_PARTS, seed=seed)
    asked = dealt[_PARTS.total :]
    workloads = [one.characteristics for one in asked]
    inside = ~model.outside(workloads)
    shares = []
    for metric in METRICS:
        observed = np.array([getattr(one, metric) for one in asked])[inside]
        of_metric = []
        for level in LEVELS:
            ends = model.interval(workloads, metric=metric, level=level)[inside]
            of_metric.append(float(np.mean((ends[:, 0] <= observed) & (observed <= ends[:, 1]))))
        shares.append(of_metric)
    return shares
