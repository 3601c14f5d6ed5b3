"""About how long a fit still takes."""

from __future__ import annotations

import pytest

from drivelab.preset_fit.watch import Watch
from drivelab.runs.status_line import StatusLine


def watched(capsys: pytest.CaptureFixture[str], watch: Watch, text: str) -> str:
    watch.say(text)
    return capsys.readouterr().err


def test_the_time_left_is_of_simulations_that_are_left(capsys: pytest.CaptureFixture[str]) -> None:
    watch = Watch(StatusLine(), clock=lambda: 0.0)
    watch.expect(10, 20)
    # Nothing is known before some are done.
    assert watched(capsys, watch, "slopes") == "drivelab: slopes\n"
    for _ in range(4):
        watch.simulated(2.0)
    assert watched(capsys, watch, "slopes") == "drivelab: slopes, about 52 s left\n"
    # More than usual: one is always left, and what comes after.
    for _ in range(16):
        watch.simulated(2.0)
    assert watch.seconds_left() == 2.0 * 21
    # Another preset takes as many as this one was to.
    watch.others = 1
    assert watch.seconds_left() == 2.0 * (21 + 30)
    watch.expect(0, 0)
    assert watched(capsys, watch, "changes") == "drivelab: changes\n"


def test_a_long_phase_is_shown_again(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    watch = Watch(StatusLine(), clock=lambda: now[0])
    watch.expect(100, 0)
    watch.say("lines")
    for _ in range(25):
        now[0] += 1.0
        watch.simulated(1.0)
    lines = capsys.readouterr().err.splitlines()
    # Off a terminal every ten seconds.
    assert lines == [
        "drivelab: lines",
        "drivelab: lines, about 90 s left",
        "drivelab: lines, about 80 s left",
    ]
