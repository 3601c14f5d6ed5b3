"""The page of a reproduction: which numbers stand for each other, and what holds."""

from __future__ import annotations

import pytest

from drivelab.exhibits import Table
from drivelab.report.page import render
from drivelab.reproduce.claims import Claim, Ordering, Reproduction
from drivelab.reproduce.exhibits import reproduction_report

CLAIMS = (
    Claim("page time", 1_010.0, 1_000.0, "ns", 20.0, "printed in us"),
    Claim("block time", 9_000.0, 10_000.0, "ns", 2_000.0, "printed in us"),
    Claim("rate", 500.0, 1000.0, "IOPS", 1.0, "exact"),
    Claim("nothing", 0.0, 0.0, "%", 0.0, "exact"),
)
TABLE = Table(
    "table_1",
    ("drive", "published_read_percent", "read_percent", "published_note", "other"),
    (("a", 10.0, 11.0, "x", 1), ("b", 20.0, 19.0, "y", 2), ("c", None, 5.0, "z", 3)),
)


def made(**changes) -> Reproduction:
    values = {"paper": "mine2020", "reference": "Mine 2020, A paper", "tables": (TABLE,)}
    return Reproduction(**{**values, **changes})


def cards(found: Reproduction) -> dict[str, tuple[str, str]]:
    first = reproduction_report(found).first
    return {card.name: (card.low, card.said) for card in first.numbers.cards}


def test_claims_on_numbers_are_drawn_a_panel_a_unit() -> None:
    orderings = (Ordering("slower", 1.0, 2.0, "ms", "the paper says so"),)
    report = reproduction_report(made(claims=CLAIMS, orderings=orderings))
    (picture,) = report.first.figures
    (panel,) = picture.figures
    # In microseconds, and nothing of what is 0.
    assert (panel.across, panel.up) == ((1.0, 10.0), (1.01, 9.0))
    assert panel.x.label == "published (µs)"
    units = next(page for page in report.pages if page.anchor == "units")
    assert [one.across for one in units.exhibits[0].figures] == [(1000.0,)]
    assert cards(made(claims=CLAIMS, orderings=orderings)) == {
        "Claims that are true": ("4 of 5", "4 on numbers, 1 on which of two is larger"),
        "Typical distance from the paper": ("10 %", "median of 3 numbers"),
        "Largest distance": ("50 %", "rate"),
    }
    (caution,) = report.first.cautions
    assert "rate: 500 IOPS instead of 1,000 IOPS" in caution.line
    html = render(report).html
    assert "A paper" in html
    assert html.index("Ours against published") < html.index("The paper&#39;s numbers and ours")


def test_without_claims_on_numbers_columns_of_the_same_name_are_pairs() -> None:
    report = reproduction_report(made())
    ((panel,),) = (picture.figures for picture in report.first.figures)
    assert (panel.across, panel.up) == ((10.0, 20.0), (11.0, 19.0))
    assert panel.texts[0] == "table 1, a, x, read percent\npublished 10, ours 11 %"
    assert [page.anchor for page in report.pages] == ["tables"]


def test_a_paper_without_numbers_to_compare_has_no_picture() -> None:
    table = Table("table_1", ("drive", "read_ns"), (("a", 1.0),))
    found = made(tables=(table,), quoted=("It says more.",))
    report = reproduction_report(found)
    assert report.first.figures == ()
    assert cards(found) == {"Claims that are true": ("0 of 0", "none")}
    assert "It says more." in render(report).html


@pytest.mark.parametrize("holds", [True, False])
def test_whether_a_claim_holds_is_a_word_on_the_page_and_a_number_in_the_file(holds: bool) -> None:
    claim = Claim("page time", 1.0, 1.0 if holds else 2.0, "ns", 0.5, "exact")
    report = reproduction_report(made(claims=(claim,)))
    (table,) = next(page for page in report.pages if page.anchor == "claims").exhibits
    assert table.column("true") == ["yes" if holds else "no"]
    assert table.saved[0].column("holds") == [int(holds)]
