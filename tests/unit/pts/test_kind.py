"""The progress of a performance test: its maximum number of steps, and when it is complete."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_session import FakeSession
from fake_test_run import SETTLED, run_fake

from drivelab.errors import RunError
from drivelab.pts.class_file import load_class
from drivelab.pts.every_test import TESTS
from drivelab.pts.kind import TEST
from drivelab.pts.settings import Settings
from drivelab.runs.inventory import summarise
from drivelab.runs.kind import Standing
from drivelab.store import RunStore


def standing(path: Path) -> Standing:
    with RunStore.open(path) as store:
        return TEST.standing(store)


def stored(path: Path) -> int:
    with RunStore.open(path) as store:
        return len(store.done())


ASKED = {
    "class": {"workload_class": load_class("oltp").to_json()},
    # Without it four times the capacity ends the minutes before a day has.
    "wsat": {"rule": "white-paper", "idle_seconds": 1.0},
}


def restless(block_bytes: int, *, stops_at: int | None = None) -> FakeSession:
    """Give a drive that never settles."""
    return FakeSession(
        block_bytes=block_bytes,
        wobble=lambda step: 0.9 * (step % 11),
        fails=lambda step: RunError("out of paper") if step == stops_at else None,
    )


@pytest.mark.parametrize(
    ("name", "block_bytes"), [*((name, 512) for name in TESTS), ("iops", 4096), ("blocks", 4096)]
)
def test_the_most_steps_are_those_of_a_drive_that_never_settles(
    tmp_path: Path, name: str, block_bytes: int
) -> None:
    asked = ASKED.get(name, {})
    run_fake(tmp_path, name, restless(block_bytes, stops_at=11), **asked)
    before = standing(tmp_path)
    assert (before.design, before.seed, before.is_complete) == (f"pts {name}", 3, False)
    assert before.may_end_sooner == (name != "xsr")
    run_fake(tmp_path, name, restless(block_bytes), **asked)
    after = standing(tmp_path)
    assert (after.is_complete, after.may_end_sooner) == (True, False)
    assert before.planned == after.planned == stored(tmp_path)


def test_a_test_that_settles_ends_sooner(tmp_path: Path) -> None:
    run_fake(tmp_path / "stopped", "iops", FakeSession(**SETTLED, fails=_stopped))
    run_fake(tmp_path / "whole", "iops")
    # A purge, the writes before, five rounds of 56 cells, and the end.
    assert standing(tmp_path / "whole").planned == 2 + 5 * 56 + 1
    assert standing(tmp_path / "stopped").planned == 2 + 25 * 56 + 1


def test_a_test_of_another_version_is_unreadable(tmp_path: Path) -> None:
    origin = {"name": "d", "kind": "simulated", "capacity_bytes": 1 << 30, "block_bytes": 512}
    settings = Settings.of_edition("client").to_json()
    for name, message in (
        ("test", {"test": "of tomorrow", "settings": settings}),
        ("settings", {"test": "iops", "settings": {}}),
    ):
        header = {"kind": "pts", "drive": origin, "pts": message}
        RunStore.open_to_append(tmp_path / name, header, durable=False).close()
        assert summarise(tmp_path / name, lambda _: TEST).state == "unreadable"


def _stopped(step: int) -> Exception | None:
    return RunError("out of paper") if step == 100 else None
