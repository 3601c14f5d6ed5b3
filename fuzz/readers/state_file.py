"""Saved states of tests on simulated drives: complete, or none."""

from __future__ import annotations

from drivelab.pts.state_file import read_state, read_state_head, write_state
from fuzz.reader import Reader, file_of, scratch


def _check(data: bytes) -> None:
    path = file_of("state", data)
    head = read_state_head(path)
    found = read_state(path)
    if found is None:
        return
    assert head is not None
    assert found[0].items() <= head.items()
    again = scratch() / "again"
    write_state(again, *found)
    assert read_state(again) == found


def _seeds() -> list[bytes]:
    path = scratch() / "state-seed"
    seeds = []
    for head, state in (({"step": 3, "of": ["a", 0.5]}, b"DRIVELAB STATE"), ({}, b"")):
        write_state(path, head, state)
        seeds.append(path.read_bytes())
    return seeds


READER = Reader("state_file", ("drivelab.pts.state_file",), _check, _seeds)
