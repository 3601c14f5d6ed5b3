"""`drivelab model --writes`: sustained, burst, and both compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli import main as cli
from drivelab.store import RunStore

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

SETTLING = Path(__file__).parents[2] / "settling_drive.toml"
DESIGN = ["--design", "sobol:20", "--requests", "300", "--warmup-requests", "50"]
WORDS = ["model", f"sim:{SETTLING}", *DESIGN, "--check", "3", "--no-sweeps"]


def plan_of(run: Path) -> dict[str, Any]:
    with RunStore.open(run) as store:
        plan: dict[str, Any] = store.header["plan"]
    return plan


def measured(run: Path) -> list[Any]:
    """Give the journal of a run, with when each was measured."""
    with RunStore.open(run) as store:
        return list(store.measurements())


def test_simulated_drives_are_asked_for_what_lasts(tmp_path: Path, capsys) -> None:
    run = tmp_path / "run"
    assert cli.main([*WORDS, "--out", str(run)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == f"sim:{SETTLING} under 23 workloads, sustained writes, seed 0"
    assert plan_of(run)["writes"] == "sustained"
    page = (run / "report.html").read_text()
    assert "sustained writes" in page
    assert "Bursts" not in page
    # Finished: reported again, and no other run.
    assert cli.main([*WORDS, "--out", str(run), "--json", "--writes", "sustained"]) == 0
    assert json.loads(capsys.readouterr().out)["writes"] == "sustained"
    assert cli.main([*WORDS, "--out", str(run), "--writes", "burst"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "contains another campaign: writes: sustained before, burst now; choose another" in said


def test_both_give_two_runs_and_their_comparison(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [*WORDS, "--writes", "both"]
    assert cli.main([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    [folder] = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("-sobol-20-seed-0-both")
    sustained, burst = answer["models"]
    assert (sustained["writes"], burst["writes"]) == ("sustained", "burst")
    assert Path(sustained["run"]).resolve() == folder / "sustained"
    assert Path(burst["run"]).resolve() == folder / "burst"
    assert "writes" not in plan_of(folder / "burst")
    page = Path(answer["report"])
    assert page.resolve() == folder / "compared" / "report.html"
    text = page.read_text()
    assert "settling_drive.toml, sustained writes" in text
    assert "settling_drive.toml, burst writes" in text
    # Nothing is measured again.
    before = measured(folder / "burst"), measured(folder / "sustained")
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert said.index("23 workloads, sustained writes") < said.index("23 workloads, writes a burst")
    assert (measured(folder / "burst"), measured(folder / "sustained")) == before


def test_both_share_the_budget(tmp_path: Path, monkeypatch) -> None:
    goals = []

    def without_measuring(args: Any, path: Path) -> int:
        goals.append((args.budget_seconds, args.measurements, path))
        return 0

    monkeypatch.setattr("drivelab.cli.model._both", without_measuring)
    words = ["model", f"sim:{SETTLING}", "--budget", "20m", "--measurements", "90"]
    words += ["--out", str(tmp_path / "run"), "--writes", "both"]
    # The same command means the same again: a run that was stopped resumes.
    for _ in range(2):
        assert cli.main(words) == 0
    assert goals == 2 * [(600, 90, tmp_path / "run")]


def test_both_need_a_folder_of_their_own(tmp_path: Path, capsys) -> None:
    run = tmp_path / "run"
    assert cli.main([*WORDS, "--out", str(run), "--writes", "burst"]) == 0
    capsys.readouterr()
    assert cli.main([*WORDS, "--out", str(run), "--writes", "both"]) == 2
    assert f"{run} is one run; choose another --out for both" in capsys.readouterr().err
    assert sorted(path.name for path in run.iterdir() if path.is_dir()) == ["data"]


@pytest.mark.parametrize("writes", ["sustained", "both"])
@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_formula_keeps_nothing_of_what_was_written(
    writes: str, more: list[str], tmp_path: Path, capsys
) -> None:
    words = ["model", "analytic:x25m-yoo2014", "--writes", writes, "--out", str(tmp_path / "run")]
    assert cli.main([*words, *more]) == 2
    said = capsys.readouterr().err
    assert (
        "--writes sustained has no meaning for analytic:x25m-yoo2014: a formula does not store"
    ) in said
    assert list(tmp_path.iterdir()) == []


def test_a_real_drive_is_written_before_when_that_is_asked_for(
    tmp_path: Path, drive_folder: Path, require_tool, capsys
) -> None:
    require_tool("fio")
    file = drive_folder / "writes.bin"
    words = ["model", str(file), "--size", "4MiB", "--design", "sobol:12", "--no-sweeps"]
    words += ["--requests", "200", "--warmup", "0s", "--writes", "sustained"]
    assert cli.main([*words, "--out", str(tmp_path / "run")]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"{file} under 12 workloads, sustained writes, seed 0")
    # Each kind of writing once.
    assert captured.err.count("drivelab: writing 8 MiB to ") == 3
    # Complete, and the file is gone: nothing is made again.
    assert cli.main([*words, "--out", str(tmp_path / "run")]) == 0
    assert "drivelab: writing" not in capsys.readouterr().err


def test_a_budget_with_room_measures_what_lasts_on_a_real_drive(
    tmp_path: Path, drive_folder: Path, require_tool, capsys
) -> None:
    require_tool("fio")
    file = drive_folder / "room.bin"
    words = ["model", str(file), "--size", "4MiB", "--measurements", "12", "--no-sweeps"]
    words += ["--check", "0", "--requests", "50", "--warmup", "0s", "--budget", "10m", "--keep"]
    run = tmp_path / "run"
    assert cli.main([*words, "--out", str(run)]) == 0
    captured = capsys.readouterr()
    assert f"drivelab: writes are sustained: settling {file} takes at least " in captured.err
    assert ", sustained writes, seed 0" in captured.out.splitlines()[0]
    assert plan_of(run)["writes"] == "sustained"
    # It goes on as it began, with any budget and without one.
    again = [word for word in words if word not in ("--budget", "10m")]
    assert cli.main([*again, "--out", str(run)]) == 0
    assert ", sustained writes, seed 0" in capsys.readouterr().out.splitlines()[0]


def test_a_budget_without_room_measures_a_burst_and_says_so(
    tmp_path: Path, drive_folder: Path, require_tool, capsys, monkeypatch
) -> None:
    from drivelab.models import settling_time

    require_tool("fio")
    monkeypatch.setattr(
        settling_time, "settling_seconds", lambda drive, plan, patterns: {"in order": 6.0}
    )
    file = drive_folder / "no-room.bin"
    words = ["model", str(file), "--size", "4MiB", "--measurements", "12", "--no-sweeps"]
    words += ["--check", "0", "--requests", "50", "--warmup", "0s", "--budget", "10s"]
    run = tmp_path / "run"
    assert cli.main([*words, "--out", str(run), "--json"]) == 0
    captured = capsys.readouterr()
    said = " ".join(captured.err.split())
    assert f"writes are a burst: settling {file} would take at least 6.00 s, more" in said
    assert json.loads(captured.out)["writes"] == "burst"
    assert "writes" not in plan_of(run)
    assert cli.main([*words, "--out", str(run), "--dry-run"]) == 0
    found = capsys.readouterr().out
    assert "burst, or sustained where settling the drive takes at most a fifth of" in found
    assert "MiB to settle it, each time twice its size" in found


def test_a_budget_that_settling_uses_up_is_refused(
    tmp_path: Path, drive_folder: Path, require_tool, capsys
) -> None:
    require_tool("fio")
    file = drive_folder / "budget.bin"
    words = ["model", str(file), "--size", "64MiB", "--writes", "sustained", "--seconds", "0.1ms"]
    words += ["--warmup", "0s", "--budget", "2ms", "--out", str(tmp_path / "run")]
    assert cli.main(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "a budget of 2.00 ms is too short for sustained writes: they need 384 MiB written" in said
    )
    assert not (tmp_path / "run").exists()
    assert not file.exists()
