"""`drivelab simulate`: everything that a run tells, on the screen and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.drives.measurement import OperationResult
from drivelab.drives.simulation import supported_percentile_ns

SMALL = f"sim:{Path(__file__).parent.parent / 'small_drive.toml'}"
MIXED = ("--write-ratio", "0.3", "--queue-depth", "16", "--requests", "2000")


def answer(capsys, *words: str) -> dict:
    assert cli.main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_counts_what_measuring_the_same_workload_counts(capsys) -> None:
    run = answer(capsys, "simulate", SMALL, *MIXED)
    measured = answer(capsys, "measure", SMALL, *MIXED, "--warmup-requests", "0")
    (stream,) = run["streams"]
    assert stream["workload"] == measured["workload"]
    assert (stream["requests"], stream["bytes"]) == (2000, 2000 * 4096)
    assert stream["iops"] == measured["iops"]
    assert run["flash"]["write_amplification_ratio"] == pytest.approx(
        measured["extra"]["write_amplification_ratio"]
    )
    for operation, found in stream["operations"].items():
        told = {key: value for key, value in measured[operation].items() if found[key] is not None}
        assert {key: found[key] for key in told} == told
        assert len(told) >= 8


def test_parts_are_the_latency(capsys) -> None:
    run = answer(capsys, "simulate", SMALL, *MIXED)
    for operation in run["streams"][0]["operations"].values():
        parts = operation["latency_parts"].values()
        assert sum(part["latency_ns_mean"] for part in parts) == pytest.approx(
            operation["latency_ns_mean"], rel=1e-12
        )
        assert all(part["latency_ns_max"] <= operation["latency_ns_max"] for part in parts)


def test_one_read_of_an_idle_drive_is_cell_and_transfer(capsys) -> None:
    run = answer(capsys, "simulate", "sim:bench-64gib", "--requests", "100")
    read = run["streams"][0]["operations"]["read"]
    assert (read["latency_ns_min"], read["latency_ns_max"]) == (87_300, 87_300)
    means = {name: part["latency_ns_mean"] for name, part in read["latency_parts"].items()}
    assert means == {
        **dict.fromkeys(("host", "buffer", "queueing", "dispatch", "collection"), 0.0),
        "channel": 12_300.0,
        "cell": 75_000.0,
    }
    assert run["duration_ns"] == 100 * 87_300
    # One die at a time is at work: all dies together as long as the whole run.
    assert sum(run["unit_utilisation_ratio"]) == pytest.approx(1.0)
    assert sum(run["channel_utilisation_ratio"]) == pytest.approx(12.3 / 87.3)


def test_every_request_submitted_is_told(capsys) -> None:
    run = answer(capsys, "simulate", SMALL, *MIXED, "--warmup-requests", "300")
    assert (run["warmup_requests"], run["counted_requests"]) == (300, 2000)
    # When the window closes the other requests of the queue are outstanding.
    assert run["requests"] == 300 + 2000 + 15
    flash = run["flash"]
    programs = flash["host_page_programs"] + flash["collection_page_programs"]
    assert run["page_programs"] == programs
    assert run["loop_wall_seconds"] > 0
    assert run["peak_memory_bytes"] > 2**20


def test_seconds_are_simulated_time(capsys) -> None:
    run = answer(capsys, "simulate", SMALL, "--seconds", "50ms")
    assert (run["stopped_by"], run["duration_ns"]) == ("seconds", 50_000_000)


@pytest.mark.parametrize(
    ("requests", "percent", "told"),
    [
        (99, 99.0, False),
        (100, 99.0, True),
        (99_999, 99.999, False),
        (100_000, 99.999, True),
        (1, 50.0, False),
        (2, 50.0, True),
    ],
)
def test_percentile_needs_a_request_above_it(requests: int, percent: float, told: bool) -> None:
    result = OperationResult(
        requests=requests,
        bytes=requests,
        latency_ns_mean=7.0,
        latency_ns_min=7,
        latency_ns_max=7,
        histogram={7: requests},
    )
    assert supported_percentile_ns(result, percent) == (7 if told else None)


@pytest.mark.parametrize("drive", [SMALL, "sim:x25m", "sim:bench-64gib"])
def test_screen_fits_eighty_columns(drive: str, capsys, monkeypatch, tmp_path) -> None:
    assert cli.main(["simulate", drive, *MIXED]) == 0
    lines = capsys.readouterr().out.splitlines()
    # What the user named the file is as long as it is.
    assert max(len(line.replace(SMALL, "")) for line in lines) <= 80
    assert not [line for line in lines if line != line.rstrip()]
    text = "\n".join(lines)
    assert "30 % writes: 4 KiB random reads" in text
    assert "too few requests for this percentile" in text
    assert "million requests/s" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["analytic:x25m-yoo2014"], "is a formula, and nothing runs in it; simulate sim:x25m-"),
        (["/dev/null"], "is a real drive, and only simulated ones can be simulated"),
        (["x25m"], "did you mean sim:x25m?"),
        (["sim:nope"], "there is no drive 'sim:nope'"),
        (["sim:x25m", "--seconds", "0"], "--seconds is 0; allowed: more than 0"),
        (["sim:x25m", "--requests", "0"], "it takes a whole number from 1"),
        (["sim:x25m", "--read-size", "100"], "read_size is 100 bytes; allowed: a multiple"),
        (["sim:x25m-fob"], "is fresh and holds no data to read"),
    ],
)
def test_mistake_is_one_line(words: list[str], said: str, capsys) -> None:
    assert cli.main(["simulate", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err


def test_window_without_requests_fails(capsys) -> None:
    assert cli.main(["simulate", "sim:x25m", "--seconds", "1us"]) == 1
    assert "no request completed in the 1000 ns" in capsys.readouterr().err
