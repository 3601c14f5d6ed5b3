"""A campaign on a real file, ended in every way, goes on and leaves nothing behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_drive import FakeDrive, workloads

from drivelab.campaign.campaign import run_campaign
from drivelab.cli import main as cli
from drivelab.drives import naming
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import UsageError
from drivelab.store import RunStore, is_run
from drivelab.workloads.design import parse_design

WORKLOADS = 6
SCRIPT = """
import signal, sys
from pathlib import Path
from drivelab.cli.main import _on_terminate
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.naming import open_drive
from drivelab.campaign.campaign import run_campaign
from drivelab.workloads.characteristics import Characteristics

signal.signal(signal.SIGTERM, _on_terminate)
path, run, count, requests = sys.argv[1:]
workloads = [Characteristics(write_ratio=0.5, queue_depth=1 + n) for n in range(int(count))]
with open_drive(path, size_bytes=2**20) as drive:
    plan = MeasurementPlan(warmup_requests=0, requests=int(requests))
    run_campaign(drive, workloads, plan, Path(run), design_name="test", progress=False)
"""


def stored(run: Path) -> list[dict[str, Any]]:
    if not is_run(run):
        return []
    try:
        with RunStore.open(run) as store:
            return list(store.measurements())
    except UsageError:  # it is being made
        return []


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_campaign_goes_on_after_its_end(
    require_tool: Callable[[str], Path], drive_folder: Path, tmp_path: Path, end: signal.Signals
) -> None:
    require_tool("fio")
    path, run = drive_folder / f"campaign-{end.name}.bin", tmp_path / "run"
    side = Path(f"{path}.drivelab.json")
    command = [sys.executable, "-c", SCRIPT, str(path), str(run), str(WORKLOADS), "1000"]
    said = tmp_path / "said.txt"
    with said.open("wb") as file, subprocess.Popen(command, stderr=file) as process:
        deadline = time.monotonic() + 60
        while len(stored(run)) < 2 and time.monotonic() < deadline:
            assert process.poll() is None, f"it ended by itself: {said.read_text()[-2000:]}"
            time.sleep(0.02)
        process.send_signal(end)
        process.wait(timeout=60)
    kept = stored(run)
    assert 2 <= len(kept) < WORKLOADS
    # Only a kill that cannot be caught leaves the file, with what it takes to know it again.
    assert path.exists() == side.exists() == (end == signal.SIGKILL)
    subprocess.run(command, check=True, timeout=120)
    complete = stored(run)
    assert [entry["index"] for entry in complete] == list(range(WORKLOADS))
    assert [complete[entry["index"]] for entry in kept] == kept
    assert not path.exists()
    assert not side.exists()


def test_a_finished_campaign_does_not_make_its_file_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, run = tmp_path / "bench.bin", tmp_path / "run"
    drive = FakeDrive("real", identity={"path": str(path)})
    drive.name = str(path)
    plan = MeasurementPlan.of_kind("real")
    run_campaign(
        drive,
        workloads(12),
        plan,
        run,
        design_name="huang2011:12",
        population=parse_design("huang2011:12").population or "",
        progress=False,
    ).close()

    def open_drive(*_: object, **__: object) -> None:
        pytest.fail("the drive is opened")

    monkeypatch.setattr(naming, "open_drive", open_drive)
    words = ["model", str(path), "--design", "huang2011:12", "--out", str(run), "--json"]
    words += ["--no-sweeps"]
    assert cli.main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["drive"], answer["kind"], answer["workloads"]) == (str(path), "real", 12)
    assert (run / "report.html").exists()
