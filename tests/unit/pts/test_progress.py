"""The time left of a performance test, shown on standard error while it runs."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from fake_session import FakeSession
from fake_test_run import ORIGIN

from drivelab.drives.measurement import Measurement
from drivelab.pts.every_test import TESTS
from drivelab.pts.run import run_test
from drivelab.pts.settings import Settings

STEP_SECONDS = 20.0


class SlowSession(FakeSession):
    """A simulated drive without states; each of its steps takes twenty seconds of a made clock."""

    def __init__(self, clock: list[float], **options: Any) -> None:
        super().__init__(**options)
        self._clock = clock

    def run(self, *args: Any, **options: Any) -> Measurement:
        self._clock[0] += STEP_SECONDS
        return super().run(*args, **options)

    def save_state(self) -> bytes | None:
        return None


def test_steps_taken_again_are_not_in_the_time_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    settings = Settings.of_edition("client", seed=3)

    def run(session: FakeSession) -> None:
        run_test(TESTS["iops"], session, settings, tmp_path / "run", origin=ORIGIN, shown=True)

    with pytest.raises(KeyboardInterrupt):
        run(SlowSession(clock, fails=lambda step: KeyboardInterrupt() if step == 200 else None))
    capsys.readouterr()
    run(SlowSession(clock))
    lines = capsys.readouterr().err.splitlines()
    assert sum("again: " in line for line in lines) > 100
    assert not any("left" in line for line in lines if "again: " in line)
    result = [
        [int(number) for number in found.groups()]
        for line in lines
        if (found := re.search(r"step ([0-9]+), at most ([0-9]+) h ([0-9]+) min left", line))
    ]
    assert len(result) > 50
    # Purging and preconditioning are two steps; 25 rounds of 56 are the most there are.
    for step, hours, minutes in result:
        left = 2 + 25 * 56 - (step - 1)
        assert 60 * hours + minutes == pytest.approx(left * STEP_SECONDS / 60, abs=1)
