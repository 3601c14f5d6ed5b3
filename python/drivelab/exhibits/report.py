"""How exhibits stand together: pages under headings, and a report of them."""

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
    """What stands together under one heading of the report.

    Attributes
    ----------
    title
        For example ``IOPS - steady-state convergence``.
    exhibits
        In order. Tables behind exhibits that differ have names that differ: they are names of
        CSV files.
    cautions
        What a reader must know before believing it.
    anchor
        By which it is linked to; its number unless given.
    tabs
        Whether one exhibit is shown at a time, chosen by its title.
    """

    title: str
    exhibits: tuple[Exhibit, ...]
    cautions: tuple[Caution, ...] = ()
    anchor: str = field(default="", kw_only=True)
    tabs: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class First:
    """What a reader sees before scrolling, at a desk and on a phone.

    Attributes
    ----------
    what
        Which drive, or what was asked, in a sentence.
    figures
        One figure that says what the drive does, or two side by side.
    numbers
        Three numbers at most.
    sure
        How sure they are, in a sentence or two.
    cautions
        What limits every number of the page: their names, and the rest on demand.
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
        Field and value, in the order in which a specification lists them; ``not known`` where
        nobody knows. A report with a header is set on sheets, each with the header on top.
    stamp
        Printed over every page, such as ``not a PTS result``; empty for none.
    pages
        In order.
    result
        The machine-readable whole, as it is saved as JSON.
    tables
        Tables that are only saved as CSV, because they are too long to be read.
    texts
        Names and contents of plain text files that are saved next to the tables.
    subject, badge
        What kind of page it is; a word with its kind of drive, empty where there are several.
    statement
        Where the numbers come from, in a sentence or two.
    origin
        Column and cell that lead each row of every saved table.
    folder
        Folder of the tables, relative to the page. Empty: the page's own folder. None: the tables
        are only in the page.
    ending
        The last sentence of the page.
    first
        What comes before all pages; None for a report that has no figure and no number to begin
        with. On sheets it is on the screen only, and its exhibits stand on the sheets too.
    what_if
        What the page opens with on which a simulated SSD is changed, where that page lies next to
        this one; None for a report that does not lead there.
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
