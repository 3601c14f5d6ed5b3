"""The document's parts: sections, tables, and claims that hold or fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Claim:
    """A statement that was checked, and whether it held.

    Attributes
    ----------
    statement
        In one line.
    holds
        Whether it did.
    fitted
        Whether its published number was used to choose what it checks.
    target
        Whether it was set as an aim before anything was measured. A missed target is reported and
        counted as a claim that fails, but fails no command.
    """

    statement: str
    holds: bool
    fitted: bool = False
    target: bool = False


@dataclass
class Section:
    """One part of the document.

    Attributes
    ----------
    title
        Its heading.
    command
        What reproduces its numbers.
    paragraphs
        Markdown, tables included, in order.
    claims
        What it checked. A claim that fails makes `make validate` fail, unless it is a target.
    """

    title: str
    command: str
    paragraphs: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Append a paragraph."""
        self.paragraphs.append(text)

    def tabulate(self, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Append a table; the first column is text, the others are numbers."""
        lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.paragraphs.append("\n".join(lines))

    def claim(
        self, statement: str, *, holds: bool, fitted: bool = False, target: bool = False
    ) -> None:
        """Record a checked statement."""
        self.claims.append(Claim(statement, holds, fitted, target))

    def markdown(self) -> str:
        """Return the section as Markdown."""
        parts = [f"## {self.title}", f"Reproduce with `{self.command}`.", *self.paragraphs]
        if self.claims:
            parts.append(
                "\n".join(
                    f"- {'holds' if claim.holds else '**FAILS**'}: {claim.statement}"
                    for claim in self.claims
                )
            )
        return "\n\n".join(parts)
