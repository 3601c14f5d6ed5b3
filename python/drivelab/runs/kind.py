"""What runs there are, in their headers and in words; an investigation says which is its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from drivelab.runs.columns import Rows
from drivelab.store import RunStore


def _as_it_is(header: Mapping[str, Any]) -> Mapping[str, Any]:
    return header


@dataclass(frozen=True)
class RunKind:
    """A kind of run.

    Attributes
    ----------
    command
        The command of Drivelab that makes such runs: the header's ``kind``. Headers of campaigns
        have no ``kind``.
    what
        Such a run in words: ``campaign``.
    one, many
        What it keeps: ``measurement``, ``measurements``.
    compared
        The parts of the header that have to agree before a run goes on; everything else in the
        header is for the reader.
    rows
        Gives what a run exports, a row for each of its measurements.
    as_compared
        Gives a header as it is compared: what an older version did not say, or what may change.
    """

    command: str
    what: str
    one: str
    many: str
    compared: tuple[str, ...]
    rows: Callable[[RunStore], Rows]
    as_compared: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _as_it_is
