"""The records that firmware and its observers write: one row of numbers per 1000 requests.

::

    observed    {"format": ..., "columns": [...]}     a model of a processor under qemu
                [0, 5211, ...]                        the record, its numbers in order
                {"end": "mark", "records": 2}

    counted     {"record": 0, "requests": 1000, ...}  the firmware's own counts, one object a record
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.bounded_json import UnreadableJsonError, parse_json
from drivelab.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_FORMAT: Final = "drivelab-processor-records"
_VERSION: Final = 1


@dataclass(frozen=True)
class RecordColumn:
    """A number that every record has.

    Attributes
    ----------
    name
        Its key.
    unit
        ``count``, ``cycles``, ``bytes`` or ``ns``.
    how
        How it comes about: ``counted`` exactly as the program did it, ``simulated`` by a model of
        a cache or a predictor, ``derived`` from the others with parameters.
    meaning
        In words; empty for the firmware's own counts, whose names say it.
    """

    name: str
    unit: str
    how: str
    meaning: str = ""


@dataclass(frozen=True)
class RecordLog:
    """What one observer wrote of a workload's records.

    Attributes
    ----------
    columns
        Meaning of each number.
    values
        A row a record, shape (records, columns).
    parameters
        Of the model that observed; empty for the firmware's own counts.
    """

    columns: tuple[RecordColumn, ...]
    values: NDArray[np.float64]
    parameters: dict[str, Any]

    def column(self, name: str) -> NDArray[np.float64]:
        """Return the numbers of one column, shape (records,).

        Raises
        ------
        KeyError
            When there is none of that name.
        """
        names = [each.name for each in self.columns]
        if name not in names:
            raise KeyError(name)
        found: NDArray[np.float64] = self.values[:, names.index(name)]
        return found

    def __len__(self) -> int:
        return len(self.values)


def read_observed(path: Path) -> RecordLog:
    """Read what a model of a processor wrote under qemu.

    Raises
    ------
    RunError
        When there is none, another version wrote it, or a part of it is missing.
    """
    lines = _lines(path)
    head = lines[0]
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise RunError(
            f"{path} contains no records of a processor; run `drivelab firmware profile`"
        )
    if head.get("version") != _VERSION:
        raise RunError(
            f"{path} was written by version {head.get('version')} of the processor models, and "
            f"version {_VERSION} is read; build again, then profile again"
        )
    try:
        columns = tuple(
            RecordColumn(
                str(each["name"]), str(each["unit"]), str(each["how"]), str(each["meaning"])
            )
            for each in head["columns"]
        )
        parameters = dict(head["parameters"])
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path} does not say what its numbers are; profile again") from error
    end, rows = lines[-1], lines[1:-1]
    if not (isinstance(end, dict) and end.get("end") == "mark"):
        raise RunError(f"{path} has no end: the program stopped early; profile again")
    if len(rows) != end.get("records"):
        raise RunError(f"{path} has {len(rows)} records and says {end.get('records')}")
    wide = [isinstance(row, list) and len(row) == 1 + len(columns) for row in rows]
    if not all(wide) or any(row[0] != place for place, row in enumerate(rows)):
        raise RunError(f"{path} has a record out of place; profile again")
    values = np.array([row[1:] for row in rows], dtype=np.float64).reshape(-1, len(columns))
    return RecordLog(columns, values, parameters)


def read_counted(path: Path) -> RecordLog:
    """Read the counts that the firmware program wrote of itself.

    Raises
    ------
    RunError
        If there are none, or lines differ in form.
    """
    return _counted(path, _lines(path))


def read_with_events(path: Path) -> tuple[RecordLog, list[dict[str, Any]]]:
    """Read the same, and of every record the events of the processor that stand with it.

    Raises
    ------
    RunError
        As `read_counted`, or when there are no events.
    """
    lines = _lines(path)
    if not all(isinstance(line, dict) and isinstance(line.get("events"), dict) for line in lines):
        raise RunError(f"{path} contains no events of a processor; build the firmware again")
    return _counted(path, lines), [line["events"] for line in lines]


def _counted(path: Path, lines: list[Any]) -> RecordLog:
    if not all(isinstance(line, dict) and "record" in line for line in lines):
        raise RunError(f"{path} contains no counts of firmware; profile again")
    if any(one.keys() != other.keys() for one, other in pairwise(lines)):
        raise RunError(f"{path} has lines with other counts than the first; profile again")
    if any(line["record"] != place for place, line in enumerate(lines)):
        raise RunError(f"{path} has a record out of place; profile again")
    names = [name for name in lines[0] if name not in ("record", "events")]
    columns = tuple(RecordColumn(name, _unit(name), "counted") for name in names)
    values = np.array([[line[name] for name in names] for line in lines], dtype=np.float64)
    return RecordLog(columns, values, {})


def _unit(name: str) -> str:
    if name.endswith("_ns"):
        return "ns"
    return "bytes" if name.endswith("_bytes") else "count"


def _lines(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            found.append(parse_json(line))
        except UnreadableJsonError as error:
            raise RunError(f"{path} {error} (line {number}); profile again") from error
    if not found:
        raise RunError(f"{path} is empty: the program ended before its first record")
    return found
