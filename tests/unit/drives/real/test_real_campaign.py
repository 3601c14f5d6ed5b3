"""A campaign on a real file, stopped in every way, resumes and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_drive import FakeDrive, workloads

from drivelab.campaign.campaign import run_campaign
from drivelab.cli import main as cli
from drivelab.drives import naming
from drivelab.drives.measurement import Measurement
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio.drive import FioDrive
from drivelab.drives.real.side_file import generation_of
from drivelab.errors import RunError, UsageError
from drivelab.store import RunStore, is_run
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.design import parse_design
from drivelab.workloads.workload import Workload

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

WORKLOADS = 6
SCRIPT = """
import signal, sys
from pathlib import Path
from drivelab.cli.main import _on_terminate
from drivelab.drives.real.side_file import generation_of
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


def is_told_from_later_ones(folder: Path) -> bool:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return generation_of(descriptor) is not None
    finally:
        os.close(descriptor)


def test_the_same_open_drive_goes_on_and_removes_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, run = tmp_path / "bench.bin", tmp_path / "run"
    work = [Characteristics(write_ratio=0.5, queue_depth=1 + each) for each in range(WORKLOADS)]
    # With ten, a deep queue's first completions may all be reads.
    plan = MeasurementPlan(warmup_requests=0, requests=100)
    measured = FioDrive.measure

    def stopped(self: FioDrive, *asked: Any) -> Iterator[Measurement]:
        answers = measured(self, *asked)
        yield next(answers)
        answers.close()
        raise KeyboardInterrupt

    with open_drive(str(path), size_bytes=2**20) as drive:
        with monkeypatch.context() as patched:
            patched.setattr(FioDrive, "measure", stopped)
            with pytest.raises(KeyboardInterrupt, match=f"1 of {WORKLOADS} .* are saved") as caught:
                run_campaign(drive, work, plan, run, design_name="test", progress=False)
        assert f"{path} stays until" in str(caught.value)
        assert len(stored(run)) == 1
        run_campaign(drive, work, plan, run, design_name="test", progress=False).close()
    assert len(stored(run)) == WORKLOADS
    assert [each.name for each in tmp_path.iterdir()] == ["run"]


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
    # The file stays so that the run can resume, with what identifies it if the file system can.
    is_known = is_told_from_later_ones(drive_folder)
    assert path.exists() == side.exists() == (is_known or end == signal.SIGKILL)
    expected = f"{path} stays until the campaign is complete (to remove it: rm {path} {side})"
    assert (expected in said.read_text()) == (is_known and end != signal.SIGKILL)
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

    def opens(*_: object, **__: object) -> None:
        pytest.fail("the drive is opened")

    monkeypatch.setattr(naming, "open_drive", opens)
    words = ["model", str(path), "--design", "huang2011:12", "--out", str(run), "--json"]
    words += ["--no-sweeps"]
    assert cli.main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["drive"], answer["kind"], answer["workloads"]) == (str(path), "real", 12)
    assert (run / "report.html").exists()


def test_a_file_stays_for_what_failed_and_is_to_be_tried_again(
    require_tool: Callable[[str], Path],
    drive_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    require_tool("fio")
    if not is_told_from_later_ones(drive_folder):
        pytest.skip("the file system does not distinguish a file from a later one")
    path, run = drive_folder / "failing.bin", tmp_path / "run"
    measure = FioDrive.measure

    def fails_once(
        self: FioDrive, work: Sequence[tuple[int, Workload]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        for each in work:
            if each[0] == 1:
                raise RunError("the drive was busy")
            yield from measure(self, [each], plan)

    def campaign() -> None:
        plan = MeasurementPlan(warmup_requests=0, requests=100)
        with open_drive(str(path), size_bytes=2**20) as drive:
            run_campaign(
                drive,
                workloads(3),
                plan,
                run,
                design_name="test",
                on_failure="continue",
                progress=False,
            ).close()

    with monkeypatch.context() as patched:
        patched.setattr(FioDrive, "measure", fails_once)
        campaign()
    assert f"{path} stays until the campaign is complete (to remove it" in capsys.readouterr().err
    assert path.exists()
    campaign()
    assert not path.exists()
