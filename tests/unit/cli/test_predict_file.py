"""`drivelab predict --file`: CSV in, CSV out, and the errors for a wrong file."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_drive import characteristics, grid_workloads, measurements, spread_workloads

from drivelab.cli import main as cli
from drivelab.errors import UsageError
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.workloads import csv_table
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.csv_design import csv_design
from drivelab.workloads.csv_table import WorkloadCsv
from drivelab.workloads.parts import Parts

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

HEADER = ",".join(FIELDS)
GOOD = "0.5,4,4096,8192,0.5,0.5,65536,65536"


@pytest.fixture(scope="module")
def model() -> PerformanceModel:
    measured = measurements(grid_workloads(100, 3), noise=0.02)
    return PerformanceModel.fit(measured, parts=Parts(80, 20))


@pytest.fixture(scope="module")
def saved(model: PerformanceModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    model.save(path)
    return path


@pytest.fixture
def folder(saved: Path, tmp_path: Path, monkeypatch) -> Path:
    shutil.copy(saved, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def as_csv(workloads: list[Characteristics]) -> str:
    rows = [",".join(str(value) for value in one.as_tuple()) for one in workloads]
    return "\n".join([HEADER, *rows]) + "\n"


def answered(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_file_is_answered_like_its_rows(
    folder: Path, model: PerformanceModel, capsys, monkeypatch
) -> None:
    # Blocks of a few lines, so that there are many of them.
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 1000)
    workloads = [characteristics(row) for row in spread_workloads(200, 1)]
    workloads += [characteristics(row) for row in grid_workloads(100, 2)]
    workloads[7] = dataclasses.replace(workloads[7], queue_depth=5000)
    (folder / "in.csv").write_text(as_csv(workloads))
    words = ["predict", "model.json", "--file", "in.csv"]
    assert cli.main([*words, "--out", "out.csv", "--level", "80"]) == 0
    outside = model.outside(workloads)
    said = capsys.readouterr().err
    assert f"answered 300 workloads, {outside.sum()} of them outside" in said
    rows = answered((folder / "out.csv").read_text())
    assert [row["outside_training"] == "true" for row in rows] == outside.tolist()
    assert rows[7]["outside_training"] == "true"
    for metric in METRICS:
        found = np.array([float(row[metric]) for row in rows])
        assert found == pytest.approx(model.predict(workloads, metric=metric), rel=1e-5)
        ends = model.interval(workloads, metric=metric, level=0.8)
        for name, column in (("low", 0), ("high", 1)):
            cells = np.array([float(row[f"{metric}_{name}_80"] or "nan") for row in rows])
            assert cells == pytest.approx(ends[:, column], rel=1e-5, nan_ok=True)
    for row, workload in zip(rows, workloads, strict=True):
        for name, value in workload.canonical().items():
            cell = row[f"{name}_bytes" if name.endswith(("_size", "_stride")) else name]
            assert (cell == "") if value is None else (float(cell) == value)
    # Standard output holds the same, and so does a block of one line or one for all.
    assert cli.main([*words, "--level", "80"]) == 0
    assert capsys.readouterr().out == (folder / "out.csv").read_text()
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 2**20)
    assert cli.main([*words, "--out", "-", "--level", "80"]) == 0
    assert capsys.readouterr().out == (folder / "out.csv").read_text()


def test_standard_input_is_answered(
    folder: Path, model: PerformanceModel, capsys, monkeypatch
) -> None:
    class Input:
        buffer = io.BytesIO(f"{HEADER}\n{GOOD}\n".encode())

    monkeypatch.setattr("sys.stdin", Input)
    words = ["predict", "model.json", "--file", "-", "--estimator", "cart", "--features", "basic"]
    assert cli.main(words) == 0
    captured = capsys.readouterr()
    (row,) = answered(captured.out)
    workload = Characteristics(0.5, 4, 4096, 8192, 0.5, 0.5, 65536, 65536)
    expected = model.predict([workload], metric="iops", features="basic", estimator="cart")
    assert float(row["iops"]) == pytest.approx(expected[0], rel=1e-5)
    assert captured.err == "drivelab: answered 1 workload\n"


def test_names_units_order_and_empty_cells(folder: Path, capsys) -> None:
    (folder / "in.csv").write_text(
        "\ufeffqueue_depth, write_ratio,read_size_bytes,read_random,write_size,write_random,"
        "write_stride_bytes,read_stride\r\n\r\n"
        '4,0,4096,1,,,,\r\n,,,,,,,\r\n"4", 0.0 ,4KiB,1.0,64KiB,0.5,1MiB,512'
    )
    assert cli.main(["predict", "model.json", "--file", "in.csv"]) == 0
    one, other = answered(capsys.readouterr().out)
    # What has no effect in reads alone is empty, whatever stood there.
    assert one == other
    assert (one["read_size_bytes"], one["write_size_bytes"], one["read_stride_bytes"]) == (
        *("4096", "", ""),
    )


def test_the_table_of_a_run_is_a_file_of_workloads(folder: Path, capsys) -> None:
    from drivelab.campaign.kind import campaign_rows
    from drivelab.runs.export import measurements_csv

    measured = measurements(grid_workloads(20, 8))
    drive = {"name": 'sim:"a, b".toml', "kind": "simulated"}
    (folder / "in.csv").write_text(measurements_csv(campaign_rows(measured), drive))
    assert cli.main(["predict", "model.json", "--file", "in.csv"]) == 0
    rows = answered(capsys.readouterr().out)
    assert [int(row["queue_depth"]) for row in rows] == [
        one.characteristics.queue_depth for one in measured
    ]


MISTAKES: list[tuple[str, str]] = [
    (f"{HEADER}\n0.5,{'9' * 400}{',1' * 6}\n", "line 2: queue_depth is '999"),
    (f"{HEADER}\n0.5,{'x' * 131_073}{',1' * 6}\n", "line 2: this is not a workload"),
    ("", "contains no workload; write the names"),
    ("\n\n", "contains no workload; write the names"),
    (f"{HEADER}\n\n", "contains no workload; write one per line"),
    ("write_ratio,queue_depth\n0,1\n", "line 1: no column read_size, write_size"),
    (f"{HEADER},colour\n", "line 1: 'colour' is not a column of workloads"),
    (HEADER.replace("read_size", "read_sice"), "line 1: 'read_sice' is not a column"),
    (HEADER.replace(",", ";"), "line 1: no commas"),
    (f"{HEADER},read_size_bytes\n", "line 1: two columns are read_size"),
    (f"{HEADER}\n{GOOD}\n{GOOD},1\n", "line 3: 9 cells where 8 columns are named"),
    (f"{HEADER}\n{GOOD}\n\n0.5,4\n", "line 4: 2 cells where 8 columns are named"),
    (f"{HEADER}\nnan,4,4096,8192,0,0,0,0\n", "line 2: write_ratio is 'nan'; allowed: a ratio"),
    (f"{HEADER}\n1.5,4,4096,8192,0,0,0,0\n", "line 2: write_ratio is 1.5; allowed"),
    (f"{HEADER}\n-0.5,4,4096,8192,0,0,0,0\n", "line 2: write_ratio is '-0.5'; allowed"),
    (f"{HEADER}\n,4,4096,8192,0,0,0,0\n", "line 2: write_ratio is empty; write a ratio"),
    (f"{HEADER}\n0.5,4.5,4096,8192,0,0,0,0\n", "line 2: queue_depth is '4.5'; allowed"),
    (f"{HEADER}\n0.5,0,4096,8192,0,0,0,0\n", "line 2: queue_depth is 0; allowed: 1 to"),
    (f"{HEADER}\n0.5,99999,4096,8192,0,0,0,0\n", "line 2: queue_depth is 99999; allowed"),
    (f"{HEADER}\n0.5,4,1000,8192,0,0,0,0\n", "line 2: read_size is 1000 bytes; allowed"),
    (f"{HEADER}\n0.5,4,4096,many,0,0,0,0\n", "line 2: write_size: 'many' is not a size"),
    (f"{HEADER}\n0.5,4,4096,1GiB,0,0,0,0\n", "line 2: write_size is 1073741824 bytes"),
    (f"{HEADER}\n0.5,4,4096,8192,inf,0,0,0\n", "line 2: read_random is 'inf'; allowed"),
    (f"{HEADER}\n0.5,4,4096,8192,0,0,,0\n", "line 2: read_stride is empty, but has an effect"),
    (f"{HEADER}\n0.5,4,4096,8192,0,0,7,0\n", "line 2: read_stride is 7 bytes; allowed"),
    (f'{HEADER}\n{GOOD}\n0.5,"4,4096,8192,0,0,0,0\n', "line 3: a quoted cell does not end"),
    # The first mistake is reported, whichever kind it is.
    (f"{HEADER}\n{GOOD}\n2,1,1,1,1,1,1,1\n1,2\n", "line 3: write_ratio is 2"),
    (f"{HEADER}\n{GOOD}\n0.5,4,x,8192,0,0,0,0\n2,1,1,1,1,1,1,1\n", "line 3: read_size: 'x'"),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES)
@pytest.mark.parametrize("out", ["out.csv", "-"])
def test_a_mistake_is_one_line_and_leaves_nothing(
    folder: Path, capsys, text: str, said: str, out: str
) -> None:
    (folder / "in.csv").write_text(text)
    assert cli.main(["predict", "model.json", "--file", "in.csv", "--out", out]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "in.csv" in captured.err
    assert said in captured.err
    assert {path.name for path in folder.iterdir()} == {"in.csv", "model.json"}


def test_a_mistake_far_below_is_reported_with_its_line(folder: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(csv_table, "BLOCK_BYTES", 500)
    words = ["predict", "model.json", "--file", "in.csv", "--out", "out.csv"]
    (folder / "in.csv").write_text(f"{HEADER}\n{GOOD}\n")
    assert cli.main(words) == 0
    older = (folder / "out.csv").read_text()
    (folder / "in.csv").write_text(f"{HEADER}\n" + f"{GOOD}\n\n" * 500 + "0.5,4,4096\n")
    assert cli.main(words) == 2
    assert "in.csv, line 1002: 3 cells" in capsys.readouterr().err
    assert (folder / "out.csv").read_text() == older


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--file", "missing.csv"], "there is no file missing.csv"),
        (["--file", "."], ". is a folder"),
        (["--file", "/dev/null"], "/dev/null is not a regular file"),
        (["--file", "in.csv", "--out", "in.csv"], "in.csv is read by this command; name another"),
        (["--file", "in.csv", "--out", "/proc/x.csv"], "/proc/x.csv cannot be written"),
        (["--file", "long.csv"], "a line is longer than 1 MiB"),
    ],
)
def test_files_that_cannot_be_used(folder: Path, capsys, words: list[str], said: str) -> None:
    (folder / "in.csv").write_text(f"{HEADER}\n{GOOD}\n")
    (folder / "long.csv").write_text(f"{HEADER}\n" + "1" * 2**22)
    assert cli.main(["predict", "model.json", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert (folder / "in.csv").read_text() == f"{HEADER}\n{GOOD}\n"


def test_levels_that_the_model_does_not_reach(folder: Path, capsys) -> None:
    PerformanceModel.fit(measurements(grid_workloads(40, 1))).save(folder / "model.json")
    (folder / "in.csv").write_text(f"{HEADER}\n{GOOD}\n")
    words = ["predict", "model.json", "--file", "in.csv"]
    assert cli.main(words) == 0
    captured = capsys.readouterr()
    assert "no intervals: an interval at 90 % needs 9 workloads" in captured.err
    (row,) = answered(captured.out)
    assert row["iops_low"] == row["iops_high"] == ""
    assert float(row["iops"]) > 0
    assert cli.main([*words, "--level", "95"]) == 2
    assert "needs 19 workloads" in capsys.readouterr().err


def test_a_full_disk_is_reported(folder: Path, capsys, monkeypatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    (folder / "in.csv").write_text(f"{HEADER}\n{GOOD}\n")
    assert cli.main(["predict", "model.json", "--file", "in.csv", "--out", "out.csv"]) == 1
    assert "out.csv cannot be written: No space left" in capsys.readouterr().err
    assert not (folder / "out.csv").exists()


cells = st.sampled_from(
    [
        "0",
        "1",
        "0.5",
        "4",
        "4096",
        "4KiB",
        "",
        " 8192 ",
        "nan",
        "1e-1",
        ".5",
        "-1",
        "7",
        '"1"',
        "1.0",
    ]
)


def outcome(read: Callable[[], object]) -> str:
    try:
        read()
    except UsageError as error:
        return str(error)
    return ""


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.lists(cells, min_size=7, max_size=9), min_size=1, max_size=4))
def test_it_reads_what_a_design_reads(tmp_path: Path, rows: list[list[str]]) -> None:
    # The reader of designs takes every row by itself; this one must agree, mistakes included.
    path = tmp_path / "w.csv"
    path.write_text("\n".join([HEADER, *(",".join(row) for row in rows)]))

    def table() -> np.ndarray:
        with path.open("rb") as file:
            source = WorkloadCsv(file, str(path))
            return np.concatenate([source.table(block) for block in source.blocks()])

    slow = outcome(lambda: csv_design(str(path)))
    if "contains no workload" in slow:
        return
    assert outcome(table) == slow
    if not slow:
        read = csv_design(str(path)).workloads
        found = {tuple(one.canonical().values()) for one in read}
        from drivelab.models.features import effective_table

        rows_read = [
            tuple(None if np.isnan(value) else value for value in row)
            for row in effective_table(table()).tolist()
        ]
        assert set(rows_read) == found
