"""How hard workloads are: how it is computed, and that intervals are wide for bad answers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from synthetic_drive import latency_ns, measurements, spread_workloads

from drivelab.drives.measurement import Measurement
from drivelab.models import difficulty
from drivelab.models.combination import Asked
from drivelab.models.evaluate import ModelKey
from drivelab.models.features import effective_table, workload_table
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.models.surfaces import SurfaceKey
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts

pytestmark = pytest.mark.usefixtures("models_in_outline")

PARTS = Parts(training=120, calibration=60)
MEMBERS = {
    "extended": ("boosted", "kriging", "bottleneck_kriging", "queueing_kriging"),
    "basic": ("boosted", "kriging"),
}
KEYS = (SurfaceKey("extended", "combined"), SurfaceKey("basic", "combined"))


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    """Some workloads twice, as where a design repeats them."""
    rows = spread_workloads(170, 5)
    return measurements(np.vstack([rows, rows[:10]]), noise=0.02)


@pytest.fixture(scope="module")
def model(measured: list[Measurement]) -> PerformanceModel:
    return PerformanceModel.fit(measured, parts=PARTS, seed=1, is_explained=False)


def by_hand(
    model: PerformanceModel, key: SurfaceKey, table: np.ndarray, others: bool
) -> list[float]:
    """The same, a workload at a time, from its definition."""
    evaluation, metric = model.evaluation, METRICS[0]
    own = ModelKey(metric, *key)
    errors = np.abs(np.log(evaluation.observed[metric] / evaluation.out_of_fold[own]))
    found = []
    for place, row in enumerate(table):
        distances = model.trained.nearest(row, len(errors))
        near = [at for at, distance in distances if not (others and distance == 0)][:25]
        members = [ModelKey(metric, key.features, name) for name in MEMBERS[key.features]]
        said = {
            one: evaluation.out_of_fold[one][place]
            if others
            else np.exp(model.predictors[one].predict(row.reshape(1, -1)))[0]
            for one in (own, *members)
        }
        apart = np.mean([abs(np.log(said[one] / said[own])) for one in list(said)[1:]])
        found.append((max(errors[near].mean(), 1e-6) * max(apart, 1e-6)) ** 0.25)
    return found


@pytest.mark.parametrize("key", KEYS)
def test_it_is_made_of_errors_nearby_and_of_disagreement(
    model: PerformanceModel, key: SurfaceKey
) -> None:
    table = effective_table(workload_table(spread_workloads(20, 8)))
    found = model.difficulty(key, Asked(table))
    assert found == pytest.approx(by_hand(model, key, table, others=False), rel=1e-9)


@pytest.mark.parametrize("key", KEYS)
def test_of_a_trained_workload_it_knows_nothing_of_itself(
    model: PerformanceModel, key: SurfaceKey
) -> None:
    found = difficulty.of_unseen(key, model.evaluation, model.trained)
    assert found == pytest.approx(by_hand(model, key, model.trained.table, others=True), rel=1e-9)


def test_to_a_model_by_itself_every_workload_is_as_hard(model: PerformanceModel) -> None:
    workloads = [Characteristics(queue_depth=depth) for depth in (2, 4, 8, 16)]
    for features, estimator in (("basic", "ols"), ("extended", "queueing_kriging")):
        asked = {"metric": "iops", "features": features, "estimator": estimator}
        ends = model.interval(workloads, level=0.9, **asked)
        predicted = model.predict(workloads, **asked)
        assert np.ptp(ends[:, 1] / predicted) == pytest.approx(0, abs=1e-9)


def test_intervals_are_wide_where_a_drive_cannot_be_known(measured: list[Measurement]) -> None:
    """Latencies of workloads that mostly write scatter by half, those of others by a hundredth."""
    rows = spread_workloads(480, 11)
    writes = rows[:, 0] > 0.5
    scatter = np.random.default_rng(3).normal(0, np.where(writes, 0.5, 0.01))
    drawn = [
        scaled(one, float(factor))
        for one, factor in zip(measurements(rows, noise=0), np.exp(scatter), strict=True)
    ]
    model = PerformanceModel.fit(drawn[:180], parts=PARTS, is_explained=False)
    asked = [one.characteristics for one in drawn[180:]]
    ends = model.interval(asked, metric="latency_ns_mean", level=0.9)
    inside, hard = ~np.isnan(ends[:, 0]), writes[180:]
    observed = latency_ns(rows, noise=0)[180:] * np.exp(scatter[180:])
    held = (ends[:, 0] <= observed) & (observed <= ends[:, 1])
    widths = np.log(ends[:, 1] / ends[:, 0])
    # One factor for all makes this 1. That neighbours reach into the other half, and the root, hold
    # it far below the fiftyfold scatter.
    assert np.median(widths[inside & hard]) > 1.4 * np.median(widths[inside & ~hard])
    # 0.9 less three standard deviations of 60 scores and 300 questions.
    assert held[inside].mean() > 0.9 - 0.13


def scaled(one: Measurement, factor: float) -> Measurement:
    """A measurement that took so much longer."""
    parts = {
        name: part
        and dataclasses.replace(
            part,
            latency_ns_mean=factor * part.latency_ns_mean,
            latency_ns_min=0,
            latency_ns_max=int(factor * part.latency_ns_max) + 1,
        )
        for name, part in (("read", one.read), ("write", one.write))
    }
    return dataclasses.replace(one, duration_ns=int(factor * one.duration_ns), **parts)
