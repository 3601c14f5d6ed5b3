"""What programs ask a run for: independent work of any executor, and steps of a session."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fake_drive import FakeDrive, answer, workloads

from drivelab.campaign.campaign import run_campaign
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.runs.columns import Rows
from drivelab.runs.executor import DriveExecutor, Executor, Failed, Work
from drivelab.runs.failures import FailureRule
from drivelab.runs.kind import RunKind, Standing
from drivelab.runs.run import Run
from drivelab.store import RunStore

KIND = RunKind(
    "try",
    "trial",
    one="answer",
    many="answers",
    compared=("drive",),
    rows=lambda _: Rows([], []),
    standing=lambda _: Standing("trial", None, is_complete=False, planned=None),
)
PLAN = MeasurementPlan(requests=10)
WORK: list[Work] = list(enumerate(workloads(12)))


class Shuffled:
    """Answers in an order of its own, as many machines would."""

    def __init__(self, inner: Executor, seed: int) -> None:
        self._inner = inner
        self._random = random.Random(seed)
        self.closed = 0

    def measure(
        self, work: Sequence[Work], plan: MeasurementPlan
    ) -> Generator[Measurement | Failed, None, None]:
        try:
            answers = list(self._inner.measure(work, plan))
            self._random.shuffle(answers)
            yield from answers
        finally:
            self.closed += 1


class Losing(Shuffled):
    """Loses an answer too, as a machine that is gone would."""

    def __init__(self, inner: Executor, seed: int, lost: int) -> None:
        super().__init__(inner, seed)
        self._lost = lost

    def measure(
        self, work: Sequence[Work], plan: MeasurementPlan
    ) -> Generator[Measurement | Failed, None, None]:
        with closing(super().measure(work, plan)) as answers:
            yield from (each for each in answers if each.index != self._lost)


def opened(path: Path | None, name: str = "fake", **more: Any) -> Run:
    header = {"kind": "try", "drive": {"name": name}}
    settings = {"is_real": False, "start": {"number": 1}, "command": "drivelab try", **more}
    return Run(KIND, path, header, **settings)


def everything(run: Run, executor: Executor, rule: FailureRule | None = None) -> list[int]:
    with closing(run.measure(WORK, PLAN, executor, rule=rule)) as answers:
        return [each.index for each in answers]


def campaign(path: Path, drive: FakeDrive, executor: Executor | None = None) -> bytes:
    run_campaign(
        drive, workloads(12), PLAN, path, design_name="fake", progress=False, executor=executor
    ).close()
    return (path / "measurements.csv").read_bytes()


def journal(path: Path) -> list[dict[str, Any]]:
    with RunStore.open(path) as store:
        return list(store.measurements())


@pytest.mark.parametrize("seed", range(3))
def test_results_do_not_depend_on_the_executor(tmp_path: Path, seed: int) -> None:
    plain = campaign(tmp_path / "plain", FakeDrive())
    shuffled = Shuffled(DriveExecutor(FakeDrive()), seed)
    assert campaign(tmp_path / "shuffled", FakeDrive(), shuffled) == plain
    assert shuffled.closed == 1
    assert journal(tmp_path / "shuffled") == journal(tmp_path / "plain")


def test_what_an_executor_loses_is_asked_again(tmp_path: Path) -> None:
    plain = campaign(tmp_path / "plain", FakeDrive())
    losing = Losing(DriveExecutor(FakeDrive()), 3, lost=7)
    said = r"1 of 12 measurements were never answered; 11 of 12 measurements are saved"
    with pytest.raises(RunError, match=said):
        campaign(tmp_path / "run", FakeDrive(), losing)
    again = FakeDrive()
    assert campaign(tmp_path / "run", again) == plain
    assert again.measured == [7]
    assert journal(tmp_path / "run") == journal(tmp_path / "plain")


def test_an_answer_that_nobody_asked_for_is_refused(tmp_path: Path) -> None:
    class Other:
        def measure(self, work, plan):
            yield answer(0, workloads(1)[0], plan)
            yield answer(0, workloads(1)[0], plan)

    with (
        opened(tmp_path / "run") as run,
        pytest.raises(RunError, match="measurement 0 was answered, and not asked for; 1 answers"),
    ):
        run.carry_out(lambda run: everything(run, Other()))
    assert len(journal(tmp_path / "run")) == 1


@pytest.mark.parametrize("rule", [None, FailureRule("stop"), FailureRule("continue")])
def test_a_failure_is_kept_and_the_rule_says_what_follows(
    tmp_path: Path, rule: FailureRule | None
) -> None:
    drive = FakeDrive("real", fail_at={4: RunError("no 4")})
    with opened(tmp_path / "run") as run:
        if rule is not None and rule.on_failure == "continue":
            assert run.carry_out(lambda run: everything(run, DriveExecutor(drive), rule)) == [
                *range(12)
            ]
        else:
            said = "^no 4; 4 answers" if rule is None else "^measurement 4 failed: no 4; 4 answers"
            with pytest.raises(RunError, match=said):
                run.carry_out(lambda run: everything(run, DriveExecutor(drive), rule))
        assert [(each.index, each.message) for each in run.store.failures()] == [(4, "no 4")]
    assert drive.closed_answers == len(drive.batches)


def descent(run: Run) -> list[int]:
    """Ask for what came before decides: the next place is the last answer's remainder."""
    places, place = [], 1
    for position in range(9):

        def do(place: int = place) -> dict[str, Any]:
            return {"asked": place, "answer": place * 7 % 31}

        def is_same(entry: dict[str, Any], place: int = place) -> bool:
            return bool(entry["asked"] == place)

        place = run.step(position, is_same, do)["answer"]
        places.append(place)
    return places


def test_a_program_that_asks_by_what_came_before_goes_on(tmp_path: Path) -> None:
    with opened(None) as run:
        places = run.carry_out(descent)
        assert run.stored == 9
    with opened(tmp_path / "run") as run:
        for position, place in enumerate([1, *places[:3]]):
            run.keep(position, {"asked": place, "answer": place * 7 % 31})
        assert run.carry_out(descent) == places
    entries = journal(tmp_path / "run")
    assert [each["answer"] for each in entries] == places
    with opened(tmp_path / "run", start={"number": 2}) as run:
        assert run.carry_out(descent) == places
        assert run.store.starts() == [{"number": 1}]


def test_a_journal_of_other_steps_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "run") as run:
        run.keep(0, {"asked": 2, "answer": 14})
        with pytest.raises(RunError, match=r"step 0 of .* is another than this version"):
            run.carry_out(descent)


def test_what_was_stopped_before_its_first_result_is_no_run_yet(tmp_path: Path) -> None:
    with opened(tmp_path / "run") as run, pytest.raises(RunError, match="0 answers are saved"):
        run.carry_out(lambda run: _raised(run.fail(0, "no", {})))
    with opened(tmp_path / "run", name="other") as run:
        assert run.store.header["drive"] == {"name": "other"}
        assert run.store.failures() == run.store.starts() == []
        run.keep(0, {})
    with pytest.raises(UsageError, match="contains another trial: drive name: other before"):
        opened(tmp_path / "run")


def test_a_run_without_results_that_something_refers_to_stays_the_same_run(tmp_path: Path) -> None:
    with opened(tmp_path / "run"):
        pass
    (tmp_path / "run" / "result.json").write_text("{}")
    with pytest.raises(UsageError, match="contains another trial: drive name: "):
        opened(tmp_path / "run", name="other")
    with opened(tmp_path / "run") as run:
        assert run.store.header["drive"] != {"name": "other"}


def _raised(error: Exception) -> None:
    raise error


def test_a_stop_says_so_if_nothing_is_kept() -> None:
    with opened(None) as run:
        with pytest.raises(KeyboardInterrupt, match="stopped; nothing was saved; --out FOLDER"):
            run.carry_out(lambda _: _raised(KeyboardInterrupt()))
        with pytest.raises(CannotAnswerError, match=r"^no$"):
            run.carry_out(lambda _: _raised(CannotAnswerError("no")))
        with pytest.raises(ValueError, match="no journal"):
            _ = run.store


@pytest.mark.parametrize("asks", ["measure", "step"])
def test_a_pause_falls_between_two_answers_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asks: str
) -> None:
    kept_when_stopped: list[int] = []

    def ctrl_z() -> None:
        # Else it would stop the tests.
        assert signal.getsignal(signal.SIGTSTP) is not signal.SIG_DFL
        os.kill(os.getpid(), signal.SIGTSTP)
        assert kept_when_stopped == []

    class Pausing(FakeDrive):
        def measure(self, work, plan):
            for one in super().measure(work, plan):
                if one.index == 2:
                    ctrl_z()
                yield one

    def paused() -> dict[str, Any]:
        ctrl_z()
        return {}

    def four_steps(run: Run) -> None:
        for position in range(4):
            run.step(position, lambda _: True, paused if position == 2 else dict)

    with opened(tmp_path / "run", is_real=True) as run:
        monkeypatch.setattr(
            signal, "pthread_kill", lambda *_: kept_when_stopped.append(len(run.store.done()))
        )
        if asks == "step":
            run.carry_out(four_steps)
        else:
            run.carry_out(lambda run: everything(run, DriveExecutor(Pausing("real"))))
    assert kept_when_stopped == [3]
