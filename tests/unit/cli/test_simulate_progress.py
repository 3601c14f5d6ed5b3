"""The progress of `drivelab simulate`, on standard error."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.cli import simulate_progress
from drivelab.cli.simulate_progress import SimulateProgress

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("drivelab.cli.simulate_progress.time.monotonic", lambda: now[0])
    return now


def test_a_line_every_ten_seconds_says_how_long_it_takes(clock, capsys) -> None:
    with SimulateProgress() as progress:
        for second in range(26):
            clock[0] = 100.0 + second
            progress(second / 40, second * 1000, second * 2_000_000, 7, False)
    assert capsys.readouterr().err.splitlines() == [
        "drivelab: 25 %: 10,000 requests in 20.0 ms of simulated time, about 30 s left",
        "drivelab: 50 %: 20,000 requests in 40.0 ms of simulated time, about 20 s left",
    ]


def test_draining_is_judged_by_itself(clock, capsys) -> None:
    with SimulateProgress() as progress:
        progress(0.5, 10, 10, 400, False)
        clock[0] += 2
        progress(1.0, 20, 20, 400, True)
        clock[0] += 10
        progress(1.0, 320, 30, 100, True)
        clock[0] += 10
        progress(1.0, 419, 40, 1, True)
    assert capsys.readouterr().err.splitlines() == [
        "drivelab: the rest is served: 100 requests outstanding, about 3 s left",
        "drivelab: the rest is served: 1 request outstanding, about 0 s left",
    ]


def test_a_short_run_says_nothing_and_a_terminal_is_left_clean(clock, capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.fileno", lambda: 2)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((30, 24)))
    with SimulateProgress() as progress:
        progress(0.1, 1, 1, 1, False)
        clock[0] += 0.9
        progress(0.5, 2, 2, 1, False)
    assert capsys.readouterr().err == ""
    with SimulateProgress() as progress:
        progress(0.1, 1, 1_000_000, 1, False)
        clock[0] += 2.0
        progress(0.5, 20, 2_000_000, 1, False)
    line = "50 %: 20 requests in 2.00 ms "
    assert capsys.readouterr().err == f"\r{line}\r{'':<{len(line)}}\r"


def test_the_command_prints_notes_and_its_result_stays_alone(capsys, monkeypatch) -> None:
    for name in ("SILENT_SECONDS", "LINE_EVERY_SECONDS"):
        monkeypatch.setattr(simulate_progress, name, 0.0)
    words = ["simulate", SMALL, "--queue-depth", "64", "--requests", "3000000", "--json"]
    assert cli.main(words) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["counted_requests"] == 3_000_000
    result = [re.fullmatch(r"drivelab: (\d+) %: ([\d,]+) requests in .*", line)
            for line in captured.err.splitlines()]  # fmt: skip
    counts = [int(line[2].replace(",", "")) for line in result]
    assert counts == sorted(counts)
    assert 0 < counts[-1] < 3_000_000
    for line, count in zip(result, counts, strict=True):
        assert abs(int(line[1]) - count / 30_000) <= 0.5
