"""The page of a timeline: what it says of the operations in it, and what limits it."""

from __future__ import annotations

import pytest

from drivelab.exhibits import Facts, LaneFigure, Table
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


def parts(span: tuple[int, int] | None = None, condition: str | None = "filled"):
    figure = timing_diagram(TABLE, title="write of 8 KiB", span=span, note="what is asked")
    report = timeline_report(figure, TABLE, drive="sim:mine", condition=condition, span=span)
    (lanes,), (facts,) = (page.exhibits for page in report.pages)
    assert isinstance(lanes, LaneFigure)
    assert isinstance(facts, Facts)
    return report, lanes, dict(facts.facts)


def test_facts_count_operations_and_share_their_time() -> None:
    report, lanes, facts = parts()
    assert report.title == "sim:mine"
    assert report.badge == ("simulated", "Simulated drive")
    assert facts == {
        "Condition of the drive": "filled",
        "Flash operations": "1 erase and 2 programs, 1 of them for the drive itself",
        "Units at work": "3",
        "Where their time goes": "cell 75 %, waits for its unit 15 %, register transfer 10 %",
    }
    assert (lanes.title, lanes.lead, lanes.note) == ("Write of 8 KiB", "what is asked", "")
    assert lanes.saved == (TABLE,)


def test_drive_without_a_condition_has_none_on_the_page() -> None:
    assert "Condition of the drive" not in parts(condition=None)[2]


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (None, "One request of an idle drive"),
        ((0, 800), "The first moments of a run"),
        ((100, 800), "A short span of one run"),
    ],
)
def test_caution_says_what_of_the_drive_is_not_drawn(span, said) -> None:
    assert parts(span)[1].cautions[0].line.startswith(said)
