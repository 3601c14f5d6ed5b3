"""Intervals and off-grid accuracy of fitted models: which measurement is used for what."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from synthetic_drive import measurements, spread_workloads

from drivelab.drives.measurement import Measurement
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.models import difficulty, intervals
from drivelab.models.accuracy import measure_accuracy
from drivelab.models.combination import Asked
from drivelab.models.evaluate import MODEL_KEYS
from drivelab.models.features import workload_table
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import FITTED, Parts

pytestmark = pytest.mark.usefixtures("models_in_outline")

PARTS = Parts(training=120, calibration=40, check=50, sweeps=5)


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    return measurements(spread_workloads(PARTS.total, 3), noise=0.02)


def fitted(measured: list[Measurement], **how: Any) -> PerformanceModel:
    """Fit models without what explains them."""
    return PerformanceModel.fit(measured, is_explained=False, **how)


@pytest.fixture(scope="module")
def model(models_in_outline: None, measured: list[Measurement]) -> PerformanceModel:
    return fitted(measured, parts=PARTS, seed=2)


def part(measured: list[Measurement], name: str) -> list[Measurement]:
    return [one for one in measured if PARTS.part_of(one.index) == name]


def slower(one: Measurement) -> Measurement:
    """The same measurement with ten times the latency and a tenth of the rates."""
    parts = {
        name: None
        if getattr(one, name) is None
        else dataclasses.replace(
            getattr(one, name),
            latency_ns_mean=10 * getattr(one, name).latency_ns_mean,
            latency_ns_min=0,
            latency_ns_max=11 * getattr(one, name).latency_ns_max,
        )
        for name in ("read", "write")
    }
    return dataclasses.replace(one, duration_ns=10 * one.duration_ns, **parts)


def test_nothing_is_fitted_to_the_check_part_and_the_sweeps(
    measured: list[Measurement], model: PerformanceModel
) -> None:
    others = [one if PARTS.part_of(one.index) in FITTED else slower(one) for one in measured]
    again = fitted(others, parts=PARTS, seed=2)
    workloads = [one.characteristics for one in measured]
    for key in MODEL_KEYS:
        answers = [
            each.predict(
                workloads, metric=key.metric, features=key.features, estimator=key.estimator
            ).tobytes()
            for each in (model, again)
        ]
        assert answers[0] == answers[1]
    assert again.best == model.best
    assert again.evaluation.cross_validated == model.evaluation.cross_validated
    assert model.evaluation.indices.tolist() == list(range(160))


def test_scores_are_of_the_calibration_part_by_fits_without_it(model: PerformanceModel) -> None:
    evaluation = model.evaluation
    drawn = np.isin(evaluation.indices, PARTS.range("calibration"))
    assert drawn.sum() == 40
    for key in MODEL_KEYS:
        observed, predicted = evaluation.observed[key.metric], evaluation.out_of_fold[key]
        hard = difficulty.of_unseen(key.surface, evaluation, model.trained)
        scores = np.sort((np.abs(np.log(observed / predicted)) / hard)[drawn])
        assert model.scores[key] == pytest.approx(scores, rel=1e-9)


def test_an_interval_reaches_as_far_as_the_score_of_its_rank(model: PerformanceModel) -> None:
    workloads = [Characteristics(queue_depth=depth) for depth in (2, 4, 8)]
    asked = Asked(workload_table(workloads))
    for metric in METRICS:
        scores, predicted = (
            model.scores[model.best[metric]],
            model.predict(workloads, metric=metric),
        )
        for level in intervals.LEVELS:
            width = scores[intervals.conformal_rank(len(scores), level) - 1]
            width = width * model.difficulty(model.best[metric].surface, asked)
            ends = model.interval(workloads, metric=metric, level=level)
            assert ends[:, 0] == pytest.approx(predicted * np.exp(-width), rel=1e-9)
            assert ends[:, 1] == pytest.approx(predicted * np.exp(width), rel=1e-9)


def test_what_a_model_chose_says_nothing_of_the_population(measured: list[Measurement]) -> None:
    stretches = [("training", 80), ("chosen", 50), ("calibration", 30)]
    parts = Parts.of_stretches(stretches)  # type: ignore[arg-type]
    evaluation = fitted(measured[:160], parts=parts, seed=2).evaluation
    assert evaluation.indices.tolist() == list(range(160))
    drawn = [*range(80), *range(130, 160)]
    for key in MODEL_KEYS:
        of_drawn = measure_accuracy(
            evaluation.observed[key.metric][drawn], evaluation.out_of_fold[key][drawn]
        )
        assert evaluation.cross_validated[key] == of_drawn
        assert evaluation.in_sample[key].rows == 160


def test_check_is_the_accuracy_on_the_check_part(
    measured: list[Measurement], model: PerformanceModel
) -> None:
    asked = part(measured, "check")
    workloads = [one.characteristics for one in asked]
    inside = ~model.outside(workloads)
    evaluation = model.evaluation
    assert evaluation.check is not None
    assert evaluation.check_coverage is not None
    assert evaluation.check_outside == np.count_nonzero(~inside)
    for key in MODEL_KEYS:
        predicted = model.predict(
            workloads, metric=key.metric, features=key.features, estimator=key.estimator
        )[inside]
        observed = np.array([getattr(one, key.metric) for one in asked])[inside]
        assert evaluation.check[key] == measure_accuracy(observed, predicted)
        if model.best[key.metric] == key:
            ends = model.interval(workloads, metric=key.metric, level=0.9)[inside]
            held = (ends[:, 0] <= observed) & (observed <= ends[:, 1])
            assert evaluation.check_coverage[key.metric][0.9] == held.mean()


def test_outside_what_was_trained_there_is_no_interval(model: PerformanceModel) -> None:
    inside = Characteristics(
        write_ratio=0.5,
        queue_depth=8,
        read_random=0.5,
        write_random=0.5,
        read_stride=65536,
        write_stride=65536,
    )
    outside = dataclasses.replace(inside, queue_depth=1000)
    ends = model.interval([inside, outside], metric="iops", level=0.8)
    assert np.isfinite(ends[0]).all()
    assert np.isnan(ends[1]).all()


def test_levels_that_exist_and_workloads_that_are_needed(measured: list[Measurement]) -> None:
    small = fitted(measured[:134], parts=Parts(120, 14))
    reserved = len(small.scores[small.best["iops"]])
    assert 9 <= reserved <= 14
    small.interval([Characteristics()], metric="iops", level=0.9)
    with pytest.raises(CannotAnswerError, match=rf"needs 19 workloads .* the model has {reserved}"):
        small.interval([Characteristics()], metric="iops", level=0.95)
    with pytest.raises(UsageError, match="50 % is not a level"):
        small.interval([Characteristics()], metric="iops", level=0.5)
    assert small.evaluation.check is None
    without = fitted(measured[:20])
    assert without.scores[without.best["iops"]].size == 0
    with pytest.raises(CannotAnswerError, match=r"needs 4 workloads .* the model has 0"):
        without.interval([Characteristics()], metric="iops", level=0.8)


def test_constant_performance_has_an_interval_that_holds_it(measured: list[Measurement]) -> None:
    """A drive that completes a request every 5 us at any depth: the one target is constant."""

    def at(one: Measurement, name: str) -> object:
        latency = 5000 * one.characteristics.queue_depth
        return getattr(one, name) and dataclasses.replace(
            getattr(one, name),
            latency_ns_mean=latency,
            latency_ns_min=latency,
            latency_ns_max=latency,
        )

    constant = [
        dataclasses.replace(one, read=at(one, "read"), write=at(one, "write"))
        for one in measured[:160]
    ]
    model = fitted(constant, parts=PARTS)
    asked = [one.characteristics for one in constant[:120]]
    ends = model.interval(asked, metric="latency_ns_mean", level=0.95)
    depths = np.array([one.queue_depth for one in asked])
    assert (ends[:, 0] <= 5000 * depths).all()
    assert (ends[:, 1] >= 5000 * depths).all()
    assert ends / depths[:, np.newaxis] == pytest.approx(5000, rel=1e-9)


@pytest.mark.parametrize("index", [150, 200])
def test_no_performance_is_refused_in_every_part(measured: list[Measurement], index: int) -> None:
    one = measured[index]
    idle = dataclasses.replace(
        one,
        **{
            name: getattr(one, name)
            and dataclasses.replace(
                getattr(one, name), latency_ns_mean=0, latency_ns_min=0, latency_ns_max=0
            )
            for name in ("read", "write")
        },
    )
    with pytest.raises(UsageError, match=f"measurement {index} has a latency_ns_mean of 0"):
        fitted([*measured[:index], idle, *measured[index + 1 :]], parts=PARTS)


def test_a_check_part_that_lies_outside_has_no_accuracy() -> None:
    rows = spread_workloads(50, 1)
    rows[40:, 1] = 4096
    evaluation = fitted(measurements(rows), parts=Parts(40, 0, 10)).evaluation
    assert (evaluation.check, evaluation.check_coverage) == (None, None)
    assert evaluation.check_outside == 10
