"""A hard disk at the command line: shown as a disk, and what only flash has is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab.cli import main as cli

DISK = "sim:spinpoint-m7"
BASE = 'base = "spinpoint-m7"\nname = "mine"\n'
TRIMS = """
requests = 10
[[stream]]
name = "old"
queue_depth = 1
write_ratio = 1.0
writes_as = "trim"
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_answer_is_of_a_disk_and_says_nothing_of_flash(capsys) -> None:
    assert cli.main(["simulate", DISK, "--requests", "2000", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    absent = ("condition", "flash", "unit", "unit_utilisation_ratio", "page_programs")
    assert [answer[key] for key in absent] == [None] * len(absent)
    assert answer["disk"]["media_reads"] == 2000
    (stream,) = answer["streams"]
    read = stream["operations"]["read"]
    parts = {name: part["latency_ns_mean"] for name, part in read["latency_parts"].items()}
    assert list(parts) == ["host", "buffer", "queueing", "seek", "rotation", "transfer"]
    assert sum(parts.values()) == pytest.approx(read["latency_ns_mean"])
    # Huang et al. 2011, table I: 5.6 ms. Four standard errors of 2,000 even waits are 0.29 ms.
    assert parts["rotation"] == pytest.approx(5.6e6, abs=0.3e6)
    assert cli.main(["simulate", DISK, "--requests", "50"]) == 0
    text = capsys.readouterr().out
    assert "platters" in text
    assert not any(word in text for word in ("flash", "page", "die", "channel", "None"))


def test_a_saved_state_is_taken_up_by_the_same_disk_alone(capsys) -> None:
    run = ["simulate", DISK, "--requests", "50", "--json"]
    assert cli.main([*run, "--save-state", "a.state"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert cli.main([*run, "--from-state", "a.state"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["streams"] == first["streams"]
    Path("mine.toml").write_text(BASE + "mechanics.rotation_rpm = 7200\n")
    assert cli.main(["simulate", "sim:mine.toml", "--requests", "50", *run[-1:]]) == 0
    assert cli.main(["simulate", "sim:mine.toml", "--from-state", "a.state"]) == 2


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("mechanics.average_seek_ns = 1", "allowed: from 8666667 to 12666666"),
        ("cache.segments = 1", "did you mean cache.segment_bytes? valid here: read_segments"),
        ("condition = 'fresh'", "unknown key condition"),
        ("scheduling.order = 'scan'", 'allowed: "fcfs" or "sstf" or "sptf" or "elevator"'),
        ("host.interface = 'nvme'", 'allowed: "free" or "sata" or "sas"'),
        ("geometry.zone_cylinders = [1]", "as many entries as zone_cylinders has zones, 1, not 16"),
        ("geometry.user_capacity_bytes = 1_000_000_000_000_000", "at most what the zones hold"),
        ("mechanics.full_stroke_seek_ns = 1", "at least single_cylinder_seek_ns, 2000000"),
        ("mechanics.track_skew_ns = 20_000_000", "less than a revolution, 11111111"),
        ("cache.segment_bytes = 4_294_967_296", "at most 268435456, as cache.read_segments is 16"),
    ],
)
def test_what_no_disk_can_be_is_refused_in_one_line(lines: str, said: str, capsys) -> None:
    Path("mine.toml").write_text(BASE + lines + "\n")
    assert cli.main(["simulate", "sim:mine.toml", "--requests", "10"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["timeline", DISK, "--op", "read", "--record", "4KiB", "-o", "t.svg"], "drive of flash"),
        (["simulate", DISK, "--requests", "9", "--firmware", "a.so"], "this is a hard disk"),
        (["simulate", DISK, "--scenario", "trims.toml"], "this drive knows no TRIM"),
    ],
)
def test_what_only_flash_has_is_refused_in_one_line(words, said: str, capsys) -> None:
    Path("trims.toml").write_text(TRIMS)
    Path("a.so").write_text("")
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
