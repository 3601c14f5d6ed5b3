"""The report and the result of a run, complete or not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, get_args

from drivelab.exhibits import (
    BarFigure,
    Card,
    Cards,
    Caution,
    First,
    HistogramFigure,
    LineFigure,
    Page,
    Report,
    Table,
    WhatIf,
)
from drivelab.exhibits.number_text import value_text
from drivelab.exhibits.quantities import PROVENANCE, listed, share_text
from drivelab.pts.every_test import test_named
from drivelab.pts.header import cautions, header_fields
from drivelab.pts.headline import Figure, headline
from drivelab.pts.journal import Record, read_record
from drivelab.pts.power import (
    POWER_LOG,
    coverage_cautions,
    efficiency_page,
    read_kept_power_log,
    with_energy,
)
from drivelab.pts.settings import EDITIONS
from drivelab.pts.steps import steps_json, steps_table
from drivelab.pts.test import PtsTest, Section, Verdict
from drivelab.store import RunStore

#: The file in a run's folder with what `result_of` returns.
RESULT: Final = "result.json"
LAYOUT: Final = 1
_MOST_CARDS: Final = 3
_VERDICTS: Final[dict[Verdict, str]] = {
    "steady": "steady",
    "bounded": "not reached before the test's limit of bytes or hours",
    "not_steady": "never reached: the last rounds are the window",
    "untested": "not tested in this test",
    "incomplete": "not reached when the test was cut short",
}
# The worst of several sections is the test's.
_FROM_BEST: Final[tuple[Verdict, ...]] = get_args(Verdict)


def build(run: Path) -> Report:
    """Return the report of a run, complete or not.

    Raises
    ------
    UsageError
        If the folder is not a run of a test.
    RunError
        If the run is damaged.
    """
    with RunStore.open(run) as store:
        record = read_record(store)
    if (run / POWER_LOG).exists():
        record = with_energy(record, read_kept_power_log(run))
    return report_of(record)


def report_of(record: Record) -> Report:
    """Return the report of a record."""
    test = test_named(record.test)
    sections = test.sections(record)
    efficiency = efficiency_page(sections, is_simulated=record.is_simulated)
    result = _result(record, test, sections)
    figures = headline(result)
    pages = [page for page in test.pages(record) if page.exhibits]
    provenance = PROVENANCE[result["drive"]["kind"]]
    return Report(
        title=f"{test.title} ({EDITIONS[record.settings.edition]}) of {result['drive']['name']}",
        header=header_fields(record, test),
        stamp=record.settings.stamp,
        pages=(
            _summary(record, sections, figures),
            # A table as short as the summary, with which it shares a sheet.
            *([] if efficiency is None else [efficiency]),
            *pages,
        ),
        result=result,
        tables=(steps_table(result["steps"]),),
        statement=provenance.statement,
        subject="performance test",
        badge=(result["drive"]["kind"], provenance.label),
        first=First(
            figures=picture_of(pages),
            numbers=_cards(figures),
            sure=_steady_text(sections),
        ),
        what_if=WhatIf.of_drives([(result["drive"]["name"], result["drive"]["kind"])]),
    )


def picture_of(pages: Sequence[Page]) -> tuple[LineFigure | BarFigure | HistogramFigure, ...]:
    """Choose the figure that comes first: a value by block size, or the first course."""
    found = [
        exhibit
        for page in pages
        for exhibit in page.exhibits
        if isinstance(exhibit, LineFigure | BarFigure | HistogramFigure)
    ]
    by_size = [one for one in found if one.name.endswith("-2d")]
    return tuple((by_size or found)[:1])


def _cards(figures: Sequence[Figure]) -> Cards | None:
    """Return the first three figures that the test reached."""
    known = [(one, one.value) for one in figures if one.value is not None][:_MOST_CARDS]
    if not known:
        return None
    return Cards(
        tuple(Card(_sentence(one.name), _value_text(value, one.unit)) for one, value in known)
    )


def _value_text(value: float, unit: str) -> str:
    return share_text(value) if unit == "ratio" else f"{value_text(value)} {unit}"


def _sentence(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"


def _steady_text(sections: Sequence[Section]) -> str:
    """Return whether the drive had settled when the numbers were measured."""
    rounds = "1 round" if len(sections) == 1 and sections[0].rounds == 1 else "rounds"
    if len(sections) == 1:
        count = "" if rounds == "1 round" else f"{sections[0].rounds} "
        return f"Steady state: {_VERDICTS[sections[0].verdict]}, after {count}{rounds}."
    parts = [f"{each.name} {_VERDICTS[each.verdict]}" for each in sections]
    return f"Steady state: {listed(parts)}." if parts else ""


def result_of(record: Record) -> dict[str, Any]:
    """Return the whole result as in docs/json-pts.md."""
    test = test_named(record.test)
    return _result(record, test, test.sections(record))


def verdict_of(sections: list[Section], *, is_complete: bool) -> Verdict:
    """Return the worst verdict of a test's sections."""
    if not is_complete:
        return "incomplete"
    return max((each.verdict for each in sections), key=_FROM_BEST.index, default="untested")


def _result(record: Record, test: PtsTest, sections: list[Section]) -> dict[str, Any]:
    drive = record.header["drive"]
    is_real = drive["kind"] == "real"
    return {
        "kind": "pts",
        "layout": LAYOUT,
        "test": test.name,
        "title": test.title,
        "edition": record.settings.edition,
        "known": test.known,
        "stamp": record.settings.stamp,
        "verdict": verdict_of(sections, is_complete=record.is_complete),
        "problem": record.failure.message if record.failure else None,
        "drive": {
            "name": drive["name"],
            "kind": drive["kind"],
            "capacity_bytes": drive["capacity_bytes"],
            "block_bytes": drive["block_bytes"],
            "is_whole_device": drive["is_whole_device"],
            "identity": drive["identity"],
        },
        "header": dict(header_fields(record, test)),
        "settings": record.settings.to_json(),
        "capacity_bytes": record.extent.capacity_bytes,
        "range_bytes": record.extent.range_bytes,
        "purges": [
            {"outcome": each.outcome, "method": each.method, "reason": each.reason}
            for each in record.purges
        ],
        "starts": record.starts if is_real else None,
        "cautions": _cautions(record, sections),
        "sections": [
            {"name": each.name, "verdict": each.verdict, "rounds": each.rounds, **each.values}
            for each in sections
        ],
        "steps": steps_json(record),
    }


def _summary(record: Record, sections: list[Section], figures: list[Figure]) -> Page:
    rows = tuple((each.name or "test", each.rounds, _VERDICTS[each.verdict]) for each in sections)
    states = Table(
        "summary",
        ("part", "rounds", "steady state"),
        rows,
        title="Steady state",
    )
    results = Table(
        "results",
        ("result", "value", "unit"),
        tuple((figure.name, figure.value, figure.unit) for figure in figures),
        title="Results",
        note="A dash is a value that was not reached." if _has_gap(figures) else "",
    )
    exhibits = (results, states) if figures else (states,)
    cautions = tuple(Caution(seen=text) for text in _cautions(record, sections))
    return Page("Summary", exhibits, cautions)


def _cautions(record: Record, sections: list[Section]) -> list[str]:
    notes = cautions(record, settles=test_named(record.test).settles)
    return [*notes, *coverage_cautions(record, sections)]


def _has_gap(figures: list[Figure]) -> bool:
    return any(figure.value is None for figure in figures)
