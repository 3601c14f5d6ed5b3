"""A run's database: its layout, and what SQLite says in our words.

Every value carries a checksum with its key, because SQLite keeps none: a flipped bit in a
number would be another number.
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
from drivelab.store.folder import DATABASE, files_beside

LAYOUT: Final = 2
# The smallest page that SQLite knows.
_SMALLEST_BYTES: Final = 512
# "DLab"; SQLite keeps it at a fixed place in the file, so a foreign database is told apart.
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
# SQLITE_ERROR is about tables and formats that a run would have.
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
# A log that a killed process left can only be read where it can be folded back.
_NOT_WRITABLE: Final = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


class EmptyRunError(UsageError):
    """A run of which nothing was made yet: its making was cut short."""


class OtherLayoutError(UsageError):
    """A run, but of another version of Drivelab."""


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open the database of a run to read it.

    Raises
    ------
    UsageError
        When it is none of ours, or one of another layout.
    RunError
        When it is damaged.
    """
    with told(path):
        _refuse_stump(path)
        address = f"{(path / DATABASE).resolve().as_uri()}?mode=ro"
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        with _closed_on_error(connection):
            _check(connection, path)
    return connection


def open_to_write(path: Path, header: dict[str, Any], *, durable: bool) -> sqlite3.Connection:
    """Open the database of a run to add to it, or make it with this header; errors as above."""
    with told(path):
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
    """Read what a run was made with."""
    with told(path):
        rows = connection.execute("SELECT key, value, checksum FROM run ORDER BY key")
        return {key: unsealed(path, key, text, checksum) for key, text, checksum in rows}


def sealed(key: str | int, value: Any) -> tuple[str, int]:
    """Give a value as text, and the checksum that ties it to its key.

    Raises
    ------
    ValueError
        When it is not JSON-able.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text, _checksum(key, text)


def unsealed(path: Path, key: str | int, text: str, checksum: int) -> Any:
    """Read what `sealed` made.

    Raises
    ------
    RunError
        When it is not what was written.
    """
    if _checksum(key, text) != checksum:
        raise damaged(path, f"the checksum of {key} does not fit")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        # A number of thousands of digits is no other error than one in the syntax.
        raise damaged(path, "a value is no JSON") from error


def _checksum(key: str | int, text: str) -> int:
    return zlib.crc32(f"{key} {text}".encode())


def damaged(path: Path, reason: str) -> DamagedError:
    """Give the error that a run's database holds something that no run would."""
    # SQLite repeats what it found there, whatever a terminal would make of it.
    shown = "".join(each if each.isprintable() else "?" for each in reason)[:200]
    return DamagedError(
        f"{path / DATABASE} is damaged ({shown}); restore it from a copy, or move the folder "
        "away and measure again"
    )


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Tell what SQLite says in our words."""
    try:
        yield
    except sqlite3.IntegrityError:
        # The caller's, who asked for what contradicts what is there.
        raise
    except sqlite3.DatabaseError as error:
        # Without a code it comes from the driver, about what it read.
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
    """Refuse what is no run of this layout, or whose pages do not hang together."""
    # One look: a writer may be making the run between two of them.
    connection.execute("BEGIN")
    empty = _is_empty(connection)
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute("COMMIT")
    if application_id == 0 and empty:
        others = files_beside(path)
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
    """Refuse what is left of a database that was cut short; SQLite would take it for a new one.

    SQLite does not distinguish a file that may not be read from a broken one either.
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
