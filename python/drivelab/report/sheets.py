"""Arranging pages on sheets of paper.

A report with a header is laid out for a screen and for paper at once. A page with drawings starts a
new sheet. Neighbouring pages of text and tables share a sheet, and so do pages with only two
drawings each. What does not fit continues on the next sheet, below the same header. Sheets are
landscape, because such pages hold a figure or two; for bars of many drives, which are tall, they
are portrait.

::

    | summary, convergence |  | window, tables, 3-D |  | histogram, power |    each below a header
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from drivelab.exhibits import BarFigure, Cards, Cautions, Document, Facts, Text
from drivelab.report.drawing.drawn import drawn
from drivelab.report.drawing.looks import Drawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits import Caution, Exhibit, Page, Report

#: Exhibits that are set as they are.
SAID = (Cards, Cautions, Document, Facts, Text)


@dataclass(frozen=True)
class LaidPage:
    """A page with its exhibits drawn.

    Attributes
    ----------
    exhibits
        Drawings, tables and texts.
    is_drawn, is_half
        Whether it has drawings; whether it has exactly two, next to each other.
    """

    title: str
    cautions: tuple[Caution, ...]
    anchor: str
    tabs: bool
    exhibits: tuple[Any, ...]
    is_drawn: bool
    is_half: bool

    @classmethod
    def of(cls, page: Page) -> LaidPage:
        """Draw the exhibits of a page."""
        exhibits = tuple(map(_laid, page.exhibits))
        drawings = [each for each in exhibits if isinstance(each, Drawn)]
        return cls(
            page.title,
            page.cautions,
            page.anchor,
            page.tabs,
            exhibits,
            is_drawn=any(each.panels for each in drawings),
            is_half=_is_half(drawings),
        )


def first_page(report: Report) -> LaidPage | None:
    """Draw what comes before all pages; None if there is nothing.

    On sheets its exhibits appear again. These are copies, so they save no tables and have their own
    names.
    """
    if report.first is None:
        return None
    figures = report.first.figures
    if report.header:
        figures = tuple(replace(each, name=f"first-{each.name}", saved=()) for each in figures)
    exhibits = tuple(drawn(each, first=True) for each in figures)
    return LaidPage("", report.first.cautions, "summary", False, exhibits, True, False)


def _laid(exhibit: Exhibit) -> Any:
    return exhibit if isinstance(exhibit, SAID) else drawn(exhibit)


def paper_of(report: Report) -> Literal["portrait", "landscape"]:
    """Return the orientation of the sheets."""
    is_upright = any(isinstance(each, BarFigure) for page in report.pages for each in page.exhibits)
    return "portrait" if is_upright or not report.header else "landscape"


def _is_half(exhibits: Sequence[Drawn]) -> bool:
    """Return whether a page has exactly two drawings side by side: half a landscape sheet."""
    drawings = [each for each in exhibits if each.kind == "drawing" and each.columns == 1]
    return len(exhibits) == len(drawings) == 2


def sheets(pages: Sequence[LaidPage]) -> list[list[int]]:
    """Group page numbers into sheets; two neighbours with drawings share one if both are halves."""
    groups: list[list[int]] = []
    was_drawn, was_half = True, False
    for number, page in enumerate(pages, start=1):
        shares = was_half and page.is_half
        if not groups or (was_drawn and page.is_drawn and not shares):
            groups.append([])
        groups[-1].append(number)
        was_drawn, was_half = page.is_drawn, page.is_half
    return groups
