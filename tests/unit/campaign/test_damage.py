"""Runs that were damaged, cut short, moved, deleted or locked: an error, and nothing is lost."""

from __future__ import annotations

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from fake_drive import FakeDrive, workloads
from killable_campaign import Campaign, asked, stored

from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.header import stored_header
from drivelab.campaign.stored import stored_measurements
from drivelab.cli import main as cli
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import DrivelabError
from drivelab.store import DATABASE, RunStore

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

SMALL_DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
SMALL_JOB = ["model", SMALL_DRIVE, "--design", "huang2011:12", "--requests", "30"]
SMALL_JOB += ["--check", "0", "--no-sweeps"]


def fake_campaign(path: Path, count: int = 12) -> None:
    plan = MeasurementPlan(requests=10)
    run_campaign(
        FakeDrive("real"), workloads(count), plan, path, design_name="fake", progress=False
    ).close()


def content(path: Path) -> tuple[Any, ...]:
    with RunStore.open(path) as store:
        measurements = stored_measurements(store)
        return stored_header(store), measurements, store.starts(), store.failures()


def fails(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run the command; give exit code and the one line that it may say."""
    code = cli.main(words)
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1, captured.err
    assert captured.err.startswith("drivelab: ")
    assert "bug in Drivelab" not in captured.err
    assert len(captured.err) < 500
    assert captured.out == ""
    return code, captured.err


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("finished") / "run"
    assert cli.main([*SMALL_JOB, "--out", str(path)]) == 0
    return path


@pytest.fixture
def run(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Give a finished run with models and a report, to be damaged."""
    shutil.copytree(finished, tmp_path / "run")
    capsys.readouterr()
    return tmp_path / "run"


@pytest.mark.parametrize("flips", [400, pytest.param(20_000, marks=pytest.mark.faults)])
def test_a_flipped_bit_is_reported_or_changes_nothing(tmp_path: Path, flips: int) -> None:
    fake_campaign(tmp_path / "run")
    database = tmp_path / "run" / DATABASE
    whole, expected = database.read_bytes(), content(tmp_path / "run")
    draw = random.Random(flips)
    lines = []
    for _ in range(flips):
        damaged = bytearray(whole)
        damaged[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        database.write_bytes(damaged)
        try:
            found = content(tmp_path / "run")
        except DrivelabError as error:
            lines.append(str(error))
        else:
            assert found == expected
    # The rest of the file is pages with little on them.
    assert len(lines) > flips // 8
    for line in lines:
        assert "\n" not in line
        assert len(line) < 500


def test_a_journal_cut_anywhere_is_reported_or_complete(tmp_path: Path) -> None:
    fake_campaign(tmp_path / "run")
    database = tmp_path / "run" / DATABASE
    whole, expected = database.read_bytes(), content(tmp_path / "run")
    draw = random.Random(0)
    for length in [draw.randrange(len(whole)) for _ in range(200)]:
        database.write_bytes(whole[:length])
        try:
            found = content(tmp_path / "run")
        except DrivelabError:
            continue
        # The end of the last page may hold nothing.
        assert found == expected
        assert length > len(whole) - 4096


def test_a_journal_cut_short_is_reported_and_kept(run: Path, capsys) -> None:
    database = run / DATABASE
    whole = database.read_bytes()
    for length in (1, 50, 100, 4096, len(whole) // 2, len(whole) - 4096):
        database.write_bytes(whole[:length])
        for words in (["report", str(run)], [*SMALL_JOB, "--out", str(run)]):
            code, line = fails(words, capsys)
            assert (code, "is damaged" in line) == (1, True), line
            assert "restore it from a copy" in line
        assert database.read_bytes() == whole[:length]
        assert cli.main(["runs", "list", str(run), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["runs"][0]["state"] == "damaged"


def test_a_journal_that_may_not_be_read_is_not_damaged(run: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("os.access", lambda path, _mode: Path(path).name != DATABASE)
    code, line = fails(["report", str(run)], capsys)
    assert (code, f"{run / DATABASE} cannot be read: permission denied" in line) == (2, True)
    assert cli.main(["runs", "list", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["state"] == "unreadable"


def test_an_emptied_journal_is_not_begun_anew(run: Path, capsys) -> None:
    (run / DATABASE).write_bytes(b"")
    measurements = (run / "measurements.csv").read_bytes()
    code, line = fails([*SMALL_JOB, "--out", str(run)], capsys)
    # Not "start it again", which would be refused: the folder holds what was made from it.
    assert (code, "damaged (it is empty, but data exists); restore it from" in line) == (1, True)
    assert (run / "measurements.csv").read_bytes() == measurements


@pytest.mark.parametrize("empty", ["file", "database"])
def test_a_run_killed_while_it_was_made_is_made(tmp_path: Path, capsys, empty: str) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.lock").touch()
    (run / DATABASE).touch()
    if empty == "database":
        with sqlite3.connect(run / DATABASE) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
    code, line = fails(["report", str(run)], capsys)
    assert (code, "contains nothing yet; the same `drivelab model` starts it" in line) == (2, True)
    assert cli.main([*SMALL_JOB, "--out", str(run)]) == 0
    assert len(stored(run)) == 12


def test_flipped_byte_from_the_command_line(run: Path, capsys) -> None:
    database = run / DATABASE
    whole = database.read_bytes()
    place = whole.index(b"latency_ns_mean") + len(b'latency_ns_mean":')
    database.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    for words in (
        ["report", str(run)],
        [*SMALL_JOB, "--out", str(run)],
        ["runs", "export", str(run), "--csv", "out.csv"],
    ):
        code, line = fails(words, capsys)
        assert (code, "does not fit); restore it" in line) == (1, True)
    assert not Path("out.csv").exists()


def test_foreign_database_from_the_command_line(tmp_path: Path, capsys) -> None:
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute("CREATE TABLE photos (name TEXT)")
    connection.close()
    before = (tmp_path / DATABASE).read_bytes()
    for words in (
        ["report", str(tmp_path)],
        [*SMALL_JOB, "--out", str(tmp_path)],
        ["runs", "show", str(tmp_path)],
        ["runs", "export", str(tmp_path), "--csv", str(tmp_path / "a")],
        ["runs", "remove", str(tmp_path), "--yes"],
    ):
        code, line = fails(words, capsys)
        assert (code, "is a database, but not a run of Drivelab" in line) == (2, True)
    assert (tmp_path / DATABASE).read_bytes() == before


def test_measurement_beyond_the_design_from_the_command_line(run: Path, capsys) -> None:
    with RunStore.open_to_append(run, {}) as store:
        extra = next(store.measurements()) | {"index": 12}
        store.append(extra, 12)
    for words in (
        ["report", str(run)],
        [*SMALL_JOB, "--out", str(run)],
        ["runs", "export", str(run), "--csv", str(run / "a")],
    ):
        code, line = fails(words, capsys)
        assert (code, "measurement 12 is none of the 12 of its design" in line) == (1, True)


@pytest.mark.parametrize("left", ["half", "nothing"])
def test_a_half_written_report_is_written_again(run: Path, capsys, left: str) -> None:
    made = {path: path.read_bytes() for path in run.rglob("*.*") if path.name != DATABASE}
    for path, whole in made.items():
        path.write_bytes(whole[: len(whole) // 2 if left == "half" else 0])
    # Half of a file may be somebody's change as well.
    assert cli.main(["report", str(run)]) == 2
    assert "was changed since Drivelab wrote it" in capsys.readouterr().err
    assert cli.main(["report", str(run), "--force"]) == 0
    assert {path: path.read_bytes() for path in made} == made


@pytest.mark.parametrize("kind", ["simulated", "real"])
def test_a_run_deleted_under_its_campaign_is_reported(tmp_path: Path, kind: str) -> None:
    campaign = Campaign(f"fake:{kind}", tmp_path, count=1000, delay_seconds=0.01)
    said = disturbed(campaign, lambda: shutil.rmtree(campaign.path))
    assert f"{campaign.path} was deleted while its campaign ran" in said
    assert not campaign.path.exists()


@pytest.mark.parametrize("kind", ["simulated", "real"])
def test_a_run_moved_under_its_campaign_keeps_everything(tmp_path: Path, kind: str) -> None:
    campaign = Campaign(f"fake:{kind}", tmp_path, count=1000, delay_seconds=0.01)
    moved = tmp_path / "moved"
    said = disturbed(campaign, lambda: campaign.path.rename(moved))
    assert f"was moved to {moved}; the measurements are in there" in said
    kept = stored(moved)
    # At most the measurement that was in flight is missing.
    assert len(asked(campaign.log)) - len(kept) <= 1
    moved.rename(campaign.path)
    assert len(stored(campaign.path)) == len(kept) > 0


def disturbed(campaign: Campaign, disturb: Any) -> str:
    """Do something to a campaign in its middle; give the last line of what it said."""
    with subprocess.Popen(campaign.command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while len(stored(campaign.path)) < 5 and time.monotonic() < deadline:
            time.sleep(0.005)
        disturb()
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 1
    return complaint.splitlines()[-1]


def test_a_log_left_by_a_kill_is_read_and_folded_back(tmp_path: Path, capsys) -> None:
    campaign = Campaign("fake:real", tmp_path, count=200, delay_seconds=0.005)
    with subprocess.Popen(campaign.command) as process:
        deadline = time.monotonic() + 60
        while len(stored(campaign.path)) < 5 and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert (campaign.path / f"{DATABASE}-wal").exists()
    kept = stored(campaign.path)
    # Copied with its log, as somebody would who wants to look at it elsewhere.
    shutil.copytree(campaign.path, tmp_path / "copy")
    assert stored(tmp_path / "copy") == kept
    campaign.finish()
    assert not (campaign.path / f"{DATABASE}-wal").exists()
    assert {index: stored(campaign.path)[index] for index in kept} == kept


def test_two_processes_on_one_run(tmp_path: Path, capsys) -> None:
    campaign = Campaign("fake:real", tmp_path, count=60, delay_seconds=0.05)
    with subprocess.Popen(campaign.command) as first:
        deadline = time.monotonic() + 60
        while len(stored(campaign.path)) < 2 and time.monotonic() < deadline:
            time.sleep(0.005)
        code, line = fails([*SMALL_JOB, "--out", str(campaign.path)], capsys)
        assert (code, "another process is measuring into" in line) == (1, True)
        code, line = fails(["runs", "remove", str(campaign.path), "--yes"], capsys)
        assert (code, "another process is measuring into" in line) == (1, True)
        # Looking is allowed meanwhile.
        assert cli.main(["runs", "list", str(tmp_path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["runs"][0]["state"] == "measuring"
        assert first.wait(timeout=120) == 0
    assert len(stored(campaign.path)) == 60
