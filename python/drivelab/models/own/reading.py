"""Files of measurements of any kind that is known: CSV, Parquet, fio's JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from drivelab.errors import UsageError
from drivelab.models.own.csv_table import read_csv
from drivelab.models.own.fio_table import read_fio
from drivelab.models.own.parquet_table import MAGIC, read_parquet
from drivelab.models.own.table import OwnTable

#: Files of one call, at most.
MOST_FILES: Final = 10_000


def read_files(paths: Sequence[Path]) -> OwnTable:
    """Read files into one table, below each other.

    Parameters
    ----------
    paths
        Files; a folder stands for the fio results (``*.json``) in it, in the order of names.

    Raises
    ------
    UsageError
        When one cannot be read, or nothing is in any of them.
    """
    table = OwnTable()
    files = [one for path in paths for one in _files_of(path)]
    if len(files) > MOST_FILES:
        raise UsageError(f"{len(files):,} files; {MOST_FILES:,} are the most: give fewer")
    fio_files = []
    for path in files:
        begin = _begin_of(path)
        if begin.startswith(MAGIC):
            read_parquet(path, table)
        elif path.suffix == ".json" or begin.lstrip().startswith(b"{"):
            fio_files.append(path)
        else:
            read_csv(path, table)
    if fio_files:
        read_fio(fio_files, table)
    return table


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.iterdir() if one.suffix == ".json" and one.is_file())
    if not found:
        raise UsageError(f"the folder {path} contains no fio result (*.json); name a file")
    return found


def _begin_of(path: Path) -> bytes:
    """Return how a regular file begins; nothing if it cannot be read, which is an error later."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(64)
    except (OSError, ValueError):
        return b""
