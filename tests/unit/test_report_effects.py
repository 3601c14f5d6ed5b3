"""Effect and importance: what the models say beside what was observed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_run import evaluated, made_run, measurement, run_of

from drivelab.report import effects
from drivelab.report.table import number
from drivelab.workloads.characteristics import Characteristics


def test_observed_is_the_geometric_mean_where_the_characteristic_is_in_effect() -> None:
    read = [
        measurement(place, Characteristics(queue_depth=depth, read_size=size))
        for place, (depth, size) in enumerate([(1, 512), (1, 4096), (4, 512)])
    ]
    # Its read size means nothing.
    write = measurement(3, Characteristics(write_ratio=1.0, read_size=512))
    measurements = [*read, write]
    run = made_run(4)
    made = evaluated(measurements, run.evaluation.out_of_fold)
    table = effects.effects(run_of(measurements, evaluation=made))
    sizes = table.records(metric="latency_ns_mean", characteristic="read_size")
    assert [(row["value"], row["workloads"]) for row in sizes] == [(512, 2), (4096, 1)]
    product = read[0].latency_ns_mean * read[2].latency_ns_mean
    assert number(sizes[0]["observed"]) == pytest.approx(product**0.5)
    assert number(sizes[1]["observed"]) == pytest.approx(read[1].latency_ns_mean)
    effect = next(
        one for one in made.effects["latency_ns_mean"] if one.characteristic == "read_size"
    )
    assert [row["predicted"] for row in sizes] == list(effect.performance)
    # It has one value, so that nothing is known of its effect.
    assert table.records(characteristic="write_size") == []


def test_a_value_that_nobody_measured_has_no_observation() -> None:
    run = made_run(30)
    between = {
        metric: tuple(
            replace(
                one, values=(*one.values, one.values[-1] + 0.5), performance=(*one.performance, 1.0)
            )
            for one in of_metric
        )
        for metric, of_metric in run.evaluation.effects.items()
    }
    changed = replace(run, evaluation=replace(run.evaluation, effects=between))
    row = effects.effects(changed).records(metric="iops", characteristic="queue_depth")[-1]
    assert (row["value"], row["observed"], row["workloads"]) == (64.5, None, 0)


def test_importance_adds_the_increase_to_the_error_of_the_model() -> None:
    run = made_run(60)
    rows = effects.importance(run).records(metric="iops")
    intact = run.accuracy[run.evaluation.best_extended["iops"]].mre
    assert len(rows) == 8
    assert rows[0]["characteristic"] == "queue_depth"
    assert rows[0]["mre_intact"] == intact
    assert number(rows[0]["mre_shuffled"]) == pytest.approx(intact + 9.7)
    assert number(rows[-1]["mre_shuffled"]) == pytest.approx(intact - 0.003)


def test_few_values_are_listed_and_many_are_a_scale() -> None:
    many = [float(value) for value in range(80)]
    assert effects.scale_of([1, 4, 16, 16], "bytes") == "listed"
    assert effects.scale_of(many, "share") == "linear"
    assert effects.scale_of(many, "gap") == "linear"
    assert effects.scale_of(many, "bytes") == "log"


def test_geometric_mean() -> None:
    assert effects.geometric_mean([1.0, 100.0]) == pytest.approx(10)
