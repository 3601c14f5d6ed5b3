"""The progress of a job: a line or a bar, and the time left."""

from __future__ import annotations

import pytest

from drivelab.runs.progress import Progress


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """Give the time that a progress bar sees, to be changed."""
    now = [100.0]
    monkeypatch.setattr("drivelab.runs.progress.time.monotonic", lambda: now[0])
    return now


def test_time_left_is_judged_by_this_start_alone(clock) -> None:
    progress = Progress(100, 50, "measurements")
    assert progress.text() == "50 of 100 measurements"
    for _ in range(11):
        clock[0] += 2
        progress.advance()
    assert progress.text() == "61 of 100 measurements, about 78 s left"


def test_time_left_knows_bursts(clock) -> None:
    progress = Progress(1000, 0, "measurements")
    for _ in range(3):
        clock[0] += 8
        for _ in range(8):
            progress.advance()
    clock[0] += 8
    # The first of a burst, after 24 steps in 24 seconds.
    progress.advance()
    assert progress.text() == "25 of 1000 measurements, about 16 min 15 s left"


def test_time_left_leaves_out_pauses_and_reports_failures(clock) -> None:
    paused = [0.0]
    progress = Progress(100, 0, "measurements", paused_seconds=lambda: paused[0])
    for _ in range(10):
        clock[0] += 1
        progress.advance()
    clock[0] += 3600
    paused[0] = 3600
    for _ in range(10):
        clock[0] += 1
        progress.advance(failed=True)
    assert progress.text() == "20 of 100 measurements, 10 failed, about 80 s left"


def test_time_left_is_of_what_is_still_to_come_when_that_changes(clock) -> None:
    progress = Progress(1275, 0, "measurements")
    for _ in range(10):
        clock[0] += 2
        progress.advance()
    progress.goes_on(150, "error about 9 %")
    assert progress.text() == "10 of 150 measurements, error about 9 %, about 4 min 40 s left"
    progress.goes_on(160, "")
    assert progress.text() == "10 of 160 measurements, about 5 min 0 s left"


def test_time_left_is_at_most_what_a_budget_leaves(clock) -> None:
    progress = Progress(79, 0, "measurements")
    progress.goes_on(79, "", certain=10, most_seconds=20.0)
    for _ in range(6):
        clock[0] += 1.8
        progress.advance()
    assert progress.text() == "6 of 79 measurements, about 9 s left"
    # The steps that were asked for are done in any case.
    for _ in range(2):
        clock[0] += 5
        progress.advance()
    assert progress.text() == "8 of 79 measurements, about 5 s left"
    progress.goes_on(79, "")
    assert progress.text() == "8 of 79 measurements, about 2 min 40 s left"


def test_a_bound_is_shown_as_one(clock) -> None:
    progress = Progress(20, 0, "measurements")
    for _ in range(10):
        clock[0] += 2
        progress.advance()
    progress.goes_on(110, "", bound="at most")
    assert progress.text() == "10 of at most 110 measurements, at most 3 min 20 s left"
    progress.goes_on(15, "", bound="at least")
    assert progress.text() == "10 of at least 15 measurements"
    progress.goes_on(15, "")
    assert progress.text() == "10 of 15 measurements, about 10 s left"


def test_time_left_is_whole_seconds_and_ends_with_the_job(clock) -> None:
    progress = Progress(101, 0, "measurements")
    for _ in range(98):
        clock[0] += 0.4
        progress.advance()
    assert progress.text() == "98 of 101 measurements, about 1 s left"
    for _ in range(3):
        clock[0] += 0.4
        progress.advance()
    assert progress.text() == "101 of 101 measurements"


def test_progress_prints_a_line_every_ten_seconds(capsys, clock) -> None:
    with Progress(1000, 0, "measurements") as progress:
        for _ in range(200):
            clock[0] += 0.125
            progress.advance()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("drivelab: 80 of 1000 measurements, about 115 s left")


def test_steps_count_as_much_as_they_are_long(clock) -> None:
    progress = Progress(0, 0, "passes")
    progress.expect([1000.0, 1000.0, 10.0, 10.0], found=3)
    assert progress.text() == "3 of 7 passes"
    clock[0] += 50
    progress.advance(weight=1000.0)
    clock[0] += 50
    progress.advance(weight=1000.0)
    # 20 of what 1000 take 50 s for.
    assert progress.text() == "5 of 7 passes, about 1 s left"


def test_a_job_that_may_ask_for_more_takes_at_least_as_long(clock) -> None:
    progress = Progress(0, 0, "passes", may_grow=True)
    progress.expect([1.0] * 4)
    for _ in range(2):
        clock[0] += 10
        progress.advance()
    assert progress.text() == "2 of 4 passes, at least 20 s left"
    progress.expect([1.0] * 2)
    assert progress.text() == "2 of 6 passes, at least 40 s left"


def test_nothing_shown_leaves_no_line_behind(capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress(0, 0, "passes"):
        pass
    assert capsys.readouterr().err == ""


def test_quiet_progress_says_nothing(capsys, monkeypatch) -> None:
    monkeypatch.setattr("drivelab.runs.progress.LINE_EVERY_SECONDS", 0.0)
    with Progress(10, 0, "measurements", shown=False) as progress:
        progress.advance()
    assert capsys.readouterr().err == ""
