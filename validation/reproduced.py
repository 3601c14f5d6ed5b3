"""What the sections of reproduced papers share: statements as a table, and what does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.reproduce.claims import Reproduction
    from validation.document import Section


def tabulate_orderings(section: Section, found: Reproduction, heading: str) -> None:
    """Write down which of two numbers is to be the smaller, a row a statement."""
    section.tabulate(
        (heading, "the smaller", "the larger", "unit"),
        (
            (each.name, f"{each.smaller:,.4g}", f"{each.larger:,.4g}", each.unit)
            for each in found.orderings
        ),
    )


def claim_all_but(
    section: Section, found: Reproduction, shortfalls: Sequence[str], *, paper: str, statement: str
) -> None:
    """Tell what does not hold, and claim that it is no more than the known shortfalls.

    Parameters
    ----------
    section
        Of the paper.
    found
        Its reproduction.
    shortfalls
        Names of the statements that are known not to hold.
    paper
        In front of every claim.
    statement
        What is claimed.
    """
    section.say("\n".join(f"- {text}" for text in found.quoted))
    section.say("What does not hold:")
    section.say("\n".join(f"- {each.name}" for each in found.failures) or "- nothing")
    for failure in found.failures:
        if failure.name not in shortfalls:
            section.claim(f"{paper}, {failure.name}", holds=False)
    section.claim(
        f"{paper}: {statement}",
        holds={each.name for each in found.failures} <= set(shortfalls),
    )
