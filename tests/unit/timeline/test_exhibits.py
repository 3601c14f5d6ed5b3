"""The page of a timeline: what it says about its operations, and what limits it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from drivelab.exhibits import Table
from drivelab.report.drawing.drawn import drawn
from drivelab.report.drawing.looks import Drawn
from drivelab.timeline.exhibits import timeline_report
from drivelab.timeline.figure import timing_diagram
from drivelab.timeline.stages import COLUMNS


def row(operation: int, kind: str, stage: str, start_ns: int, end_ns: int, **other) -> tuple:
    cells = dict.fromkeys(COLUMNS, 0) | {"cause": "host", "stream": None}
    cells |= {"operation": operation, "kind": kind, "stage": stage}
    return tuple((cells | {"start_ns": start_ns, "end_ns": end_ns} | other).values())


TABLE = Table(
    "timeline",
    COLUMNS,
    (
        row(0, "program", "register", 0, 100),
        row(0, "program", "cell", 100, 800),
        row(1, "program", "wait_unit", 0, 150, unit=1),
        row(1, "program", "cell", 150, 200, unit=1),
        row(2, "erase", "cell", 0, 0, unit=2, page=None, cause="collection"),
    ),
)


def made(
    span: tuple[int, int] | None = None, condition: str | None = "filled", table: Table = TABLE
):
    figure = timing_diagram(table, title="write of 8 KiB", span=span, note="what is asked")
    return timeline_report(figure, table, drive="sim:mine", condition=condition, span=span)


def test_numbers_count_operations_and_say_where_their_time_goes() -> None:
    report = made()
    assert report.title == "sim:mine"
    assert report.badge == ("simulated", "Simulated drive")
    assert report.first.what == "Write of 8 KiB. What is asked. The drive is filled."
    assert [(card.name, card.low, card.said) for card in report.first.numbers.cards] == [
        ("Flash operations", "3", "1 erase and 2 programs, 1 of them for the drive itself"),
        ("Units in use", "3", ""),
        ("Longest stage", "cell 75 %", "waits for its unit 15 %, register transfer 10 %"),
    ]


def test_few_lanes_are_drawn_once() -> None:
    report = made()
    (overview,) = report.first.figures
    assert overview.saved == (TABLE,)
    assert overview.x.label == "time since the request arrived (µs)"
    assert overview.note == "Numbers count the record's pages."
    assert report.pages == ()


def test_many_lanes_are_drawn_small_and_below_it_large() -> None:
    table = replace(
        TABLE,
        rows=tuple(row(at, "read", "cell", 0, 100, unit=at, channel=at) for at in range(30)),
    )
    report = made(table=table)
    (overview,) = report.first.figures
    (page,) = report.pages
    (lanes,) = page.exhibits
    assert overview.lanes == lanes.lanes
    assert overview.name != lanes.name
    assert (overview.saved, lanes.saved) == ((), (table,))
    small, large = drawn(overview, first=True), drawn(lanes)
    assert width_of(small) < 0.7 * width_of(large)


def width_of(drawing: Drawn) -> float:
    (panel,) = drawing.panels
    return float(re.search(r'viewBox="0 0 ([\d.]+)', panel.svg)[1])


def test_drive_without_a_condition_has_none_on_the_page() -> None:
    assert made(condition=None).first.what == "Write of 8 KiB. What is asked."


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (None, "The drive is idle and gets one request"),
        ((0, 800), "These are the first moments of a run"),
        ((100, 800), "This is a short span of one run"),
    ],
)
def test_how_sure_says_what_of_the_drive_is_not_drawn(span, said) -> None:
    assert said in made(span).first.sure
