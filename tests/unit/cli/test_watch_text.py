"""The screen fits its window, whatever is watched; a line summarises the second."""

from __future__ import annotations

import sys

import pytest
from made_watched import about, counted_second, watched

from drivelab.cli.watch_text import line, screen
from drivelab.live.state import state

WATCHED = {
    "ssd": state(about(), watched(collecting=3)),
    "many dies": state(about(), watched(channels=16, units=1024)),
    "many channels": state(about(), watched(channels=64, units=64)),
    "array": state(about("raid0", 4), watched(channels=40, units=80)),
    "disk": state(about("hdd"), watched(disks=1)),
    "disks": state(about("raid0", 5), watched(disks=5)),
    "idle": state(about(), watched() | {"second": counted_second()}),
    "without a drive": state(about(), watched() | {"stretch": None}),
}


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (20, 3), (200, 60)])
@pytest.mark.parametrize("name", WATCHED)
def test_a_screen_fits(name: str, size: tuple[int, int]) -> None:
    columns, lines = size
    of = WATCHED[name]
    text = screen(of, [of["row"]] * 90, columns, lines)
    assert len(text) <= lines
    assert max(map(len, text)) <= columns


@pytest.mark.parametrize("name", WATCHED)
def test_80_columns_and_24_lines_hold_everything(name: str) -> None:
    of = WATCHED[name]
    text = screen(of, [of["row"]] * 90, 80, 23)
    whole = screen(of, [of["row"]] * 90, 1000, None)
    # Only rows of dies are put together.
    busy = next((place for place, each in enumerate(whole) if each.startswith("busy")), len(whole))
    above = [each[:40] for each in whole[:busy] if not each.startswith(("IOPS", "latency"))]
    assert [each[:40] for each in text[:busy] if not each.startswith(("IOPS", "latency"))] == above


def test_ssd_says_what_its_channels_and_dies_did() -> None:
    text = screen(WATCHED["ssd"], [WATCHED["ssd"]["row"]], 80, 23)
    assert any(each.split() == ["bus", *["25"] * 10] for each in text)
    assert any(each.split() == ["die", "1", *["50"] * 10] for each in text)
    assert any("waits for writes in 3 of 20 planes" in each for each in text)


def test_a_terminal_without_blocks_gets_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain:
        encoding = "ascii"

    monkeypatch.setattr(sys, "stdout", Plain())
    assert "\n".join(screen(WATCHED["ssd"], [WATCHED["ssd"]["row"]] * 5, 80, 23)).isascii()


def test_a_line_is_a_second() -> None:
    assert line(WATCHED["ssd"]) == (
        "7.00 s: 3.00 IOPS, 0.01 MB/s, read 99 % 2.00 ms, late 99 % 500 ns, "
        "write amplification 1.25, 80 free blocks"
    )
    assert line(WATCHED["idle"]) == (
        "7.00 s: 0.00 IOPS, 0.00 MB/s, write amplification 1.25, 80 free blocks"
    )
