"""A fitted scenario asks for what its trace asks for, and says what of the trace is in it."""

from __future__ import annotations

import json
import re
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from tests.made_trace import blkparse_file, spc_file

from drivelab.cli import main as cli
from drivelab.drives.naming import open_simulated
from drivelab.errors import UsageError
from drivelab.traces.fitting.check import compared, requests_as_trace, windows_on
from drivelab.traces.fitting.places import (
    AGAIN,
    AGAIN_OTHER,
    AHEAD,
    BEHIND,
    NEXT,
    NEXT_OF_ANY,
    REGION,
    placed,
    size_classes,
)
from drivelab.traces.fitting.regions import region_numbers, regions_of
from drivelab.traces.fitting.requests import Requests, read_requests
from drivelab.traces.fitting.scenario import scenario_text
from drivelab.traces.fitting.tables import fit
from drivelab.workloads.recorded import RecordedFiles
from drivelab.workloads.scenario import Scenario

WINDOW_NS = 1_000_000_000


def requests_of(rows: list[tuple[float, str, int, int]]) -> Requests:
    at, action, offset, size = zip(*rows, strict=True)
    return Requests(
        np.array([round(each * 1e9) for each in at]),
        np.array(offset),
        np.array(size),
        np.array([int(each == "w") for each in action]),
        0,
        "spc",
        (),
    )


def bursts_and_streams() -> Requests:
    """Two programs that read in order in bursts, single random writes, busy and quiet seconds."""
    rng = np.random.default_rng(1)
    rows = []
    ends = [0, 1 << 30]
    for second in range(20):
        for _ in range(30 if second % 4 else 8):
            at = second + float(rng.random()) * 0.9
            for _ in range(int(rng.integers(4, 20))):
                at += 4e-4
                program = int(rng.integers(2))
                rows.append((at, "r", ends[program], 65_536))
                ends[program] += 65_536
        for _ in range(60):
            place = int(rng.integers(1 << 18)) * 4096 + (8 << 30)
            rows.append((second + float(rng.random()), "w", place, 4096))
    return requests_of(sorted(rows))


@pytest.fixture(scope="module")
def trace() -> Requests:
    return bursts_and_streams()


def test_places_are_described_relative_to_earlier_requests() -> None:
    kib = 1024
    rows = [
        ("r", 0, 4 * kib),  # nothing before
        ("r", 4 * kib, 4 * kib),  # goes on
        ("r", 0, 4 * kib),  # again, one between
        ("w", 4 * kib, 4 * kib),  # where a read went
        ("r", 20 * kib, 4 * kib),  # 12 KiB ahead of the end at 8 KiB
        ("r", 22 * kib, 8 * kib),  # of another group: none to be near to
        ("r", 30 * kib, 4 * kib),  # goes on where one of another group ended
        ("r", 10 << 30, 4 * kib),  # anywhere
    ]
    found = placed(requests_of([(place, *row) for place, row in enumerate(rows)]))
    assert found.place.tolist() == [
        *(REGION, NEXT, AGAIN, AGAIN_OTHER, AHEAD, REGION, NEXT_OF_ANY, REGION),
    ]
    assert found.rank.tolist()[:5] == [0, 0, 1, 1, 1]
    assert found.distance_bytes[4] == 12 * kib
    behind = placed(requests_of([(0, "r", 1 << 20, 4096), (1, "r", 1 << 19, 4096)]))
    assert (behind.place[1], behind.distance_bytes[1]) == (BEHIND, (1 << 19) + 4096)


def test_common_sizes_are_classes_of_their_own() -> None:
    sizes = np.array([4096] * 50 + [5120] * 50 + [512, 1024, 1536])
    classes = size_classes(sizes)
    assert len({classes[0], classes[50]}) == 2
    assert classes[101] == classes[102]


def test_regions_hold_all_places_and_leave_gaps_out() -> None:
    rng = np.random.default_rng(1)
    offsets = np.concatenate([rng.integers(0, 1 << 28, 500), rng.integers(1 << 38, 1 << 39, 500)])
    regions = regions_of(offsets, 1 << 40)
    numbers = region_numbers(regions, offsets)
    for number, offset in zip(numbers, offsets, strict=True):
        begin = regions[number].range_offset_bytes
        assert begin <= offset < begin + regions[number].range_bytes
    ends = [each.range_offset_bytes + each.range_bytes for each in regions]
    assert all(end <= each.range_offset_bytes for end, each in zip(ends, regions[1:], strict=False))
    assert ends[-1] == 1 << 40
    covered = sum(each.range_bytes for each in regions[:-1])
    assert covered < (1 << 28) + (1 << 38) + (64 << 20)


@pytest.mark.parametrize(("drive", "most"), [("sim:x25m", 0.15), ("sim:spinpoint-m7", 0.3)])
def test_a_scenario_does_to_a_drive_what_its_trace_does(
    trace: Requests, drive: str, most: float
) -> None:
    # A second has some 30 bursts, which meet by chance; on a disk it hangs on a few seeks too.
    scenario = Scenario(scenario_text(fit(trace, WINDOW_NS)))
    recorded = windows_on(drive, requests_as_trace(trace), WINDOW_NS)
    found = compared(drive, recorded, windows_on(drive, scenario, WINDOW_NS))
    assert found.windows == 20
    assert found.latency_difference <= most
    assert found.throughput_difference <= 0.02
    assert found.bandwidth_difference <= 0.02


def test_windows_ask_for_what_they_are_said_to_whatever_the_seed(trace: Requests) -> None:
    scenario = Scenario(scenario_text(fit(trace, WINDOW_NS)))
    counts = np.bincount(trace.arrival_ns // WINDOW_NS)
    for seed in (1, 2):
        windows = windows_on("sim:bench-64gib", scenario, WINDOW_NS, seed)
        found = [int(windows[window][0]) for window in range(20)]
        # What arrives last in a window may complete in the next.
        assert np.abs(np.array(found) - counts).max() <= 2


def test_it_runs_longer_than_its_trace(trace: Requests) -> None:
    scenario = Scenario(scenario_text(fit(trace, WINDOW_NS)))
    with open_simulated("sim:bench-64gib") as drive:
        result = drive.simulate(scenario, seconds=45.0).values
    expected = 2.25 * len(trace.action)
    assert abs(result["counted_requests"] / expected - 1) < 0.1


def test_that_of_a_long_trace_holds_no_address_and_no_time_of_day(trace: Requests) -> None:
    text = scenario_text(fit(trace, WINDOW_NS))
    numbers = {int(each.replace("_", "")) for each in re.findall(r"\b\d[\d_]*\b", text)}
    # Small numbers are ranks, counts and sizes; regions are whole MiB.
    offsets = {each for each in trace.offset_bytes.tolist() if each % (1 << 20) and each > 1 << 24}
    times = {each for each in trace.arrival_ns.tolist() if 0 < each < trace.arrival_ns[-1]}
    assert not numbers & offsets
    assert not numbers & times


def test_that_of_a_short_trace_says_that_it_gives_it_away(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spc_file(tmp_path, ["0,0,4096,r,0.0", "0,4096,4096,r,0.123", "0,9999,8192,w,1.5"], "a.spc")
    spc_file(tmp_path, [f"0,{8 * at},4096,r,{at / 100}" for at in range(2000)], "long.spc")
    for name, is_short in (("a.spc", True), ("long.spc", False)):
        assert cli.main(["trace", "fit", name, "-o", "a.toml", "--force"]) == 0
        cautions = [line for line in capsys.readouterr().out.splitlines() if "  caution  " in line]
        assert [("than the trace has requests" in line) for line in cautions] == [True] * is_short
        assert "of a short trace can be rebuilt" in Path("a.toml").read_text()


def test_every_value_says_its_source(trace: Requests) -> None:
    lines = scenario_text(fit(trace, WINDOW_NS)).splitlines()
    values = [line for line in lines if " = " in line and not line.startswith(("#", "summary"))]
    sourced = [line for line in values if re.search(r"# (trace|assumed): ", line)]
    assert [line for line in values if line not in sourced] == ['name = "fitted"']


def test_the_command_writes_what_simulate_runs(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    spc_file(tmp_path)
    asked = ["trace", "fit", "small.spc", "-o", "mine.toml", "--window", "10s"]
    assert cli.main([*asked, "--check", "sim:bench-64gib"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("wrote mine.toml: ")
    assert "11 windows of 10.0 s" in out
    assert re.search(r"sim:bench-64gib +[\d.]+ % +[\d.]+ % +[\d.]+ % +at most \d+ %", out)
    assert cli.main(["simulate", "sim:bench-64gib", "--scenario", "mine.toml", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert abs(answer["counted_requests"] - 600) <= 2
    assert answer["streams"][0]["name"] == "fitted"


def test_json_has_what_was_kept(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    blkparse_file(tmp_path)
    asked = ["trace", "fit", "small.blkparse", "-o", "mine.toml", "--on-bad", "skip"]
    assert cli.main([*asked, "--name", "my data", "--window", "1s", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    # One request of 128 MiB is sent as two.
    assert (answer["requests"], answer["windows"], answer["checks"]) == (201, 2, [])
    assert 'name = "my data"' in Path("mine.toml").read_text()


ONE = ["0,0,4096,r,1.0"]
TIES = ["0,0,4096,r,1.0", "0,8,4096,r,1.0", "0,16,4096,w,1.0"]
FAR_APART = ["0,0,4096,r,0.0", "0,8,4096,r,90000.0"]
GOOD = ["0,0,4096,r,0.0", "0,8,4096,r,1.0"]


@pytest.mark.parametrize(
    ("lines", "more", "words"),
    [
        (ONE, [], "has one read or write; a fit needs at least two, at two times"),
        (TIES, [], "all 3 requests of a.spc arrive at the same time"),
        (
            FAR_APART,
            ["--window", "1s"],
            "more than the 2,000 that a scenario may have; use a longer",
        ),
        (GOOD, ["--window", "10ns"], "--window is shorter than 1us"),
        (GOOD, ["--name", "a\nb"], "is not a name; give a word"),
        (GOOD, ["-o", "a.txt"], "a.txt would be TOML; let its name end in .toml"),
        (GOOD, ["-o", "none/a.toml"], "there is no folder none"),
        (GOOD, ["--check", "sim:nonesuch"], "nonesuch"),
        (GOOD, ["--check", "analytic:x25m-yoo2014"], "analytic:x25m-yoo2014"),
        ([], [], "is empty"),
    ],
)
def test_what_cannot_be_fitted_is_one_line(
    tmp_path: Path, capsys, lines: list[str], more: list[str], words: str
) -> None:
    spc_file(tmp_path, lines, "a.spc")
    with chdir(tmp_path):
        assert cli.main(["trace", "fit", "a.spc", "-o", "a.toml", *more]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert words in err
    assert not (tmp_path / "a.toml").exists()


def test_a_file_that_exists_is_kept(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    spc_file(tmp_path)
    Path("mine.toml").write_text("mine\n")
    assert cli.main(["trace", "fit", "small.spc", "-o", "mine.toml"]) == 2
    assert Path("mine.toml").read_text() == "mine\n"
    assert "--force" in capsys.readouterr().err


def test_two_windows_and_one_request_each(tmp_path: Path) -> None:
    path = spc_file(tmp_path, GOOD)
    requests = read_requests(RecordedFiles((str(path),)))
    assert len(fit(requests, WINDOW_NS).windows) == 2
    with pytest.raises(UsageError, match="2,000"):
        fit(requests, 1000)
