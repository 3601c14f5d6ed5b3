"""Boito et al. 2015 on the nine drives: profiles with the paper's settings, and with ours."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import number
from drivelab.reproduce.boito2015 import CLASS_REPETITIONS
from drivelab.reproduce.papers import reproduce
from validation.document import Section
from validation.reproduced import claim_all_but, tabulate_orderings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits import Cell, Table
    from drivelab.reproduce.claims import Reproduction

#: What is known not to hold; the reproduction says why.
_SHORTFALLS: Final = (
    "random read: share of estimates more than 20 % off, with the paper's settings",
    "random read: share of estimates more than 20 % off, with the paper's settings, by the truth",
)
# Of repetitions; see validation/variability.py.
_TOLERANCE: Final = 0.30
# In words of the document; the columns of a table follow.
_TABLES: Final = (
    (
        "table_3",
        "Median errors of access times estimated from 2 to 8 sizes measured once (table 3), by "
        "test, published and ours:",
    ),
    (
        "table_4",
        "Median errors of ratios with 2 sizes per interval and 1, 2 and 4 repetitions (table 4):",
    ),
    ("cases", "Shares of cases of at most 20 % error, with the paper's settings and with ours:"),
    (
        "whole_passes",
        "Our own profiles by whole passes; the tool chooses sizes and repetitions:",
    ),
    ("partial_passes", "The same by partial passes:"),
    ("table_6", "Mean ratios at 1200 MiB (table 6) that no preset was fitted to:"),
    ("table_6_fitted", "Those that a preset was fitted to, which test nothing:"),
)


def profiles() -> Section:
    """Reproduce Boito et al. 2015."""
    return section_of(reproduce("boito2015"))


def section_of(found: Reproduction) -> Section:
    """Write down a reproduction of Boito et al. 2015."""
    section = Section("Boito et al. 2015", "drivelab reproduce boito2015")
    held = len(found.statements) - len(found.failures)
    section.say(
        f"{held} of {len(found.statements)} statements hold. In each the first number must be the "
        "smaller one. Nothing was fitted to them. All passes of the nine drives at five file "
        "sizes, and partial passes on the simulator, take ten to fourteen minutes of processor "
        "time, with one process per core."
    )
    tabulate_orderings(section, found, "what the paper says, and what our profiles may take")
    tables = {table.name: table for table in found.tables}
    for name, words in _TABLES:
        if name in tables:
            section.say(words)
            section.tabulate(*_cells(tables[name]))
    claim_all_but(
        section,
        found,
        _SHORTFALLS,
        paper="Boito et al. 2015",
        statement="everything that the paper says about its errors, and the time of our profiles, "
        "except the shortfalls listed above",
    )
    for kind, repetitions in _repetitions(tables["table_1"]).items():
        published = CLASS_REPETITIONS[kind]
        section.claim(
            f"Boito et al. 2015, {kind}: {repetitions:.1f} repetitions a test at five file sizes, "
            f"within {100 * _TOLERANCE:.0f} % of {published}",
            holds=abs(repetitions / published - 1) <= _TOLERANCE,
            fitted=True,
        )
    return section


def _cells(table: Table) -> tuple[Sequence[str], list[list[str]]]:
    header = [column.replace("_", " ").replace(" percent", ", %") for column in table.columns]
    rows = [[_text(cell) for cell in row] for row in table.rows]
    return header, rows


def _text(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:,.3g}" if cell < 1000 else f"{cell:,.0f}"
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def _repetitions(table: Table) -> dict[str, float]:
    """Average the repetitions of the drives of a class."""
    return {
        kind: statistics.fmean(
            number(row["repetitions"]) for row in table.records() if row["class"] == kind
        )
        for kind in CLASS_REPETITIONS
        if any(row["class"] == kind for row in table.records())
    }
