"""A run's folder with arbitrary texts in it, each with its right checksum.

The first line of an input is the header, a line each what follows is a measurement.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

from drivelab.store import RunStore
from fuzz.reader import scratch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_ENTRIES = 50


@contextlib.contextmanager
def run_of(data: bytes) -> Iterator[RunStore]:
    """Open a run that contains an input."""
    first, *rest = data.decode(errors="surrogateescape").split("\n")
    # What a database holds is text.
    texts = [text.encode(errors="replace").decode() for text in (first, *rest[:_MOST_ENTRIES])]
    with contextlib.closing(_database()) as database:
        database.execute("BEGIN")
        database.execute("DELETE FROM run")
        database.execute("DELETE FROM measurement")
        database.executemany(
            "INSERT INTO run VALUES (?, ?, ?)",
            [_row(key, text) for key, text in _header(texts[0])],
        )
        database.executemany(
            "INSERT INTO measurement VALUES (?, ?, ?, NULL, '')",
            [_row(place, text) for place, text in enumerate(texts[1:]) if text],
        )
        database.execute("COMMIT")
    with RunStore.open(_folder()) as store:
        yield store


def input_of(header: dict[str, Any], entries: Sequence[dict[str, Any]]) -> bytes:
    """Give the input that represents a run."""
    return "\n".join(json.dumps(each) for each in (header, *entries)).encode()


@cache
def _folder() -> Any:
    folder = scratch() / "run"
    RunStore.open_to_append(folder, {}).close()
    return folder


def _database() -> sqlite3.Connection:
    database = sqlite3.connect(_folder() / "run.sqlite", isolation_level=None)
    # It has to survive nothing.
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    return database


def _row(key: str | int, text: str) -> tuple[str | int, str, int]:
    return key, text, zlib.crc32(f"{key} {text}".encode())


def _header(text: str) -> list[tuple[str, str]]:
    try:
        header = json.loads(text)
        return [
            (key.encode(errors="replace").decode(), json.dumps(value))
            for key, value in header.items()
        ]
    except (ValueError, AttributeError, RecursionError):
        # It is no header; some reader is to meet it as one part of a header.
        return [("drive", text)]
