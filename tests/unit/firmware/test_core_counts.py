"""`drivelab firmware cores`: how many cores, at what clock, before the flash is the limit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli.main import main

#: Two dies that read 4 KiB in 60 us: 33,333 a second. A command takes 120,000 cycles.
DRIVE = """base = "x25m-yoo2014"
name = "two"

[geometry]
channels = 2
ways_per_channel = 1
dies_per_way = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 16
page_size_bytes = 4_096
user_capacity_bytes = 6_291_456
plane_mode = false

[timing]
read_dispatch_ns = 0
read_register_ns = 10_000
read_cell_ns = 50_000

[scheduling]
dispatch = "per_die"

[host]
interface = "free"

[buffer]
write_buffer_bytes = 0

[variability]
sigma = 0

[closed_form]
rho = 2

[firmware]
time = "counted"
cores = 1
clock_mhz = 1000
"""
COSTS = "\n".join(
    f"cost.{name}_{unit} = {120_000 if (name, unit) == ('command', 'cycles') else 0}"
    for name in (
        *("command", "read_page", "written_page", "copied_kib"),
        *("flash_read", "flash_program", "page_moved", "flash_erase"),
    )
    for unit in ("cycles", "memory_ns")
)


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("two.toml").write_text(f"{DRIVE}{COSTS}\n")
    return "sim:two.toml"


READS = ("--read-size", "4k", "--read-random", "1", "--queue-depth", "32", "--requests", "20000")


def found(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main(["firmware", "cores", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_throughput_is_that_of_the_cores_until_the_flash_is_the_limit(
    drive: str, capsys: pytest.CaptureFixture[str]
) -> None:
    values = found(capsys, drive, *READS, "--cores", "1,4", "--clocks", "600,1200,4800")
    flash = values["flash_throughput_iops"]
    assert flash == pytest.approx(2 / 60e-6, rel=0.02)
    assert values["time"] == "the preset's own"
    for tried in values["tried"]:
        cores = tried["cores"] * tried["clock_mhz"] * 1e6 / 120_000
        if cores < flash * 0.95:
            # Limited by cores: as many a second as they are over the cost.
            assert tried["throughput_iops"] == pytest.approx(cores, rel=0.01)
            assert tried["busy_ratio"] == pytest.approx(1, abs=1e-3)
        assert tried["throughput_ratio"] == tried["throughput_iops"] / flash
    # 40,000 a second, by four slow ones or a fast one; the fast one has as many cycles.
    assert values["least"] == {"cores": 1, "clock_mhz": 4800}
    slow = found(capsys, drive, *READS, "--cores", "1", "--clocks", "600")
    assert slow["least"] is None


def test_the_answer_is_a_sentence_and_a_page(
    drive: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("firmware", "cores", drive, *READS, "--cores", "1,4", "--clocks", "1200,4800")
    assert main([*words, "--out", "page"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 core at 4,800 MHz is the least that reaches 95 % of the flash's")
    assert re.search(r"a request takes [0-9.]+ µs on average$", said, re.MULTILINE)
    assert not re.search(r"\bus\b", said)
    assert "Throughput against the clock" in Path("page/report.html").read_text()
    assert main(["firmware", "cores", drive, *READS, "--cores", "1", "--clocks", "600"]) == 0
    assert "None of them reaches 95 %" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cores", "0"), "allowed are 1 to 64 cores"),
        (("--cores", "1,x"), "not a list of numbers"),
        (("--clocks", "5"), "allowed are 10 to 100000 MHz"),
        (("--time", "learned:page-map"), "does not fit this drive"),
        (("--time", "free"), "is not possible"),
        (("--time", "learned:no.json"), "no.json"),
    ],
)
def test_bad_input_is_a_line(
    drive: str, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code: Any = None
    try:
        code = main(["firmware", "cores", drive, *words])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    error = capsys.readouterr().err
    assert said in error


def test_a_fixed_time_has_no_clock(drive: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = "[firmware]\ntime = 'fixed'\ncores = 1\ncommand_ns = 5\n"
    Path("fixed.toml").write_text(DRIVE[: DRIVE.index("[firmware]")] + table)
    assert main(["firmware", "cores", "sim:fixed.toml"]) == 2
    assert "which no clock changes" in capsys.readouterr().err
    assert main(["firmware", "cores", "sim:array-x25m"]) == 2
    assert "not a single SSD" in capsys.readouterr().err
