"""`drivelab model` chooses what it measures, until it has enough."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli import main as cli
from drivelab.store import RunStore
from drivelab.workloads.parts import FITTED

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

SMALL = Path(__file__).parents[2] / "small_drive.toml"
WORDS = ["model", f"sim:{SMALL}", "--requests", "30", "--warmup-requests", "10", "--no-sweeps"]


def answer_of(words: list[str], capsys: Any) -> dict[str, Any]:
    assert cli.main([*WORDS, "--check", "3", *words, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_a_run_grows_where_more_is_asked_for_and_never_shrinks(tmp_path: Path, capsys) -> None:
    out = ["--out", str(tmp_path / "run")]
    answer = answer_of([*out, "--measurements", "80"], capsys)
    parts = answer["parts"]
    assert sum(parts[name] for name in FITTED) == 80
    assert (parts["calibration"], parts["chosen"], parts["check"]) == (16, 12, 3)
    assert answer["workloads"] == 83
    assert answer["ended"]["ended_by"] == "measurements"
    assert 0 < answer["ended"]["expected_error_ratio"] < 5
    assert answer["probed"] is None
    assert "No probes." in (tmp_path / "run" / "report.html").read_text()
    again = answer_of([*out, "--measurements", "90"], capsys)
    assert sum(again["parts"][name] for name in FITTED) == 90
    with RunStore.open(tmp_path / "run") as store:
        places = [place for one in store.header["asked"] for place in one["places"]]
        assert len(store.done()) == len(places) == 93
    assert cli.main([*WORDS, "--check", "3", *out, "--measurements", "20"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "it already has 90 measurements, and 20 were asked for; expected error" in said
    assert "there were no probes (the limit was 20 measurements, and probes come from" in said
    assert cli.main([*WORDS, "--check", "3", *out, "--measurements", "95", "--seed", "1"]) == 2
    assert "seed: 0 before, 1 now" in capsys.readouterr().err


def test_any_number_of_threads_chooses_the_same(tmp_path: Path, capsys) -> None:
    asked = []
    for workers in ("1", "2"):
        out = tmp_path / workers
        answer_of(["--measurements", "75", "--workers", workers, "--out", str(out)], capsys)
        asked.append((out / "measurements.csv").read_bytes())
    assert asked[0] == asked[1]


def test_an_expected_error_or_a_budget_ends_it(tmp_path: Path, capsys) -> None:
    easy = answer_of(["--error", "99%", "--out", str(tmp_path / "easy")], capsys)
    assert easy["ended"]["ended_by"] == "error"
    # Probes come first, then 60 workloads are enough.
    assert easy["parts"]["probes"] in (13, 23)
    assert easy["parts"]["fills"] == 3
    assert easy["workloads"] == 60 + easy["parts"]["probes"] + 3 + 3
    short = answer_of(["--budget", "0.5s", "--out", str(tmp_path / "short")], capsys)
    assert short["ended"]["ended_by"] == "budget"
    spent = short["ended"]["spent_seconds"]
    # Its last round was as large as there was room for, by the mean of those before.
    assert 0.3 < spent < 0.8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--measurements", "5"], "it takes a whole number from 10 to 5000"),
        (["--error", "0"], "'0' is not allowed"),
        (["--error", "200%"], "'200%' is not allowed"),
        (["--design", "sobol:30", "--error", "5%"], "sobol:30 already sets how much it measures"),
        (["--design", "sobol:30", "--budget", "1h"], "are for the design adaptive"),
    ],
)
def test_goals_that_cannot_be_are_refused(words, message, tmp_path: Path, capsys) -> None:
    assert cli.main([*WORDS, *words, "--out", str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_budget_of_a_real_drive_is_refused_where_it_holds_too_few(tmp_path: Path, capsys) -> None:
    words = ["model", str(tmp_path / "drive.bin"), "--budget", "5s", "--out", str(tmp_path / "run")]
    assert cli.main(words) == 2
    assert "10 measurements, and each takes 1.2 s" in capsys.readouterr().err
    words[3] = "20s"
    assert cli.main([*words, "--writes", "both"]) == 2
    said = capsys.readouterr().err
    assert "a budget of 10 s is too short" in said
    assert "--writes both gives each run half of --budget" in said
    assert not (tmp_path / "run").exists()
