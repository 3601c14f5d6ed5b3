"""The kinds of figures: lines, columns, histograms, bars, clouds, lanes, trees and grids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from drivelab.exhibits.table import Around

Scale = Literal["linear", "log2", "log10", "nines"]
Role = Literal["data", "guide", "fit", "trace", "band", "cloud", "dots", "mean"]


@dataclass(frozen=True)
class Axis:
    """One axis of a figure.

    Attributes
    ----------
    label
        What it shows, with its unit: ``throughput (MB/s)``.
    scale
        ``log2`` for block sizes and depths, ``log10`` for rates, ``nines`` for percentiles in per
        cent: each further nine takes the same space.
    categories
        Names at 0, 1, 2, ...; empty for an axis of numbers.
    quantity
        ``duration`` for times in ns, each written with the unit that fits it; ``share`` for ratios
        written in per cent; ``times`` for ratios written as factors.
    also
        Further values that the axis must include, so that figures side by side share an axis.
    ticks
        Values to write at a ``log2`` axis if there is room; powers of two by default.
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
        Values, of equal number. A y of NaN is a gap. A point alone between two gaps is a dot.
    role
        ``data`` with markers; ``guide`` thin and dashed (the mean, the 90 % and 110 % lines);
        ``fit`` thin (the least-squares line); ``trace`` without markers, for many values;
        ``band`` the area between `low` and `high`; ``cloud`` many small dots; ``dots`` markers
        that no line joins; ``mean`` the same, hollow.
    low, high
        Interval of each y; empty if unknown, NaN for a point without one.
    texts
        Tooltip of each point; by default its values.
    names
        Label of each point, such as its queue depth; an empty text for none.
    origin
        ``real``, ``simulated`` or ``closed_form``, if lines also differ by it.
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
    """A value for each pair of categories, drawn as 3-D columns and as a heat map.

    Attributes
    ----------
    x, y
        Axes with the categories of columns and rows.
    z
        Axis of the height.
    values
        One row per category of `y`, with one value per category of `x`; ``None`` for an unknown
        value.
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
    """A value for each pair of categories, drawn as a heat map with the value in each cell.

    Attributes
    ----------
    x, y
        Axes with the categories of columns and rows.
    z
        Axis of the values. With the quantity ``times`` they are ratios to a baseline, and cells
        above and below 1 have different colours.
    values
        As in `ColumnFigure`.
    texts
        Text of each cell instead of its value; an empty text for the value.
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
    """How often each response time occurred, with confidence levels (percentiles).

    Attributes
    ----------
    bins
        Lower end and upper end in us, and the count; rising, no empty bin.
    levels
        Percentile in per cent and its response time in us.
    what
        Name of the times, if they are not response times.
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
    """Groups of bars, normalised or not: drives or models side by side.

    Attributes
    ----------
    groups
        Names of the panels.
    bars
        Name, one value per group, and the ends of its interval if known.
    kinds
        Kind of each bar, which chooses its colour; empty if all have the same kind.
    guides
        One value per group, drawn as a dashed line; empty for none.
    columns
        Panels per row, if there is room.
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
    """Predicted values against measured ones; on the diagonal both are equal.

    Attributes
    ----------
    across, up
        Values, of equal number, above 0.
    label, place
        Meaning of the dots, and the number of their colour: 0 for the first, 1 for the second.
    factor
        Width of a band around the diagonal, as a factor; None for no band.
    texts
        Tooltip of each point.
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
    """One activity of a lane.

    Attributes
    ----------
    lane
        Index of its lane.
    start, end
        Times in the unit of the axis.
    kind
        Index of its kind in the figure.
    framed
        Whether it has a frame, because its reason differs from that of the others.
    text
        Tooltip.
    label
        Text inside the bar, if there is room.
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
    """Activities over time: one lane per actor, with bars along a common time axis.

    Attributes
    ----------
    x
        Time axis; `also` holds the ends of the drawing.
    lanes
        Names, from top to bottom.
    kinds
        Name, legend text and look of each kind of bar, in the order of drawing.
    frame
        Legend text for framed bars.
    ends
        Time of a dashed line; None for no line.
    rules
        Lanes with a dividing line above them.
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
    """A question of a tree, or one of its leaves.

    Attributes
    ----------
    words
        Condition for the rows that go to the first child; for a leaf, its name.
    mean, rows
        Mean of the predicted quantity over the rows, and the number (or weight) of the rows.
    children
        Indices of two nodes: condition true, condition false. Empty for a leaf.
    said
        Equation of a leaf.
    caution
        Warning about a leaf; empty for none.
    """

    words: str
    mean: float
    rows: float
    children: tuple[int, ...] = ()
    said: str = ""
    caution: str = ""


@dataclass(frozen=True)
class TreeFigure(Around):
    """A tree of questions, with the prediction below each leaf.

    Attributes
    ----------
    nodes
        Nodes, the root first and each parent before its children.
    mean
        Name and unit of the node means: ``throughput (MB/s)``.
    levels
        Levels of questions to draw; a branch that goes deeper shows its number of leaves.
    """

    name: str
    title: str
    nodes: tuple[TreeNode, ...]
    mean: str
    levels: int = 4
    note: str = ""


@dataclass(frozen=True)
class HeatFigure(Around):
    """Counts on a grid, drawn as cells from a light to a strong colour.

    Attributes
    ----------
    x, y
        Axes of columns and rows; their scales are linear.
    z
        Axis of the counts. Its scale is ``log10`` if a few cells hold most of the count.
    column, row
        Width of a column and height of a row, in the units of `x` and `y`. The first column and
        the first row begin at 0.
    ends
        Upper ends of the drawing along `x` and along `y`.
    cells
        Column, row and count of each non-empty cell.
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
    """Small figures side by side, each with its own title, with a common legend if possible.

    Attributes
    ----------
    figures
        Figures from left to right, top to bottom.
    columns
        Figures per row, if there is room.
    """

    name: str
    title: str
    figures: tuple[LineFigure | ScatterFigure, ...]
    columns: int = 3
    note: str = ""
