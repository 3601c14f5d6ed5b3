"""Rows in the order of time: which are learned, which are judged, and the baselines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import drivelab as dl
from drivelab.cli import main as cli
from drivelab.errors import UsageError
from drivelab.models.own.in_order import learned_rows, stretches

ROWS = 90


def table(rows: int = ROWS) -> dict[str, list[float]]:
    """A latency that follows two settings, of which one rises with time."""
    drawn = np.random.default_rng(3)
    depth = drawn.integers(1, 17, rows)
    size = 4 + np.arange(rows)
    latency = 20.0 * np.exp(depth / 32 + size / 64)
    return {
        "depth": depth.tolist(),
        "size_kib": size.tolist(),
        "latency_us": latency.tolist(),
    }


def test_the_last_rows_are_judged_on_and_not_learned_from() -> None:
    given = table()
    model = dl.fit_table(given, last_share=1 / 3)
    assert {one["rows"] for one in model.accuracy} == {60}
    last = model.last["latency_us"]
    errors = {one["estimator"]: one["mre_ratio"] for one in last["accuracy"]}
    assert {one["rows"] for one in last["accuracy"]} == {30}
    # Least squares goes on beyond what was seen, a tree stays at its highest.
    assert errors["ols"] < 0.02 < errors["cart"]
    # By hand.
    latency = np.array(given["latency_us"])
    first, later = latency[:60], latency[60:]
    assert last["row_before"]["mre_ratio"] == pytest.approx(
        np.mean(np.abs(latency[59:-1] / later - 1))
    )
    constant = np.exp(np.log(first).mean())
    assert last["constant"]["mre_ratio"] == pytest.approx(np.mean(np.abs(constant / later - 1)))


def test_what_is_learned_is_what_the_first_rows_alone_teach() -> None:
    given = table()
    first = {name: values[:60] for name, values in given.items()}
    first["stretch"] = stretches(60).tolist()
    alone = dl.fit_table(first, features=["depth", "size_kib"], group="stretch")
    asked = {"depth": [3, 30], "size_kib": [20, 80]}
    model = dl.fit_table(given, last_share=1 / 3)
    assert model.predict(asked)["latency_us"].tolist() == (
        alone.predict(asked)["latency_us"].tolist()
    )


def test_rows_without_a_value_are_skipped_on_both_sides() -> None:
    given = table()
    for row in (10, 59, 60, 75):
        given["latency_us"][row] = float("nan")
    last = dl.fit_table(given, last_share=1 / 3).last["latency_us"]
    assert last["constant"]["rows"] == 28
    latency = np.array(given["latency_us"])
    known = latency[~np.isnan(latency)]
    expected = np.mean(np.abs(known[57:-1] / known[58:] - 1))
    assert last["row_before"]["mre_ratio"] == pytest.approx(expected)


def test_a_target_without_a_value_in_the_last_rows_is_not_judged() -> None:
    given = table()
    given["latency_us"][60:] = [float("nan")] * 30
    model = dl.fit_table(given, last_share=1 / 3)
    assert model.last == {}
    assert any("not judged" in remark for remark in model.remarks)
    given["latency_us"] = [float("nan")] * 60 + [1.0] * 30
    with pytest.raises(UsageError, match="last rows alone"):
        dl.fit_table(given, last_share=1 / 3)


def test_a_word_of_the_last_rows_alone_is_not_known() -> None:
    given: dict[str, list] = dict(table())
    given["kind"] = ["old", "older"] * 30 + ["new"] * 30
    model = dl.fit_table(given, last_share=1 / 3)
    assert model.last["latency_us"]["constant"]["rows"] == 30
    with pytest.raises(UsageError, match="new"):
        model.predict({"depth": [3], "size_kib": [20], "kind": ["new"]})


def test_last_rows_that_are_not_above_0_are_judged_by_the_absolute_error() -> None:
    given = table()
    given["latency_us"][80] = 0.0
    last = dl.fit_table(given, last_share=1 / 3).last["latency_us"]
    assert last["row_before"]["mre_ratio"] is None
    assert last["row_before"]["mae"] > 0


@pytest.mark.parametrize(("rows", "share"), [(12, 0.5), (100, 0.001), (11, 0.2)])
def test_too_few_rows_on_a_side_are_refused(rows: int, share: float) -> None:
    with pytest.raises(UsageError, match="to learn from"):
        learned_rows(rows, share)


def test_the_command_prints_it_next_to_what_needs_no_model(tmp_path: Path, capsys) -> None:
    lines = ["depth,size_kib,latency_us"]
    lines += [",".join(map(str, row)) for row in zip(*table().values(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    words = ["model", "--from", str(tmp_path / "t.csv"), "--out", str(tmp_path / "m")]
    assert cli.main([*words, "--test-last", "33%"]) == 0
    said = capsys.readouterr().out
    assert "as the row before" in said
    assert "groups that follow each other" in said
    assert "as the row before" in (tmp_path / "m" / "report.html").read_text()
    assert cli.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["targets"][0]["last"] is None
    for wrong in ("0.3", "0%", "100%", "x%", "nan%"):
        assert cli.main([*words, "--test-last", wrong]) == 2
        assert "such as 33%" in capsys.readouterr().err
    assert cli.main(["model", "sim:x25m", "--test-last", "33%"]) == 2
    assert "--from" in capsys.readouterr().err
