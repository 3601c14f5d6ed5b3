"""A simulated drive's state in a file: a line of JSON on the steps before it, then its bytes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from drivelab.bounded_json import UnreadableJsonError, parse_json
from drivelab.whole_file import whole_file

_SUM: Final = "sha256"
_MOST_HEAD_BYTES: Final = 2**24


def write_state(path: Path, head: dict[str, Any], state: bytes) -> None:
    """Write a state and the steps before it.

    Raises
    ------
    OSError
        If it cannot be written; an older file stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    line = {**head, _SUM: _sum_of(head, state)}
    with whole_file(path) as file:
        file.write(json.dumps(line, sort_keys=True).encode() + b"\n")
        file.write(state)


def read_state(path: Path) -> tuple[dict[str, Any], bytes] | None:
    """Return what a file contains; None if it is missing or incomplete."""
    try:
        with path.open("rb") as file:
            head = _head_of(file.readline(_MOST_HEAD_BYTES))
            state = file.read()
    except OSError:
        return None
    if head is None or head.pop(_SUM, None) != _sum_of(head, state):
        return None
    return head, state


def read_state_head(path: Path) -> dict[str, Any] | None:
    """Return the steps before a state, without reading the state."""
    try:
        with path.open("rb") as file:
            return _head_of(file.readline(_MOST_HEAD_BYTES))
    except OSError:
        return None


def _sum_of(head: dict[str, Any], state: bytes) -> str:
    """Return a checksum of both: the steps before a state go into journals."""
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode() + b"\n")
    digest.update(state)
    return digest.hexdigest()


def _head_of(line: bytes) -> dict[str, Any] | None:
    try:
        head = parse_json(line)
    except UnreadableJsonError:
        return None
    return head if isinstance(head, dict) else None
