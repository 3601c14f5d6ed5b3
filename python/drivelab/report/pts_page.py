"""The page of a performance test: its header on every sheet, its exhibits drawn and set.

It is laid out for a screen and for paper at once: a page with drawings begins a sheet, pages of
text and tables share one with their neighbours, as do pages of two drawings each, and what does
not fit goes on below the same header on the next. A test's pages hold a figure or two, so its
sheets lie across; bars of many drives are tall, so a comparison's stand upright.

::

    | summary, convergence |  | window, tables, 3-D |  | histogram, power |    each below a header
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.pts.exhibits import BarFigure
from drivelab.report.exhibits.drawn import drawn
from drivelab.report.page import Report, render_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.pts.exhibits import Report as TestReport
    from drivelab.report.exhibits.looks import Drawn


def render_test(report: TestReport, statement: str = "") -> Report:
    """Draw every exhibit and write the page.

    Parameters
    ----------
    report
        What is to be shown.
    statement
        Where its numbers come from.

    Returns
    -------
    Report
        The same report always gives the same bytes.

    Raises
    ------
    ValueError
        When two exhibits have one name, which would be one file.
    """
    pages: list[dict[str, Any]] = [
        {
            "title": page.title,
            "cautions": page.cautions,
            "exhibits": [drawn(exhibit) for exhibit in page.exhibits],
        }
        for page in report.pages
    ]
    for page in pages:
        page["is_drawn"] = any(exhibit.panels for exhibit in page["exhibits"])
        page["is_half"] = _is_half(page["exhibits"])
    exhibits = [exhibit for page in pages for exhibit in page["exhibits"]]
    names = [exhibit.name for exhibit in exhibits]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{report.title}: two exhibits are named {twice!r}")
    tables = tuple(exhibit.saved for exhibit in exhibits)
    tips = {name: texts for exhibit in exhibits for name, texts in exhibit.tips.items()}
    is_upright = any(isinstance(each, BarFigure) for page in report.pages for each in page.exhibits)
    html = render_page(
        "exhibits.html.j2",
        styles=("report.css", "exhibits.css"),
        title=report.title,
        statement=statement,
        stamp=report.stamp,
        header=report.header,
        pages=pages,
        sheets=_sheets(pages),
        has_result=bool(report.result),
        paper="portrait" if is_upright else "landscape",
        data={"csv": {table.name: table.csv() for table in tables}, "tips": tips},
    )
    return Report(html, tables)


def _is_half(exhibits: Sequence[Drawn]) -> bool:
    """Tell whether two drawings beside each other are all of a page: half a sheet that lies."""
    drawings = [each for each in exhibits if each.kind == "drawing" and each.columns == 1]
    return len(exhibits) == len(drawings) == 2


def _sheets(pages: Sequence[dict[str, Any]]) -> list[list[int]]:
    """Group pages, by their numbers: of two neighbours with drawings, both are halves."""
    groups: list[list[int]] = []
    was_drawn, was_half = True, False
    for number, page in enumerate(pages, start=1):
        shares = was_half and page["is_half"]
        if not groups or (was_drawn and page["is_drawn"] and not shares):
            groups.append([])
        groups[-1].append(number)
        was_drawn, was_half = page["is_drawn"], page["is_half"]
    return groups
