"""A claim: one number of ours beside a published one, with its tolerance and the reason for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from drivelab.report.table import Table

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
class Reproduction:
    """What comes out of reproducing a paper.

    Attributes
    ----------
    paper
        The name on the command line.
    reference
        Authors, year and title.
    tables
        Published numbers beside ours, the paper's tables first.
    claims
        What must hold.
    quoted
        What the paper states without numbers to compare with: shown, not asserted.
    drawings
        File name to figure.
    """

    paper: str
    reference: str
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    quoted: tuple[str, ...] = ()
    drawings: dict[str, Drawing] = field(default_factory=dict)

    @property
    def failures(self) -> tuple[Claim, ...]:
        """The claims that do not hold."""
        return tuple(claim for claim in self.claims if not claim.holds)

    def claims_table(self) -> Table:
        """Return the claims as a table."""
        records = [claim.to_json() for claim in self.claims]
        columns = tuple(records[0]) if records else ("name",)
        rows = tuple(
            tuple(int(cell) if isinstance(cell, bool) else cell for cell in record.values())
            for record in records
        )
        return Table(name="claims", columns=columns, rows=rows)
