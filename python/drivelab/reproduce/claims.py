"""What must hold when a paper is reproduced.

A `Claim` holds a number of ours against a published one, with a tolerance and the reason for it. An
`Ordering` holds two numbers of ours against each other, where the paper says which is smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from drivelab.exhibits import Table

#: Draws a figure; gives an SVG document.
Drawing: TypeAlias = Callable[[], str]


@dataclass(frozen=True)
class Claim:
    """One comparison that must hold.

    Attributes
    ----------
    name
        What is compared, in words.
    ours, published
        The two numbers, both in `unit`.
    unit
        ``IOPS``, ``MiB/s``, ``ns``, ``%`` or empty for counts.
    tolerance
        The largest difference that counts as agreement, in `unit`.
    reason
        Why the tolerance is what it is.
    """

    name: str
    ours: float
    published: float
    unit: str
    tolerance: float
    reason: str

    @property
    def difference(self) -> float:
        """Ours minus the published number, in `unit`."""
        return self.ours - self.published

    @property
    def holds(self) -> bool:
        """Whether the difference is within the tolerance; never for what is not a number."""
        return abs(self.difference) <= self.tolerance

    def to_json(self) -> dict[str, Any]:
        """Return the claim under the names of its attributes."""
        return {
            "name": self.name,
            "ours": self.ours,
            "published": self.published,
            "unit": self.unit,
            "difference": self.difference,
            "tolerance": self.tolerance,
            "reason": self.reason,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class Ordering:
    """Two numbers of ours, of which the paper says which is smaller.

    Attributes
    ----------
    name
        What is compared, in words.
    smaller, larger
        The two numbers, both in `unit`.
    unit
        ``ms``, ``%``, ``IOPS`` or empty for counts and coefficients.
    reason
        Where the paper says so.
    """

    name: str
    smaller: float
    larger: float
    unit: str
    reason: str

    @property
    def holds(self) -> bool:
        """Whether the first is smaller; never for what is not a number."""
        return self.smaller < self.larger

    def to_json(self) -> dict[str, Any]:
        """Return the ordering under the names of its attributes."""
        return {
            "name": self.name,
            "smaller": self.smaller,
            "larger": self.larger,
            "unit": self.unit,
            "reason": self.reason,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class Reproduction:
    """What comes out of reproducing a paper.

    Attributes
    ----------
    paper
        The name on the command line.
    reference
        Authors, year and title.
    tables
        Published numbers compared with ours, the paper's tables first.
    claims, orderings
        What must hold.
    quoted
        What the paper states without numbers to compare with: shown, not asserted.
    drawings
        File name to figure.
    """

    paper: str
    reference: str
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...] = ()
    orderings: tuple[Ordering, ...] = ()
    quoted: tuple[str, ...] = ()
    drawings: dict[str, Drawing] = field(default_factory=dict)

    @property
    def statements(self) -> tuple[Claim | Ordering, ...]:
        """All that must hold."""
        return (*self.claims, *self.orderings)

    @property
    def failures(self) -> tuple[Claim | Ordering, ...]:
        """What does not hold."""
        return tuple(statement for statement in self.statements if not statement.holds)

    def statement_tables(self) -> tuple[Table, ...]:
        """Return claims and orderings as tables, those of which there are any."""
        listed = (("claims", self.claims), ("orderings", self.orderings))
        return tuple(_table(name, statements) for name, statements in listed if statements)


def _table(name: str, statements: tuple[Claim, ...] | tuple[Ordering, ...]) -> Table:
    records = [statement.to_json() for statement in statements]
    rows = tuple(
        tuple(int(cell) if isinstance(cell, bool) else cell for cell in record.values())
        for record in records
    )
    return Table(name=name, columns=tuple(records[0]), rows=rows)
