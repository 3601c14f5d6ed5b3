"""A disk that is really full: a small memory file system, mounted for the test (root)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from drivelab.store import RunStore

pytestmark = pytest.mark.faults


@pytest.fixture
def small_disk(tmp_path: Path, require_tool):
    if os.geteuid() != 0:
        pytest.skip("needs root to mount")
    mount, point = require_tool("mount"), tmp_path / "disk"
    point.mkdir()
    words = [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(point)]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not permitted here")
    yield point
    subprocess.run([require_tool("umount"), str(point)], check=True)


def run_main_job(path: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from drivelab.cli.main import main; sys.exit(main())"
    words = [
        *("model", "sim:x25m", "--design", "huang2011:100", "--requests", "200"),
        *("--check", "0", "--no-sweeps"),
    ]
    return subprocess.run(
        [sys.executable, "-c", program, *words, "--out", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_campaign_on_a_full_disk_keeps_what_it_measured(small_disk: Path, tmp_path: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(100 * 1024))
    full = run_main_job(small_disk / "run")
    assert full.returncode == 1
    assert full.stderr.splitlines()[-1].startswith("drivelab: no space left for")
    assert "Traceback" not in full.stderr
    with RunStore.open(small_disk / "run") as store:
        kept = list(store.measurements())
    assert 0 < len(kept) < 100
    undisturbed = tmp_path / "undisturbed"
    assert run_main_job(undisturbed).returncode == 0
    with RunStore.open(undisturbed) as store:
        complete = list(store.measurements())
    assert [complete[entry["index"]] for entry in kept] == kept
