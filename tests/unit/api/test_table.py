"""Models of tables from Python: the same as the command fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_table import own_rows, own_words, written

import drivelab as dl
from drivelab.cli import main as cli

pytestmark = pytest.mark.usefixtures("models_in_outline")


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.fixture(scope="module")
def model() -> dl.TableModel:
    return dl.fit_table(columns_of(own_rows(40)), targets=["latency_us"])


def test_a_table_a_file_and_the_command_are_one(
    model: dl.TableModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "rows.csv", own_rows(40))
    of_file = dl.fit_table(path, targets=["latency_us"])
    assert of_file.accuracy == model.accuracy
    assert cli.main([*own_words(path, tmp_path / "out", "--target", "latency_us"), "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["targets"]
    assert [one["mre_ratio"] for one in answer["accuracy"]] == [
        one["mre_ratio"] for one in model.accuracy
    ]
    asked = {"depth": [8.0], "block_size_kib": [16.0], "engine": ["psync"]}
    loaded = dl.TableModel.load(tmp_path / "out")
    np.testing.assert_array_equal(
        loaded.predict(asked)["latency_us"], model.predict(asked)["latency_us"]
    )
    model.save(tmp_path / "again.json")
    assert repr(dl.TableModel.load(tmp_path / "again.json")) == repr(model)


def test_answers_come_back_in_their_own_kind(model: dl.TableModel) -> None:
    pandas = pytest.importorskip("pandas")
    asked = pandas.DataFrame(
        {"depth": [8, 999], "block_size_kib": [16, 16], "engine": ["psync", "libaio"]},
        index=["a", "b"],
    )
    found = model.predict(asked, level=0.8)
    assert list(found.index) == ["a", "b"]
    assert list(found.columns) == [
        *("latency_us", "latency_us_low_80", "latency_us_high_80", "outside_training"),
    ]
    assert found.latency_us_low_80["a"] < found.latency_us["a"] < found.latency_us_high_80["a"]
    assert found.outside_training.tolist() == [False, True]
    assert np.isnan(found.latency_us_low_80["b"])


def test_columns_are_called_otherwise() -> None:
    table = columns_of(own_rows(30))
    table["qd"] = table.pop("depth")
    found = dl.fit_table(table, targets=["p99_ms"], columns={"queue_depth": "qd"})
    assert "queue_depth" in found.features


@pytest.mark.parametrize(
    ("table", "asked", "said"),
    [
        (3, {}, "3 is not a table"),
        ({"depth": [1], "iops": [1, 2]}, {}, "the columns differ in length: depth has 1"),
        ({}, {}, "contains no measurement"),
        ({"depth": [], "iops": []}, {}, "contains no measurement"),
        ({"depth": 3, "iops": [1]}, {}, "depth is 3; give a list of values"),
        ({"depth": [object()], "iops": [1]}, {}, "row 1: depth is <object"),
        ({"depth": [1], "iops": [1]}, {"targets": "iops"}, "targets is 'iops'; give a list"),
        ({"depth": [1], "iops": [1]}, {"seed": -1}, "seed is -1"),
        ({"depth": [1], "iops": [1]}, {}, "a model needs 5 groups"),
        ("nothing.csv", {}, "there is no file nothing.csv"),
    ],
)
def test_what_is_no_table_is_one_line(table: Any, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(dl.DrivelabError) as refused:
        dl.fit_table(table, **asked)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
