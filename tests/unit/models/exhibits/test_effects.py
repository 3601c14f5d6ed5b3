"""Effect and importance: what the models predict, compared with what was observed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_run import evaluated, made_run, measurement, run_of

from drivelab.exhibits import number
from drivelab.models.effects import Effect
from drivelab.models.exhibits import effects
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


def test_on_a_scale_workloads_count_for_the_nearest_value() -> None:
    depths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 40, 50, 64]
    made = [
        measurement(place, Characteristics(queue_depth=depth)) for place, depth in enumerate(depths)
    ]
    run = run_of(made)
    line = Effect("queue_depth", "", (1.0, 8.0, 64.0), (1.0, 1.0, 1.0))
    ratio = Effect("write_ratio", "ratio", (0.0, 1.0), (1.0, 1.0))
    changed = replace(run.evaluation, effects=dict.fromkeys(run.metrics(), (line, ratio)))
    table = effects.effects(replace(run, evaluation=changed))
    rows = table.records(metric="latency_ns_mean", characteristic="queue_depth")
    # Borders are geometric means: sqrt(8) lies between 2 and 3, sqrt(512) between 12 and 40.
    assert [row["workloads"] for row in rows] == [2, 10, 3]
    assert rows[0]["observed"] is None
    product = 1.0
    for one in made[-3:]:
        product *= one.latency_ns_mean
    assert number(rows[2]["observed"]) == pytest.approx(product ** (1 / 3))


def test_effects_are_side_by_side_on_one_axis_of_performance() -> None:
    run = made_run(60)
    latency, bandwidth, _ = effects.effect_figures(run)
    assert [figure.title for figure in latency.figures][:3] == [
        "Share of writes",
        "Queue depth",
        "Read size",
    ]
    assert len({(figure.y.scale, figure.y.also) for figure in latency.figures}) == 1
    for figure in latency.figures:
        cloud, mean, model = figure.lines
        assert (cloud.role, mean.role, model.role) == ("cloud", "mean", "trace")
        assert len(model.x) == len(figure.x.categories) > 1
    assert bandwidth.figures[0].y.label == "bandwidth (MB/s)"
    assert latency.saved == bandwidth.saved == (effects.effects(run),)


def test_importance_is_drawn_next_to_the_error_with_everything_right() -> None:
    run = made_run(60)
    bars = effects.importance_bars(run)
    assert bars.guides == tuple(
        run.accuracy[run.evaluation.best_extended[metric]].mre for metric in run.metrics()
    )
    name, values, _ = bars.bars[0]
    assert (name, len(values)) == ("Queue depth", 3)
    assert values[0] == pytest.approx(bars.guides[0] + 9.7)


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
