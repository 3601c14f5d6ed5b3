"""`drivelab twin`: a drive is measured, and compared with a simulated one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli import main as cli

TWIN = [
    *("twin", "sim:sas-15k", "--base", "sas-15k", "--fit", "mechanics.rotation_rpm"),
    *("--generations", "0", "--measurements", "40", "--check", "6"),
    *("--requests", "400", "--warmup-requests", "100"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twin") / "twin"
    assert cli.main([*TWIN, "--out", str(folder)]) == 0
    return folder


def result_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "page" / "result.json").read_text())
    return found


def test_a_twin_is_as_close_as_the_drive_is_to_itself(made: Path) -> None:
    result = result_of(made)
    floor, error = (result[name]["latency_mean_ratio"] for name in ("repeated_error", "error"))
    assert floor > 0
    # The base is the drive, and the one value that is searched does not lead away from it: both
    # differ from the first measurement by chance alone.
    assert error < 2 * floor
    assert result["held_out"] == 6
    assert result["kind"] == "twin"


def test_the_page_sets_both_side_by_side(made: Path) -> None:
    page = (made / "page" / "report.html").read_text()
    assert "A twin of sim:sas-15k" in page
    assert "sim:sas-15k, measured a second time" in re.sub(r"<[^>]+>", "", page)
    # Numbers of a simulated drive are never shown as if a real one was measured.
    assert "Simulated drive" in page
    assert "None was measured on a real drive." in page
    rows = (made / "page" / "data" / "side-by-side.csv").read_text().splitlines()
    assert [row.split(",")[0].strip('"') for row in rows[1:]] == [
        "sim:sas-15k",
        "the twin",
        "sas-15k unchanged",
    ]


def test_the_same_command_measures_nothing_again(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = result_of(made)
    tables = [made / name / "measurements.csv" for name in ("run", "again")]
    measured = [each.read_bytes() for each in tables]
    assert cli.main([*TWIN, "--out", str(made)]) == 0
    captured = capsys.readouterr()
    assert f"drivelab serve sim:{made / 'twin.toml'}" in captured.out
    assert result_of(made) == before
    assert [each.read_bytes() for each in tables] == measured
    # Progress is shown for what is measured.
    assert "measurements" not in captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["analytic:x25m-yoo2014", "--base", "x25m"], "is a formula"),
        (["sim:sas-15k", "--base", "x25m"], "x25m is an SSD"),
        (["sim:sas-15k", "--base", "sas-15k", "--serve", "--json"], "--serve with --json"),
        (["sim:array-x25m", "--base", "x25m"], "array-x25m is an array"),
        (["sim:sas-15k", "--base", "sas15k"], "did you mean sas-15k?"),
        (["sim:sas-15k", "--base", "sas-15k", "-o", "none/a.toml"], "there is no folder"),
        (["sim:sas-15k", "--base", "sas-15k", "--executor", "ssh"], "needs a file of machines"),
    ],
)
def test_mistakes_are_one_line_before_anything_is_measured(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["twin", *words, "--out", "t"]) == 2
    error_text = capsys.readouterr().err
    assert message in error_text
    assert error_text.count("\n") == 1
    assert not (tmp_path / "t").exists()
