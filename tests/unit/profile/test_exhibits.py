"""The page of a profile: a picture first, long tables folded, every number under its right name."""

from __future__ import annotations

import pytest

from drivelab.drives.naming import open_drive
from drivelab.exhibits import LineFigure, Multiples, Page, Report, Table
from drivelab.profile.cautions import cautions
from drivelab.profile.decision import decisions
from drivelab.profile.exhibits import profile_report
from drivelab.profile.measured import profile
from drivelab.profile.optimisation import Cost
from drivelab.profile.settings import ProfileSettings
from drivelab.report.drawing.tables import SHOWN_ROWS
from drivelab.report.page import render


@pytest.fixture(scope="module")
def report() -> Report:
    with open_drive("sim:x25m") as drive:
        found = profile(drive, ProfileSettings(file_bytes=8 << 20, repetitions=2))
    answers = decisions(found, Cost(time_ns=50e3))
    return profile_report(found, answers, drive="sim:x25m", kind="simulated", note="48 passes")


def page_of(report: Report, anchor: str) -> Page:
    return next(page for page in report.pages if page.anchor == anchor)


def test_a_picture_comes_first_and_how_it_was_done_last(report: Report) -> None:
    first = report.first
    assert first is not None
    (picture,) = first.figures
    assert isinstance(picture, LineFigure)
    assert [line.label for line in picture.lines] == ["Reads", "Writes", "equal"]
    assert first.numbers is not None
    assert [card.name.split()[-1] for card in first.numbers.cards] == ["reads", "writes"]
    assert first.sure.startswith("How sure: ratios of reads within ")
    worth, times = page_of(report, "figures").exhibits
    assert isinstance(worth, Multiples)
    assert worth.name == "worth"
    assert isinstance(times, Multiples)
    assert report.pages[-1].title == "How it was simulated"


def test_simulated_numbers_are_called_simulated(report: Report) -> None:
    _, times = page_of(report, "figures").exhibits
    assert isinstance(times, Multiples)
    labels = {line.label for figure in times.figures for line in getattr(figure, "lines", ())}
    assert labels == {"sequential", "random", "simulated"}


def test_what_limits_the_ratios_comes_first() -> None:
    with open_drive("sim:x25m") as drive:
        plan = ProfileSettings(file_bytes=8 << 20, repetitions=1, directions=("read",))
        found = profile(drive, plan)
    limits = cautions(found, plan)
    made = profile_report(
        found, [], drive="sim:x25m", kind="simulated", note="8 passes", cautions=limits
    )
    assert made.first is not None
    (only,) = made.first.cautions
    assert only.text() == (
        "Nothing was repeated (--repetitions), so nobody knows how sure this is."
    )


@pytest.mark.parametrize("anchor", ["sizes", "pays"])
def test_long_tables_are_folded(report: Report, anchor: str) -> None:
    (table,) = page_of(report, anchor).exhibits
    assert isinstance(table, Table)
    assert len(table.rows) > SHOWN_ROWS
    assert len(table.keys) == len(table.rows)
    assert {len(keys) for keys in table.keys} == {len(table.columns)}
    assert render(report).html.count("<tr><td>") == 2 * SHOWN_ROWS


def test_sizes_that_differ_are_written_differently(report: Report) -> None:
    (table,) = page_of(report, "pays").exhibits
    assert isinstance(table, Table)
    sizes = [row[2] for row in table.rows if row[:2] == ("read", "reordering")]
    assert len(set(sizes)) == len(sizes) > 20
