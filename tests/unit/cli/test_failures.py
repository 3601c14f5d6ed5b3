"""Measurements that fail on a real drive, from the command line to the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_drive import FakeDrive

from drivelab.campaign.order import measuring_order
from drivelab.cli import main as cli
from drivelab.drives import naming
from drivelab.errors import RunError
from drivelab.store import RunStore

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

COUNT = 20
ORDER = measuring_order(range(COUNT), 0)


class Machine:
    """A machine on which `bench.bin` fails where a test says."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.run = folder / "run"
        self.fail_at: set[int] = set()
        self.drive = FakeDrive("real")
        self._capsys = capsys

    def open_drive(self, name: str, **_options: object) -> FakeDrive:
        failures = {index: RunError(f"fio died of {index}") for index in self.fail_at}
        self.drive = FakeDrive("real", fail_at=failures, identity={"path": name})
        self.drive.name = name
        return self.drive

    def model(self, *words: str) -> tuple[int, str, str]:
        code = cli.main(
            [
                *("model", "bench.bin", "--design", f"huang2011:{COUNT}", "--no-sweeps"),
                *("--out", str(self.run), *words),
            ]
        )
        captured = self._capsys.readouterr()
        lines = captured.err.splitlines()
        assert len(lines) <= 1, lines
        return code, captured.out, lines[0] if lines else ""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Machine:
    made = Machine(tmp_path, capsys)
    monkeypatch.setattr(naming, "open_drive", made.open_drive)
    monkeypatch.chdir(tmp_path)
    return made


def again(words: str) -> str:
    return f"drivelab model bench.bin --design huang2011:{COUNT} --no-sweeps {words}"


def test_stop_is_the_rule_and_says_how_to_go_on(machine: Machine) -> None:
    machine.fail_at = {ORDER[7]}
    code, output, line = machine.model()
    assert (code, output) == (1, "")
    assert line == (
        f"drivelab: measurement {ORDER[7]} failed: fio died of {ORDER[7]}; 7 of 20 measurements "
        f"are saved in {machine.run}; resume with: {again(f'--out {machine.run}')}"
    )
    assert not (machine.run / "report.html").exists()
    # It goes on with the others first.
    code, _, line = machine.model()
    assert (code, "19 of 20 measurements are saved" in line) == (1, True)
    machine.fail_at = set()
    assert machine.model()[0] == 0
    assert machine.drive.measured == [ORDER[7]]


def test_continue_makes_everything_of_the_rest_and_exits_with_1(machine: Machine) -> None:
    machine.fail_at = {3, 17}
    words = ("--on-failure", "continue", "--json")
    code, output, line = machine.model(*words)
    assert code == 1
    assert json.loads(output)["failed_workloads"] == 2
    assert (machine.run / "report.html").exists()
    assert "fio died of 3" in (machine.run / "report.html").read_text()
    assert line == (
        f"drivelab: 2 measurements failed, the first: fio died of 3; `drivelab runs show "
        f"{machine.run}` lists them, and they are tried again by: "
        f"{again(f'--out {machine.run} ' + ' '.join(words))}"
    )
    machine.fail_at = {17}
    code, _, line = machine.model(*words)
    assert (code, line.startswith("drivelab: 1 measurement failed, the first")) == (1, True)
    machine.fail_at = set()
    assert machine.model(*words)[0] == 0
    assert machine.drive.measured == [17]


def test_too_few_left_to_model_say_so_too(machine: Machine) -> None:
    # Never ten in a row, and few enough to fit nothing.
    machine.fail_at = {index for place, index in enumerate(ORDER) if place % 8}
    code, output, line = machine.model("--on-failure", "continue")
    assert (code, output) == (1, "")
    assert line.startswith("drivelab: 17 measurements failed, the first: fio died of ")
    assert "at least 5 distinct workloads" in line
    with RunStore.open(machine.run) as store:
        assert len(store.done()) == 3
        failure = store.failures()[0]
    assert failure.workload.keys() >= {"write_ratio", "queue_depth"}


def test_a_drive_that_is_gone_ends_it(machine: Machine) -> None:
    machine.fail_at = set(ORDER[4:])
    code, output, line = machine.model("--on-failure", "continue")
    assert (code, output) == (1, "")
    assert "10 measurements in a row failed, the last: fio died of" in line
    assert "4 of 20 measurements are saved" in line


def test_what_a_kind_of_drive_ignores_is_refused(machine: Machine, capsys) -> None:
    assert cli.main(["model", "sim:x25m", "--on-failure", "continue"]) == 2
    assert (
        "--on-failure has no effect on sim:x25m: it is for real drives" in capsys.readouterr().err
    )
    assert cli.main(["model", "bench.bin", "--on-failure", "retry"]) == 2
    assert "it takes stop, continue" in capsys.readouterr().err
