"""Real drives of other machines: files that a worker measures with fio, and what may go wrong."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.stored import stored_measurements
from drivelab.cli.main import main
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import CannotAnswerError, DrivelabError, RunError, UsageError
from drivelab.runs.failures import OnFailure
from drivelab.runs.workers import pool
from drivelab.runs.workers.host_drive import HostDrive, stored_journal
from drivelab.runs.workers.host_journal import usual_folder
from drivelab.runs.workers.place import ProcessPlace
from drivelab.store import RunStore
from drivelab.workloads.characteristics import Characteristics

# Ends by the requests: on a busy machine a short time might be over before fio sends any.
PLAN = MeasurementPlan(requests=50, seconds=10.0, warmup_seconds=0.0, seed=3)
READS = [Characteristics(read_size=size) for size in (4096, 8192, 16384)]
BOTH_WAYS = [Characteristics(write_ratio=share) for share in (0.0, 0.5, 1.0)]
SIZE = 2**21
# A worker that something happens to, once: `once` is a file that says that it has happened.
WORKER = """
import os, signal, sys
from pathlib import Path
from drivelab.runs.workers import worker
once = Path({once!r})
{before}
tell = worker.Worker._tell
def _tell(self, message):
    if "measurement" in message and not once.exists():
        once.touch()
        {happens}
    tell(self, message)
worker.Worker._tell = _tell
worker.Worker(0, sys.stdout.buffer).run()
"""
# fio fails at one measurement.
FAILS = """
from drivelab.drives.real.fio import drive
from drivelab.errors import RunError
measure = drive.measure_with_fio
def _measure(setup, index, *rest):
    if index == 1:
        raise RunError("fio says no")
    return measure(setup, index, *rest)
drive.measure_with_fio = _measure
"""
DIES = "os.kill(os.getpid(), signal.SIGKILL)"


@dataclass(frozen=True)
class Machine(ProcessPlace):
    """A machine that can be switched off, and on which something happens once."""

    folder: Path = Path()
    happens: str = "pass"
    before: str = ""

    @property
    def name(self) -> str:
        return "node1"

    def command(self) -> list[str]:
        if (self.folder / "off").exists():
            return ["false"]
        once = str(self.folder / "once")
        text = WORKER.format(once=once, happens=self.happens, before=self.before)
        return [sys.executable, "-c", text]


@pytest.fixture(autouse=True)
def _there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    require_tool: Callable[[str], Path],
) -> None:
    require_tool("fio")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(pool, "_PAUSES", (0.1,) * 20)


def campaign(
    machine: Machine,
    file: Path,
    run: Path,
    workloads: Sequence[Characteristics] = READS,
    on_failure: OnFailure = "stop",
    **options: Any,
) -> RunStore:
    """Measure as `drivelab model` does, on a file of a machine."""
    journal = stored_journal(run, str(file))
    with HostDrive(f"node1:{file}", machine, str(file), journal=journal, **options) as drive:
        return run_campaign(
            drive,
            workloads,
            PLAN,
            run,
            design_name="some",
            progress=False,
            command="again",
            on_failure=on_failure,
            executor=drive.kept(),
        )


def test_a_failure_is_kept_and_tried_again(drive_folder: Path, tmp_path: Path) -> None:
    file = drive_folder / "failing.bin"
    broken = Machine(1, folder=tmp_path, before=FAILS)
    run = tmp_path / "run"
    with campaign(broken, file, run, on_failure="continue", size_bytes=SIZE) as store:
        assert [(one.index, one.message) for one in store.failures()] == [(1, "fio says no")]
        assert len(stored_measurements(store)) == 2
    # It is tried again on the same file, and then all is there.
    assert file.exists()
    with campaign(Machine(1, folder=tmp_path), file, run, size_bytes=SIZE) as store:
        assert store.failures() == []
        assert len({one["index"] for one in there(store)}) == 3
    assert not file.exists()


def there(store: RunStore) -> list[dict[str, Any]]:
    """Give what the journal on the drive's machine holds."""
    path = usual_folder() / store.header["drive"]["identity"]["volatile"]["journal"]
    with RunStore.open(path) as kept:
        return list(kept.measurements())


def users(drive_folder: Path, name: str, content: bytes = b"x") -> Path:
    """Make a file that is not Drivelab's."""
    file = drive_folder / name
    file.write_bytes(content * SIZE)
    return file


def test_results_are_here_and_there(
    drive_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = drive_folder / "made.bin"
    machine = Machine(1, folder=tmp_path)
    with campaign(machine, file, tmp_path / "run", BOTH_WAYS, size_bytes=SIZE) as store:
        kept = list(store.measurements())
        drive, origin = store.header["drive"], store.header["origin"]
        assert sorted(there(store), key=lambda one: one["index"]) == kept
    assert len(kept) == 3
    assert (drive["name"], drive["kind"]) == (f"node1:{file}", "real")
    assert drive["identity"]["host"]["name"] == "node1"
    assert origin["host"] == os.uname().nodename
    # Whoever looks on that machine sees what it is.
    assert main(["runs", "list", str(usual_folder()), "--json"]) == 0
    [found] = json.loads(capsys.readouterr().out)["runs"]
    assert (found["drive"], found["measured"]) == (str(file), 3)
    # Complete: the file that was made is gone, and so is its side file.
    assert not list(drive_folder.glob("made.bin*"))


def test_what_a_killed_worker_kept_is_not_measured_again(
    drive_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = drive_folder / "killed.bin"
    machine = Machine(1, folder=tmp_path, happens=DIES)
    with campaign(machine, file, tmp_path / "run", size_bytes=SIZE) as store:
        assert sorted(there(store), key=lambda one: one["index"]) == list(store.measurements())
        assert len(stored_measurements(store)) == 3
    said = capsys.readouterr().err
    assert "node1 was ended by SIGKILL; waiting for it to come back: then measuring goes on" in said
    assert not file.exists()


def test_a_machine_that_is_gone_is_waited_for(
    drive_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = drive_folder / "gone.bin"
    off = tmp_path / "off"
    machine = Machine(1, folder=tmp_path, happens=f"Path({str(off)!r}).touch(); {DIES}")
    monkeypatch.setattr(pool, "_PATIENCE_SECONDS", 1.0)
    with pytest.raises(RunError, match=r"was not back in 0 min; 0 of 3 .* resume with: again"):
        campaign(machine, file, tmp_path / "run", size_bytes=SIZE)
    # What was made stays there for whoever goes on.
    assert file.exists()
    with pytest.raises(RunError, match="no worker is left: "):
        campaign(machine, file, tmp_path / "run", size_bytes=SIZE)
    # It is back, and does not begin again.
    off.unlink()
    with campaign(machine, file, tmp_path / "run", size_bytes=SIZE) as store:
        assert len(stored_measurements(store)) == 3
        kept = there(store)
    assert len({one["index"] for one in kept}) == len(kept) == 3
    assert not file.exists()


def test_it_comes_back_while_the_run_waits(drive_folder: Path, tmp_path: Path) -> None:
    file = drive_folder / "back.bin"
    off = tmp_path / "off"
    back = f"import subprocess; subprocess.Popen(['sh', '-c', 'sleep 1; rm {off}'])"
    happens = f"{back}; Path({str(off)!r}).touch(); {DIES}"
    machine = Machine(1, folder=tmp_path, happens=happens)
    with campaign(machine, file, tmp_path / "run", size_bytes=SIZE) as store:
        assert len(stored_measurements(store)) == 3


def test_another_file_under_the_path_is_refused(drive_folder: Path, tmp_path: Path) -> None:
    file = users(drive_folder, "users.bin")
    other = users(drive_folder, "other.bin")
    machine = Machine(1, folder=tmp_path, happens=f"os.replace({str(other)!r}, {str(file)!r})")
    # It is seen at the next measurement; then the run ends, and goes on only with the first one.
    with pytest.raises(RunError, match="was replaced by another file while it was measured"):
        campaign(machine, file, tmp_path / "run")
    said = (
        r"node1: .*users.bin is not the drive that this run began with \(.*file inode \d+ before, "
    )
    with pytest.raises(UsageError, match=said) as refused:
        campaign(machine, file, tmp_path / "run")
    assert "\n" not in str(refused.value)
    # Content that was overwritten in place is no other file.
    assert file.exists()


def test_a_worker_that_finds_another_file_is_refused(drive_folder: Path, tmp_path: Path) -> None:
    file = users(drive_folder, "first.bin")
    other = users(drive_folder, "second.bin")
    happens = f"os.replace({str(other)!r}, {str(file)!r}); {DIES}"
    machine = Machine(1, folder=tmp_path, happens=happens)
    said = r"node1:.*first.bin is another drive than before \(.*file inode \d+ before, \d+ now\)"
    with pytest.raises(UsageError, match=said):
        campaign(machine, file, tmp_path / "run")


def test_another_serial_is_refused(drive_folder: Path, tmp_path: Path) -> None:
    file = users(drive_folder, "serial.bin")
    with HostDrive("node1:x", Machine(1, folder=tmp_path), str(file), journal="x-1") as drive:
        found = drive.identity()
        message = {
            "opened": {**found, "device": {**(found.get("device") or {}), "serial": "S2"}},
            "capacity_bytes": drive.capacity_bytes,
            "block_bytes": drive.block_bytes,
            "engine": "libaio",
            "write_refusal": None,
            "file": drive.file,
            "left": None,
            "machine": dict(drive.machine),
            "machine_id": found["host"]["machine_id"],
        }
        with pytest.raises(UsageError, match=r"is another drive than before .*serial .* S2 now"):
            drive.meet(message)
        with pytest.raises(RunError, match="describes no drive"):
            drive.meet({"opened": 5})


def test_what_may_be_written_is_decided_there(drive_folder: Path, tmp_path: Path) -> None:
    file = users(drive_folder, "precious.bin")
    machine = Machine(1, folder=tmp_path)
    said = "node1: --allow-destructive=.*other.bin does not name the drive"
    with pytest.raises(UsageError, match=said):
        campaign(machine, file, tmp_path / "run", allow_destructive=str(drive_folder / "other.bin"))
    with pytest.raises(CannotAnswerError, match="was not made by Drivelab and is only read"):
        campaign(machine, file, tmp_path / "run", BOTH_WAYS)
    assert file.read_bytes() == b"x" * SIZE
    with campaign(
        machine, file, tmp_path / "other", BOTH_WAYS, allow_destructive=str(file)
    ) as store:
        assert len(stored_measurements(store)) == 3
    # Overwritten, and never removed.
    assert file.read_bytes() != b"x" * SIZE


def test_a_drive_is_measured_once_at_a_time(drive_folder: Path, tmp_path: Path) -> None:
    file = users(drive_folder, "locked.bin")
    machine = Machine(1, folder=tmp_path)
    with (
        HostDrive("node1:x", machine, str(file), journal="x-1"),
        pytest.raises(UsageError, match="is being measured by another process"),
    ):
        HostDrive("node1:x", machine, str(file), journal="x-2")


def test_a_run_that_is_stopped_leaves_its_file(drive_folder: Path, tmp_path: Path) -> None:
    file = drive_folder / "stopped.bin"
    machine = Machine(1, folder=tmp_path)
    options = {"journal": "stopped-1", "size_bytes": SIZE}
    with HostDrive(f"node1:{file}", machine, str(file), **options) as drive:
        answers = drive.kept().measure(list(enumerate(READS)), PLAN)
        next(answers)
        answers.close()
        drive.leave()
    assert file.exists()
    with HostDrive(f"node1:{file}", machine, str(file), **options):
        assert file.exists()
    # Nobody goes on with it.
    assert not file.exists()


def test_what_is_no_drive_is_a_line(drive_folder: Path, tmp_path: Path) -> None:
    machine = Machine(1, folder=tmp_path)
    for path in ("/dev/null", str(drive_folder / "none" / "x.bin")):
        with pytest.raises(DrivelabError, match="node1: ") as refused:
            HostDrive("node1:x", machine, path, journal="x-1")
        assert "\n" not in str(refused.value)
    with HostDrive("node1:x", machine, str(users(drive_folder, "x.bin")), journal="x") as drive:
        with pytest.raises(CannotAnswerError, match="takes no session"):
            drive.session()
        # Nothing is kept of what no run asked for.
        [one] = drive.measure([(0, READS[0])], PLAN)
        assert one.index == 0
    assert not usual_folder().exists()
