"""Tests on a simulated drive that are stopped and resumed, with its state or without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_test_run import ORIGIN

from drivelab.drives.session import StepPlan
from drivelab.drives.sessions import open_session
from drivelab.drives.simulated.session import SimulatedSession
from drivelab.pts import states
from drivelab.pts.every_test import TESTS
from drivelab.pts.report import RESULT
from drivelab.pts.run import run_test
from drivelab.pts.settings import Settings
from drivelab.pts.shared_states import SharedStates
from drivelab.pts.state_file import read_state, write_state
from drivelab.workloads.workload import Workload

SMALL_DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"


class Counted(SimulatedSession):
    """Stops at a given step, and counts what it was asked for."""

    stop_at = -1

    def __init__(self, stop_at: int = -1) -> None:
        opened = open_session(SMALL_DRIVE, seed=5)
        assert isinstance(opened, SimulatedSession)
        self.__dict__.update(opened.__dict__)
        self.stop_at = stop_at
        self.asked: list[int] = []

    def run(self, work: Workload, plan: StepPlan, step: int) -> Any:
        if step == self.stop_at:
            raise KeyboardInterrupt
        self.asked.append(step)
        return super().run(work, plan, step)


def run(
    path: Path, session: Counted, name: str = "latency", shared: SharedStates | None = None
) -> bytes:
    settings = Settings.of_edition("client", seed=5, scale=0.02)
    test = TESTS[name]
    run_test(test, session, settings, path, origin=ORIGIN, shown=False, shared_states=shared)
    return (path / RESULT).read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return run(tmp_path_factory.mktemp("whole") / "run", Counted())


@pytest.mark.parametrize("stop_at", [1, 2, 11, 25])
@pytest.mark.parametrize("keeps", ["every state", "the preconditioned state", "no state"])
def test_going_on_gives_the_same_bytes(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch, keeps: str, stop_at: int
) -> None:
    if keeps == "every state":
        monkeypatch.setattr(states, "_LEAST_SECONDS", 0.0)
        monkeypatch.setattr(states, "_MOST_SHARE", 1e9)
    with pytest.raises(KeyboardInterrupt, match=f"{stop_at} steps are saved"):
        run(tmp_path / "run", Counted(stop_at))
    if keeps == "no state":
        for path in (tmp_path / "run" / "states").glob("*.state"):
            path.unlink()
    again = Counted()
    assert run(tmp_path / "run", again) == whole
    # The state is kept after preconditioning, step 1, and after rounds of nine steps.
    begun = {
        "every state": {1: 1, 2: 2, 11: 11, 25: 20},
        "the preconditioned state": {1: 1, 2: 2, 11: 2, 25: 2},
        "no state": {1: 1, 2: 1, 11: 1, 25: 1},
    }
    assert again.asked[0] == begun[keeps][stop_at]


def test_a_state_that_was_damaged_is_not_taken_up(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(states, "_MOST_SHARE", 1e9)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", Counted(25))
    (path,) = (tmp_path / "run" / "states").glob("0*.state")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    again = Counted()
    assert run(tmp_path / "run", again) == whole
    # The preconditioned one is still good.
    assert again.asked[0] == 2


@pytest.mark.parametrize("stop_at", [0, 25])
def test_a_kept_state_that_the_drive_refuses_is_computed_anew(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    monkeypatch.setattr(states, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(states, "_MOST_SHARE", 1e9)
    shared = SharedStates(tmp_path / "shared")
    if stop_at:
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "run", Counted(stop_at), shared=shared)
    else:
        run(tmp_path / "before", Counted(), shared=shared)
    kept = [*(tmp_path / "run" / "states").glob("0*.state"), *shared.folder.glob("*.state")]
    assert len(kept) == (2 if stop_at else 1)
    for path in kept:
        found = read_state(path)
        assert found is not None
        # Cut short by whoever wrote it: the file's own sum is that of what it holds.
        write_state(path, found[0], found[1][: len(found[1]) // 2] + found[1][-1:])
    again = Counted()
    assert run(tmp_path / "run", again, shared=shared) == whole
    assert again.asked[0] == 1
    if not stop_at:
        # What was computed stands in its place.
        third = Counted()
        assert run(tmp_path / "third", third, shared=shared) == whole
        assert third.asked[0] == 2
