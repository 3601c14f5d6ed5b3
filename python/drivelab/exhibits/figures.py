"""Figures: lines, columns, histograms, bars, clouds, lanes, trees, grids, and small ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from drivelab.exhibits.table import Around

Scale = Literal["linear", "log2", "log10", "nines"]
Role = Literal["data", "guide", "fit", "trace", "band", "cloud", "mean"]


@dataclass(frozen=True)
class Axis:
    """One axis of a figure.

    Attributes
    ----------
    label
        What it shows, with its unit: ``throughput (MB/s)``.
    scale
        ``log2`` for block sizes and depths, ``log10`` for rates, ``nines`` for percentiles in
        per cent, of which each further nine takes as much room.
    categories
        Names at 0, 1, 2, ... where it shows no numbers.
    quantity
        ``duration`` for times in ns, each written with the unit that fits it; ``share`` for ratios
        written in per cent; ``times`` for ratios written as factors.
    also
        Further values that it has room for, so that figures side by side have one axis.
    ticks
        Values that are written at a ``log2`` axis, as far as there is room; powers of two without.
    """

    label: str
    scale: Scale = "linear"
    categories: tuple[str, ...] = ()
    quantity: Literal["number", "duration", "share", "times"] = "number"
    also: tuple[float, ...] = ()
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Line:
    """One series of a figure.

    Attributes
    ----------
    label
        Its name in the legend.
    x, y
        Values, as many of each. A y that is not a number is a gap.
    role
        ``data`` with markers; ``guide`` thin and dashed (the mean, the 90 % and 110 % lines);
        ``fit`` thin (the least-squares line); ``trace`` without markers, for many values;
        ``band`` the area between `low` and `high`; ``cloud`` many small dots; ``mean`` hollow
        markers that no line joins.
    low, high
        Of y, an interval a point; empty where none is known, not a number where it says nothing.
    texts
        What is said at each point, instead of its values.
    names
        What is written at each point, such as its queue depth; an empty text for nothing.
    origin
        ``real``, ``simulated`` or ``closed_form``, if it also distinguishes lines.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    role: Role = "data"
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    origin: str = ""


@dataclass(frozen=True)
class LineFigure(Around):
    """Series over a common axis: convergence, the window, a 2-D plot, a time series."""

    name: str
    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    note: str = ""


@dataclass(frozen=True)
class ColumnFigure(Around):
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
class CellFigure(Around):
    """A value for each pair of categories, as a heat map with the value in each cell.

    Attributes
    ----------
    x, y
        Their categories say what stands in a column and in a row.
    z
        What a cell shows; a quantity ``times`` is one of a baseline: cells above 1 and those below
        have colours of their own.
    values
        As of a `ColumnFigure`.
    texts
        What cells say instead of their value; an empty text for the value itself.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    z: Axis
    values: tuple[tuple[float | None, ...], ...]
    note: str = ""
    texts: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class HistogramFigure(Around):
    """How often response times occurred, with confidence levels (percentiles).

    Attributes
    ----------
    bins
        Lower end and upper end in us and the count, rising, none empty.
    levels
        Percentile in per cent and its response time in us.
    what
        What the times are, where they are no response times.
    """

    name: str
    title: str
    bins: tuple[tuple[float, float, int], ...]
    levels: tuple[tuple[float, float], ...]
    mean_us: float
    max_us: float
    note: str = ""
    what: str = field(default="response time", kw_only=True)


@dataclass(frozen=True)
class BarFigure(Around):
    """Groups of bars, each normalised or not: drives or models side by side.

    Attributes
    ----------
    groups
        Names of the panels.
    bars
        Name, a value a group, and low and high ends of its interval where known.
    kinds
        Of each bar, where bars of several kinds have colours of their own; empty where not.
    guides
        A value a group that a dashed line stands at; empty for none.
    columns
        How many panels fit into one row if there is room.
    """

    name: str
    title: str
    y: Axis
    groups: tuple[str, ...]
    bars: tuple[tuple[str, tuple[float | None, ...], tuple[tuple[float, float] | None, ...]], ...]
    note: str = ""
    kinds: tuple[str, ...] = field(default=(), kw_only=True)
    guides: tuple[float, ...] = field(default=(), kw_only=True)
    columns: int = field(default=2, kw_only=True)


@dataclass(frozen=True)
class ScatterFigure(Around):
    """What was said against what came: on the diagonal both are equal.

    Attributes
    ----------
    across, up
        Values, as many of each, above 0.
    label, place
        What the dots are, and which colour they have: 0 the first, 1 the second.
    factor
        Of a band around the diagonal; None for none.
    texts
        What is said at each point.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    across: tuple[float, ...]
    up: tuple[float, ...]
    label: str
    place: int = 0
    factor: float | None = None
    texts: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class LaneBar:
    """What one lane does for some time.

    Attributes
    ----------
    lane
        Its place among the lanes.
    start, end
        In the unit of the axis.
    kind
        One of the figure's kinds.
    framed
        Whether it has a frame: done for another reason than the rest.
    text
        What is said where it is pointed at.
    label
        Written into it where there is room.
    """

    lane: int
    start: float
    end: float
    kind: str
    framed: bool = False
    text: str = ""
    label: str = ""


@dataclass(frozen=True)
class LaneFigure(Around):
    """Who works when: a lane each, and bars along a common time.

    Attributes
    ----------
    x
        Time; `also` holds where the drawing begins and ends.
    lanes
        Names, from the top.
    kinds
        Name, words for the legend and look of each kind of bar, in the order of drawing.
    frame
        Words for the legend of what framed bars are.
    ends
        Where a dashed line stands, None for none.
    rules
        Lanes above which a line parts the drawing.
    """

    name: str
    title: str
    x: Axis
    lanes: tuple[str, ...]
    bars: tuple[LaneBar, ...]
    kinds: tuple[tuple[str, str, str], ...]
    frame: str = ""
    ends: float | None = None
    rules: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class TreeNode:
    """Where a tree parts, or ends.

    Attributes
    ----------
    words
        What holds of the rows that go to its first child; of an end, its name.
    mean, rows
        Mean of what is predicted over its rows, and how many those are (or their weight).
    children
        Places of two nodes, where the words hold and where they do not; empty of an end.
    said
        Of an end, its equation.
    caution
        What limits it; empty where nothing does.
    """

    words: str
    mean: float
    rows: float
    children: tuple[int, ...] = ()
    said: str = ""
    caution: str = ""


@dataclass(frozen=True)
class TreeFigure(Around):
    """A tree of questions, and below it what is predicted at each of its ends.

    Attributes
    ----------
    nodes
        The root first, each before its children.
    mean
        What the mean of a node is of, with its unit: ``throughput (MB/s)``.
    levels
        Levels of questions that are drawn; a branch below says how many ends it has.
    """

    name: str
    title: str
    nodes: tuple[TreeNode, ...]
    mean: str
    levels: int = 4
    note: str = ""


@dataclass(frozen=True)
class HeatFigure(Around):
    """How much there is of something on a grid: one cell a colour, from little to much.

    Attributes
    ----------
    x, y
        What columns and rows show; their scales are linear.
    z
        What a cell counts. Its scale is ``log10`` where few cells hold most.
    column, row
        How wide a column and how high a row is, in the units of `x` and `y`; the first of each
        begins at 0.
    ends
        Where the drawing ends along `x` and along `y`.
    cells
        Column, row and count of each cell that is not empty.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    z: Axis
    column: float
    row: float
    ends: tuple[float, float]
    cells: tuple[tuple[int, int, int], ...]
    note: str = ""


Figure: TypeAlias = (
    LineFigure
    | HeatFigure
    | ColumnFigure
    | CellFigure
    | HistogramFigure
    | BarFigure
    | ScatterFigure
    | LaneFigure
    | TreeFigure
)


@dataclass(frozen=True)
class Multiples(Around):
    """Small figures side by side, each under its own title, with one legend where they share it.

    Attributes
    ----------
    figures
        In order, from left to right and from the top.
    columns
        How many fit into one row if there is room.
    """

    name: str
    title: str
    figures: tuple[LineFigure | ScatterFigure, ...]
    columns: int = 3
    note: str = ""
