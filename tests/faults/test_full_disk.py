"""A disk that is really full: a small memory file system, mounted for the test (root)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from killable_campaign import Campaign, asked, stored

from drivelab.store import RunStore

pytestmark = pytest.mark.faults
SMALL_DRIVE = Path(__file__).parents[1] / "small_drive.toml"


@pytest.fixture
def small_disk(tmp_path: Path, require_tool):
    if os.geteuid() != 0:
        pytest.skip("needs root to mount")
    mount, point = require_tool("mount"), tmp_path / "disk"
    point.mkdir()
    words = [mount, "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(point)]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not permitted here")
    yield point
    subprocess.run([require_tool("umount"), str(point)], check=True)


def fill(disk: Path, free_bytes: int) -> Path:
    """Leave only so much of a disk; give the file that takes the rest."""
    ballast, state = disk / "ballast", os.statvfs(disk)
    ballast.write_bytes(bytes(state.f_bavail * state.f_frsize - free_bytes))
    return ballast


def run_main_job(path: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from drivelab.cli.main import main; sys.exit(main())"
    words = [
        *("model", "sim:x25m", "--design", "huang2011:100", "--requests", "200"),
        *("--writes", "burst"),
        *("--check", "0", "--no-sweeps"),
    ]
    return subprocess.run(
        [sys.executable, "-c", program, *words, "--out", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_campaign_on_a_full_disk_keeps_what_it_measured(small_disk: Path, tmp_path: Path) -> None:
    fill(small_disk, 150 * 1024)
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


def test_full_disk_under_a_real_campaign_loses_and_repeats_nothing(
    small_disk: Path, tmp_path: Path
) -> None:
    for name in ("undisturbed", "full"):
        (tmp_path / name).mkdir()
    undisturbed = Campaign("fake:real", tmp_path / "undisturbed", 300, delay_seconds=0.0)
    undisturbed.finish()
    ballast = fill(small_disk, 150 * 1024)
    campaign = Campaign("fake:real", small_disk, 300, delay_seconds=0.0)
    full = subprocess.run(campaign.command, capture_output=True, text=True, check=False)
    assert full.returncode == 1
    assert f"no space left for {campaign.path}/run.sqlite; free some space" in full.stderr
    kept = stored(campaign.path)
    assert 0 < len(kept) < 300
    ballast.unlink()
    campaign.finish()
    # Only what could not be stored was measured again.
    assert len(asked(campaign.log)) == 301
    assert {index: stored(campaign.path)[index] for index in kept} == kept
    exports = [(one.path / "measurements.csv").read_bytes() for one in (undisturbed, campaign)]
    assert exports[0] == exports[1]


def test_performance_test_on_a_full_disk_goes_on_where_it_stopped(
    small_disk: Path, tmp_path: Path
) -> None:
    def run(path: Path) -> subprocess.CompletedProcess[str]:
        program = "import sys; from drivelab.cli.main import main; sys.exit(main())"
        words = ["pts", "run", "throughput", f"sim:{SMALL_DRIVE}", "--client", "--scale", "0.05"]
        return subprocess.run(
            [sys.executable, "-c", program, *words, "--out", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )

    undisturbed = tmp_path / "undisturbed"
    assert run(undisturbed).returncode == 0
    ballast = fill(small_disk, 64 * 1024)
    full = run(small_disk / "run")
    assert full.returncode == 1
    line = full.stderr.splitlines()[-1]
    assert line.startswith("drivelab: ")
    assert "no space left" in line.lower()
    assert "Traceback" not in full.stderr
    ballast.unlink()
    assert run(small_disk / "run").returncode == 0
    results = [
        json.loads((path / "result.json").read_text()) for path in (undisturbed, small_disk / "run")
    ]
    for result in results:
        # The sum is of the date too: two runs may lie in different minutes.
        del result["header"]["date"], result["sha256"]
    assert results[0] == results[1]


def test_export_onto_a_full_disk_leaves_nothing(small_disk: Path, tmp_path: Path) -> None:
    campaign = Campaign("fake:real", tmp_path, 300, delay_seconds=0.0)
    campaign.finish()
    fill(small_disk, 8 * 1024)
    program = "import sys; from drivelab.cli.main import main; sys.exit(main())"
    words = ["runs", "export", str(campaign.path), "--csv", str(small_disk / "out.csv")]
    answer = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "out.csv cannot be written: No space left on device; free some space" in answer.stderr
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


def test_full_disk_under_a_test_keeps_its_steps_and_the_same_command_goes_on(
    small_disk: Path, tmp_path: Path
) -> None:
    drive = f"sim:{Path(__file__).parents[1] / 'small_drive.toml'}"

    def run_test(path: Path) -> subprocess.CompletedProcess[str]:
        program = "import sys; from drivelab.cli.main import main; sys.exit(main())"
        words = ["pts", "run", "latency", drive, "--client", "--scale", "0.02"]
        return subprocess.run(
            [sys.executable, "-c", program, *words, "--out", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )

    # Room for some steps, not for the drive's state.
    ballast = fill(small_disk, 200 * 1024)
    full = run_test(small_disk / "run")
    assert full.returncode == 1
    assert "Traceback" not in full.stderr
    assert "free some space" in full.stderr.splitlines()[-1]
    ballast.unlink()
    again, undisturbed = run_test(small_disk / "run"), run_test(tmp_path / "run")
    assert (again.returncode, undisturbed.returncode) == (0, 0)
    results = [
        json.loads((folder / "run" / "result.json").read_text())
        for folder in (small_disk, tmp_path)
    ]
    for result in results:
        # The sum is of the date too: two runs may lie in different minutes.
        del result["header"]["date"], result["sha256"]
    assert results[0] == results[1]
