"""What a report shows of models of tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_table import own_rows, written

from drivelab.exhibits import LineFigure, ScatterFigure, TreeFigure
from drivelab.models.own.exhibits import (
    importance_figures,
    predictions_figures,
    predictions_table,
    read_facts,
    value_text,
)
from drivelab.models.own.model import Asked, FittedTable, fit_table
from drivelab.models.own.readable import _readable, readable_trees
from drivelab.models.own.reading import read_files

pytestmark = pytest.mark.usefixtures("models_in_outline")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> FittedTable:
    rows = [{**one, "gain": one["depth"] - 9} for one in own_rows(80)]
    path = written(tmp_path_factory.mktemp("own") / "rows.csv", rows)
    asked = Asked(targets=("latency_us", "gain"), features=("depth", "block_size_kib", "engine"))
    return fit_table(read_files([path]), (), asked)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("size_log2 <= 12", "size <= 4096"),
        ("size_log2 > 12.5 or missing", "size > 5792.62 or missing"),
        ("engine=io_uring <= 0.5", "engine is not io_uring"),
        ("engine=io_uring > 0.5", "engine is io_uring"),
        ("depth <= 0.5", "depth <= 0.5"),
        ("not: depth missing", "not: depth missing"),
        ("other_log2 <= 12", "other_log2 <= 12"),
    ],
)
def test_splits_are_said_by_a_columns_own_values(words: str, expected: str) -> None:
    assert _readable(words, {"size_log2": "size"}) == expected


def test_values_have_the_unit_of_their_column() -> None:
    assert value_text("p99_ms", 0.61239) == "0.6124 ms"
    assert value_text("iops", 43217.9) == "43,218"
    assert value_text("latency_ns_mean", 180_850) == "181 us"
    assert value_text("bandwidth_bytes_per_second", 288_870_291) == "289 MB/s"
    assert value_text("latency_ns_mean", -3) == "-3 ns"


def test_relative_and_absolute_errors_are_never_on_one_axis(found: FittedTable) -> None:
    kinds = [type(one.figures[0]) for one in predictions_figures(found)]
    assert kinds == [ScatterFigure, LineFigure]
    relative, absolute = importance_figures(found.model)
    assert relative.y.quantity == "share"
    assert absolute.y.quantity == "number"
    assert absolute.groups == ("gain",)


def test_each_target_has_a_tree(found: FittedTable) -> None:
    trees = readable_trees(found)
    figures = [one.figure for one in trees]
    assert [type(one) for one in figures] == [TreeFigure, TreeFigure]
    assert [one.name for one in figures] == ["tree-1", "tree-2"]
    assert figures[0].title.startswith("ln(latency_us)")
    assert "data/tree-1.txt" in figures[0].note
    assert trees[0].text.startswith("ln(latency_us), 80 rows\n\n")
    assert "leaf 1: ln(latency_us) = " in trees[0].text


def test_every_row_is_saved_with_what_was_said_of_it(found: FittedTable) -> None:
    table = predictions_table(found)
    assert len(table.rows) == 80
    assert table.columns[:4] == ("row", "depth", "block_size_kib", "engine")
    row = table.records()[0]
    assert str(row["row"]).endswith("rows.csv, line 2")
    low, said, high = (row[f"latency_us {one}"] for one in ("low_90", "predicted", "high_90"))
    assert isinstance(low, float)
    assert isinstance(said, float)
    assert isinstance(high, float)
    assert low < said < high


def test_what_was_read_is_reported(found: FittedTable, tmp_path: Path) -> None:
    facts = dict(read_facts(found).facts)
    assert facts["engine"] == "seen by models: one of libaio and psync"
    assert facts["block_size_kib"] == "seen by models: 4 to 256 KiB, on the logarithm"
    assert "not all above 0: fitted as it is" in facts["gain"]
