"""The page of a reproduction: how near our numbers are to a paper's, then all of them.

::

    claims, or columns named `published_x` and `x` of the tables ──> pairs, by unit
    pairs ──> the first picture, the typical distance         claims, orderings ──> what is true
"""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import (
    Axis,
    Card,
    Cards,
    Caution,
    First,
    Multiples,
    Page,
    Report,
    ScatterFigure,
    Table,
    Text,
    WhatIf,
)
from drivelab.exhibits.quantities import share_text
from drivelab.reproduce.claims import failure_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drivelab.exhibits import Cell, Exhibit
    from drivelab.reproduce.claims import Reproduction

_PUBLISHED: Final = "published_"
#: Units at the end of a column's name, and what they are called.
_UNITS: Final = {
    "ns": "ns",
    "percent": "%",
    "ratio": "ratio",
    "iops": "IOPS",
    "hours": "hours",
    "minutes": "minutes",
    "mib_per_second": "MiB/s",
    "mb_per_second": "MB/s",
    "r2": "R2",
}
_NO_UNIT: Final = "number"
#: Headings of columns that are not their names.
_HEADS: Final = {"holds": "true"}
# A picture of fewer says little of a paper.
_FEW_PAIRS: Final = 3
_MOST_PANELS: Final = 4
_MOST_FAILURES: Final = 3
_SURE: Final = (
    "How sure: a claim is true if our number is within its tolerance of the published one. The "
    "list of claims gives the reason for each tolerance."
)


@dataclass(frozen=True)
class _Pair:
    """A published number and ours; times are in microseconds, which an axis has room for."""

    name: str
    unit: str
    published: float
    ours: float

    @classmethod
    def of(cls, name: str, unit: str, published: float, ours: float) -> _Pair:
        if unit == "ns":
            return cls(name, "µs", published / 1000, ours / 1000)
        return cls(name, unit or _NO_UNIT, published, ours)


def reproduction_report(found: Reproduction) -> Report:
    """Make the page; the same numbers always give the same one."""
    pairs = _pairs(found)
    panels = _panels(pairs)
    pages = [
        Page("The paper's numbers and ours", tuple(map(_shown, found.tables)), anchor="tables")
    ]
    if len(panels) > 1:
        others = Multiples("pairs-others", "Ours against published", tuple(panels[1:]), columns=2)
        pages.insert(0, Page("In other units", (replace(others, saved=()),), anchor="units"))
    statements = tuple(map(_shown, found.statement_tables()))
    if statements:
        pages.append(Page("Claims", statements, anchor="claims"))
    said: list[Exhibit] = [Text(found.quoted)] if found.quoted else []
    if found.drawings:
        names = ", ".join(sorted(found.drawings))
        said.append(
            Text((f"The paper's figures from our numbers are next to this page: {names}.",))
        )
    if said:
        pages.append(Page("Also in the paper", tuple(said), anchor="quoted"))
    return Report(
        found.paper,
        first=First(
            f"{found.reference.rstrip('.')}.",
            tuple(_picture(panel) for panel in panels[:1]),
            _numbers(found, pairs),
            _SURE,
            tuple(
                Caution("Not reproduced", failure_text(one))
                for one in found.failures[:_MOST_FAILURES]
            ),
        ),
        pages=tuple(pages),
        subject="reproduction",
        statement="Published numbers are the paper's; all others were computed here.",
        folder="",
        what_if=WhatIf(),
    )


def _pairs(found: Reproduction) -> list[_Pair]:
    """Return the claims about numbers; if there are too few, pairs of matching columns."""
    claimed = [
        _Pair.of(one.name, one.unit, one.published, one.ours)
        for one in found.claims
        if one.published > 0 and one.ours > 0
    ]
    if len(claimed) >= _FEW_PAIRS:
        return claimed
    return [pair for table in found.tables for pair in _table_pairs(table)]


def _table_pairs(table: Table) -> Iterator[_Pair]:
    for column in table.columns:
        ours = column.removeprefix(_PUBLISHED)
        if ours == column or ours not in table.columns:
            continue
        for row in table.records():
            published, own = row[column], row[ours]
            if not isinstance(published, int | float) or not isinstance(own, int | float):
                continue
            if published > 0 and own > 0:
                labels = [cell for cell in row.values() if isinstance(cell, str)]
                name = ", ".join((table.name.replace("_", " "), *labels, ours.replace("_", " ")))
                yield _Pair.of(name, _unit_of(ours), float(published), float(own))


def _unit_of(column: str) -> str:
    for ending, unit in _UNITS.items():
        if re.search(rf"(^|_){ending}$", column):
            return unit
    return _NO_UNIT


def _panels(pairs: Sequence[_Pair]) -> list[ScatterFigure]:
    """Draw pairs against each other, one panel per unit, the unit with most pairs first."""
    by_unit: dict[str, list[_Pair]] = {}
    for pair in pairs:
        by_unit.setdefault(pair.unit, []).append(pair)
    units = sorted(by_unit, key=lambda unit: -len(by_unit[unit]))[:_MOST_PANELS]
    return [
        ScatterFigure(
            f"pairs-{place}",
            f"Ours against published ({unit})",
            Axis(f"published ({unit})", "log10"),
            Axis(f"ours ({unit})", "log10"),
            tuple(pair.published for pair in by_unit[unit]),
            tuple(pair.ours for pair in by_unit[unit]),
            "number of the paper",
            texts=tuple(
                f"{pair.name}\npublished {pair.published:,.4g}, ours {pair.ours:,.4g} {unit}"
                for pair in by_unit[unit]
            ),
        )
        for place, unit in enumerate(units)
    ]


def _picture(panel: ScatterFigure) -> Multiples:
    note = "On the line both are equal; dashed: twice and half of the published number."
    return Multiples("pairs", panel.title, (replace(panel, title=""),), columns=1, note=note)


def _numbers(found: Reproduction, pairs: Sequence[_Pair]) -> Cards:
    """Say how many claims are true, and how far numbers are from the published ones."""
    count = len(found.statements)
    held = count - len(found.failures)
    orderings = len(found.orderings)
    kinds = ((count - orderings, "on numbers"), (orderings, "on which of two is larger"))
    said = ", ".join(f"{of} {what}" for of, what in kinds if of) or "none"
    cards = [Card("Claims that are true", f"{held} of {count}", said=said)]
    if pairs:
        off = [abs(pair.ours / pair.published - 1) for pair in pairs]
        cards.append(
            Card(
                "Typical distance from the paper",
                share_text(statistics.median(off)),
                said=f"median of {len(pairs):,} numbers",
            )
        )
        worst = max(range(len(pairs)), key=off.__getitem__)
        cards.append(Card("Largest distance", share_text(off[worst]), said=pairs[worst].name))
    return Cards(tuple(cards))


def _shown(table: Table) -> Table:
    """Return a table with headings for people; its file keeps the names of columns."""
    places = [place for place, name in enumerate(table.columns) if name == "holds"]
    rows = tuple(
        tuple(_truth(cell) if place in places else cell for place, cell in enumerate(row))
        for row in table.rows
    )
    return replace(
        table,
        columns=tuple(_HEADS.get(name, name).replace("_", " ") for name in table.columns),
        rows=rows,
        title=table.title or table.name.replace("_", " ").capitalize(),
        saved=(table,),
    )


def _truth(cell: Cell) -> str:
    return "yes" if cell else "no"
