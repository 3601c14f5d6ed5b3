"""Runs and models from Python: the same numbers as by the command, in tables of any kind."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import drivelab as dl
from drivelab.cli import main as cli
from drivelab.models.measured import METRICS

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
SHORT = {"check": 20, "sweeps": False, "requests": 100, "progress": False}
QUESTION = {"queue_depth": [2, 8], "write_ratio": [0.0, 0.5], "read_size": "16KiB"}


@pytest.fixture(scope="module")
def run() -> dl.Run:
    return dl.run(SMALL, "sobol:60", **SHORT)


@pytest.fixture(scope="module")
def model(run: dl.Run) -> dl.Model:
    return dl.fit(run)


@pytest.fixture(scope="module")
def by_command(tmp_path_factory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("command") / "run"
    words = ["model", SMALL, "--design", "sobol:60", "--check", "20", "--no-sweeps"]
    assert cli.main([*words, "--requests", "100", "--out", str(path)]) == 0
    return path


def test_a_run_is_the_one_of_the_command(run: dl.Run, by_command: Path, tmp_path: Path) -> None:
    # Beside the run that is measured, the report is made too.
    kept = run.save(tmp_path / "kept")
    assert kept.report() == tmp_path / "kept" / "report.html"
    names = ("measurements.csv", "report.html", "model.json")
    assert all((kept.path / name).is_file() for name in names)
    table = (kept.path / "measurements.csv").read_bytes()
    assert table == (by_command / "measurements.csv").read_bytes()
    assert kept.measurements.to_pandas().to_csv(index=False).encode() == table
    assert dl.Run(by_command).measurements.to_columns() == run.measurements.to_columns()


def test_a_model_is_the_one_of_the_command(model: dl.Model, by_command: Path) -> None:
    there = dl.Model.load(by_command)
    assert there.accuracy == model.accuracy
    for name, cells in there.predict(QUESTION).items():
        np.testing.assert_array_equal(cells, model.predict(QUESTION)[name])


def test_the_command_goes_on_where_python_stopped(tmp_path: Path, capsys) -> None:
    path = tmp_path / "run"
    dl.run(SMALL, "sobol:30", out=path, **SHORT)
    before = (path / "run.sqlite").stat().st_mtime_ns
    words = ["model", SMALL, "--design", "sobol:30", "--check", "20", "--no-sweeps"]
    assert cli.main([*words, "--requests", "100", "--out", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["failed_workloads"] == 0
    again = dl.run(SMALL, "sobol:30", out=path, **SHORT)
    assert len(again.measurements) == 50
    assert before <= (path / "run.sqlite").stat().st_mtime_ns
    with pytest.raises(dl.DrivelabError, match="contains another campaign: design"):
        dl.run(SMALL, "sobol:31", out=path, **SHORT)


def test_writes_are_sustained_where_that_costs_nothing(run: dl.Run) -> None:
    assert run.header["plan"]["writes"] == "sustained"
    burst = dl.run(SMALL, "sobol:12", writes="burst", **SHORT | {"check": 0})
    assert "writes" not in burst.header["plan"]
    formula = dl.run("analytic:x25m-yoo2014", "huang2011:12", **SHORT | {"check": 0})
    assert "writes" not in formula.header["plan"]
    with pytest.raises(dl.DrivelabError, match="writes sustained has no meaning for analytic:"):
        dl.run("analytic:x25m-yoo2014", "huang2011:12", writes="sustained", **SHORT)
    with pytest.raises(dl.DrivelabError, match="writes is 'both'; allowed: sustained, burst"):
        dl.run(SMALL, "sobol:12", writes="both", **SHORT)


def test_a_drive_is_measured_as_it_is_unless_asked_otherwise() -> None:
    settling = Path(__file__).parents[2] / "settling_drive.toml"
    writes = dl.Characteristics(write_ratio=1.0)
    with dl.drive(f"sim:{settling}") as drive:
        burst = drive.measure(writes, requests=500)
        lasting = drive.measure(writes, requests=500, writes="sustained")
        assert drive.measure(writes, requests=500, writes="burst") == burst
    assert lasting.latency_ns_mean > 2 * burst.latency_ns_mean


def test_a_temporary_run_goes_with_its_object() -> None:
    with dl.drive(SMALL) as drive:
        run = dl.run(drive, "sobol:20", **SHORT | {"check": 0})
        # The drive stays its owner's.
        assert drive.measure(dl.Characteristics(), requests=10).requests == 10
    folder = run.path.parent
    assert run.path.is_dir()
    del run
    gc.collect()
    assert not folder.exists()


def test_what_fails_before_anything_is_measured_leaves_no_folder(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(dl.DrivelabError, match="sobol"):
        dl.run(SMALL, "sobol:x", **SHORT)
    with pytest.raises(dl.DrivelabError, match="distinct workloads"):
        dl.run(SMALL, [dl.Characteristics()] * 9, **SHORT)
    assert list(tmp_path.iterdir()) == []


def test_what_was_measured_stays_when_a_temporary_run_fails(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with dl.drive(SMALL) as drive:
        measured = type(drive.opened).measure

        def stopped(*args, **options):
            yield from list(measured(*args, **options))[:5]
            raise KeyboardInterrupt

        monkeypatch.setattr(type(drive.opened), "measure", stopped)
        with pytest.raises(KeyboardInterrupt, match="5 of 20 measurements are saved in") as caught:
            dl.run(drive, "sobol:20", **SHORT | {"check": 0})
    (folder,) = tmp_path.iterdir()
    assert f"resume with: drivelab.run(..., out='{folder / 'run'}')" in str(caught.value)
    monkeypatch.undo()
    again = dl.run(SMALL, "sobol:20", out=folder / "run", **SHORT | {"check": 0})
    assert len(again.measurements) == 20


def test_workloads_of_a_list_are_a_design(tmp_path: Path) -> None:
    table = pd.DataFrame({"queue_depth": np.arange(1, 41), "write_ratio": 0.5})
    run = dl.run(SMALL, table, out=tmp_path / "run", **SHORT | {"check": 0})
    assert sorted(one.characteristics.queue_depth for one in run.measurements) == list(range(1, 41))
    assert run.header["design"]["population"] == "the 40 workloads given"
    assert run.header["design"]["parts"]["calibration"] == 8
    # Others of the same number are another design.
    with pytest.raises(dl.DrivelabError, match="contains another campaign"):
        dl.run(SMALL, table + {"queue_depth": 1, "write_ratio": 0}, out=run.path, **SHORT)


def test_a_run_shows_itself(run: dl.Run) -> None:
    assert repr(run) == f"<Run of {SMALL}, simulated: 80 of 80 workloads of sobol:60>"
    page = run._repr_html_()
    assert "<th>simulated</th>" in page
    assert "80 of 80 workloads of sobol:60" in page
    assert "80 workloads simulated on sim:" in page
    assert run.failures == []
    assert (run.drive, run.drive_kind) == (SMALL, "simulated")


def test_a_model_shows_how_good_it_is(model: dl.Model) -> None:
    assert repr(model) == f"<Model of {SMALL}, simulated, fitted to 60 workloads>"
    page = model._repr_html_()
    assert page.count("<tr>") == 1 + len(model.accuracy) // 3
    assert "off-grid" in page
    best = [row for row in model.accuracy if row["best"]]
    assert [row["metric"] for row in best] == list(METRICS)


def test_answers_come_in_the_kind_of_the_question(model: dl.Model) -> None:
    arrays = model.predict(QUESTION)
    assert all(isinstance(cells, np.ndarray) for cells in arrays.values())
    frame = pd.DataFrame(QUESTION, index=["a", "b"])
    answers = model.predict(frame)
    assert list(answers.index) == ["a", "b"]
    pd.testing.assert_frame_equal(answers, pd.DataFrame(arrays, index=["a", "b"]))
    table = model.predict(pa.table(frame.reset_index(drop=True)))
    assert isinstance(table, pa.Table)
    assert table.to_pydict() == {name: cells.tolist() for name, cells in arrays.items()}
    workloads = [
        dl.Characteristics(queue_depth=2, read_size="16KiB"),
        dl.Characteristics(queue_depth=8, write_ratio=0.5, read_size="16KiB"),
    ]
    listed = model.predict(workloads)
    for name, cells in arrays.items():
        np.testing.assert_array_equal(listed[name], cells)
    assert model.predict(workloads[1])["iops"] == arrays["iops"][1]


def test_measurements_are_questions_too(run: dl.Run, model: dl.Model) -> None:
    answers = model.predict(run.measurements)
    again = model.predict(run.measurements.to_pandas())
    np.testing.assert_array_equal(answers["iops"], again["iops"].to_numpy())
    assert len(answers["iops"]) == 80
    # Empty cells come as nulls too.
    table = model.predict(run.measurements.to_arrow())
    np.testing.assert_array_equal(answers["iops"], table.column("iops").to_numpy())


def test_answers_are_those_of_the_command(model: dl.Model, tmp_path: Path, capsys) -> None:
    model.save(tmp_path / "model.json")
    words = ["--queue-depth", "8", "--write-ratio", "0.5", "--read-size", "16KiB", "--json"]
    assert cli.main(["predict", str(tmp_path / "model.json"), *words]) == 0
    answer = json.loads(capsys.readouterr().out)
    answers = model.predict(dl.Characteristics(queue_depth=8, write_ratio=0.5, read_size="16KiB"))
    for metric in METRICS:
        assert answers[metric][0] == pytest.approx(answer[metric], rel=1e-12)
        (row,) = (one for one in answer["intervals"][metric] if one["level_ratio"] == 0.9)
        assert answers[f"{metric}_low_90"][0] == pytest.approx(row["low"], rel=1e-12)
        assert answers[f"{metric}_high_90"][0] == pytest.approx(row["high"], rel=1e-12)


def test_outside_what_was_measured_there_is_no_interval(model: dl.Model) -> None:
    answers = model.predict({"queue_depth": [4, 60000]})
    assert answers["outside_training"].tolist() == [False, True]
    assert np.isnan(answers["iops_low_90"]).tolist() == [False, True]
    assert answers["iops"][1] > 0
    table = model.predict(pa.table({"queue_depth": [4, 60000]}))
    assert table.column("iops_low_90").is_null().to_pylist() == [False, True]


def test_measurements_alone_give_a_model_without_intervals(run: dl.Run) -> None:
    with dl.drive(SMALL) as drive:
        model = dl.fit(drive.measure({"queue_depth": range(1, 20)}, requests=100))
    assert list(model.predict({"queue_depth": [3]})) == [*METRICS, "outside_training"]
    with pytest.raises(dl.DrivelabError, match="an interval at 90 % needs 9 workloads reserved"):
        model.predict({"queue_depth": [3]}, level=0.9)
    # Those of a run know what each is for.
    assert dl.fit(run.measurements).accuracy == dl.fit(run).accuracy


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"queue_depht": [1]}, "the table has no column of workloads"),
        (
            {"queue_depth": [1], "writes": [1]},
            "'writes' is not a column of workloads; did you mean wri",
        ),
        ({"queue_depth": [1, 0]}, "row 1 of the table: queue_depth is 0; allowed: 1 to 65536"),
        ({"queue_depth": [1, 1.5]}, "row 1 of the table: queue_depth is '1.5'"),
        ({"read_size": ["4KiB", "x"]}, "row 1 of the table: read_size: 'x' is not a size"),
        ({"read_size": [4096, 5000]}, "row 1 of the table: read_size is 5000 bytes"),
        ({"read_size": "x"}, "read_size of the table: read_size: 'x' is not a size"),
        ({"read_size": [4096, None]}, "row 1 of the table: read_size is empty, but has an effect"),
        ({"read_size": [None, [1]]}, "row 1 of the table: read_size is [1]; give a number"),
        ({"read_size": [4096], "read_size_bytes": [4096]}, "two columns are read_size"),
        ({"queue_depth": [1, 2], "write_ratio": [0.1]}, "queue_depth has 2, write_ratio has 1"),
        ([dl.Characteristics(), dl.Characteristics(queue_depth=0)], "workload 1: queue_depth is 0"),
        (7, "7 is not a workload"),
    ],
)
def test_a_question_that_is_none_is_one_clear_line(model: dl.Model, question, message: str) -> None:
    with pytest.raises(dl.DrivelabError) as caught:
        model.predict(question)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_that_are_none_list_the_valid_ones(model: dl.Model) -> None:
    with pytest.raises(dl.DrivelabError, match="allowed: ols, cart, guide, boosted"):
        model.predict({"queue_depth": 1}, estimator="tree")
    with pytest.raises(dl.DrivelabError, match="85 % is not a level"):
        model.predict({"queue_depth": 1}, level=0.85)
    with pytest.raises(dl.DrivelabError, match="on_failure has no effect on"):
        dl.run(SMALL, "sobol:20", on_failure="continue")
    with pytest.raises(dl.DrivelabError, match="fitted to a run or to measurements"):
        dl.fit("runs/x25m")


def test_a_file_is_measured_and_removed(drive_folder: Path) -> None:
    path = drive_folder / "bench.bin"
    with dl.drive(path, size="64MiB") as drive:
        assert path.is_file()
        one = drive.measure(dl.Characteristics(), requests=50, warmup_seconds=0)
        assert one.drive_kind == "real"
        assert "<th>measured</th>" in one._repr_html_()
        with pytest.raises(dl.DrivelabError, match="workers has no effect on"):
            drive.measure(dl.Characteristics(), workers=2)
    assert not path.exists()


def test_a_file_that_was_made_goes_with_a_forgotten_drive(drive_folder: Path) -> None:
    path = drive_folder / "forgotten.bin"
    drive = dl.drive(path, size="64MiB")
    assert path.is_file()
    del drive
    gc.collect()
    assert not path.exists()
