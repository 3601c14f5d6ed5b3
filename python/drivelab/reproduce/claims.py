"""What must hold when a paper is reproduced.

A `Claim` compares a number of ours with a published one, with a tolerance and the reason for it. An
`Ordering` compares two numbers of ours of which the paper says which is smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from drivelab.exhibits import Table

#: Draws a figure and returns an SVG document.
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
        The reason for this size of the tolerance.
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
        """Return whether the difference is within the tolerance; False for a number that is NaN."""
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
    """Two numbers of ours; the paper says which is smaller.

    Attributes
    ----------
    name
        What is compared, in words.
    smaller, larger
        The two numbers, both in `unit`.
    unit
        ``ms``, ``%``, ``IOPS`` or empty for counts and coefficients.
    reason
        The place where the paper says so.
    """

    name: str
    smaller: float
    larger: float
    unit: str
    reason: str

    @property
    def holds(self) -> bool:
        """Return whether the first is smaller; False if either is NaN."""
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
    """The result of reproducing a paper.

    Attributes
    ----------
    paper
        The name on the command line.
    reference
        Authors, year and title.
    tables
        Published numbers compared with ours, the paper's tables first.
    claims, orderings
        The statements that must be true.
    quoted
        Statements of the paper without numbers to compare with; they are shown, not checked.
    drawings
        Figures by file name.
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
        """Return all statements that must be true."""
        return (*self.claims, *self.orderings)

    @property
    def failures(self) -> tuple[Claim | Ordering, ...]:
        """Return the statements that are not true."""
        return tuple(statement for statement in self.statements if not statement.holds)

    def statement_tables(self) -> tuple[Table, ...]:
        """Return claims and orderings as tables, without empty ones."""
        listed = (("claims", self.claims), ("orderings", self.orderings))
        return tuple(_table(name, statements) for name, statements in listed if statements)


def _table(name: str, statements: tuple[Claim, ...] | tuple[Ordering, ...]) -> Table:
    records = [statement.to_json() for statement in statements]
    rows = tuple(
        tuple(int(cell) if isinstance(cell, bool) else cell for cell in record.values())
        for record in records
    )
    return Table(name=name, columns=tuple(records[0]), rows=rows)


def failure_text(failed: Claim | Ordering) -> str:
    """Say what does not hold, by how much, in a line."""
    unit = f" {failed.unit}" if failed.unit else ""
    if not isinstance(failed, Claim):
        return (
            f"{failed.name}: {failed.smaller:,.6g}{unit} is not below "
            f"{failed.larger:,.6g}{unit} ({failed.reason})"
        )
    return (
        f"{failed.name}: {failed.ours:,.6g}{unit} instead of {failed.published:,.6g}{unit}, "
        f"tolerance {failed.tolerance:.3g}{unit} ({failed.reason})"
    )
