"""Preconditioned states that runs share: found by history, limited, never a reason to fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from drivelab.pts import shared_states
from drivelab.pts.shared_states import SharedStates
from drivelab.pts.state_file import read_state_head, write_state

ENTRIES = [{"action": {"kind": "purge"}, "result": None}]


def about(number: int) -> dict[str, int]:
    return {"drive": number}


def put(states: SharedStates, number: int, size_bytes: int = 1000) -> None:
    states.put(about(number), f"sim:{number}", ENTRIES, bytes([number]) * size_bytes)
    # Times of files may be as coarse as a second.
    for each in states.kept():
        if each.drive == f"sim:{number}":
            os.utime(each.path, (number, number))


def test_a_state_is_found_by_what_it_follows_alone(tmp_path: Path) -> None:
    states = SharedStates(tmp_path / "states")
    put(states, 1)
    assert states.get(about(1)) == (ENTRIES, bytes([1]) * 1000)
    assert states.get(about(2)) is None


def test_another_program_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    states = SharedStates(tmp_path / "states")
    put(states, 1)
    monkeypatch.setattr(shared_states, "_program", lambda: "another build")
    assert states.get(about(1)) is None


def test_what_was_not_used_for_longest_makes_room(tmp_path: Path) -> None:
    # A state of 1000 bytes takes some hundred more.
    states = SharedStates(tmp_path / "states", 3 * 1500)
    for number in (1, 2, 3):
        put(states, number)
    states.get(about(1))
    put(states, 4)
    assert [each.drive for each in states.kept() if each.drive != "sim:4"] == ["sim:1", "sim:3"]
    put(states, 5, 5000)
    assert states.get(about(5)) is None
    assert states.get(about(4)) is not None


def test_a_damaged_state_and_a_folder_that_cannot_be_are_passed_over(tmp_path: Path) -> None:
    states = SharedStates(tmp_path / "states")
    put(states, 1)
    (kept,) = states.kept()
    kept.path.write_bytes(kept.path.read_bytes()[:-1])
    assert states.get(about(1)) is None
    (tmp_path / "file").write_text("")
    nowhere = SharedStates(tmp_path / "file" / "states")
    put(nowhere, 1)
    assert nowhere.get(about(1)) is None
    assert nowhere.clear() == 0


def test_a_state_with_a_changed_bit_is_passed_over(tmp_path: Path) -> None:
    states = SharedStates(tmp_path / "states")
    put(states, 1)
    (kept,) = states.kept()
    content, found = kept.path.read_bytes(), states.get(about(1))
    assert found is not None
    for place in range(8 * len(content)):
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        kept.path.write_bytes(changed)
        assert states.get(about(1)) is None, place


@pytest.mark.parametrize("entries", [None, 5, {}, [1], [{"action": {}}]])
def test_a_state_whose_entries_are_none_is_passed_over(tmp_path: Path, entries: object) -> None:
    states = SharedStates(tmp_path / "states")
    put(states, 1)
    (kept,) = states.kept()
    write_state(kept.path, {"about": about(1), "drive": "sim:1", "entries": entries}, b"state")
    assert states.get(about(1)) is None


def test_what_a_state_follows_is_in_its_sum(tmp_path: Path) -> None:
    states = SharedStates(tmp_path / "states")
    put(states, 1)
    (kept,) = states.kept()
    head, _, state = kept.path.read_bytes().partition(b"\n")
    kept.path.write_bytes(head.replace(b"purge", b"idled") + b"\n" + state)
    assert read_state_head(kept.path) is not None
    assert states.get(about(1)) is None
