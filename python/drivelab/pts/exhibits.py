"""What a report shows, as data: tables and figures that know nothing of paper or screen.

A test makes exhibits of its results; the report draws each kind, saves each as CSV, and puts
them into pages. So a new test needs no drawing, and a new drawing no test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Scale = Literal["linear", "log2", "log10"]
Cell = str | float | int | None


@dataclass(frozen=True)
class Axis:
    """One axis of a figure.

    Attributes
    ----------
    label
        What it shows, with its unit: ``throughput (MB/s)``.
    scale
        ``log2`` for block sizes and depths, ``log10`` for rates.
    categories
        Names at 0, 1, 2, ... where it shows no numbers.
    """

    label: str
    scale: Scale = "linear"
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """One series of a figure.

    Attributes
    ----------
    label
        Its name in the legend.
    x, y
        Values, as many of each.
    role
        ``data`` with markers; ``guide`` thin and dashed (the mean, the 90 % and 110 % lines);
        ``fit`` thin (the least-squares line); ``trace`` without markers, for many values.
    low, high
        Of y, an interval a point; empty where none is known.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    role: Literal["data", "guide", "fit", "trace"] = "data"
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True)
class LineFigure:
    """Series over a common axis: convergence, the window, a 2-D plot, a time series."""

    name: str
    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    note: str = ""


@dataclass(frozen=True)
class ColumnFigure:
    """A value for each pair of categories: 3-D columns, and the same table as a heat map.

    Attributes
    ----------
    x, y
        Their categories say what stands in a column and in a row.
    z
        Of the height.
    values
        A row for each category of `y`, in it a value for each of `x`; ``None`` where there is
        none.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    z: Axis
    values: tuple[tuple[float | None, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class HistogramFigure:
    """How often response times occurred, with confidence levels (percentiles).

    Attributes
    ----------
    bins
        Lower end and upper end in us and the count, rising, none empty.
    levels
        Percentile in per cent and its response time in us.
    """

    name: str
    title: str
    bins: tuple[tuple[float, float, int], ...]
    levels: tuple[tuple[float, float], ...]
    mean_us: float
    max_us: float
    note: str = ""


@dataclass(frozen=True)
class BarFigure:
    """Groups of bars, each normalised or not: drives side by side.

    Attributes
    ----------
    groups
        Names along the axis.
    bars
        Name, a value a group, and low and high ends of its interval where known.
    """

    name: str
    title: str
    y: Axis
    groups: tuple[str, ...]
    bars: tuple[tuple[str, tuple[float | None, ...], tuple[tuple[float, float] | None, ...]], ...]
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table; numbers are shown with the digits that they deserve.

    Attributes
    ----------
    columns
        Headings with units.
    rows
        As many cells each.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


Exhibit = LineFigure | ColumnFigure | HistogramFigure | BarFigure | Table


@dataclass(frozen=True)
class Page:
    """What stands together under one heading of the report.

    Attributes
    ----------
    title
        For example ``IOPS - steady-state convergence``.
    exhibits
        In order. Names of exhibits are unique in a report: they are names of CSV files.
    cautions
        What a reader must know before believing it.
    """

    title: str
    exhibits: tuple[Exhibit, ...]
    cautions: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Report:
    """A whole report: the header that every page carries, and its pages.

    Attributes
    ----------
    title
        For example ``IOPS test (PTS-E)``.
    header
        Field and value, in the order in which the specification lists them; ``not known`` where
        nobody knows.
    stamp
        Printed over every page, such as ``not a PTS result``; empty for none.
    pages
        In order.
    result
        The machine-readable whole, as it is saved as JSON.
    tables
        Saved as CSV beside those of the pages, and not shown: too long to be read.
    """

    title: str
    header: tuple[tuple[str, str], ...]
    stamp: str
    pages: tuple[Page, ...]
    result: dict[str, Any] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
