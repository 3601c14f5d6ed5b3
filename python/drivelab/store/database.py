"""A run's database: its layout, and errors of SQLite in Drivelab's words.

Every value is stored with a checksum over the value and its key. SQLite keeps none, so a flipped
bit in a number would go unnoticed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from drivelab.errors import DamagedError, RunError, UsageError
from drivelab.store.folder import DATABASE, other_files

LAYOUT: Final = 2
# The smallest page size of SQLite.
_SMALLEST_BYTES: Final = 512
# "DLab". SQLite keeps it at a fixed place in the file, so foreign databases are recognised.
_APPLICATION_ID: Final = 0x444C6162
_SCHEMA: Final = (
    "CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL,"
    " checksum INTEGER NOT NULL) STRICT",
    "CREATE TABLE start (number INTEGER PRIMARY KEY, value TEXT NOT NULL,"
    " checksum INTEGER NOT NULL) STRICT",
    "CREATE TABLE measurement (position INTEGER PRIMARY KEY, value TEXT NOT NULL,"
    " checksum INTEGER NOT NULL, start INTEGER, stored_at TEXT NOT NULL) STRICT",
    "CREATE TABLE failure (number INTEGER PRIMARY KEY, value TEXT NOT NULL,"
    " checksum INTEGER NOT NULL) STRICT",
)
_OUT_OF_SPACE: Final = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
}
# SQLITE_ERROR is about missing tables or another format, which a run never has.
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
# A log that a killed process left can only be read if it can be merged into the database.
_NOT_WRITABLE: Final = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


class EmptyRunError(UsageError):
    """A run that contains nothing yet, because the process that made it was killed."""


class OtherLayoutError(UsageError):
    """A run with the layout of another version of Drivelab."""


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open the database of a run for reading.

    Raises
    ------
    UsageError
        When it is not a run's database, or has another layout.
    RunError
        When it is damaged.
    """
    with sqlite_errors(path):
        _refuse_stump(path)
        address = f"{(path / DATABASE).resolve().as_uri()}?mode=ro"
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        with _closed_on_error(connection):
            _check(connection, path)
    return connection


def open_to_write(path: Path, header: dict[str, Any], *, durable: bool) -> sqlite3.Connection:
    """Open the database of a run for writing, or make it with this header; errors as above."""
    with sqlite_errors(path):
        _refuse_stump(path)
        connection = sqlite3.connect(path / DATABASE, isolation_level=None)
        with _closed_on_error(connection):
            # A process killed while it created the run leaves an empty database.
            (application_id,) = connection.execute("PRAGMA application_id").fetchone()
            fresh = application_id == 0 and _is_empty(connection)
            if not fresh:
                _check(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            if fresh:
                _create(connection, header)
    return connection


def read_header(connection: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """Read the header of a run."""
    with sqlite_errors(path):
        rows = connection.execute("SELECT key, value, checksum FROM run ORDER BY key")
        return {key: unsealed(path, key, text, checksum) for key, text, checksum in rows}


def sealed(key: str | int, value: Any) -> tuple[str, int]:
    """Return a value as JSON text, and the checksum of the text and its key.

    Raises
    ------
    ValueError
        When the value cannot be written as JSON.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text, _checksum(key, text)


def unsealed(path: Path, key: str | int, text: str, checksum: int) -> Any:
    """Read a value that `sealed` wrote.

    Raises
    ------
    RunError
        When the text does not fit the checksum.
    """
    if _checksum(key, text) != checksum:
        raise damaged(path, f"the checksum of {key} does not fit")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        # A number of thousands of digits counts as a syntax error.
        raise damaged(path, "a value is not JSON") from error


def _checksum(key: str | int, text: str) -> int:
    return zlib.crc32(f"{key} {text}".encode())


def damaged(path: Path, reason: str) -> DamagedError:
    """Return the error that a run's database is damaged."""
    # SQLite's message may repeat bytes from the file that would act on a terminal.
    shown = "".join(each if each.isprintable() else "?" for each in reason)[:200]
    return DamagedError(
        f"{path / DATABASE} is damaged ({shown}); restore it from a copy, or move the folder "
        "away and measure again"
    )


@contextlib.contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite inside the block into Drivelab's errors."""
    try:
        yield
    except sqlite3.IntegrityError:
        # The caller asked for something that contradicts what is stored.
        raise
    except sqlite3.DatabaseError as error:
        # An error without a code comes from the driver: it could not read a value.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        if code in _OUT_OF_SPACE:
            raise RunError(
                f"no space left for {path / DATABASE}; free some space (what was measured "
                "before is saved)"
            ) from error
        if code & 0xFF in _DAMAGED:
            raise damaged(path, str(error).partition(" with text ")[0]) from error
        if code & 0xFF in _NOT_WRITABLE:
            raise RunError(
                f"{path / DATABASE} cannot be used where it cannot be written ({error}); "
                "allow it, or copy the folder to where it can be"
            ) from error
        raise RunError(f"{path / DATABASE} cannot be used: {error}") from error
    except UnicodeDecodeError as error:
        raise damaged(path, "it contains something that is not text") from error


def _create(connection: sqlite3.Connection, header: dict[str, Any]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO run VALUES (?, ?, ?)",
        [(key, *sealed(key, value)) for key, value in sorted(header.items())],
    )
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {LAYOUT}")
    connection.execute("COMMIT")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is not a run of this layout, or whose pages are inconsistent."""
    # One query: a writer may be creating the run between two.
    connection.execute("BEGIN")
    empty = _is_empty(connection)
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute("COMMIT")
    if application_id == 0 and empty:
        others = other_files(path)
        if others:
            raise damaged(path, f"it is empty, but {others[0]} exists")
        raise EmptyRunError(
            f"{path} contains nothing yet; the same `drivelab model` starts it again"
        )
    if application_id != _APPLICATION_ID:
        raise UsageError(
            f"{path / DATABASE} is a database, but not a run of Drivelab; choose another folder"
        )
    if layout > LAYOUT:
        raise OtherLayoutError(
            f"{path} was written by a newer Drivelab (layout {layout}, this one reads {LAYOUT}); "
            "update Drivelab"
        )
    if layout < LAYOUT:
        raise OtherLayoutError(
            f"{path} was written by an older Drivelab (layout {layout}, this one reads {LAYOUT}): "
            "measure again into another folder"
        )
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise damaged(path, " ".join(str(verdict).split())[:100])


def _refuse_stump(path: Path) -> None:
    """Refuse the rest of a truncated database, which SQLite would take for a new one.

    SQLite also reports an unreadable file as a broken one.
    """
    database = path / DATABASE
    if database.exists() and not os.access(database, os.R_OK):
        raise UsageError(f"{database} cannot be read: permission denied; allow it first")
    if database.exists() and 0 < database.stat().st_size < _SMALLEST_BYTES:
        raise damaged(path, "it was cut short")


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return bool(tables == 0)


@contextlib.contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise
