"""A run in a read-only folder: it can be read, and everything else is an error (root)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from killable_campaign import Campaign, stored

from drivelab.cli import main as cli

pytestmark = pytest.mark.faults
SMALL_DRIVE = f"sim:{Path(__file__).parents[1] / 'small_drive.toml'}"
SMALL_JOB = ["model", SMALL_DRIVE, "--design", "huang2011:12", "--requests", "30"]
SMALL_JOB += ["--check", "0", "--no-sweeps"]


@pytest.fixture
def runs(tmp_path: Path, require_tool: Callable[[str], Path], capsys) -> Iterator[Path]:
    """Give a folder that cannot be written, with a finished run and one that was killed."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount")
    mount, folder = require_tool("mount"), tmp_path / "runs"
    assert cli.main([*SMALL_JOB, "--out", str(folder / "finished")]) == 0
    capsys.readouterr()
    campaign = Campaign("fake:real", folder, 500, delay_seconds=0.005)
    with subprocess.Popen(campaign.command) as process:
        deadline = time.monotonic() + 60
        while len(stored(campaign.path)) < 5 and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    bind = [mount, "--bind", str(folder), str(folder)]
    if subprocess.run(bind, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not permitted here")
    subprocess.run([mount, "-o", "remount,ro,bind", str(folder)], check=True)
    yield folder
    subprocess.run([require_tool("umount"), str(folder)], check=True)


def test_a_run_is_read_where_nothing_can_be_written(runs: Path, tmp_path: Path, capsys) -> None:
    assert cli.main(["runs", "list", str(runs), "--json"]) == 0
    found = {Path(one["run"]).name: one for one in json.loads(capsys.readouterr().out)["runs"]}
    assert found["finished"]["state"] == "complete"
    assert (found["run"]["state"], found["run"]["measured"] >= 5) == ("incomplete", True)
    for name in ("finished", "run"):
        target = str(tmp_path / f"{name}.csv")
        assert cli.main(["runs", "export", str(runs / name), "--csv", target]) == 0
    assert cli.main(["predict", str(runs / "finished")]) == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([*SMALL_JOB, "--out", "{runs}/finished"], 2, "choose another folder"),
        ([*SMALL_JOB, "--out", "{runs}/another"], 2, "choose another folder"),
        (["report", "{runs}/finished"], 1, "what was measured is "),
        (["runs", "remove", "{runs}/finished", "--yes"], 2, "nothing was removed"),
        (["runs", "export", "{runs}/finished", "--csv", "{runs}/a.csv"], 2, "name another place"),
    ],
)
def test_what_writes_is_reported(runs: Path, capsys, words, code, said) -> None:
    before = sorted(runs.rglob("*"))
    assert cli.main([word.format(runs=runs) for word in words]) == code
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "Read-only file system" in line
    assert said in line
    assert sorted(runs.rglob("*")) == before


def test_a_log_that_cannot_be_read_says_what_to_do(runs: Path, tmp_path: Path, capsys) -> None:
    # Copied without the index of its log, onto a disk that is then write-protected.
    copy = tmp_path / "copy"
    shutil.copytree(runs / "run", copy / "run")
    (copy / "run" / "run.sqlite-shm").unlink()
    subprocess.run(["mount", "--bind", str(copy), str(copy)], check=True)  # noqa: S607
    subprocess.run(["mount", "-o", "remount,ro,bind", str(copy)], check=True)  # noqa: S607
    try:
        assert cli.main(["runs", "show", str(copy / "run")]) == 1
    finally:
        subprocess.run(["umount", str(copy)], check=True)  # noqa: S607
    assert "allow it, or copy the folder to where it can be" in capsys.readouterr().err
    assert cli.main(["runs", "show", str(copy / "run")]) == 0
