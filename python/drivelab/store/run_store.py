"""A run on disk: its header, starts, measurements and failures."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.store.database import (
    damaged,
    open_to_read,
    open_to_write,
    read_header,
    sealed,
    sqlite_errors,
    unsealed,
)
from drivelab.store.folder import FolderLock, is_run, make_durable, make_folder, no_run


@dataclass(frozen=True)
class Failure:
    """A measurement that failed.

    Attributes
    ----------
    index
        Its position in the design.
    message
        The reason, in one line.
    failed_at
        The time, in ISO 8601.
    workload
        What was to be measured, as the caller stored it.
    """

    index: int
    message: str
    failed_at: str
    workload: dict[str, Any] = field(default_factory=dict)


class RunStore(ClosedOnExit):
    """A run on disk.

    Open it with `open_to_append` (which takes the lock) or with `open` (reads only, even while
    another process measures). It is a context manager.

    Attributes
    ----------
    path
        The run's folder.
    header
        Values that identify the run, as given when it was made.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: FolderLock | None) -> None:
        self.path = path
        self.header = read_header(connection, path)
        self._connection = connection
        self._lock = lock
        self._start: int | None = None

    @classmethod
    def open_to_append(
        cls, path: Path, header: dict[str, Any], *, durable: bool = False
    ) -> RunStore:
        """Open a run to add to it, or make it with `header` if there is none.

        Parameters
        ----------
        path
            The folder: a run, new, or empty. Missing parents are made.
        header
            Identifies a new run; must be writable as JSON. An existing run keeps its own header.
        durable
            Whether every `append` reaches the medium before it returns (for real drives).

        Raises
        ------
        UsageError
            When the folder holds something else, cannot be written, or has another layout.
        RunError
            When the disk is full, another process holds the run, or the database is damaged.
        """
        make_folder(path)
        lock = FolderLock(path)
        try:
            connection = open_to_write(path, header, durable=durable)
            try:
                store = cls(path, connection, lock)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.close()
            raise
        if durable:
            make_durable(path)
        return store

    @classmethod
    def open(cls, path: Path) -> RunStore:
        """Open a run for reading.

        Raises
        ------
        UsageError
            When the folder is not a run, or has another layout.
        RunError
            When the database is damaged.
        """
        if not is_run(path):
            raise no_run(path)
        connection = open_to_read(path)
        try:
            return cls(path, connection, None)
        except BaseException:
            connection.close()
            raise

    def done(self) -> set[int]:
        """Return the positions that have a measurement."""
        return {position for (position,) in self._rows("SELECT position FROM measurement")}

    def measurements(self) -> Iterator[dict[str, Any]]:
        """Yield every stored measurement, ordered by position."""
        rows = self._rows("SELECT position, value, checksum FROM measurement ORDER BY position")
        for position, text, checksum in rows:
            yield unsealed(self.path, position, text, checksum)

    def last(self) -> dict[str, Any] | None:
        """Return the measurement with the highest position; ``None`` if there is none."""
        rows = self._rows(
            "SELECT position, value, checksum FROM measurement ORDER BY position DESC LIMIT 1"
        )
        return next((unsealed(self.path, *row) for row in rows), None)

    def starts(self) -> list[dict[str, Any]]:
        """Return the values that `record_start` stored, in order."""
        rows = self._rows("SELECT number, value, checksum FROM start ORDER BY number")
        return [unsealed(self.path, *row) for row in rows]

    def failures(self) -> list[Failure]:
        """Return the last failure of each position without a measurement, by position."""
        rows = self._rows("SELECT number, value, checksum FROM failure ORDER BY number")
        try:
            every = [Failure(**unsealed(self.path, *row)) for row in rows]
        except TypeError as error:
            raise damaged(self.path, "a failure says something else") from error
        done = self.done()
        last = {failure.index: failure for failure in every if failure.index not in done}
        return [last[index] for index in sorted(last)]

    def begin_again(self, header: dict[str, Any]) -> None:
        """Turn a run without measurements into a new one with this header.

        Raises
        ------
        ValueError
            When it holds measurements, which belong to the old header.
        """
        if self.done():
            raise ValueError("a run with measurements cannot become another one")
        # Failures and starts belong to the old run.
        self._write("DELETE FROM failure", ())
        self._write("DELETE FROM start", ())
        for key, value in sorted(header.items()):
            self._write("INSERT OR REPLACE INTO run VALUES (?, ?, ?)", (key, *sealed(key, value)))
        self.header = header

    def tell(self, values: dict[str, Any]) -> None:
        """Store values in the header; they add to its values or replace them.

        Either all of them are stored or none.

        Raises
        ------
        RunError
            When the disk is full or the folder was moved or deleted.
        """
        for place, (key, value) in enumerate(sorted(values.items())):
            if not place:
                self._write("BEGIN IMMEDIATE", ())
            self._write("INSERT OR REPLACE INTO run VALUES (?, ?, ?)", (key, *sealed(key, value)))
        self._write("COMMIT", ())
        self.header = {**self.header, **values}

    def record_start(self, start: dict[str, Any]) -> None:
        """Store who measures from now on. Measurements refer to their start."""
        (number,) = next(self._rows("SELECT coalesce(max(number), 0) + 1 FROM start"))
        self._write("INSERT INTO start VALUES (?, ?, ?)", (number, *sealed(number, start)))
        self._start = number

    def append(self, measurement: dict[str, Any], index: int) -> None:
        """Store a measurement at its position in the design; it is safe when this returns.

        Raises
        ------
        RunError
            When the disk is full or the folder was moved or deleted; earlier measurements are kept.
        ValueError
            When the position is taken, or the value cannot be written as JSON.
        """
        row = (index, *sealed(index, measurement), self._start, _now())
        try:
            self._write("INSERT INTO measurement VALUES (?, ?, ?, ?, ?)", row)
        except sqlite3.IntegrityError as error:
            raise ValueError(f"position {index} is stored already") from error

    def add_failure(self, index: int, message: str, workload: dict[str, Any]) -> None:
        """Store that the measurement at `index` failed, and why."""
        failure = asdict(Failure(index, message, _now(), workload))
        (number,) = next(self._rows("SELECT coalesce(max(number), 0) + 1 FROM failure"))
        self._write("INSERT INTO failure VALUES (?, ?, ?)", (number, *sealed(number, failure)))

    def close(self) -> None:
        """Close the database and release the lock."""
        if self._lock is not None:
            # Merging the log makes a finished run one plain file that can be copied. If a reader
            # has the database open, the log stays next to it, which does no harm.
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def _rows(self, query: str) -> Iterator[Any]:
        with sqlite_errors(self.path):
            cursor = self._connection.execute(query)
        while True:
            with sqlite_errors(self.path):
                row = cursor.fetchone()
            if row is None:
                return
            yield row

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        if self._lock is not None:
            self._lock.check_in_place()
        with sqlite_errors(self.path):
            self._connection.execute(statement, values)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
