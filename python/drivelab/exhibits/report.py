"""A report: pages with headings, and what comes before and after them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from drivelab.exhibits.figures import Figure, Multiples
from drivelab.exhibits.table import Table
from drivelab.exhibits.texts import Cards, Caution, Cautions, Document, Facts, Text
from drivelab.exhibits.what_if import WhatIf

Exhibit: TypeAlias = Figure | Multiples | Table | Cards | Cautions | Document | Facts | Text


@dataclass(frozen=True)
class Page:
    """What stands under one heading of a report.

    Attributes
    ----------
    title
        For example ``IOPS - steady-state convergence``.
    exhibits
        Exhibits in order. Different tables need different names, because these become names of
        CSV files.
    cautions
        What a reader must know before trusting the page.
    anchor
        Name of the heading in links; by default its number.
    tabs
        Whether to show one exhibit at a time, chosen by its title.
    """

    title: str
    exhibits: tuple[Exhibit, ...]
    cautions: tuple[Caution, ...] = ()
    anchor: str = field(default="", kw_only=True)
    tabs: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class First:
    """What a reader sees before scrolling, on a desktop and on a phone.

    Attributes
    ----------
    what
        The drive, or the question, in a sentence.
    figures
        One figure that shows what the drive does, or two side by side.
    numbers
        At most three numbers.
    sure
        How certain they are, in a sentence or two.
    cautions
        Warnings about all numbers of the report. The page shows their names, and the rest on
        demand.
    """

    what: str = ""
    figures: tuple[Figure | Multiples | Table, ...] = ()
    numbers: Cards | None = None
    sure: str = ""
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True)
class Report:
    """A whole report.

    Attributes
    ----------
    title
        For example ``IOPS test (PTS-E)``.
    header
        Field and value, in the order of the specification; ``not known`` for unknown values. A
        report with a header is laid out on sheets, with the header on top of each.
    stamp
        Printed over every page, such as ``not a PTS result``; empty for none.
    pages
        In order.
    result
        The whole result for programs, saved as JSON.
    tables
        Tables that are saved as CSV but not shown, because they are too long to read.
    texts
        Names and contents of text files to save next to the tables.
    subject, badge
        Kind of page, and a word with the kind of drive; empty if there are several kinds.
    statement
        Where the numbers come from, in a sentence or two.
    origin
        Column names and cells to put in front of each row of every saved table.
    folder
        Folder of the tables, relative to the page. Empty: the page's own folder. None: the page
        alone holds the tables.
    ending
        The last sentence of the page.
    first
        What comes before all pages; None for a report without a figure or number to begin with. On
        sheets it appears on the screen only, and the sheets repeat its exhibits.
        Settings of the what-if page that lies next to this report; None for a report without a
        link to it.
    """

    title: str
    header: tuple[tuple[str, str], ...] = ()
    stamp: str = ""
    pages: tuple[Page, ...] = ()
    result: dict[str, Any] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    texts: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    subject: str = field(default="", kw_only=True)
    badge: tuple[str, str] = field(default=("", ""), kw_only=True)
    statement: str = field(default="", kw_only=True)
    origin: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    folder: str | None = field(default="data", kw_only=True)
    ending: str = field(default="", kw_only=True)
    first: First | None = field(default=None, kw_only=True)
    what_if: WhatIf | None = field(default=None, kw_only=True)
