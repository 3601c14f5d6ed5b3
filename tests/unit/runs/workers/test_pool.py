"""Work that other processes do: the same results, whatever happens to them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_drive import FakeDrive, workloads

from drivelab.drives.measurement import Measurement
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.errors import CannotAnswerError, DrivelabError, RunError, UsageError
from drivelab.runs.executor import DriveExecutor, Executor, Work
from drivelab.runs.workers import pool
from drivelab.runs.workers.place import ProcessPlace
from drivelab.runs.workers.pool import WorkersExecutor
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.stimuli import Stimuli, Stimulus

SMALL = f"sim:{Path(__file__).parents[3] / 'small_drive.toml'}"
PLAN = MeasurementPlan(requests=300, warmup_requests=50, seed=3)
# What a worker does, with a part of it changed.
WORKER = """
import os, signal, sys
from drivelab.runs.workers import messages, worker
tell = worker.Worker._tell
messages = []
{changed}
worker.Worker(0, sys.stdout.buffer).run()
"""
DIES_AFTER_SOME = """
def _tell(self, message):
    if "measurement" in message:
        messages.append(message)
        if len(messages) == {answers}:
            os.kill(os.getpid(), signal.SIGKILL)
    tell(self, message)
worker.Worker._tell = _tell
"""
DIES_OF_ONE = """
measured = worker.Worker._measured
def _measured(self, asked):
    if any(index == {index} for index, _ in asked):
        os.kill(os.getpid(), signal.SIGKILL)
    return measured(self, asked)
worker.Worker._measured = _measured
"""
LACKS_MEMORY = """
from drivelab.errors import RunError
def _measured(self, asked):
    raise RunError("there is no memory left")
worker.Worker._measured = _measured
"""
SAYS_NONSENSE = """
def _tell(self, message):
    tell(self, {nonsense} if "measurement" in message else message)
worker.Worker._tell = _tell
"""
SAYS_DEEP = """
write = worker.Worker._write
def _write(self, line):
    write(self, b"[" * 5000 + b"\\n" if b'"measurement"' in line else line)
worker.Worker._write = _write
"""
GREETS = "sys.stdout.write('welcome, you have mail'); sys.stdout.flush()"
IS_OLD = "worker.this_version = lambda: '0.0.1'"
ENDS_WITH_WORDS = "print('greetings'); sys.exit('the disk is on fire')"


@dataclass(frozen=True)
class ChangedPlace(ProcessPlace):
    """A worker that does something else."""

    changed: str = ""

    def command(self) -> list[str]:
        return [sys.executable, "-c", WORKER.format(changed=self.changed)]


def changed(*changes: str) -> list[ChangedPlace]:
    return [ChangedPlace(number + 1, changed=each) for number, each in enumerate(changes)]


def work(count: int) -> list[Work]:
    return [
        (index + 5, Characteristics(write_ratio=index % 3 / 2, queue_depth=1 + index))
        for index in range(count)
    ]


def measured(
    executor: Executor, asked: Sequence[Work], plan: MeasurementPlan = PLAN
) -> dict[int, Measurement]:
    with contextlib.ExitStack() as stack:
        if isinstance(executor, WorkersExecutor):
            stack.enter_context(executor)
        answers = stack.enter_context(closing(executor.measure(asked, plan)))
        found = [answer for answer in answers if isinstance(answer, Measurement)]
    assert len({each.index for each in found}) == len(found)
    return {each.index: each for each in found}


@pytest.fixture
def small() -> Drive:
    return open_drive(SMALL)


@pytest.mark.parametrize("plan", [PLAN, MeasurementPlan(requests=300, writes="sustained")])
def test_processes_answer_as_threads_do(small: Drive, plan: MeasurementPlan) -> None:
    asked = work(9)
    stimuli = Stimuli((Stimulus(0.5, ((4096, 1.0),), 2**28, threads=2, queue_depth=4),))
    asked.append((77, stimuli))
    places = [ProcessPlace(1), ProcessPlace(2, threads=2)]
    found = measured(WorkersExecutor(small, places), asked, plan)
    assert found == measured(DriveExecutor(small), asked, plan)
    assert len(found) == 10


def test_a_formula_answers_elsewhere() -> None:
    with open_drive("analytic:x25m-yoo2014") as drive:
        asked: list[Work] = [(0, Characteristics(read_random=0.0)), (4, Characteristics())]
        found = measured(WorkersExecutor(drive, [ProcessPlace(1)]), asked)
        assert found == measured(DriveExecutor(drive), asked)


def test_what_lost_workers_had_is_done_again(
    small: Drive, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_PAUSES", (0.0,))
    monkeypatch.setattr(pool, "_ENDS_AT_FIRST", 0)
    asked = work(40)
    # The first answers some and dies; the second dies at once.
    places = changed(DIES_AFTER_SOME.format(answers=3), "os._exit(9)", "")
    found = measured(WorkersExecutor(small, places), asked)
    assert found == measured(DriveExecutor(small), asked)
    said = capsys.readouterr().err
    assert "worker 2 ended with exit code 9; the others do its work" in said


def test_a_worker_that_dies_alone_starts_again(small: Drive) -> None:
    asked = work(7)
    places = changed(DIES_AFTER_SOME.format(answers=3))
    assert measured(WorkersExecutor(small, places), asked) == measured(DriveExecutor(small), asked)


def test_what_ends_every_worker_is_named(small: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_PAUSES", (0.0,) * 20)
    place = changed(DIES_OF_ONE.format(index=7))
    said = "measurement 7 was in progress each of the 4 times .* worker 1 was ended by SIGKILL"
    with pytest.raises(RunError, match=said):
        measured(WorkersExecutor(small, place), work(6))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            IS_OLD,
            "no worker is left: worker 1: it has Drivelab 0.0.1, and this is .*: install",
        ),
        (SAYS_NONSENSE.format(nonsense={"measurement": 5}), "worker 1 says what makes no sense: "),
        (SAYS_NONSENSE.format(nonsense={"failed": "x"}), "worker 1 says what makes no sense: "),
        (SAYS_NONSENSE.format(nonsense={"other": 5}), "no sense: other, which nobody asked for"),
        (SAYS_DEEP, r"no worker is left: worker 1: '\[\[.* is not a message of a worker"),
        (LACKS_MEMORY, "no worker is left: worker 1: there is no memory left"),
        (ENDS_WITH_WORDS, "no worker is left: worker 1 ended with exit code 1: the disk is on fi"),
    ],
)
def test_nobody_left_is_a_line(
    small: Drive, change: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_PAUSES", (0.0, 0.0))
    with pytest.raises((RunError, UsageError), match=said):
        measured(WorkersExecutor(small, changed(change)), work(2))


def test_what_no_drive_can_do_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "fresh.toml").write_text(
        'base = "x25m"\nname = "fresh"\nsummary = "empty"\ncondition = "fresh"\n'
    )
    with (
        open_drive(f"sim:{tmp_path / 'fresh.toml'}") as drive,
        pytest.raises(CannotAnswerError, match="is fresh and has no data to read"),
    ):
        measured(WorkersExecutor(drive, [ProcessPlace(1)]), [(0, Characteristics())])


def test_what_cannot_travel_is_refused(small: Drive) -> None:
    with pytest.raises(UsageError, match="fake:real is a real drive, which only this process"):
        WorkersExecutor(FakeDrive("real"), [ProcessPlace(1)])
    with pytest.raises(UsageError, match="no worker to measure with"):
        WorkersExecutor(small, [])


def test_closing_ends_every_worker(small: Drive) -> None:
    executor = WorkersExecutor(small, [ProcessPlace(1), ProcessPlace(2)])
    answers = executor.measure(work(40), PLAN)
    next(answers)
    processes = [seat.talk.process_id for seat in executor._seats if seat.talk is not None]
    assert len(processes) == 2
    answers.close()
    assert not any(Path(f"/proc/{each}").exists() for each in processes)


def test_errors_keep_their_kind_on_the_way() -> None:
    from drivelab.runs.workers.messages import error_message, error_of

    class SpecialError(CannotAnswerError):
        pass

    for error, kind in ((SpecialError("no"), CannotAnswerError), (DrivelabError("no"), RunError)):
        met = error_of(error_message(error))
        assert (type(met), str(met)) == (kind, "no")


def test_workloads_are_checked_as_elsewhere(small: Drive) -> None:
    deep = workloads(1)[0]
    huge = Characteristics(read_size=2**40)
    with pytest.raises(UsageError):
        measured(WorkersExecutor(small, [ProcessPlace(1)]), [(0, deep), (1, huge)])
