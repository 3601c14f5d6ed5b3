"""Rows as CSV: texts that a spreadsheet would run, numbers that stay numbers, every writer."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from made_run import made_run

from drivelab.campaign.kind import campaign_rows
from drivelab.cli.main import main
from drivelab.csv_text import csv_text
from drivelab.pages.campaign import campaign_report
from drivelab.report.page import render
from drivelab.runs.export import measurements_csv
from drivelab.workloads.csv_design import csv_design

pytestmark = pytest.mark.usefixtures("models_in_outline")

SMALL = Path(__file__).parents[1] / "small_drive.toml"
PACKAGE = Path(__file__).parents[2] / "python" / "drivelab"
FORMULAS = ["=1+1", "+1", "-1", "-x", "@SUM(A1)", "\t=1", "\r=1", "=", "-\n1"]
#: What no cell begins with that is not a number.
BEGINS_FORMULA = re.compile(r"[=+\-@\t\r](?!(inf|[0-9.]+(e[+-]?[0-9]+)?)$)")


def cells_of(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_is_never_a_formula(text: str) -> None:
    assert cells_of(csv_text([text], [[text]])) == [f"'{text}"] * 2


@pytest.mark.parametrize(
    "text", ["a=1", "'=1", " =1", "1-1", "", "sim:x25m", "Grüße", "\n", "a\r=1", 'a"b,', ","]
)
def test_any_other_text_stays(text: str) -> None:
    assert cells_of(csv_text(["a", "b"], [["x", text]])) == ["a", "b", "x", text]


@pytest.mark.parametrize(
    ("number", "written"),
    [(-1.5, "-1.5"), (-2, "-2"), (1e300, "1e+300"), (-1e-9, "-1e-09"), (0.1, "0.1")],
)
def test_a_number_stays_a_number(number: float, written: str) -> None:
    assert csv_text(["a"], [[number]]) == f"a\n{written}\n"
    assert float(csv_text(["a"], [[number]], digits=9).split()[1]) == number


def test_lines_are_those_of_python_s_writer() -> None:
    rows = [[None], ["a", 1.5], [True, 'q"', 1e22, -0.0], [], ["x,y", None], [float("nan"), 10**20]]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["n"], *rows])
    assert csv_text(["n"], rows) == out.getvalue().replace("\n\n", '\n""\n')


def test_empty_cells_and_bytes_that_are_no_text() -> None:
    assert csv_text(["a", "b"], [[None, "\udcff"]]) == "a,b\n,\\udcff\n"


@pytest.mark.parametrize("name", FORMULAS)
def test_measurements_of_a_drive_with_such_a_name(name: str, tmp_path: Path) -> None:
    """`measurements.csv` had the name as it is."""
    measurements = made_run(10, reserved=0).measurements
    text = measurements_csv(campaign_rows(measurements), {"name": name, "kind": "real"})
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["drive"] for row in rows} == {f"'{name}"}
    # And is a design nevertheless.
    path = tmp_path / "design.csv"
    path.write_text(text, newline="")
    read = [workload.key() for workload in csv_design(str(path)).listed]
    assert read == [one.characteristics.key() for one in measurements]


@pytest.mark.parametrize("name", ["=1+1", "-1", "@x"])
def test_tables_and_buttons_of_a_report(name: str) -> None:
    report = render(campaign_report(made_run(20, name=name, kind="real", reserved=0, sweeps=True)))
    for table in report.tables:
        text = table.csv()
        assert text.count(f"'{name}") == len(table.rows)
        assert not [cell for cell in cells_of(text) if BEGINS_FORMULA.match(cell)]


def test_every_file_that_a_command_writes(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(SMALL, "=cmd.toml")
    Path("s.toml").write_text(
        "".join(f"[[stream]]\nname = {json.dumps(n)}\nqueue_depth = 1\n" for n in ("=1+1", "@x"))
    )
    few = ["--design", "huang2011:20", "--requests", "60", "--no-sweeps", "--check", "1"]
    part = ["--scenario", "s.toml", "--requests", "200", "--interval", "1ms"]
    for words in (
        ["model", "sim:=cmd.toml", *few, "--out", "=run"],
        ["runs", "export", "=run", "--csv", "export.csv"],
        ["report", "=run", "--out", "report"],
        ["simulate", "sim:=cmd.toml", *part, "--csv", "series.csv"],
        ["timeline", "sim:=cmd.toml", "--op", "read", "--record", "16KiB", "--csv", "line.csv"],
        ["predict", "=run", "--file", "export.csv", "--out", "answers.csv"],
    ):
        assert main(words) == 0, words
    written = sorted(path for path in Path().rglob("*.csv"))
    assert len(written) >= 12
    for path in written:
        cells = cells_of(path.read_text(encoding="utf-8"))
        assert not [cell for cell in cells if BEGINS_FORMULA.match(cell)], path
    assert "'=1+1" in cells_of(Path("series.csv").read_text())
    # No cell begins with what is behind the colon.
    assert "sim:=cmd.toml" in cells_of(Path("export.csv").read_text())


def test_rows_become_text_in_one_place() -> None:
    writers = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"csv\.(Dict)?[wW]riter|\.to_csv\(", path.read_text("utf-8"))
    ]
    assert writers == []
