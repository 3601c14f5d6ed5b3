"""The tasks for newcomers can be done with what their page says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from manual.first_tasks import TARGET, Done, Task, carry_out, tasks, with_table

PAGE = TARGET.read_text(encoding="utf-8")
MEASURE, COMPARE, CHANGE = tasks(PAGE)


def number(printed: str, label: str) -> float:
    """Give the first number behind a label."""
    found = re.search(rf"^{label} +([\d.,]+)", printed, re.M)
    assert found, printed
    return float(found[1].replace(",", ""))


def test_a_file_is_measured(drive_folder: Path, require_tool: Callable[[str], Path]) -> None:
    require_tool("fio")
    (printed,) = carry_out(MEASURE, drive_folder).printed
    assert number(printed, "latency") > 0
    assert number(printed, "95 % half-width") >= 0
    assert not (drive_folder / "bench.bin").exists()


def test_two_drives_are_compared(tmp_path: Path) -> None:
    _, ranked = carry_out(COMPARE, tmp_path).printed
    # A read of single-level cells takes half as long.
    assert ranked.index("sim:slc-a") < ranked.index("sim:mlc-a")


def test_more_spare_flash_makes_random_writes_faster(tmp_path: Path) -> None:
    little, much = carry_out(CHANGE, tmp_path).printed
    assert number(much, "write amplification") < number(little, "write amplification")
    assert number(much, "throughput") > number(little, "throughput")


def test_a_command_that_fails_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="drivelab measure sim:none"):
        carry_out(Task("A task", {}, [["measure", "sim:none"]]), tmp_path)


def test_the_page_shows_how_many_commands_each_takes() -> None:
    rows = re.findall(r"^\| (\w[^|]+) \| (\d+) \| (\d+) \| [\d.]+ \| \d+ s \|$", PAGE, re.M)
    shown = [(title, int(commands), int(files)) for title, commands, files in rows]
    assert shown == [(each.title, len(each.commands), len(each.files)) for each in tasks(PAGE)]
    again = with_table(PAGE, [Done([], 90.0, 5.4)] * 3)
    assert f"| {MEASURE.title} | 1 | 0 | 1.5 | 5 s |" in again
    assert tasks(again) == tasks(PAGE)
