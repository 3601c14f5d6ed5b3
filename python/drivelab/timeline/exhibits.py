"""What a timeline shows on a page: the drawing, what is in it, and where the time went."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Caution, Facts, Page, Report, number
from drivelab.exhibits.quantities import PROVENANCE, listed, share_text
from drivelab.timeline.figure import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.exhibits import Cell, LaneFigure, Table

    Row = Mapping[str, Cell]

_WORDS: Final = {**WORDS, "cell": "cell", "wait_unit": "waits for its unit"}
_OF_A_REQUEST: Final = (
    "One request of an idle drive: in a run requests wait for each other, and collection works "
    "between them."
)
_OF_A_SPAN: Final = "A short span of one run: elsewhere in it, or with another seed, it differs."
_AT_THE_START: Final = (
    "The first moments of a run, which finds an idle drive: what comes later differs."
)


def timeline_report(
    figure: LaneFigure,
    table: Table,
    *,
    drive: str,
    condition: str | None,
    span: tuple[int, int] | None = None,
) -> Report:
    """Make the page of a timeline.

    Parameters
    ----------
    figure, table
        The diagram, and the stages behind it.
    drive, condition
        The drive's name, and the state that it was in.
    span
        Of a run, in ns; None for one request.
    """
    caution = _OF_A_REQUEST
    if span is not None:
        caution = _OF_A_SPAN if span[0] else _AT_THE_START
    provenance = PROVENANCE["simulated"]
    rows = table.records()
    facts = (
        *([("Condition of the drive", condition)] if condition else []),
        ("Flash operations", _operations(rows)),
        ("Units at work", f"{len(set(table.column('unit'))):,}"),
        ("Where their time goes", _time(rows)),
    )
    # The workload is read before the picture.
    figure = replace(
        figure,
        title=f"{figure.title[0].upper()}{figure.title[1:]}",
        lead=figure.note,
        note="",
        cautions=(Caution(seen=caution),),
    )
    return Report(
        drive,
        pages=(
            Page("When what works", (figure,), anchor="lanes"),
            Page("What is drawn", (Facts("", facts),), anchor="facts"),
        ),
        subject="timeline",
        badge=("simulated", provenance.label),
        statement=provenance.statement,
        folder=None,
    )


def _operations(rows: Sequence[Row]) -> str:
    """Say how many operations of which kind there are, and how many the host did not ask for."""
    kinds = {row["operation"]: (str(row["kind"]), row["cause"]) for row in rows}
    counts = Counter(kind for kind, _ in kinds.values())
    text = listed(
        [f"{count:,} {kind}{'s' if count > 1 else ''}" for kind, count in sorted(counts.items())]
    )
    own = sum(cause != "host" for _, cause in kinds.values())
    return f"{text}, {own:,} of them for the drive itself" if own else text


def _time(rows: Sequence[Row]) -> str:
    """Say in which stages and waits operations spend their time, the longest first."""
    lasting: Counter[str] = Counter()
    for row in rows:
        lasting[_WORDS[str(row["stage"])]] += round(number(row["end_ns"]) - number(row["start_ns"]))
    total = sum(lasting.values())
    return ", ".join(f"{words} {share_text(ns / total)}" for words, ns in lasting.most_common())
