"""The page of a timeline: the drawing, its contents, and where the time goes.

The first screen has a small drawing of all lanes. If there are many lanes, a second drawing below
shows each bar large enough to read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Card, Cards, First, Page, Report, WhatIf, number
from drivelab.exhibits.quantities import PROVENANCE, listed, share_text
from drivelab.timeline.figure import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.exhibits import Cell, LaneFigure, Table

    Row = Mapping[str, Cell]

_WORDS: Final = {**WORDS, "cell": "cell", "wait_unit": "waits for its unit"}
# Up to this many lanes are drawn at full size on the first screen.
_FEW_LANES: Final = 10
_EVERY_BAR: Final = "each bar is one operation in the simulator, not a mean."
_OF_A_REQUEST: Final = (
    "The drive is idle and gets one request. In a run, requests wait for each other, and "
    "collection works between them."
)
_OF_A_SPAN: Final = (
    "This is a short span of one run. Other spans, and runs with other seeds, look different."
)
_AT_THE_START: Final = (
    "These are the first moments of a run, which begins with an idle drive. Later ones look "
    "different."
)


def timeline_report(
    figure: LaneFigure,
    table: Table,
    *,
    drive: str,
    condition: str | None,
    span: tuple[int, int] | None = None,
) -> Report:
    """Return the page of a timeline.

    Parameters
    ----------
    figure, table
        The diagram, and the table of stages behind it.
    drive, condition
        Name of the drive, and the state that it was in.
    span
        Part of a run, in ns; None for a single request.
    """
    caution = _OF_A_REQUEST
    if span is not None:
        caution = _OF_A_SPAN if span[0] else _AT_THE_START
    provenance = PROVENANCE["simulated"]
    said = [figure.title, figure.note, f"the drive is {condition}" if condition else ""]
    what = ". ".join(f"{text[0].upper()}{text[1:]}" for text in said if text)
    figure = replace(figure, title="", note="")
    is_large = len(figure.lanes) > _FEW_LANES
    # The small drawing has less room for the words of its axis.
    axis, _, more = figure.x.label.partition("; ")
    overview = replace(
        figure,
        name=f"{figure.name}-overview",
        title="What works when",
        x=replace(figure.x, label=axis),
        note=f"{more[:1].upper()}{more[1:]}." if more else "",
        saved=() if is_large else figure.saved,
    )
    return Report(
        drive,
        first=First(
            f"{what}.",
            (overview,),
            _numbers(table),
            f"How sure: {_EVERY_BAR} {caution}",
        ),
        pages=(Page("Every lane", (figure,), anchor="lanes"),) if is_large else (),
        subject="timeline",
        badge=("simulated", provenance.label),
        statement=provenance.statement,
        folder=None,
        what_if=WhatIf.of_drives([(drive, "simulated")]),
    )


def _numbers(table: Table) -> Cards:
    """Return the number of operations and units, and the stage with most of the time."""
    rows = table.records()
    count = len({row["operation"] for row in rows})
    longest, *others = _time(rows)
    return Cards(
        (
            Card("Flash operations", f"{count:,}", said=_operations(rows)),
            Card("Units in use", f"{len(set(table.column('unit'))):,}"),
            Card("Longest stage", longest, said=", ".join(others)),
        )
    )


def _operations(rows: Sequence[Row]) -> str:
    """Return the number of operations by kind, and how many the host did not ask for."""
    kinds = {row["operation"]: (str(row["kind"]), row["cause"]) for row in rows}
    counts = Counter(kind for kind, _ in kinds.values())
    text = listed(
        [f"{count:,} {kind}{'s' if count > 1 else ''}" for kind, count in sorted(counts.items())]
    )
    own = sum(cause != "host" for _, cause in kinds.values())
    return f"{text}, {own:,} of them for the drive itself" if own else text


def _time(rows: Sequence[Row]) -> list[str]:
    """Return the share of each stage and wait in the operations' time, the longest first."""
    lasting: Counter[str] = Counter()
    for row in rows:
        lasting[_WORDS[str(row["stage"])]] += round(number(row["end_ns"]) - number(row["start_ns"]))
    total = sum(lasting.values())
    return [f"{words} {share_text(ns / total)}" for words, ns in lasting.most_common()]
