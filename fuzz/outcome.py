"""The results of fuzzing a reader, as they are saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Coverage:
    """What the inputs of a reader reached.

    Attributes
    ----------
    edges
        Ways from one part of the program to the next that some input took, anywhere in what
        counts them.
    lines_met, lines
        Lines of the reader's own source at which such a part begins: met, and all.
    """

    edges: int
    lines_met: int
    lines: int


@dataclass(frozen=True)
class Outcome:
    """The result of fuzzing a reader.

    Attributes
    ----------
    name
        The reader's.
    language
        ``rust`` or ``python``.
    inputs
        How many it was given.
    kept
        How many of them met something new.
    seconds
        How long it was fuzzed.
    coverage
        Of all that were kept; ``None`` after a failure.
    failure
        The file with the input that broke a promise, or took too much time or memory.
    """

    name: str
    language: str
    inputs: int
    kept: int
    seconds: float
    coverage: Coverage | None = None
    failure: str | None = None


def counted(met: Iterable[bool], edges: int) -> Coverage:
    """Count the lines that were reached."""
    every = list(met)
    return Coverage(edges, sum(every), len(every))
