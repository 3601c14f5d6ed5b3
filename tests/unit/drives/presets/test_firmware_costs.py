"""A firmware's time by a model's name or file: its costs, and the drives that it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_firmware_model import FIRMWARE, made_firmware_model

from drivelab.drives.naming import open_simulated
from drivelab.drives.presets.source import read_preset
from drivelab.errors import UsageError
from drivelab.firmware_model.model_file import find_firmware_model, write_firmware_model

#: A drive of 48 MiB, whose map has 12 KiB.
SMALL = """base = "lee2021-znand"
name = "small"

[geometry]
channels = 2
ways_per_channel = 1
dies_per_way = 1
blocks_per_plane = 64
pages_per_block = 32
user_capacity_bytes = 50_331_648

[collection]
reserve_blocks_per_plane = 4
stop_blocks_per_plane = 6
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with a model of such drives."""
    model = made_firmware_model(firmware=replace(FIRMWARE, map_bytes=1 << 14))
    write_firmware_model(tmp_path / "model.json", model)
    return tmp_path


def preset(folder: Path, lines: str, name: str = "small.toml") -> str:
    path = folder / name
    path.write_text(f"{SMALL}\n{lines}\n")
    return str(path)


def resolved(folder: Path, lines: str):
    return read_preset(preset(folder, lines)).resolved()


def test_a_learned_time_is_the_models_costs(folder: Path) -> None:
    described, fingerprint = resolved(folder, '[firmware]\ntime = "learned:model.json"')
    firmware = described["firmware"]
    assert (firmware["time"], firmware["cores"], firmware["clock_mhz"]) == ("counted", 4, 1200)
    assert firmware["cost"] == find_firmware_model("model.json", folder).learned.table()
    # Neither name nor place of the file is part of what the drive is.
    (folder / "other.json").write_bytes((folder / "model.json").read_bytes())
    other = resolved(folder, f"[firmware]\ntime = 'learned:{folder}/other.json'")
    assert other == (described, fingerprint)


def test_cores_and_clock_may_be_the_presets_own(folder: Path) -> None:
    described, _ = resolved(folder, '[firmware]\ncores = 7\ntime = "static:model.json" # mine')
    firmware = described["firmware"]
    assert (firmware["cores"], firmware["clock_mhz"]) == (7, 1200)
    assert firmware["cost"]["command_cycles"] == 3000
    assert firmware["cost"]["page_moved_cycles"] == 0


def test_a_drive_may_start_from_one_with_a_model(folder: Path) -> None:
    preset(folder, '[firmware]\ntime = "learned:model.json"', "mine.toml")
    child = folder / "child.toml"
    child.write_text('base = "mine"\nname = "child"\n[firmware]\nclock_mhz = 600\n')
    firmware = read_preset(str(child)).resolved()[0]["firmware"]
    assert (firmware["cores"], firmware["clock_mhz"]) == (4, 600)
    # Another page size needs no model where the firmware is free.
    child.write_text(
        'base = "mine"\nname = "child"\n[firmware]\ntime = "free"\n'
        "[geometry]\npage_size_bytes = 8_192\nuser_capacity_bytes = 25_165_824\n"
    )
    assert "firmware" not in read_preset(str(child)).resolved()[0]


def test_a_drive_without_the_table_is_what_it_was(folder: Path) -> None:
    assert resolved(folder, "") == resolved(folder, '[firmware]\ntime = "free"')


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('time = "learned"', "'learned:page-map|FILE.json'"),
        ('time = "slow"', "allowed: 'free', 'fixed', 'counted', 'static'"),
        ("time = 5", "allowed: 'free', 'fixed', 'counted', 'static'"),
        ("time = ['free']", "allowed: 'free', 'fixed', 'counted', 'static'"),
        ("time = {}", "allowed: 'free', 'fixed', 'counted', 'static'"),
        ('time = "learned:model.json"\ncommand_ns = 5', "firmware.command_ns is not possible"),
        ('time = "free"\ncores = 2', "line 18: firmware.cores = 2 is not possible; allowed: none"),
        ('time = "learned:pagemap"', "did you mean"),
        ('time = "learned:none.json"', "none.json"),
        ('time = "learned:model.json"\n[firmware.cost]\ncommand_cycles = 1', "leave it out"),
        ('time = "learned:model.json"\ncores = 65', "firmware.cores = 65"),
        ('time = "fixed"\ncores = 1', "firmware.command_ns is missing"),
        ("cores = 1", "firmware.time is missing"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(folder: Path, lines: str, said: str) -> None:
    path = preset(folder, f"[firmware]\n{lines}")
    with pytest.raises(UsageError) as refused:
        read_preset(path).resolved()
    assert said in str(refused.value)
    assert str(refused.value).startswith(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('policy = "fifo"', "the drive has fifo, the model was trained with greedy"),
        (
            '[mapping]\nscheme = "demand_cached_page"\ncached_entries = 50\n[buffer]\n'
            "read_cache_bytes = 0",
            "the drive has map on the flash, the model was trained with no map on the flash",
        ),
        ("[compression]\nslot_size_bytes = 4_096", "[compression]: the drive has compression"),
    ],
)
def test_a_model_refuses_a_drive_that_it_does_not_know(folder: Path, lines: str, said: str) -> None:
    path = preset(folder, f"{lines}\n[firmware]\ntime = 'learned:model.json'")
    with pytest.raises(UsageError) as refused:
        read_preset(path)
    assert said in str(refused.value)
    assert "does not fit this drive" in str(refused.value)


@pytest.mark.parametrize(
    ("lines", "is_refused"),
    [
        ("[firmware.cost]\ncommand_cycles = 1", True),
        ("[firmware]\ncores = 2\n[firmware.cost]\ncommand_cycles = 1", True),
        ('[firmware]\ntime = "counted"', True),
        ('[firmware]\ntime = "fixed"\ncommand_ns = 100', False),
        ('[firmware]\ntime = "counted"\n[firmware.cost]\n{all}', False),
    ],
)
def test_costs_that_are_changed_leave_the_model_what_it_is_of(
    folder: Path, lines: str, is_refused: bool
) -> None:
    preset(folder, '[firmware]\ntime = "learned:model.json"', "mine.toml")
    costs = find_firmware_model("model.json", folder).learned.table()
    changed = "\n".join(f"{key} = {value + 1}" for key, value in costs.items())
    child = folder / "child.toml"
    child.write_text(
        'base = "mine"\nname = "child"\n[collection]\npolicy = "fifo"\n'
        + lines.replace("{all}", changed)
    )
    array = folder / "array.toml"
    array.write_text(
        'name = "array"\nkind = "raid0"\nsummary = "two"\nmember = "child"\nmembers = 2\n'
        "stripe_bytes = 65_536\n[variability]\nsigma = 0\noutlier_probability = 0\n"
        "outlier_factor = 1\n"
    )
    for path in (child, array):
        if not is_refused:
            read_preset(str(path)).resolved()
            continue
        with pytest.raises(UsageError, match="the drive has fifo, the model was trained with"):
            read_preset(str(path))


def test_the_error_for_an_array_says_that_its_members_have_the_table(tmp_path: Path) -> None:
    for time in ("learned:page-map", "free", "counted"):
        path = tmp_path / "array.toml"
        path.write_text(
            f'base = "array-x25m"\nname = "array"\n\n[firmware]\ntime = "{time}"\ncores = 3\n'
        )
        with pytest.raises(UsageError) as refused:
            read_preset(str(path)).resolved()
        said = str(refused.value)
        assert "preset array, line 5: an array has no table [firmware]" in said
        assert 'base = "x25m", and name that one as member' in said


def test_a_map_of_another_size_is_refused_with_the_reason(folder: Path) -> None:
    with pytest.raises(UsageError, match="a map more than 16 times as large or small"):
        resolved(folder, '[firmware]\ntime = "learned:page-map"')


def test_the_packages_model_fits_the_papers_drives(tmp_path: Path) -> None:
    for base in ("lee2021-znand", "lee2021-conventional"):
        path = tmp_path / "timed.toml"
        path.write_text(f'base = "{base}"\nname = "timed"\n[firmware]\ntime = "learned:page-map"\n')
        assert read_preset(str(path)).resolved()[0]["firmware"]["cores"] == 4


def test_simulated_requests_wait_for_the_firmware(folder: Path) -> None:
    from drivelab.workloads.characteristics import Characteristics

    workload = Characteristics(read_size=16_384, queue_depth=1, read_random=1.0)
    parts = {}
    for time in ("free", "learned:model.json"):
        path = preset(folder, f"[firmware]\ntime = '{time}'")
        with open_simulated(f"sim:{path}") as drive:
            values = drive.simulate(workload, requests=300).values
        (stream,) = values["streams"]
        parts[time] = stream["operations"]["read"]["latency_parts"]
        busy_ns = values["flash"]["core_busy_ns"]
    assert "firmware" not in parts["free"]
    # A command, a page, 16 KiB, and a page of the flash unless memory has it.
    picos = (1_000 / 1.2 + 500) + 17 * (100 / 1.2 + 50)
    longest = round(picos + 100 / 1.2 + 50)
    firmware = parts["learned:model.json"]["firmware"]
    assert firmware["latency_ns_max"] == longest
    assert picos <= firmware["latency_ns_mean"] <= longest
    assert busy_ns == pytest.approx(300 * firmware["latency_ns_mean"])
