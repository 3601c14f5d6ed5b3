"""The state of a drive between two runs: `drivelab simulate --save-state` and `--from-state`."""

from __future__ import annotations

import json
import random
import resource
from pathlib import Path

import pytest

from drivelab.cli import main as cli

SMALL = """
base = "bench-64gib"
name = "small"
geometry.channels = 2
geometry.ways_per_channel = 1
geometry.blocks_per_plane = 24
"""
OTHER = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
FIRST, SECOND = 12_000, 6_000
# Simulated, and long after the last of the first requests.
PAUSE_NS = 1_000_000_000_000


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return f"sim:{path}"


def answer(capsys, *words: str) -> dict:
    assert cli.main(["simulate", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def latencies(run: dict) -> dict:
    operations = run["streams"][0]["operations"]
    rates = ("iops", "bandwidth_bytes_per_second")
    return {
        operation: {name: value for name, value in result.items() if name not in rates}
        for operation, result in operations.items()
    }


def listed(path: Path, name: str, *parts: tuple[range, int]) -> str:
    """Write a scenario of requests: the ones of each range, from a time on."""
    lines = ["at_ns,action,offset_bytes,size_bytes"]
    for places, start_ns in parts:
        lines += [
            f"{start_ns + (place - places.start) * 1000},{'write' if place % 4 else 'read'},"
            f"{place * 0x9E3779B97F4A7C15 % 2**64 % 20_000 * 4096},4096"
            for place in places
        ]
    (path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    scenario = path / f"{name}.toml"
    scenario.write_text(f'[[stream]]\nname = "all"\nrequests_csv = "{name}.csv"\n')
    return str(scenario)


def test_a_run_split_by_a_state_is_the_run(small: str, capsys, tmp_path: Path) -> None:
    one, two = range(FIRST), range(FIRST, FIRST + SECOND)
    scenarios = {
        "whole": listed(tmp_path, "whole", (one, 0), (two, PAUSE_NS)),
        "first": listed(tmp_path, "first", (one, 0)),
        "second": listed(tmp_path, "second", (two, 0)),
    }
    states = {name: tmp_path / f"{name}.state" for name in scenarios}

    def run(name: str, *words: str) -> dict:
        save = ("--save-state", str(states[name]))
        return answer(capsys, small, "--scenario", scenarios[name], *save, "--force", *words)

    whole, first = run("whole"), run("first")
    second = run("second", "--from-state", str(states["first"]))
    half = run("whole", "--warmup-requests", str(FIRST), "--requests", str(SECOND))
    assert latencies(second) == latencies(half)
    assert first["page_programs"] + second["page_programs"] == whole["page_programs"]
    for name in ("block_erases", "collections", "collection_moves"):
        counts = [run["flash"][name] for run in (first, second, whole)]
        assert counts[0] + counts[1] == counts[2]
        assert min(counts) > 0
    assert states["second"].read_bytes() == states["whole"].read_bytes()
    assert states["first"].read_bytes() != states["whole"].read_bytes()
    assert (first["from_state"], first["saved_state"]) == (None, str(states["first"]))
    assert second["from_state"] == str(states["first"])


def test_a_state_may_take_the_place_of_the_one_that_it_began_with(
    small: str, capsys, tmp_path: Path
) -> None:
    path = tmp_path / "drive.state"
    words = ("simulate", small, "--write-ratio", "1", "--requests", "500")
    assert cli.main([*words, "--save-state", str(path)]) == 0
    printed, before = capsys.readouterr().out, path.read_bytes()
    assert printed.splitlines()[-1].startswith(f"wrote {path}, ")
    again = ("--seed", "1", "--from-state", str(path), "--save-state", str(path))
    assert cli.main([*words, *again]) == 2
    assert f"{path} is the state that the run starts from" in capsys.readouterr().err
    assert cli.main([*words, *again, "--force"]) == 0
    assert f"from the state in {path}\n" in capsys.readouterr().out
    assert len(path.read_bytes()) > len(before)
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "small.toml"]


def test_a_drive_that_was_fresh_is_read_where_it_was_written(capsys, tmp_path: Path) -> None:
    preset = tmp_path / "fresh.toml"
    preset.write_text(SMALL + 'condition = "fresh"\n')
    state = tmp_path / "written.state"
    drive = f"sim:{preset}"
    for ratio, words in ((1, ("--save-state", str(state))), (0, ("--from-state", str(state)))):
        scenario = tmp_path / "scenario.toml"
        scenario.write_text(
            f'requests = 100\n[[stream]]\nname = "a"\nqueue_depth = 1\nwrite_ratio = {ratio}\n'
            "write_random = 0\nread_random = 0\nrange_bytes = 409_600\n"
        )
        run = answer(capsys, drive, "--scenario", str(scenario), *words)
    assert run["flash"]["page_reads"] == 100
    assert cli.main(["simulate", drive, "--from-state", str(state), "--requests", "100"]) == 2
    assert "finds pages that were never written" in capsys.readouterr().err


def test_states_that_cannot_be_started_from_are_one_line(
    small: str, capsys, tmp_path: Path
) -> None:
    good = tmp_path / "good.state"
    write = ("--write-ratio", "1", "--requests", "100")
    answer(capsys, small, *write, "--save-state", str(good))
    content = good.read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    files = {
        "cut.state": content[:-100],
        "changed.state": bytes(changed),
        "text.state": b"a,b\n1,2\n",
        "huge.state": b"",
    }
    for name, wrong in files.items():
        (tmp_path / name).write_bytes(wrong)
    with (tmp_path / "huge.state").open("r+b") as file:
        file.truncate(1 << 40)
    said = {
        "cut.state": "is damaged, or was cut off: make it anew",
        "changed.state": "is damaged, or was cut off: make it anew",
        "text.state": "this is no snapshot of a simulated drive: make one with --save-state",
        "huge.state": "is larger than a state can be (",
        "none.state": "there is no file",
        ".": " is a folder, not a state; name a file",
    }
    for name, expected in said.items():
        path = tmp_path / name
        assert cli.main(["simulate", small, *write, "--from-state", str(path)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert str(path) in error
        assert expected in error
    assert cli.main(["simulate", OTHER, *write, "--from-state", str(good)]) == 2
    error = capsys.readouterr().err
    assert f'{good}: the snapshot is of "small", ' in error
    assert error.count("\n") == 1


def test_no_changed_bit_of_a_state_is_believed(small: str, capsys, tmp_path: Path) -> None:
    path = tmp_path / "good.state"
    words = ["--write-ratio", "1", "--requests", "20"]
    answer(capsys, small, *words, "--save-state", str(path))
    content = path.read_bytes()
    places = range(8 * len(content))
    for place in (*places[:400:7], *places[-80:], *random.Random(0).sample(places, 100)):
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        assert cli.main(["simulate", small, *words, "--from-state", str(path)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--save-state", "drive.bin"], "drive.bin does not end in .state"),
        (["--save-state", "none/drive.state"], "there is no folder none to write drive.state"),
        (["--save-state", "taken.state"], "taken.state is a folder; name a file"),
        (["--csv", "none/a.csv", "--interval", "1ms"], "there is no folder none to write a.csv"),
        (["--log", "none/a.parquet"], "there is no folder none to write a.parquet"),
        (["--csv", "out.csv", "--interval", "1ms"], "/none to write out.csv"),
        (["--firmware", "a.so", "--save-state", "a.state"], "leave out --save-state or --firmware"),
        (["--firmware", "a.so", "--from-state", "a.state"], "leave out --from-state or --firmware"),
    ],
)
def test_files_that_could_not_be_written_are_refused_before_the_run(
    words, said: str, capsys, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.state").mkdir()
    (tmp_path / "out.csv").symlink_to("none/there.csv")
    assert cli.main(["simulate", "sim:x25m", *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out.csv", "taken.state"]


def test_a_folder_that_cannot_be_written_is_refused_before_the_run(
    small: str, capsys, tmp_path: Path, monkeypatch
) -> None:
    # Root may write everywhere but on a disk that is mounted for reading.
    monkeypatch.setattr("os.access", lambda path, _: Path(path) != tmp_path)
    path = tmp_path / "drive.state"
    assert cli.main(["simulate", small, "--save-state", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"drivelab: {path} cannot be written: nothing can be made in its folder; name another "
        "place\n"
    )


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_state_that_does_not_fit_leaves_the_older_one_and_the_result(
    small: str, form: list[str], capsys, tmp_path: Path
) -> None:
    path, series = tmp_path / "drive.state", tmp_path / "series.csv"
    path.write_bytes(b"older")
    words = ["simulate", small, "--write-ratio", "1", "--requests", "2000", "--interval", "10s"]
    files = ["--csv", str(series), "--save-state", str(path), "--force"]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # What the system says of a file too large, it says of a disk too full.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        code = cli.main([*words, *files, *form])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert code == 1
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert f"{path} cannot be written: File too large; free some space" in captured.err
    assert path.read_bytes() == b"older"
    assert sorted(tmp_path.iterdir()) == [path, series, tmp_path / "small.toml"]
    if form:
        result = json.loads(captured.out)
        assert (result["counted_requests"], result["saved_state"]) == (2000, None)
    else:
        assert "counted   2,000 requests" in captured.out
        assert captured.out.splitlines()[-1] == f"wrote {series}"
