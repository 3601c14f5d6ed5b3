"""What was measured, on disk: one folder a run, safe against kills.

::

    RUN/run.sqlite   the header, and one row a measurement in the order of the design
    RUN/run.lock     held while a process measures into the run
    RUN/...          what others make of it: models, tables, a report

SQLite keeps a write-ahead log, so a killed process loses nothing that `RunStore.append`
returned from; with ``durable`` that also holds for a machine that loses power. Values are
JSON-able dictionaries: what they mean is the business of whoever stores them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

from drivelab.errors import RunError, UsageError

LAYOUT: Final = 2
DATABASE: Final = "run.sqlite"
_LOCK: Final = "run.lock"
# "DLab"; SQLite keeps it at a fixed place in the file, so a foreign database is told apart.
_APPLICATION_ID: Final = 0x444C6162
_SCHEMA: Final = """
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE measurement (position INTEGER PRIMARY KEY, result TEXT NOT NULL) STRICT;
"""
_OUT_OF_SPACE: Final = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
}
# SQLITE_ERROR is about tables and formats that a run would have.
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_NO_SPACE: Final = {errno.ENOSPC, errno.EDQUOT}


def is_run(path: Path) -> bool:
    """Tell whether `path` is a folder with a run in it, without opening it."""
    return (path / DATABASE).is_file()


class RunStore:
    """A run's header and measurements.

    Made by `create`, `resume` (both hold the lock and may append) or `open` (reads only,
    also while another process measures). A context manager.

    Attributes
    ----------
    path
        The run's folder.
    header
        What identifies the run, as given to `create`.
    """

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        header: dict[str, Any],
        lock: IO[bytes] | None,
    ) -> None:
        self.path = path
        self.header = header
        self._connection = connection
        self._lock = lock

    @classmethod
    def create(cls, path: Path, header: dict[str, Any], *, durable: bool = False) -> RunStore:
        """Start a run in a folder that is new or empty.

        Parameters
        ----------
        path
            The folder; its parents are made.
        header
            JSON-able; what identifies the run.
        durable
            Every `append` reaches the medium before it returns (real drives).

        Raises
        ------
        UsageError
            When there is a run already, or anything else.
        RunError
            When the disk is full or another process is at it.
        """
        store = cls.resume_or_create(path, header, durable=durable)
        if store.done() or store.header != _through_json(header):
            store.close()
            raise UsageError(f"{path} holds a run already; choose another folder")
        return store

    @classmethod
    def resume(cls, path: Path, *, durable: bool = False) -> RunStore:
        """Open a run to append to it; errors as in `open` and `create`."""
        if not is_run(path):
            raise _no_run(path)
        return cls._open_for_writing(path, None, durable=durable)

    @classmethod
    def resume_or_create(
        cls, path: Path, header: dict[str, Any], *, durable: bool = False
    ) -> RunStore:
        """Open a run to append to it, or start it with `header` when there is none."""
        with _refused(path, "made"):
            _make_folder(path)
        return cls._open_for_writing(path, header, durable=durable)

    @classmethod
    def _open_for_writing(
        cls, path: Path, header: dict[str, Any] | None, *, durable: bool
    ) -> RunStore:
        lock = _take_lock(path)
        try:
            with _told(path):
                connection = sqlite3.connect(path / DATABASE, isolation_level=None)
            try:
                with _told(path):
                    stored = _prepare(connection, path, header, durable=durable)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.close()
            raise
        return cls(path, connection, stored, lock)

    @classmethod
    def open(cls, path: Path) -> RunStore:
        """Open a run to read it.

        Raises
        ------
        UsageError
            When the folder is no run, or one of another layout.
        RunError
            When the database is damaged.
        """
        if not is_run(path):
            raise _no_run(path)
        with _told(path):
            address = f"{(path / DATABASE).resolve().as_uri()}?mode=ro"
            connection = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            with _told(path):
                header = _read_header(connection, path)
        except BaseException:
            connection.close()
            raise
        return cls(path, connection, header, None)

    def done(self) -> set[int]:
        """Give the positions that are stored."""
        with _told(self.path):
            rows = self._connection.execute("SELECT position FROM measurement").fetchall()
        return {position for (position,) in rows}

    def append(self, measurement: dict[str, Any], index: int) -> None:
        """Store a measurement at its position in the design; it is kept when this returns.

        Raises
        ------
        RunError
            When the disk is full; what was stored before is kept.
        ValueError
            When the position is taken, or the value is not JSON-able.
        """
        text = json.dumps(measurement, sort_keys=True, separators=(",", ":"), allow_nan=False)
        with _told(self.path):
            try:
                self._connection.execute("INSERT INTO measurement VALUES (?, ?)", (index, text))
            except sqlite3.IntegrityError as error:
                raise ValueError(f"position {index} is stored already") from error

    def measurements(self) -> Iterator[dict[str, Any]]:
        """Give every stored measurement, ordered by position."""
        with _told(self.path):
            rows = self._connection.execute("SELECT result FROM measurement ORDER BY position")
            for (text,) in rows:
                yield _parse(text, self.path)

    def close(self) -> None:
        """Close the database and give up the lock."""
        if self._lock is not None:
            # Folded back, a finished run is one plain file that can be copied. A reader may
            # hold it open: then the log stays beside it, which is as good.
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


def _make_folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file; a run is a folder, choose another name")
    if path.is_dir() and not is_run(path):
        others = sorted(entry.name for entry in path.iterdir() if entry.name != _LOCK)
        if others:
            raise UsageError(
                f"{path} holds {others[0]} and no run; choose a new or an empty folder"
            )
    for parent in path.parents:
        if parent.exists() and not parent.is_dir():
            raise UsageError(f"{path} cannot be made: {parent} is a file, not a folder")
    path.mkdir(parents=True, exist_ok=True)


@contextlib.contextmanager
def _refused(path: Path, what: str) -> Iterator[None]:
    """Tell why a folder cannot be made or written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _NO_SPACE:
            raise RunError(f"no space left for {path}; free some space") from error
        raise UsageError(f"{path} cannot be {what}: {reason}; choose another folder") from error


def _take_lock(path: Path) -> IO[bytes]:
    with _refused(path, "written"):
        lock = (path / _LOCK).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise RunError(
            f"another process is measuring into {path}; wait for it or choose another folder"
        ) from error
    return lock


def _prepare(
    connection: sqlite3.Connection, path: Path, header: dict[str, Any] | None, *, durable: bool
) -> dict[str, Any]:
    empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    # A process killed while it created the run leaves an empty database.
    fresh = empty and connection.execute("PRAGMA application_id").fetchone() in ((0,), None)
    if fresh and header is None:
        raise _no_run(path)
    if not fresh:
        _check_layout(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    if fresh and header is not None:
        _write_header(connection, header)
    return _read_header(connection, path)


def _write_header(connection: sqlite3.Connection, header: dict[str, Any]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in _SCHEMA.strip().split(";\n"):
        connection.execute(statement.removesuffix(";"))
    connection.executemany(
        "INSERT INTO run VALUES (?, ?)",
        [(key, json.dumps(value, sort_keys=True)) for key, value in sorted(header.items())],
    )
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {LAYOUT}")
    connection.execute("COMMIT")


def _check_layout(connection: sqlite3.Connection, path: Path) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    if application_id != _APPLICATION_ID:
        raise UsageError(f"{path / DATABASE} is a database, but not a run of Drivelab")
    if layout < LAYOUT:
        raise UsageError(
            f"{path} was written by an older Drivelab (layout {layout}, this one reads {LAYOUT}): "
            "measure again into another folder"
        )
    if layout > LAYOUT:
        raise UsageError(
            f"{path} was written by a newer Drivelab (layout {layout}, this one reads "
            f"{LAYOUT}); update Drivelab"
        )


def _read_header(connection: sqlite3.Connection, path: Path) -> dict[str, Any]:
    _check_layout(connection, path)
    rows = connection.execute("SELECT key, value FROM run ORDER BY key").fetchall()
    return {key: _parse(value, path) for key, value in rows}


def _parse(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise damaged(path, "a value is no JSON") from error


def _through_json(value: dict[str, Any]) -> Any:
    return json.loads(json.dumps(value))


def _no_run(path: Path) -> UsageError:
    if not path.exists():
        return UsageError(f"{path} does not exist; a run is a folder made by `drivelab model`")
    return UsageError(f"{path} is no run: it has no {DATABASE}, as `drivelab model` makes it")


def damaged(path: Path, reason: str) -> RunError:
    """Give the error that a run's database holds something that no run would."""
    return RunError(
        f"{path / DATABASE} is damaged ({reason}); restore it from a copy, or move the folder "
        "away and measure again"
    )


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Tell what SQLite says in our words."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        # Without a code it comes from the driver, about what it read.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        if code in _OUT_OF_SPACE:
            raise RunError(
                f"no space left for {path / DATABASE}; free some space (what was measured "
                "before is kept)"
            ) from error
        if code & 0xFF in _DAMAGED:
            raise damaged(path, str(error).partition(" with text ")[0]) from error
        raise RunError(f"{path / DATABASE} cannot be used: {error}") from error
    except UnicodeDecodeError as error:
        raise damaged(path, "it holds what is no text") from error
