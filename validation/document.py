"""The document's parts: sections, tables, and claims that hold or fail."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_HEAD: Final = """# Validation

Every number is below the command that reproduces it, and the version with which it was measured. Do
not edit: `make validate` writes every section, `.venv/bin/python -m validation NAME` only one.
"""
# Before a section, with its name; and after a claim whose figure was used for fitting.
_MARK: Final = "<!-- section {} -->"
_FITTED: Final = " (used for fitting)"


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
        today = date.today().isoformat()
        measured = (
            f"Reproduce with `{self.command}`. Measured on {today} with Drivelab "
            f"{version('drivelab')}, Python {platform.python_version()}, {platform.system()} "
            f"{platform.machine()}."
        )
        parts = [f"## {self.title}", measured, *self.paragraphs]
        if self.claims:
            parts.append(
                "\n".join(
                    f"- {'holds' if claim.holds else '**FAILS**'}: {claim.statement}"
                    f"{_FITTED if claim.fitted else ''}"
                    for claim in self.claims
                )
            )
        return "\n\n".join(parts)


def with_section(document: str, name: str, section: Section, order: Sequence[str]) -> str:
    """Return the document with a section put into its place, or replaced, and claims counted anew.

    Parameters
    ----------
    document
        As it is; empty for a new one.
    name, section
        The section.
    order
        Names of all sections. Any other section is left out.
    """
    _, *pieces = re.split(rf"^{_MARK.format('([0-9a-z]+)')}$", document, flags=re.MULTILINE)
    texts = dict(zip(pieces[::2], (text.strip() for text in pieces[1::2]), strict=True))
    texts[name] = section.markdown()
    parts = [f"{_MARK.format(each)}\n\n{texts[each]}" for each in order if each in texts]
    body = "\n\n".join(parts)
    holds, fails = (
        len(re.findall(rf"^- {word}: ", body, re.MULTILINE)) for word in ("holds", r"\*\*FAILS\*\*")
    )
    fitted = len(re.findall(rf"^- holds: .*{re.escape(_FITTED)}$", body, re.MULTILINE))
    counted = f"{holds} of {holds + fails} claims hold, {fitted} of them used for fitting."
    return f"{_HEAD}\n{counted}\n\n{body}\n"
