"""The rows behind the report, compared with numbers computed by hand."""

from __future__ import annotations

from made_run import made_run

from drivelab.exhibits import number
from drivelab.models.exhibits import tables
from drivelab.models.exhibits.accuracy import accuracy


def test_predictions_have_every_model_next_to_what_was_observed() -> None:
    run = made_run(5)
    table = tables.predictions(run)
    assert len(table.rows) == 5 * 3
    assert len(table.columns) == 3 + 6
    row = table.records(metric="iops")[4]
    assert row["index"] == run.measurements[4].index
    assert row["observed"] == run.measurements[4].iops
    key = run.best("iops", "basic")
    said = run.evaluation.out_of_fold[key][4]
    assert row[f"predicted_basic_{key.estimator}"] == said


def test_predictions_are_of_what_was_fitted_and_of_the_check_part() -> None:
    run = made_run(7, reserved=3, check=4, sweeps=True)
    assert {row[0] for row in tables.predictions(run).rows} == set(range(10))
    assert run.check is not None
    checked = tables.check_predictions(run.check)
    assert [row["index"] for row in checked.records(metric="iops")] == [10, 11, 12, 13]


def test_intervals_say_width_and_what_they_held() -> None:
    run = made_run(30, reserved=20, check=10)
    rows = tables.intervals(run).records(metric="iops")
    assert [(row["level_ratio"], row["factor"]) for row in rows] == [
        (0.8, 1.1),
        (0.9, 1.25),
        (0.95, 1.5),
    ]
    assert {row["workloads_reserved"] for row in rows} == {20}
    assert {(row["share_held_ratio"], row["workloads_checked"]) for row in rows} == {(0.9, 10)}
    assert tables.intervals(made_run(30)).rows == ()


def test_accuracy_has_a_row_a_model_and_the_best_is_the_smallest_mre() -> None:
    run = made_run(60)
    table = accuracy(run)
    assert list(dict.fromkeys(table.column("judged_on"))) == ["in_sample", "cross_validated"]
    rows = table.records(metric="latency_ns_mean", judged_on="cross_validated")
    assert [(row["features"], row["estimator"]) for row in rows] == [
        ("basic", "ols"),
        ("basic", "cart"),
        ("basic", "boosted"),
        ("extended", "ols"),
        ("extended", "cart"),
        ("extended", "boosted"),
    ]
    best = min(rows, key=lambda row: number(row["mre"]))
    assert run.best("latency_ns_mean")[1:] == (best["features"], best["estimator"])
