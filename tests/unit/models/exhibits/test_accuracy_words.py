"""How good the models of a run are, in the few lines of a terminal."""

from __future__ import annotations

from made_run import made_run

from drivelab.exhibits.quantities import share_text
from drivelab.models.evaluate import ModelKey
from drivelab.models.exhibits.accuracy_words import accuracy_meaning, relative_errors
from drivelab.models.measured import METRICS


def test_every_model_has_a_row_and_the_best_comes_first() -> None:
    evaluation = made_run(40).evaluation
    table = relative_errors(evaluation)
    assert table.columns == (
        "mean relative error",
        "unseen latency",
        "unseen bandwidth",
        "unseen throughput",
    )
    assert [row[0] for row in table.rows[:2]] == [
        "extended boosted linear trees",
        "extended regression tree",
    ]
    assert len(table.rows) == 6
    assert table.marked == {(0, 0)}
    best = [ModelKey(metric, "extended", "boosted") for metric in METRICS]
    errors = tuple(share_text(evaluation.cross_validated[key].mre) for key in best)
    assert table.rows[0][1:] == errors


def test_off_grid_errors_are_next_to_them_if_there_are_any() -> None:
    evaluation = made_run(40, check=10).evaluation
    table = relative_errors(evaluation)
    assert table.columns[4:] == ("off-grid latency", "off-grid bandwidth", "off-grid throughput")
    assert {len(row) for row in table.rows} == {7}
    assert "off-grid: on 10 workloads" in accuracy_meaning(evaluation)[1]
