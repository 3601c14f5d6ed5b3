"""The rows behind the report, against numbers worked out by hand."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from made_run import made_run, measurement, operation, run_of

from drivelab.report import tables
from drivelab.report.table import Table, number, numbers
from drivelab.workloads.characteristics import Characteristics

READS = Characteristics()
WRITES = Characteristics(write_ratio=1.0, write_size=65536, write_random=0.0, write_stride=1024)


def test_csv_quotes_what_needs_it_and_leaves_empty_cells_empty() -> None:
    table = Table(
        "t", ("name", "value_ns", "count"), (('a "b", c', 1.5, None), ("d", 0.1 + 0.2, 3))
    )
    assert table.csv() == 'name,value_ns,count\n"a ""b"", c",1.5,\nd,0.3,3\n'


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx"])
def test_csv_text_is_never_a_formula(text: str) -> None:
    read = list(csv.reader(io.StringIO(Table("t", ("a",), ((text,),)).csv())))
    assert read == [["a"], [f"'{text}"]]


def test_digits_are_as_many_as_asked_for() -> None:
    assert Table("t", ("a",), ((1 / 3,), (123456789,)), digits=3).csv() == "a\n0.333\n123456789\n"
    assert Table("t", ("a",), ((1 / 3,),), digits=3).with_leading(b="x").csv() == "b,a\nx,0.333\n"


def test_a_negative_number_stays_a_number() -> None:
    assert Table("t", ("a",), ((-1.5,), (-2,))).csv() == "a\n-1.5\n-2\n"


def test_table_refuses_rows_of_another_length() -> None:
    with pytest.raises(ValueError, match="table t: a row of 1 cells"):
        Table("t", ("a", "b"), ((1,),))


def test_table_selects_records_and_gets_leading_cells() -> None:
    table = Table("t", ("a", "b"), ((1, 2.0), (3, None))).with_leading(drive="x")
    assert table.columns == ("drive", "a", "b")
    assert table.records(a=3) == [{"drive": "x", "a": 3, "b": None}]
    assert numbers(table.column("b")) == [2.0]
    with pytest.raises(TypeError, match="None is no number"):
        number(None)


def test_workloads_blank_percentiles_of_too_few_requests() -> None:
    run = run_of([measurement(0, READS, requests=600)])
    (row,) = tables.workloads(run).records()
    # 6 of 600 requests are slower than 99 %, hardly one is slower than 99.9 %.
    assert row["read_latency_ns_p99"] is not None
    assert row["read_latency_ns_p99.9"] is None


def test_workloads_blank_what_has_no_effect() -> None:
    run = run_of([measurement(0, READS), measurement(1, WRITES)])
    reads, writes = tables.workloads(run).records()
    assert reads["write_ratio"] == 0
    assert reads["read_size_bytes"] == 4096
    # Every read is random, so that a stride has no effect; nothing is written.
    assert reads["read_stride_bytes"] is None
    assert reads["write_size_bytes"] is None
    assert reads["write_latency_ns_mean"] is None
    assert reads["write_amplification_ratio"] is None
    assert writes["write_stride_bytes"] == 1024
    assert writes["read_latency_ns_p99"] is None
    assert writes["write_amplification_ratio"] == 1.25
    # (90 us + 14 ns * 65536) at queue depth 1, by the formula of the made run.
    assert writes["latency_ns_mean"] == pytest.approx(90e3 + 14 * 65536)
    assert writes["iops"] == pytest.approx(1e9 / (90e3 + 14 * 65536), rel=1e-6)
    assert writes["bandwidth_bytes_per_second"] == pytest.approx(65536 * writes["iops"])


def test_predictions_hold_every_model_beside_what_was_observed() -> None:
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


def test_predictions_are_of_the_training_part_and_of_the_check_part() -> None:
    run = made_run(7, reserved=3, check=4, sweeps=True)
    assert {row[0] for row in tables.predictions(run).rows} == set(range(7))
    assert run.check is not None
    checked = tables.check_predictions(run.check)
    assert [row["index"] for row in checked.records(metric="iops")] == [10, 11, 12, 13]


def test_workloads_say_what_each_is_for_and_how_sure_its_mean_is() -> None:
    run = made_run(2, reserved=1, check=1, sweeps=True)
    table = tables.workloads(run)
    parts = table.column("part")
    assert parts[:4] == ["training", "training", "calibration", "check"]
    assert set(parts[4:]) == {"sweeps"}
    assert table.column("half_width_ratio")[0] is None
    assert table.column("stopped_by")[0] == "requests"


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
    table = tables.accuracy(run)
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


def test_repeatability_is_the_mean_relative_difference_from_the_mean() -> None:
    def taking(index: int, workload: Characteristics, mean_ns: float) -> object:
        made = measurement(index, workload)
        return replace(made, read=operation(mean_ns, 1000, 4096))

    alone = taking(0, Characteristics(queue_depth=64), 5e6)
    # A stride means nothing where all is random: three runs of one workload.
    same = [
        taking(1, READS, 100e3),
        taking(2, replace(READS, read_stride=4096), 200e3),
        taking(3, replace(READS, write_size=512), 300e3),
    ]
    found = tables.repeatability([alone, *same], "latency_ns_mean")  # type: ignore[list-item]
    assert found is not None
    assert (found.groups, found.measurements) == (1, 3)
    expected = (100 / 100 + 0 / 200 + 100 / 300) / 3
    assert found.mean_relative_difference == pytest.approx(expected, rel=0.01)
    assert tables.repeatability([alone], "latency_ns_mean") is None  # type: ignore[list-item]
