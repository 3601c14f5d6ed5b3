"""Tables II and III: every model on every set of workloads, as the paper writes them."""

from __future__ import annotations

import math

from made_run import made_run

from drivelab.exhibits.quantities import NOTHING, share_text
from drivelab.models.accuracy import Accuracy
from drivelab.models.exhibits.accuracy import accuracy_tables, cells
from drivelab.models.exhibits.interval_words import band_words, promise_words
from drivelab.models.exhibits.intervals import interval_rows
from drivelab.pages.campaign import campaign_report
from drivelab.report.page import render


def test_two_tables_with_three_models_a_metric() -> None:
    basic, extended = accuracy_tables(made_run(40))
    assert (basic.source, extended.source) == ("table II", "table III")
    for table in (basic, extended):
        assert table.heads == (("1) Seen", 3), ("2) Unseen", 3))
        assert table.groups == (
            ("Mean latency (ms)", 3),
            ("Bandwidth (MB/s)", 3),
            ("Throughput (IOPS)", 3),
        )


def test_only_the_best_on_unseen_workloads_stands_out() -> None:
    run = made_run(40, check=10)
    basic, extended = accuracy_tables(run)
    assert [name for name, _ in basic.heads] == ["1) Seen", "2) Unseen", "3) Off-grid"]
    assert basic.marked == frozenset()
    best = [
        (extended.rows[row][0], column, extended.rows[row][column])
        for row, column in sorted(extended.marked)
    ]
    expected = share_text(run.accuracy[run.best("iops")].mre)
    # The MRE of the second group of three.
    assert best == [("boosted linear trees", 6, expected)] * 3


def test_cells_are_written_as_in_the_paper() -> None:
    written = cells("latency_ns_mean", Accuracy(-0.1234, 4e6, 15.97e6, 0.0896, 10))
    assert written == ("\N{MINUS SIGN}0.123", "4.00 (16.0)", "9.0 %")
    assert cells("iops", Accuracy(math.nan, 1547, 3967, 0.53, 10))[0] == NOTHING
    assert cells("iops", Accuracy(0.5, 1547, 3967, 0.53, 10))[1] == "1,547 (3,967)"


def test_intervals_are_factors_around_the_prediction_and_what_they_held() -> None:
    rows = interval_rows(made_run(40, reserved=20, check=10))
    assert [row[0] for row in rows] == ["Mean latency", "Bandwidth", "Throughput"]
    assert rows[0][3:5] == ("1.25 (1.12 to 1.56)", "90 %")
    unchecked = interval_rows(made_run(40, reserved=20))
    assert [len(row) for row in unchecked] == [1 + 3] * 3
    assert interval_rows(made_run(40)) == []


def test_a_run_with_few_reserved_workloads_promises_only_what_it_has() -> None:
    run = made_run(40, reserved=4)
    assert promise_words(run) == (
        "The factor was set with 4 workloads drawn at random, each predicted by a model that was "
        "fitted without it. Of ten more workloads drawn in the same way, about eight are inside "
        "the 80 % interval, on average over many runs. An interval of 90 % and 95 % needs 9 and "
        "19 such workloads."
    )
    assert band_words(run) == (
        "The shaded band is the 80 % interval of the model that answers, for a workload of "
        "medium difficulty."
    )
    page = render(campaign_report(run)).html
    assert 'id="predictions-iops-extended' in page
    assert "90 % interval" not in page.replace("\N{NO-BREAK SPACE}", " ")
    none = made_run(40)
    assert (promise_words(none), band_words(none)) == ("", "")
