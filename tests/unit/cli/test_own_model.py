"""`drivelab model --from`, and `drivelab predict` with its models."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_table import fio_report, own_rows, own_words, written

from drivelab.cli import main as cli

pytestmark = pytest.mark.usefixtures("models_in_outline")

ASKED = ("--set", "depth=8", "block_size_kib=16", "engine=psync")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("own") / "rows.csv", own_rows(50))


@pytest.fixture(scope="module")
def out(rows: Path) -> Path:
    folder = rows.parent / "out"
    assert cli.main(own_words(rows, folder)) == 0
    return folder


def printed_by(capsys, *words: str) -> str:
    assert cli.main(list(words)) == 0
    return str(capsys.readouterr().out)


def answered(capsys, *words: str) -> Any:
    return json.loads(printed_by(capsys, *words, "--json"))


def refused(capsys, *words: str) -> str:
    assert cli.main(list(words)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return str(line)


def test_what_is_written_and_how_to_ask_it(rows: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    said = printed_by(capsys, *own_words(rows, out, "--target", "p99_ms"))
    assert f"50 rows of {rows}" in said
    assert "models see depth, block_size_kib, engine" in said
    assert {path.name for path in out.iterdir()} == {"model.json", "report.html", "data"}
    page = (out / "report.html").read_text()
    assert "A tree that can be read" in page
    with (out / "data" / "predictions.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == 50
    assert table[0]["row"] == f"{rows}, line 2"
    measured = np.array([float(row["p99_ms measured"]) for row in table])
    predicted = np.array([float(row["p99_ms predicted"]) for row in table])
    assert np.mean(np.abs(predicted / measured - 1)) < 0.06
    # The words that it says are a command that works.
    words = next(line for line in said.splitlines() if line.startswith("ask it")).split()[3:]
    assert "off by" in printed_by(capsys, *words)


def test_the_fits_are_counted_while_they_run(
    rows: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr("drivelab.runs.progress.LINE_EVERY_SECONDS", 0.0)
    monkeypatch.setattr("drivelab.cli.own_progress.MANY_ROWS", 50)
    assert cli.main(own_words(rows, tmp_path / "out", "--target", "p99_ms")) == 0
    note, *lines = capsys.readouterr().err.splitlines()
    assert note == "drivelab: fitting models to 50 rows takes minutes"
    count = len(lines)
    # Each estimator is fitted to all rows, then without each of ten folds.
    assert count % 11 == 0
    assert lines[0].startswith(f"drivelab: 1 of {count} fits, p99_ms: ")
    assert lines[-1] == f"drivelab: {count} of {count} fits, p99_ms"


def test_a_group_that_models_do_not_see_is_said(rows: Path, tmp_path: Path, capsys) -> None:
    words = own_words(rows, tmp_path / "out", "--target", "p99_ms", "--group", "depth")
    said = printed_by(capsys, *words)
    assert (
        "(depth names the groups, so the models do not see it "
        "(--features-from block_size_kib,engine,depth has it seen))"
    ) in said
    seen = printed_by(capsys, *words, "--force", "--features-from", "block_size_kib,engine,depth")
    assert "models see block_size_kib, engine, depth" in seen
    assert "names the groups" not in seen


def test_estimators_that_are_left_out_are_said_before_the_fits(tmp_path: Path, capsys) -> None:
    rng = np.random.default_rng(0)
    names = [f"x{place}" for place in range(41)]
    table = [
        {name: int(rng.integers(1, 9)) for name in names} | {"latency_us": place + 1}
        for place in range(12)
    ]
    file = written(tmp_path / "wide.csv", table)
    words = own_words(file, tmp_path / "out")
    assert cli.main(words) == 0
    printed = capsys.readouterr()
    line = "linear-leaf tree takes at most 40 inputs, there are 41"
    assert printed.err.splitlines()[0] == f"drivelab: {line}"
    assert line not in printed.out
    assert line in answered(capsys, *words, "--force")["remarks"]


def test_the_same_again_replaces_it_and_another_does_not(
    rows: Path, out: Path, tmp_path: Path, capsys
) -> None:
    before = (out / "report.html").read_bytes(), (out / "model.json").read_bytes()
    printed_by(capsys, *own_words(rows, out))
    assert ((out / "report.html").read_bytes(), (out / "model.json").read_bytes()) == before
    other = written(tmp_path / "other.csv", own_rows(20))
    assert "--force" in refused(capsys, *own_words(other, out))
    (tmp_path / "notes").write_text("mine")
    assert "is a file; --out is a folder" in refused(capsys, *own_words(rows, tmp_path / "notes"))


def test_an_answer_has_its_error_and_its_interval(out: Path, capsys) -> None:
    said = printed_by(capsys, "predict", str(out), *ASKED)
    assert "latency_us" in said
    assert "90 %:" in said
    answer = answered(capsys, "predict", str(out), *ASKED, "--estimator", "boosted")
    assert [one["name"] for one in answer["targets"]] == ["latency_us", "p99_ms", "iops"]
    for one in answer["targets"]:
        assert one["estimator"] == "boosted"
        widths = [each["high"] - each["low"] for each in one["intervals"]]
        assert 0 < widths[0] <= widths[1] <= widths[2]
        assert one["intervals"][1]["low"] < one["value"] < one["intervals"][1]["high"]


def test_a_size_may_have_any_unit(out: Path, capsys) -> None:
    one = answered(capsys, "predict", str(out), *ASKED)
    other = answered(
        capsys, "predict", str(out), "--set", "engine=psync", "depth=8", "block_size_kib=16KiB"
    )
    assert one == other


def test_outside_what_was_measured_there_is_no_error(out: Path, capsys) -> None:
    words = ("--set", "depth=999", "block_size_kib=16", "engine=psync")
    assert "outside what was measured: depth is 999, the rows have 1 to 32" in printed_by(
        capsys, "predict", str(out), *words
    )
    answer = answered(capsys, "predict", str(out), *words)
    assert answer["outside_training"]
    assert {each["low"] for one in answer["targets"] for each in one["intervals"]} == {None}


def test_a_file_is_answered_row_by_row(rows: Path, out: Path, tmp_path: Path, capsys) -> None:
    asked = tmp_path / "asked.csv"
    asked.write_text("engine,depth,block_size_kib\npsync,8,16\nlibaio,500,16KiB\n")
    assert cli.main(["predict", str(out), "--file", str(asked), "--level", "80"]) == 0
    printed = capsys.readouterr()
    table = list(csv.DictReader(printed.out.splitlines()))
    assert [row["outside_training"] for row in table] == ["false", "true"]
    assert table[1]["latency_us low_80"] == ""
    one = answered(capsys, "predict", str(out), *ASKED)
    # Six digits of it.
    expected = f"{one['targets'][0]['value']:.6g}"
    assert table[0]["latency_us predicted"] == expected
    assert "1 of them outside" in printed.err
    answers = tmp_path / "answers.csv"
    printed_by(capsys, "predict", str(out), "--file", str(rows), "--out", str(answers))
    assert len(answers.read_text().splitlines()) == 51


def test_results_of_fio_end_to_end(tmp_path: Path, capsys) -> None:
    random = np.random.default_rng(4)
    jobs = []
    for number in range(40):
        depth, kib = int(random.choice([1, 2, 4, 8])), int(random.choice([4, 16, 64]))
        nanoseconds = (60e3 + 1e3 * kib) * depth**0.5
        options = {"rw": "randread", "bs": f"{kib}k", "iodepth": f"{depth}", "ioengine": "libaio"}
        job = {"name": f"job{number}", "options": options}
        jobs.append({**job, "read": (round(depth / nanoseconds * 1e9), nanoseconds)})
    jobs.append({"name": "broken", "error": 28})
    (tmp_path / "fio.json").write_text(fio_report(jobs))
    out = tmp_path / "out"
    said = printed_by(capsys, *own_words(tmp_path / "fio.json", out))
    assert "job 'broken': left out, fio met the error 28" in said
    asked = ("--queue-depth", "4", "--read-size", "16KiB")
    answer = answered(capsys, "predict", str(out), *asked)
    found = {one["name"]: one["value"] for one in answer["targets"]}
    assert found["latency_ns_mean"] == pytest.approx(152e3, rel=0.1)
    assert found["latency_ns_p99"] == pytest.approx(456e3, rel=0.1)
    assert set(found) == {
        *("latency_ns_mean", "iops", "bandwidth_bytes_per_second", "latency_ns_p99"),
    }


MODEL_MISTAKES: list[tuple[list[str], str]] = [
    (["model"], "DRIVE is missing"),
    (["model", "--target", "p99_ms"], "DRIVE is missing"),
    (["model", "sim:x25m", "--target", "p99_ms"], "name their files with --from"),
    (["model", "sim:x25m", "--group", "run"], "--group is for your own measurements"),
    (["model", "sim:x25m", "--force"], "--force is for your own measurements"),
    (["model", "sim:x25m", "--from", "ROWS", "--out", "OUT"], "leave one out"),
    (["model", "--from", "ROWS", "sim:x25m", "--out", "OUT"], "--from takes no DRIVE"),
    (["model", "--from", "ROWS"], "--out is missing"),
    (["model", "--from", "ROWS", "--out", "OUT", "--budget", "1h"], "--budget is about measuring"),
    (["model", "--from", "ROWS", "--out", "OUT", "--dry-run"], "--dry-run is about measuring"),
    (["model", "--from", "ROWS", "--out", "OUT", "--requests", "9"], "--requests is about"),
    (["model", "--from", "ROWS", "--out", "OUT", "--no-sweeps"], "--no-sweeps is about"),
    (["model", "--from", "ROWS", "--out", "OUT", "--column", "depth"], "write COLUMN=NAME"),
    (["model", "--from", "ROWS", "--out", "OUT", "--column", "deep=x"], "did you mean depth?"),
    (["model", "--from", "ROWS", "--out", "OUT", "--target", "p999"], "there is no column 'p999'"),
    (["model", "--from", "ROWS", "--out", "OUT", "--target", "engine"], "engine is '"),
    (["model", "--from", "ROWS", "--out", "OUT", "--features-from", ","], "names no column"),
    (["model", "--from", "nothing.csv", "--out", "OUT"], "there is no file nothing.csv"),
    (["model", "--from", "ROWS", "--out", "OUT", "--group", "runs"], "there is no column 'runs'"),
    (
        ["model", "--from", "ROWS", "--out", "OUT", "--group", "p99_ms"],
        "p99_ms is a target, and a result cannot group rows; name a column of settings: depth, "
        "block_size_kib, engine",
    ),
    (
        ["model", "--from", "ROWS", "--out", "OUT", "--target", "iops", "--group", "p99_ms"],
        "p99_ms is named like a result, and a result cannot group rows",
    ),
    (
        ["model", "--from", "ROWS", "--out", "OUT", "--group", "engine"],
        "there are 2 (rows with the same engine are",
    ),
]


@pytest.mark.parametrize(("words", "said"), MODEL_MISTAKES)
def test_mistakes_are_one_line(
    words: list[str], said: str, rows: Path, tmp_path: Path, capsys
) -> None:
    places = {"ROWS": str(rows), "OUT": str(tmp_path / "out")}
    assert said in refused(capsys, *(places.get(word, word) for word in words))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing is asked; write --set depth=VALUE block_size_kib=VALUE engine=VALUE"),
        (["--set", "depth"], "write NAME=VALUE"),
        (["--set", "depth=1", "depth=2"], "depth is given twice"),
        (["--set", "depth=1"], "engine is missing; it is one of libaio, psync"),
        (["--set", "depth=1", "engine=psync"], "block_size_kib is missing; no row"),
        ([*ASKED, "colour=red"], "the model has no column 'colour'"),
        (["--queue-depth", "4"], "the model has no column 'queue_depth'"),
        ([*ASKED, "--estimator", "forest"], "'forest' is not an estimator of this model"),
        ([*ASKED, "--features", "basic"], "sees the same columns"),
        ([*ASKED, "--out", "a.csv"], "--out is for the answers to --file"),
        ([*ASKED, "--file", "a.csv"], "the settings come from the file"),
        (["--file", "a.csv", "--json"], "--json is for one setting"),
        (["--file", "-"], "--file needs a file"),
    ],
)
def test_questions_that_have_no_answer_are_one_line(
    words: list[str], said: str, out: Path, capsys
) -> None:
    assert said in refused(capsys, "predict", str(out), *words)


def test_settings_are_for_models_of_own_measurements(tmp_path: Path, capsys) -> None:
    said = refused(capsys, "predict", str(tmp_path), "--set", "depth=1")
    assert "--set is for models of your own measurements" in said


def test_a_result_below_zero_is_reported(tmp_path: Path, capsys) -> None:
    rows = own_rows(50)
    rows[6]["p99_ms"] = -0.3
    path = written(tmp_path / "rows.csv", rows)
    said = printed_by(capsys, *own_words(path, tmp_path / "out", "--target", "p99_ms"))
    assert "p99_ms is below 0 in 1 row, the first is" in said
    assert "line 8: a result cannot be" in said


def test_an_answer_below_zero_is_reported_if_no_value_was(tmp_path: Path, capsys) -> None:
    # As good as nothing is lost from a depth of 4 on: a line through it goes on below 0.
    rows = [{**one, "lost": max(0, 4 - int(one["depth"]))} for one in own_rows(60)]
    path, out = written(tmp_path / "rows.csv", rows), tmp_path / "out"
    printed_by(capsys, *own_words(path, out, "--target", "lost", "--features-from", "depth"))
    asked = (str(out), "--set", "depth=32", "--estimator", "ols")
    (answer,) = answered(capsys, "predict", *asked)["targets"]
    assert answer["value"] < 0
    assert answer["below_zero"]
    assert "careful" in (said := printed_by(capsys, "predict", *asked))
    assert "lost is below 0, and no measured row was: the answer is invalid" in said
    (near,) = answered(capsys, "predict", *asked[:2], "depth=1", *asked[3:])["targets"]
    assert not near["below_zero"]
