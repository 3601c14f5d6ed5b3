"""A model of your own firmware gives its time in the simulator, and that of no other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_firmware_model import FIRMWARE, made_firmware_model

from drivelab.cli.main import main
from drivelab.firmware.own import library_of
from drivelab.firmware_model.model import own_mapping
from drivelab.firmware_model.model_file import write_firmware_model

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "firmware"
SOURCE = EXAMPLES / "hot_cold.c"
#: A drive of 48 MiB, which collects as no model knows it.
DRIVE = """base = "lee2021-znand"
name = "small"

[geometry]
channels = 2
ways_per_channel = 1
dies_per_way = 1
blocks_per_plane = 64
pages_per_block = 32
user_capacity_bytes = 50_331_648

[collection]
policy = "fifo"
reserve_blocks_per_plane = 4
stop_blocks_per_plane = 6

[firmware]
time = "learned:mine.json"
"""
WORDS = ["simulate", "sim:drive.toml", "--read-size", "16k", "--read-random", "1", "--queue-depth"]
WORDS += ["1", "--requests", "300"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "built").mkdir()
    _, sha256 = library_of(SOURCE, tmp_path / "built")
    own = replace(
        FIRMWARE, name="hot_cold", mapping=own_mapping(sha256), victim="own", map_bytes=1 << 14
    )
    write_firmware_model(tmp_path / "mine.json", made_firmware_model(firmware=own))
    (tmp_path / "drive.toml").write_text(DRIVE)
    return tmp_path


def refusal(capsys: pytest.CaptureFixture[str], words: list[str]) -> str:
    capsys.readouterr()
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


def test_its_costs_are_charged_where_it_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--firmware", str(SOURCE), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    # The other reads came from the controller's memory.
    lookups = values["firmware_counts"]["map_lookups"]
    assert 250 < lookups <= 300
    parts = values["streams"][0]["operations"]["read"]["latency_parts"]
    # A command, a page, 16 KiB and most often a page of the flash, at 1200 MHz.
    expected = (1_000 / 1.2 + 500) + (17 + lookups / 300) * (100 / 1.2 + 50)
    assert parts["firmware"]["latency_ns_mean"] == pytest.approx(expected, abs=1)
    assert values["flash"]["core_busy_ns"] == pytest.approx(300 * expected, abs=300)


def test_another_source_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = folder / "hot_cold.c"
    other.write_text(SOURCE.read_text() + "\n")
    said = refusal(capsys, [*WORDS, "--firmware", str(other)])
    assert "was trained with another source of hot_cold than hot_cold.c" in said


@pytest.mark.parametrize(
    "words", [WORDS, ["measure", "sim:drive.toml"], ["firmware", "cores", "sim:drive.toml"]]
)
def test_the_packages_firmware_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    said = refusal(capsys, words)
    assert "is of your firmware hot_cold, and here the package's runs" in said
    assert "`drivelab simulate --firmware hot_cold.c`" in said


def test_a_library_does_not_say_what_it_was_made_of(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capsys, [*WORDS, "--firmware", "built/hot_cold.so"])
    assert "hot_cold" in said
    assert "--firmware hot_cold.c" in said


def test_a_model_of_the_packages_firmware_refuses_ones_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = made_firmware_model(firmware=replace(FIRMWARE, map_bytes=1 << 14))
    write_firmware_model(folder / "other.json", model)
    text = DRIVE.replace("mine.json", "other.json").replace('policy = "fifo"', 'policy = "greedy"')
    (folder / "drive.toml").write_text(text)
    for firmware in (str(SOURCE), "built/hot_cold.so"):
        said = refusal(capsys, [*WORDS, "--firmware", firmware])
        assert "is of the page-map firmware, not of hot_cold" in said


def test_a_drive_of_another_page_size_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = DRIVE.replace("[geometry]", "[geometry]\npage_size_bytes = 8_192")
    (folder / "drive.toml").write_text(text.replace("50_331_648", "25_165_824"))
    said = refusal(capsys, [*WORDS, "--firmware", str(SOURCE)])
    assert "geometry.page_size_bytes: the drive has 8 KiB" in said


@pytest.mark.parametrize("suffix", ["c", "rs"])
def test_a_source_is_simulated_without_a_model_too(
    folder: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    text = DRIVE.replace('time = "learned:mine.json"', 'time = "free"')
    (folder / "drive.toml").write_text(text)
    words = [*WORDS, "--write-ratio", "1", "--write-size", "16k", "--json"]
    assert main([*words, "--firmware", str(EXAMPLES / f"hot_cold.{suffix}")]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["firmware_counts"]["hot_writes"] + values["firmware_counts"]["cold_writes"] == 300


def test_a_source_that_does_not_compile_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = folder / "wrong.c"
    wrong.write_text("int x = ;\n")
    assert "wrong.c does not compile" in refusal(capsys, [*WORDS, "--firmware", str(wrong)])
    assert "there is no firmware none.c" in refusal(capsys, [*WORDS, "--firmware", "none.c"])
