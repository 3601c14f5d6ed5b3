"""`drivelab simulate`: everything that a run reports, on the screen and as JSON."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import tomllib
from pathlib import Path

import duckdb
import pytest

from drivelab.cli import main as cli
from drivelab.cli.simulate_text import text
from drivelab.drives.simulated.simulation import (
    percentile_is_supported,
    series_json,
    submitted_requests,
)
from drivelab.drives.stream_result import OPERATIONS
from drivelab.errors import RunError

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
SMALL = f"sim:{ROOT / 'tests' / 'small_drive.toml'}"
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
        known = {key: value for key, value in measured[operation].items() if found[key] is not None}
        assert {key: found[key] for key in known} == known
        assert len(known) >= 8


def test_parts_are_the_latency(capsys) -> None:
    run = answer(capsys, "simulate", SMALL, *MIXED)
    for operation in run["streams"][0]["operations"].values():
        parts = operation["latency_parts"].values()
        assert sum(part["latency_ns_mean"] for part in parts) == pytest.approx(
            operation["latency_ns_mean"], rel=1e-12
        )
        assert all(part["latency_ns_max"] <= operation["latency_ns_max"] for part in parts)


def test_what_the_controllers_memory_answered_is_reported(capsys, tmp_path: Path) -> None:
    text = (ROOT / "tests" / "small_drive.toml").read_text()
    cache = "\n[buffer]\nread_cache_bytes = 65536\nread_ahead_bytes = 16384\n"
    drive = tmp_path / "cached.toml"
    drive.write_text(text + cache)
    words = ("--read-random", "0", "--write-ratio", "0", "--queue-depth", "1")
    run = answer(capsys, "simulate", f"sim:{drive}", *words, "--requests", "100")
    flash = run["flash"]
    # In order: two reads of the flash, and everything behind them comes ahead of its read.
    assert (flash["cache_miss_pages"], flash["cache_hit_pages"]) == (2, 98)
    assert flash["page_reads"] - 2 <= flash["read_ahead_pages"] <= 98 + 4
    assert cli.main(["simulate", f"sim:{drive}", *words, "--requests", "100"]) == 0
    assert "read cache: 98 hits, 2 misses" in capsys.readouterr().out


def test_generated_writes_sent_differently_are_reported(capsys, tmp_path: Path) -> None:
    scenario = tmp_path / "flushing.toml"
    scenario.write_text(
        "requests = 1_100\n"
        '[[stream]]\nname = "log"\nqueue_depth = 1\nwrite_ratio = 1.0\n'
        'writes_as = "trim"\nwrites_per_flush = 10\n'
    )
    drive = f"sim:{ROOT / 'tests' / 'small_drive.toml'}"
    words = ("simulate", drive, "--scenario", str(scenario))
    (stream,) = answer(capsys, *words)["streams"]
    assert (stream["writes_as"], stream["writes_per_flush"]) == ("trim", 10)
    counts = {name: each["requests"] for name, each in stream["operations"].items()}
    # Ten and a flush, a hundred times.
    assert counts == {"trim": 1000, "flush": 100}
    assert cli.main(list(words)) == 0
    assert "writes sent as trims, a flush every 10 writes" in capsys.readouterr().out


def test_energy_is_what_operations_and_time_take(capsys, tmp_path: Path) -> None:
    text = (ROOT / "tests" / "small_drive.toml").read_text()
    energy = "\n[energy]\nread_page_nj = 50_000\nprogram_page_nj = 200_000\n"
    energy += "erase_block_nj = 2_000_000\ntransfer_byte_pj = 10\nidle_power_mw = 100\n"
    drive = tmp_path / "metered.toml"
    drive.write_text(text + energy)
    run = answer(capsys, "simulate", f"sim:{drive}", "--requests", "1000")
    used, pages = run["energy"], run["flash"]["page_reads"]
    assert used["cell_joules"] == pytest.approx(pages * 50e-6)
    assert used["channel_joules"] == pytest.approx(pages * 4096 * 10e-12)
    assert used["idle_joules"] == pytest.approx(0.1 * run["duration_ns"] * 1e-9)
    whole = used["cell_joules"] + used["channel_joules"] + used["idle_joules"]
    assert used["joules"] == pytest.approx(whole)
    assert used["mean_watts"] == pytest.approx(whole / (run["duration_ns"] * 1e-9))
    assert used["iops_per_watt"] == pytest.approx(1000 / whole)
    assert cli.main(["simulate", f"sim:{drive}", "--requests", "1000"]) == 0
    screen = capsys.readouterr().out
    assert "\nenergy    " in screen
    assert f"{used['mean_watts']:.4g} W on average" in screen


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


def test_every_submitted_request_is_reported(capsys) -> None:
    run = answer(capsys, "simulate", SMALL, *MIXED, "--warmup-requests", "300")
    assert (run["warmup_requests"], run["counted_requests"]) == (300, 2000)
    # When the window closes the other requests of the queue are outstanding.
    assert run["requests"] == 300 + 2000 + 15
    flash = run["flash"]
    counted = sum(flash[f"{cause}_page_programs"] for cause in ("host", "collection", "wear"))
    whole = answer(capsys, "simulate", SMALL, *MIXED[:-1], "2300")
    assert counted < run["page_programs"]
    assert run["page_programs"] == whole["page_programs"]
    assert run["loop_wall_seconds"] > 0
    assert run["peak_memory_bytes"] > 2**20


def test_seconds_are_simulated_time(capsys) -> None:
    run = answer(capsys, "simulate", SMALL, "--seconds", "50ms")
    assert (run["stopped_by"], run["duration_ns"]) == ("seconds", 50_000_000)


@pytest.mark.parametrize(
    ("requests", "percent", "message"),
    [
        (99, 99.0, False),
        (100, 99.0, True),
        (99_999, 99.999, False),
        (100_000, 99.999, True),
        (1, 50.0, False),
        (2, 50.0, True),
    ],
)
def test_percentile_needs_a_request_above_it(requests: int, percent: float, message: bool) -> None:
    assert percentile_is_supported(requests, percent) is message


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
        (["analytic:x25m-yoo2014"], "is a formula, which cannot be simulated; simulate sim:x25m-"),
        (["/dev/null"], "is a real drive, and only simulated ones can be simulated"),
        (["x25m"], "did you mean sim:x25m or "),
        (["sim:nope"], "there is no drive 'sim:nope'"),
        (["sim:x25m", "--seconds", "0"], "--seconds is 0; allowed: more than 0"),
        (["sim:x25m", "--requests", "0"], "it takes a whole number from 1"),
        (["sim:x25m", "--read-size", "100"], "read_size is 100 bytes; allowed: a multiple"),
        (["sim:x25m-fob"], "is fresh and has no data to read"),
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


SCENARIO = """
summary = "two at the same time"
duration_ns = 20_000_000

[[stream]]
name = "database"
queue_depth = 4
write_ratio = 0.5

[[stream]]
name = "log"
rate_iops = 10_000
arrivals = "fixed"
write_ratio = 1.0
write_random = 0.0
range_bytes = 1_048_576

[[stream]]
name = "listed"
requests_csv = "listed.csv"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    listed = "at_ns,action,offset_bytes,size_bytes\n1000000,read,0,4096\n2000000,write,0,8192\n"
    (tmp_path / "listed.csv").write_text(listed)
    return path


def test_streams_of_a_scenario_are_distinguished(scenario: Path, capsys) -> None:
    run = answer(capsys, "simulate", SMALL, "--scenario", str(scenario))
    assert (run["duration_ns"], run["stopped_by"]) == (20_000_000, "seconds")
    database, log, listed = run["streams"]
    assert [database["name"], log["name"], listed["name"]] == ["database", "log", "listed"]
    assert [database["source"], log["source"], listed["source"]] == ["closed", "fixed", "listed"]
    # One every 100 us from 100 us on, none at the end of the window.
    assert (log["submitted_requests"], log["rate_iops"]) == (199, 10_000)
    assert (log["range_offset_bytes"], log["range_bytes"]) == (0, 2**20)
    assert set(log["operations"]) == {"write"}
    assert "queue_depth" not in log["workload"]
    assert listed["workload"] is None
    assert {name: each["bytes"] for name, each in listed["operations"].items()} == {
        "read": 4096,
        "write": 8192,
    }
    counted = [stream["requests"] for stream in run["streams"]]
    assert sum(counted) == run["counted_requests"]
    assert sum(stream["submitted_requests"] for stream in run["streams"]) == run["requests"]


def test_scenario_on_the_screen_names_its_streams(scenario: Path, capsys) -> None:
    assert cli.main(["simulate", SMALL, "--scenario", str(scenario), "--interval", "1ms"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("scenario  two at the same time\n")
    assert "10,000 a second arriving evenly, in 1 MiB from the start" in printed
    assert "1 read and 1 write, each at its time" in printed
    assert "over time 20 intervals of 1.00 ms" in printed


def test_large_and_small_numbers_are_written_whole_on_a_screen(capsys, tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(
        "requests = 1\n[[stream]]\nname = 'a'\nrate_iops = 1_000_000.5\nwrite_ratio = 1.0\n"
    )
    run = answer(capsys, "simulate", SMALL, "--scenario", str(path), "--interval", "20ms")
    stream = run["streams"][0]
    assert stream["description"] == "4 KiB random writes, 1,000,000.5 a second arriving at random"
    # One request in 40 s is not 0 IOPS; ten digits leave room for what they count.
    stream["operations"]["write"] |= {"iops": 0.025, "bandwidth_bytes_per_second": 102.4}
    many = 1_234_567_890
    run["flash"] |= dict.fromkeys(
        ("page_reads", "block_erases", "buffer_hit_pages", "host_page_programs"), many
    )
    run["flash"] |= dict.fromkeys(("collection_page_programs", "wear_page_programs"), many)
    run["flash"] |= dict.fromkeys(("collections", "collection_moves"), many)
    run["flash"]["write_amplification_ratio"] = 2.0
    for row in run["series"]["rows"]:
        row["requests"] = 12_345 if row["requests"] else 0
    run["series"]["rows"] *= 200
    lines = text(run).splitlines()
    assert "counted   1 request in " in lines[1]
    assert any(line.split() == ["writes", "1", "0.025", "0.000102"] for line in lines)
    assert sum(f"{many:,}" in line for line in lines) == 5
    assert lines.count(f"          {many:,} collections moved {many:,} pages") == 1
    assert max(map(len, lines[lines.index("", 3) :])) <= 80


def test_requests_that_take_no_time_have_a_course_too(capsys, tmp_path: Path) -> None:
    flushes = "".join(
        f"[[stream.request]]\nat_ns = {at}\naction = 'flush'\n" for at in (0, 5000, 9000)
    )
    path = tmp_path / "scenario.toml"
    path.write_text(f"interval_ns = 5000\n[[stream]]\nname = 'a'\n{flushes}")
    assert cli.main(["simulate", "sim:bench-64gib", "--scenario", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (at,) = (at for at, line in enumerate(lines) if line.startswith("flushes   ▄"))
    assert lines[at].endswith(" 200,000 to 500,000 IOPS")
    assert lines[at + 1].split() == ["0.00", "ns", "to", "0.00", "ns"]


def test_time_series_adds_up_to_the_run(capsys, tmp_path: Path) -> None:
    path = tmp_path / "series.csv"
    run = answer(capsys, "simulate", SMALL, *MIXED, "--interval", "3ms", "--csv", str(path))
    series = run["series"]
    assert series["interval_ns"] == 3_000_000
    for operation, found in run["streams"][0]["operations"].items():
        rows = [row for row in series["rows"] if row["operation"] == operation]
        assert sum(row["requests"] for row in rows) == found["requests"]
        assert sum(row["bytes"] for row in rows) == found["bytes"]
        assert max(row["latency_ns_max"] or 0 for row in rows) == found["latency_ns_max"]
        assert rows[-1]["end_ns"] == run["duration_ns"]
        assert all(one["end_ns"] == two["start_ns"] for one, two in itertools.pairwise(rows))
    lines = path.read_text().splitlines()
    assert lines[0] == "stream,operation,start_ns,end_ns,requests,bytes,iops," + (
        "bandwidth_bytes_per_second,latency_ns_mean,latency_ns_max"
    )
    assert len(lines) == 1 + len(series["rows"])


def test_what_completes_as_the_window_ends_has_no_interval_of_its_own() -> None:
    bins = [(1, 10, 5, 5), (2, 20, 9, 6), (1, 10, 8, 8)]
    written = series_json({"interval_ns": 100, "rows": [("a", "read", bins)]}, 200)
    assert [(row["start_ns"], row["end_ns"], row["requests"]) for row in written["rows"]] == [
        (0, 100, 1),
        (100, 200, 3),
    ]
    last = written["rows"][-1]
    assert (last["iops"], last["latency_ns_mean"], last["latency_ns_max"]) == (3e7, 17 / 3, 8)


def test_a_lost_request_fails_the_run() -> None:
    result = dict.fromkeys(OPERATIONS) | {"read": {"requests": 5}}
    stream = {"submitted_requests": 8, "result": result}
    values = {
        "warmup_requests": 2,
        "counted_requests": 5,
        "drained_requests": 1,
        "streams": [stream],
    }
    assert submitted_requests(values) == 8
    for key, value in (("drained_requests", 0), ("counted_requests", 6)):
        with pytest.raises(RunError, match="the simulation lost requests"):
            submitted_requests(values | {key: value})


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_examples_run(path: Path, capsys) -> None:
    is_drive = "stream" not in tomllib.loads(path.read_text())
    # Their streams use what these drives have.
    drives = {"four-classes": "queue-classes", "noisy-namespace": "namespaces"}
    drive = f"sim:{EXAMPLES / drives[path.stem]}.toml" if path.stem in drives else None
    words = [f"sim:{path}"] if is_drive else [drive or "sim:bench-64gib", "--scenario", str(path)]
    if tomllib.loads(path.read_text()).get("condition") == "fresh":
        # What was never written is not read.
        words += ["--write-ratio", "1", "--write-size", "16KiB", "--write-random", "0"]
    assert cli.main(["simulate", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    described = lines.index("", 4)
    assert max(len(line) for line in lines[described:]) <= 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--write-ratio", "1"], "a scenario sets its own workloads: leave out --write-ratio"),
        (["--csv", "a.csv"], "--csv is the time series: give --interval too"),
        (["--interval", "1ms", "--csv", "a.txt"], "a.txt does not end in .csv"),
    ],
)
def test_options_that_do_not_go_with_a_scenario(words, said, scenario, capsys) -> None:
    assert cli.main(["simulate", SMALL, "--scenario", str(scenario), *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("queue_depth = 4", "queue_depth = 0"), "scenario.toml: line 7: queue_depth = 0 is not"),
        (("range_bytes = 1_", "range_bytes = 4096_1_"), 'stream "log": its range of'),
        (("duration_ns = 20_000_000", "requests = 0"), "line 3: requests = 0 is not possible"),
        (("listed.csv", "none.csv"), "none.csv; name a list of requests"),
        (("listed.csv", "."), " is a folder, not a list of requests; name a file"),
    ],
)
def test_wrong_scenario_is_one_line(change, said, scenario: Path, capsys) -> None:
    scenario.write_text(SCENARIO.replace(*change))
    assert cli.main(["simulate", SMALL, "--scenario", str(scenario)]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert said in captured.err


def test_shares_of_a_scenario_are_reported_and_kept(tmp_path: Path, capsys) -> None:
    path = tmp_path / "mix.toml"
    deep = '[[stream]]\nname = "deep"\nqueue_depth = 16\nshare = 0.75\n'
    shallow = '[[stream]]\nname = "shallow"\nqueue_depth = 1\nshare = 0.25\n'
    path.write_text(f"requests = 2000\n{deep}{shallow}")
    run = answer(capsys, "simulate", SMALL, "--scenario", str(path))
    assert [stream["share"] for stream in run["streams"]] == [0.75, 0.25]
    submitted = [stream["submitted_requests"] for stream in run["streams"]]
    assert submitted[0] == pytest.approx(3 * submitted[1], abs=4)
    assert sum(submitted) >= 2000
    assert cli.main(["simulate", SMALL, "--scenario", str(path)]) == 0
    assert "queue depth 16, share 0.75\n" in capsys.readouterr().out


def test_scenario_without_an_end_has_the_usual_number_of_requests(tmp_path: Path, capsys) -> None:
    path = tmp_path / "endless.toml"
    path.write_text('[[stream]]\nname = "a"\nqueue_depth = 8\n')
    run = answer(capsys, "simulate", SMALL, "--scenario", str(path))
    assert run["counted_requests"] == 1_000_000


@pytest.mark.parametrize(("most", "dropped"), [((), 0), (("--log-requests", "700"), 1300)])
def test_log_holds_the_first_requests_and_says_what_it_lacks(
    most, dropped: int, capsys, tmp_path: Path
) -> None:
    path = tmp_path / "log.parquet"
    run = answer(capsys, "simulate", SMALL, *MIXED, "--log", str(path), *most)
    assert (run["logged_requests"], run["dropped_requests"]) == (2000 - dropped, dropped)
    read = duckdb.read_parquet(str(path))
    table = dict(zip(read.columns, zip(*read.fetchall(), strict=True), strict=True))
    parts = run["streams"][0]["operations"]["read"]["latency_parts"]
    assert list(table) == [
        *("submitted_ns", "stream", "operation", "offset_bytes", "size_bytes", "latency_ns"),
        *(f"{part}_ns" for part in parts),
    ]
    assert all(len(cells) == 2000 - dropped for cells in table.values())
    for row in zip(*(table[f"{part}_ns"] for part in parts), table["latency_ns"], strict=True):
        assert sum(row[:-1]) == row[-1]
    completed = [
        start + latency
        for start, latency in zip(table["submitted_ns"], table["latency_ns"], strict=True)
    ]
    assert completed == sorted(completed)
    assert set(table["stream"]) == {"workload"}
    if not dropped:
        for operation, found in run["streams"][0]["operations"].items():
            places = [at for at, name in enumerate(table["operation"]) if name == operation]
            latencies = [table["latency_ns"][at] for at in places]
            assert len(latencies) == found["requests"]
            assert max(latencies) == found["latency_ns_max"]
            assert sum(latencies) / len(latencies) == pytest.approx(found["latency_ns_mean"])
            assert sum(table["size_bytes"][at] for at in places) == found["bytes"]


def test_log_says_on_the_screen_what_it_lacks(capsys, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    words = ["simulate", SMALL, *MIXED, "--log", str(path), "--log-requests", "10"]
    assert cli.main(words) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == f"wrote {path} with 10 requests; 1,990 more are not in it"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--log", "a.csv"], "a.csv does not end in .parquet"),
        (["--log-requests", "5"], "--log-requests is for --log: name a file"),
        (["--log", "a.parquet", "--log-requests", "0"], "it takes a whole number from 1"),
    ],
)
def test_log_that_cannot_be_written_is_one_line(words, said: str, capsys) -> None:
    assert cli.main(["simulate", SMALL, *words]) == 2
    assert said in capsys.readouterr().err


FIRMWARE = ROOT / "examples" / "firmware" / "page_map.c"
LIKE_THE_EXAMPLE = """
base = "x25m"
name = "like-the-example"
[geometry]
blocks_per_plane = 64
user_capacity_bytes = 536_870_912
[collection]
policy = "greedy"
pace = "whole_block"
reserve_blocks_per_plane = 4
[energy]
read_page_nj = 50_000
program_page_nj = 200_000
erase_block_nj = 2_000_000
transfer_byte_pj = 10
idle_power_mw = 100
"""


def built(source: Path) -> Path:
    library = source.with_suffix(".so")
    header = ROOT / "crates" / "ftl" / "include"
    command = ["cc", "-O1", "-shared", "-fPIC", "-I", header, source, "-o", library]
    subprocess.run(command, check=True)
    return library


def test_a_firmware_of_ones_own_takes_the_place_of_the_built_in(capsys, tmp_path: Path) -> None:
    preset = tmp_path / "drive.toml"
    preset.write_text(LIKE_THE_EXAMPLE)
    source = tmp_path / "mine.c"
    source.write_text(FIRMWARE.read_text())
    built_in = answer(capsys, "simulate", f"sim:{preset}", *MIXED)
    words = ("simulate", f"sim:{preset}", *MIXED, "--firmware")
    mine = answer(capsys, *words, str(built(source)))
    assert mine["streams"] == built_in["streams"]
    assert mine["flash"] == built_in["flash"]
    assert mine["energy"] == built_in["energy"] is not None
    # Reads go to the page next to the one with the data.
    broken = tmp_path / "broken.c"
    text = source.read_text()
    assert ".page = f->map[logical]" in text
    broken.write_text(text.replace(".page = f->map[logical]", ".page = f->map[logical] ^ 1"))
    assert cli.main([*words, str(built(broken))]) == 1
    error = capsys.readouterr().err
    assert "breaks the firmware contract" in error
    assert error.count("\n") == 1


def test_your_own_firmware_reports_what_it_counts(capsys, tmp_path: Path) -> None:
    preset = tmp_path / "drive.toml"
    preset.write_text(LIKE_THE_EXAMPLE)
    source = tmp_path / "hot_cold.c"
    source.write_text(FIRMWARE.with_name("hot_cold.c").read_text())
    words = ["simulate", f"sim:{preset}", *MIXED]
    assert "firmware_counts" not in answer(capsys, *words)
    words += ["--firmware", str(built(source))]
    values = answer(capsys, *words)
    counts = values["firmware_counts"]
    assert list(counts)[:2] == ["map_lookups", "pages_moved"]
    assert counts["pages_moved"] == values["flash"]["collection_moves"]
    assert counts["hot_writes"] + counts["cold_writes"] > 0
    assert cli.main(words) == 0
    printed_lines = [each.split() for each in capsys.readouterr().out.splitlines()]
    assert ["firmware", f"{counts['map_lookups']:,}", "map_lookups"] in printed_lines


def test_the_time_of_a_model_is_not_that_of_another_firmware(capsys, tmp_path: Path) -> None:
    preset = tmp_path / "timed.toml"
    preset.write_text(
        'base = "lee2021-znand"\nname = "timed"\nfirmware.time = "learned:page-map"\n'
    )
    source = tmp_path / "mine.c"
    source.write_text(FIRMWARE.read_text())
    words = ["simulate", f"sim:{preset}", "--firmware", str(built(source)), "--requests", "10"]
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert "is of the page-map firmware, not of" in error
    assert error.count("\n") == 1


def test_a_library_that_cannot_be_the_firmware_is_a_mistake(capsys, tmp_path: Path) -> None:
    missing = tmp_path / "missing.so"
    assert cli.main(["simulate", SMALL, "--firmware", str(missing)]) == 2
    assert f"there is no file {missing}; name FILE.so" in capsys.readouterr().err
    pipe = tmp_path / "pipe.so"
    os.mkfifo(pipe)
    huge = tmp_path / "huge.so"
    huge.touch()
    os.truncate(huge, 2**30)
    for path, said in (
        (pipe, "it is not a regular file"),
        (huge, "is larger than a firmware library"),
    ):
        assert cli.main(["simulate", SMALL, "--firmware", str(path)]) == 2
        assert said in capsys.readouterr().err
