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
class Standing:
    """How far a stored run is, by its header and its journal.

    Attributes
    ----------
    design
        What was asked for, in a few words: ``huang2011:500``, ``pts wsat``.
    seed
        Key of all random numbers; ``None`` where the run does not say.
    is_complete
        Whether everything that was asked for is there.
    planned
        Results of the whole run; ``None`` where each is chosen by those before it and no limit is
        known.
    may_end_sooner
        Whether `planned` is the most that can be, because the run ends once it is sure.
    """

    design: str
    seed: int | None
    is_complete: bool
    planned: int | None
    may_end_sooner: bool = False


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
        The parts of the header that have to agree before a run resumes; everything else in the
        header is for the reader.
    rows
        Gives what a run exports, a row for each of its measurements.
    standing
        Says how far a run is, without reading all of it.
    as_compared
        Gives a header as it is compared: what an older version did not say, or what may change.
    """

    command: str
    what: str
    one: str
    many: str
    compared: tuple[str, ...]
    rows: Callable[[RunStore], Rows]
    standing: Callable[[RunStore], Standing]
    as_compared: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _as_it_is
