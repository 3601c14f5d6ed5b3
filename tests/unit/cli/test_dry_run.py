"""`drivelab model --dry-run`: what it prints, and that it makes, writes and locks nothing."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli import main as cli
from drivelab.drives.real.fio.drive import open_real_drive
from drivelab.drives.real.preview import preview_real_drive
from drivelab.drives.real.target_file import open_target_file
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.workloads.characteristics import Characteristics

MIB = 2**20
SMALL = Path(__file__).parents[2] / "small_drive.toml"
WRITE = Characteristics(write_ratio=1.0)
# Over Huang et al. 2011's values: half of the requests, 1 to 256 KiB.
MEAN_WRITTEN_BYTES = 0.5 * 1024 * (1 + 4 + 16 + 64 + 256) / 5


def answer_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert cli.main(["model", *words, "--dry-run", "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def shown(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Give the lines of the answer by their labels."""
    assert cli.main(["model", *words, "--dry-run"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert last.startswith("Nothing was created or written")
    return dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in lines)


def everything_below(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.stat()
        found[str(path)] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


@pytest.fixture
def watched(drive_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder on a drive in which a test must leave everything as it found it.

    Without fio, and with every opening for writing an error.
    """
    folder = drive_folder / "watched"
    folder.mkdir()
    opened = os.open

    def open_to_read(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if str(path) != os.devnull:
            assert flags & (os.O_ACCMODE | os.O_CREAT | os.O_TRUNC) == os.O_RDONLY, path
        return opened(path, flags, *rest, **named)

    with monkeypatch.context() as patched:
        patched.chdir(folder)
        patched.setenv("PATH", "")
        patched.setattr(os, "open", open_to_read)
        patched.setattr(fcntl, "flock", lambda *_: pytest.fail("it is locked"))
        yield folder
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def test_the_numbers_of_a_simulated_campaign(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [f"sim:{SMALL}", "--design", "huang2011:50", "--requests", "20", "--check", "9"]
    answer = answer_of([*words, "--warmup-requests", "5"], capsys)
    assert answer["parts"] == {
        "training": 40,
        "calibration": 10,
        "check": 9,
        "sweeps": 74,
        "chosen": 0,
        "probes": 0,
        "fills": 0,
    }
    assert answer["workloads"] == answer["distinct_workloads"] == 133
    assert answer["design_distinct_workloads"] == 14980
    assert (answer["left_out_workloads"], answer["left_out_sweeps"]) == (0, 0)
    assert (answer["pilot_workloads"], answer["at_most"], answer["file_bytes"]) == (16, False, 0)
    # On average half of the requests write, and a write has 68 KiB: the sample is balanced.
    assert 1 / 2 < answer["written_bytes"] / (133 * 25 * MEAN_WRITTEN_BYTES) < 2
    # About 17 pages a request: at best all 20 dies read at once, at worst one programs alone.
    pages = 133 * 25 * 17
    assert pages * 40e-6 / 20 < answer["drive_seconds"] < pages * 1150e-6
    # Nobody rated a drive of the user's own.
    assert answer["rated_endurance_bytes"] is answer["endurance_ratio"] is None
    assert list(tmp_path.iterdir()) == []
    lines = shown([*words, "--warmup-requests", "5"], capsys)
    assert lines["workloads"] == ("133, of them 133 distinct; huang2011 has 14,980 distinct ones")
    assert lines["calibration"] == (
        "10 drawn at random from the design, for models and their intervals"
    )
    assert lines["left out"] == "0 of the design, which this drive cannot run"
    assert "of the drive's simulated time; extrapolated from 16 of the workloads" in lines["time"]
    assert lines["written"].endswith("by requests, simulated: nothing wears")
    assert lines["endurance"] == "the drive's rated endurance is not known; the preset gives none"


def test_the_share_of_a_rated_endurance(capsys) -> None:
    words = ["sim:x25m-fob", "--design", "huang2011:20", "--check", "0", "--writes", "burst"]
    answer = answer_of([*words, "--requests", "50", "--warmup-requests", "0"], capsys)
    assert answer["rated_endurance_bytes"] == 36_500_000_000_000
    assert answer["endurance_ratio"] == answer["written_bytes"] / 36.5e12
    # It is fresh: only what writes alone can be asked for, here 4 x 5 x 7 workloads; of the sweeps
    # one in figure 3, those of figure 4 and those of each pattern.
    assert answer["left_out_workloads"] == 14980 - 140
    assert answer["left_out_sweeps"] == 75 - (7 + 3 * 9 - 1)
    lines = shown([*words, "--requests", "50", "--warmup-requests", "0"], capsys)
    assert lines["endurance"].endswith("% of the rated endurance, 36.5 TB")


def test_a_file_yet_to_be_made_is_not_made(watched: Path, capsys) -> None:
    words = ["./bench.bin", "--size", "8MiB", "--seconds", "2s", "--warmup", "0.5s"]
    words += ["--design", "huang2011:20", "--no-sweeps", "--endurance", "1TB"]
    answer = answer_of(words, capsys)
    assert everything_below(watched) == {}
    assert (answer["kind"], answer["capacity_bytes"]) == ("real", 8 * MIB)
    assert (answer["file_bytes"], answer["block_bytes_assumed"]) == (8 * MIB, True)
    assert answer["parts"] == {
        "training": 16,
        "calibration": 4,
        "check": 0,
        "sweeps": 0,
        "chosen": 0,
        "probes": 0,
        "fills": 0,
    }
    assert answer["drive_seconds"] == answer["host_seconds"] == 20 * 2.5
    assert answer["written_bytes"] == 0
    # No more than all of it written, no less than a third: most of the design writes.
    assert 20 * 250e6 / 3 < answer["written_bytes_per_100_mb_per_s"] < 20 * 250e6
    assert answer["endurance_ratio"] == 8 * MIB / 1e12
    assert answer["endurance_ratio_per_100_mb_per_s"] == (
        answer["written_bytes_per_100_mb_per_s"] / 1e12
    )
    lines = shown(words, capsys)
    assert lines["time"] == "50.0 s, and what it takes to start fio 20 times"
    assert lines["written"].startswith("8 MiB to fill the file that is made, and ")
    assert lines["written"].endswith(" for each 100 MB/s at which the drive moves data")
    assert lines["blocks"].endswith("bytes, assumed: the file is yet to be made")
    assert lines["endurance"].endswith("for each 100 MB/s of the rated endurance, 1.00 TB")


def test_sustained_writes_are_counted(watched: Path, capsys) -> None:
    words = ["./bench.bin", "--size", "8MiB", "--seconds", "2s", "--warmup", "0.5s"]
    words += ["--design", "huang2011:50", "--no-sweeps", "--endurance", "1TB"]
    burst, lasting, both = (
        answer_of([*words, "--writes", writes], capsys) for writes in ("burst", "sustained", "both")
    )
    assert answer_of(words, capsys) == burst
    assert (burst["writes"], lasting["writes"], both["writes"]) == ("burst", "sustained", "both")
    # Twice the file before each of three kinds of writing.
    assert [one["settling_bytes"] for one in (burst, lasting, both)] == [0, 48 * MIB, 48 * MIB]
    assert lasting["endurance_ratio"] == (8 + 48) * MIB / 1e12
    # The file of the first run is gone when the second makes it anew.
    assert [one["file_bytes"] for one in (burst, lasting, both)] == [8 * MIB, 8 * MIB, 16 * MIB]
    assert both["drive_seconds"] == 2 * burst["drive_seconds"] == 2 * lasting["drive_seconds"]
    assert both["workloads"] == burst["workloads"] == 50
    lines = shown([*words, "--writes", "both"], capsys)
    assert lines["writes"] == "both: two runs of 50 workloads, sustained and burst"
    starts = "4 min 10 s, and what it takes to start fio 100 times and to settle the drive"
    assert lines["time"] == starts
    assert "and at most 48 MiB to settle it, each time twice its size, and" in lines["written"]
    kept = answer_of([*words, "--writes", "both", "--keep"], capsys)
    assert kept["file_bytes"] == 8 * MIB
    assert everything_below(watched) == {}


def test_a_small_limit_leaves_out_the_probes(watched: Path, capsys) -> None:
    words = ["./bench.bin", "--size", "8MiB", "--measurements"]
    assert shown([*words, "99"], capsys)["probes"] == (
        "none below 100 measurements; --measurements 100 or more finds how the drive is built, too"
    )
    assert shown([*words, "100"], capsys)["probes"].startswith("23 to find how the drive is built")
    assert "probes" not in shown([*words[:-1], "--design", "huang2011:50"], capsys)
    assert everything_below(watched) == {}


def test_a_small_budget_leaves_out_the_probes(watched: Path, capsys) -> None:
    words = ["./bench.bin", "--size", "8MiB", "--seconds", "1s", "--warmup", "0.25s"]
    words += ["--check", "20", "--budget"]
    # An eighth of the time of 192 workloads is that of 24 probes.
    assert shown([*words, "238s"], capsys)["probes"] == (
        "none likely: a budget for 192 or more workloads finds how the drive is built, too"
    )
    assert shown([*words, "240s"], capsys)["probes"].startswith("23 to find how the drive is built")
    assert everything_below(watched) == {}


def test_rounds_settle_the_drive_again(watched: Path, capsys) -> None:
    words = ["./bench.bin", "--size", "8MiB", "--writes", "sustained", "--check", "0"]
    # Two of probes, one of 60 workloads and curves, then 60, 120 and 60 more.
    answer = answer_of([*words, "--measurements", "300"], capsys)
    assert answer["settling_bytes"] == (3 + 5 * 2) * 16 * MIB
    assert everything_below(watched) == {}


def test_a_budget_caps_time_and_bytes(watched: Path, capsys) -> None:
    words = ["./bench.bin", "--size", "8MiB", "--seconds", "1s", "--warmup", "0.25s"]
    without = answer_of([*words, "--measurements", "1200", "--check", "20"], capsys)
    assert without["budget_workloads"] is None
    assert without["first_round_workloads"] == 60
    words += ["--budget", "20m", "--check", "20"]
    answer = answer_of(words, capsys)
    # The check part is measured besides, and so are three fills of a minute each at most.
    assert answer["drive_seconds"] == pytest.approx(1200 + 20 * 1.25 + 3 * 60)
    assert answer["budget_workloads"] == round(1200 / 1.25) + 20 < answer["workloads"]
    # Fills count requests, and nothing by the rate of the drive.
    share = (answer["drive_seconds"] - 180) / (without["drive_seconds"] - 180)
    assert answer["written_bytes_per_100_mb_per_s"] == pytest.approx(
        share * without["written_bytes_per_100_mb_per_s"]
    )
    lines = shown(words, capsys)
    # A budget may hold little: the run begins with few.
    assert answer["first_round_workloads"] == 10
    assert lines["begins with"].startswith("10 spread over the ranges")
    assert lines["budget"] == (
        "ends the run after about 960 of these workloads; not counting check and fills"
    )
    assert "start fio 980 times" in lines["time"]
    # Two runs share it.
    both = answer_of([*words, "--writes", "both"], capsys)
    assert both["goal"]["budget_seconds"] == 600
    assert both["drive_seconds"] == pytest.approx(1200 + 2 * (20 * 1.25 + 3 * 60))
    assert both["budget_workloads"] == round(600 / 1.25) + 20
    assert shown([*words, "--writes", "both"], capsys)["writes"].endswith(
        " workloads, sustained and burst, each with half of the budget"
    )
    # A budget that is long enough changes nothing.
    long = answer_of([*words[:-3], "30m", "--check", "20"], capsys)
    assert (long["budget_workloads"], long["drive_seconds"]) == (None, without["drive_seconds"])


def test_how_many_measurements_are_allowed_is_said_once(watched: Path, capsys) -> None:
    for count in ("9", "5001", "1000000"):
        assert cli.main(["model", "./bench.bin", "--measurements", count, "--dry-run"]) == 2
        assert "a whole number from 10 to 5000" in capsys.readouterr().err


def test_where_only_the_drive_knows_how_long(watched: Path, capsys) -> None:
    words = ["./bench.bin", "--size", "8MiB", "--requests", "100", "--warmup", "0s"]
    words += ["--design", "huang2011:20", "--no-sweeps"]
    answer = answer_of(words, capsys)
    assert answer["drive_seconds"] is None
    assert 1 / 2 < answer["written_bytes"] / (20 * 100 * MEAN_WRITTEN_BYTES) < 2
    assert answer["written_bytes_per_100_mb_per_s"] == 0
    lines = shown(words, capsys)
    assert lines["time"].startswith("unknown: the drive decides how long its requests take")
    assert lines["endurance"].endswith("is not known; --endurance SIZE gives it")
    assert everything_below(watched) == {}


def test_somebody_elses_file_is_only_read(watched: Path, capsys) -> None:
    file = watched / "data.bin"
    file.write_bytes(os.urandom(2 * MIB))
    before = everything_below(watched)
    words = ["data.bin", "--design", "huang2011:20"]
    answer = answer_of(words, capsys)
    assert "was not made by Drivelab and is only read" in answer["write_refusal"]
    assert answer["left_out_workloads"] > 14980 - 140 - 1
    assert (answer["file_bytes"], answer["block_bytes_assumed"]) == (0, False)
    assert (answer["written_bytes"], answer["written_bytes_per_100_mb_per_s"]) == (0, 0)
    assert shown(words, capsys)["written"] == "nothing"
    allowed = answer_of([*words, "--allow-destructive", str(file)], capsys)
    assert allowed["write_refusal"] is None
    moved = allowed["drive_seconds"] * 100e6
    assert 1 / 3 < allowed["written_bytes_per_100_mb_per_s"] / moved < 2 / 3
    assert everything_below(watched) == before


@pytest.mark.parametrize("state", ["ready", "filling"])
def test_a_file_that_drivelab_made_is_known(drive_folder: Path, state: str) -> None:
    path = drive_folder / f"kept-{state}.bin"
    open_target_file(path, size_bytes=2 * MIB, keep=True).close()
    side = Path(f"{path}.drivelab.json")
    text = json.loads(side.read_text())
    left = text["left"] if state == "ready" else None
    side.write_text(json.dumps({**text, "state": state, "left": left}))
    before = everything_below(drive_folder)
    preview = preview_real_drive(str(path))
    assert preview.write_refusal is None
    # A killed run left it half written: the next one fills it again.
    assert preview.file_bytes == (2 * MIB if state == "filling" else 0)
    assert preview.capacity_bytes == 2 * MIB
    assert everything_below(drive_folder) == before
    for left in (path, side):
        left.unlink()


def test_a_preview_allows_what_the_drive_allows(
    drive_folder: Path, require_tool: Callable[[str], Path]
) -> None:
    """On a file that is there the opened drive and the preview refuse in the same words."""
    require_tool("fio")
    path = drive_folder / "compared.bin"
    path.write_bytes(os.urandom(4 * MIB))
    asked = [
        Characteristics(),
        WRITE,
        Characteristics(write_ratio=0.3),
        Characteristics(read_size=512, read_stride=512, read_random=0.0),
        Characteristics(read_size=1536),
        Characteristics(read_size=8 * MIB),
        Characteristics(queue_depth=40_000),
    ]
    for allow in (None, str(path)):
        preview = preview_real_drive(str(path), allow_destructive=allow)
        with open_real_drive(str(path), allow_destructive=allow) as drive:
            assert preview.capacity_bytes == drive.capacity_bytes
            assert preview.block_bytes == drive.block_bytes
            for workload in asked:
                assert refusal_of(preview.check, workload) == refusal_of(drive.check, workload)
    path.unlink()


def refusal_of(check: Callable[[Characteristics], None], workload: Characteristics) -> str | None:
    try:
        check(workload)
    except UsageError as error:
        return str(error)
    return None


def test_a_block_device_is_only_read(
    drive_folder: Path, require_tool: Callable[[str], Path]
) -> None:
    losetup = require_tool("losetup")
    image = drive_folder / "image"
    image.write_bytes(os.urandom(4 * MIB))
    words = [losetup, "--find", "--show", image]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode:
        pytest.skip(f"needs a loop device (root): {result.stderr.strip()}")
    device = result.stdout.strip()
    before = image.read_bytes()
    try:
        preview = preview_real_drive(device)
        assert preview.capacity_bytes == 4 * MIB
        assert preview.block_bytes >= 512
        assert not preview.block_assumed
        with pytest.raises(CannotAnswerError, match="--allow-destructive"):
            preview.check(WRITE)
        with pytest.raises(UsageError, match="--size and --keep are for files"):
            preview_real_drive(device, size_bytes=MIB)
    finally:
        subprocess.run([losetup, "--detach", device], check=True)
    assert image.read_bytes() == before
    image.unlink()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["./bench.bin", "--endurance", "1TB"], "--endurance has no effect without --dry-run"),
        (
            ["sim:x25m", "--dry-run", "--endurance", "1TB"],
            "it is for real drives; a preset says its own",
        ),
        (
            ["./bench.bin", "--dry-run", "--workers", "2"],
            "--workers has no effect on ./bench.bin",
        ),
        (["./bench.bin", "--dry-run", "--size", "1KiB"], "--size must be a multiple of 4 KiB and"),
        (["nonsense", "--dry-run"], "there is no drive 'nonsense'"),
        (["/nowhere/bench.bin", "--dry-run"], "/nowhere is not a folder"),
        (["sim:x25m", "--dry-run", "--design", "none.csv"], "there is no file none.csv"),
        (["sim:x25m", "--dry-run", "--design", "huang2011:3"], "at least 5 distinct workloads"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, words, said: str, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["model", *words]) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert complaint.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
