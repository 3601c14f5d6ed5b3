"""What `drivelab model` prints at its end."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.errors import TerminatedError

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
JOB = ("model", DRIVE, "--design", "huang2011:12", "--check", "0", "--no-sweeps")
# A few hundred requests determine the mean of some of these workloads, and not of others.
SHORT = ("--requests", "200", "--max-requests", "400", "--half-width", "1%")


def test_how_many_reached_the_half_width_is_one_line(tmp_path: Path, capsys) -> None:
    words = [*JOB, *SHORT, "--out", str(tmp_path / "run")]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    with (tmp_path / "run" / "measurements.csv").open(newline="") as file:
        reached = [row["stopped_by"] for row in csv.DictReader(file)].count("half_width")
    assert 0 < reached < 12
    line = f"{reached} of 12 reach a half-width of 1 % of the mean latency; the others are marked\n"
    assert line in said
    assert cli.main([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["half_width_ratio"], answer["half_width_reached_workloads"]) == (0.01, reached)


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        (("--half-width", "99%", "--requests", "50"), "all 12 reach a half-width of 99 % of the"),
        (("--requests", "50"), None),
    ],
)
def test_nothing_is_marked_without_need(tmp_path: Path, capsys, plan, line: str | None) -> None:
    assert cli.main([*JOB, *plan, "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert "the others" not in said
    assert (line in said) if line else ("reach" not in said)


def test_most_requests_bound_the_half_width_that_is_counted_to_by_default(capsys) -> None:
    words = ["measure", DRIVE, "--write-ratio", "0.5", "--max-requests", "40", "--json"]
    assert cli.main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["requests"], answer["stopped_by"]) == (40, "max_requests")


def test_workloads_of_one_request_have_a_report_without_percentiles(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert cli.main([*JOB, "--requests", "1", "--out", str(run)]) == 0
    page = (run / "report.html").read_text("utf-8")
    assert "too few requests for a percentile" in re.sub("<[^>]+>", "", page)
    assert not (run / "data" / "latency_percentiles.csv").exists()


@pytest.mark.parametrize(
    ("signal", "message"),
    [(KeyboardInterrupt(), (130, "stopped")), (TerminatedError(15), (143, "terminated"))],
)
def test_a_signal_while_models_are_fitted_says_how_to_go_on(
    tmp_path: Path, capsys, monkeypatch, signal: BaseException, message: tuple[int, str]
) -> None:
    def stopped(*_: object) -> None:
        raise signal

    monkeypatch.setattr("drivelab.models.of_run.fit", stopped)
    run = tmp_path / "run"
    assert cli.main([*JOB, "--requests", "50", "--out", str(run)]) == message[0]
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(
        f"drivelab: {message[1]}; everything is measured and saved in {run}; resume "
    )
    assert f" model {shlex.quote(JOB[1])}" in last
