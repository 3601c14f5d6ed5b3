"""The common forms of drawn exhibits, and the colour ramp for values."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits import Axis, Caution, Table
    from drivelab.report.drawing.line_styles import AreaStyle, LineStyle

    Legend = tuple[tuple[LineStyle | AreaStyle, str], ...]

#: Full width of a sheet of paper.
WIDE_INCHES: Final = 7.2
#: Small figures in a row; readable at the width of a phone.
SMALL_INCHES: Final = (3.6, 2.8)
#: The first picture of a page: readable on a phone, and not too large on a desktop.
FIRST_INCHES: Final = (4.2, 2.95)
# From small to large values. Each is darker than the one before, so it works without colour.
_RAMP: Final = ((0.93, 0.96, 0.98), (0.53, 0.75, 0.88), (0.13, 0.44, 0.71), (0.03, 0.19, 0.42))
# Black. With a lighter one, neither text could be read on some colours in between.
_DARK_LETTERS: Final = (0.0, 0.0, 0.0)
# For values below and above 1: from orange through paper to blue, as for lines.
_BELOW: Final = ((0.98, 0.97, 0.95), (0.96, 0.70, 0.47), (0.70, 0.29, 0.02))
_ABOVE: Final = ((0.95, 0.97, 0.98), (0.53, 0.75, 0.88), (0.07, 0.36, 0.63))


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure.

    Attributes
    ----------
    svg
        An SVG element.
    tips
        Name of its list of tooltips, one per point in drawing order.
    """

    svg: str
    tips: str | None = None


@dataclass(frozen=True)
class HtmlTable:
    """A table as the page lays it out.

    Attributes
    ----------
    columns
        Headings of the columns.
    rows
        Texts of the cells, each with a background or an empty text.
    numeric
        Whether each column holds numbers, which are right-aligned.
    heads
        Headings above those of the columns, from the second column on, each with the number of
        columns that it spans.
    groups
        Headings between rows, each with the number of rows below it.
    marked
        Row and column of highlighted cells.
    joined
        Rows whose equal cells are merged.
    sorts
        Whether the reader may sort it; `rows` are then the first of `total`.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, str], ...], ...]
    numeric: tuple[bool, ...]
    heads: tuple[tuple[str, int], ...] = ()
    groups: tuple[tuple[str, int], ...] = ()
    marked: frozenset[tuple[int, int]] = frozenset()
    joined: frozenset[int] = frozenset()
    sorts: bool = False
    total: int = 0

    @property
    def bodies(self) -> list[tuple[str, list[int]]]:
        """Return the heading of each group, and the indices of its rows."""
        groups = self.groups or (("", len(self.rows)),)
        found, start = [], 0
        for title, count in groups:
            found.append((title, list(range(start, start + count))))
            start += count
        return found


@dataclass(frozen=True)
class Drawn:
    """An exhibit that is ready for the page.

    Attributes
    ----------
    name, title
        Name and title of the exhibit.
    saved
        Tables to save as CSV.
    panels
        Drawings, and their number per row.
    legend
        Samples of lines with their names.
    legends
        Legends of single panels, each under the title of its panel.
    table
        Table next to the drawings, or instead of them.
    notes
        Lines below the exhibit.
    tips
        Tooltips by the name of a panel's list, one per point.
    beside
        Whether the table is next to the drawings instead of below.
    is_heat
        Whether the table is a heat map.
    lead, source, cautions
        Texts and warnings around it.
    sorted
        Texts and sort keys of all rows of a table that the reader may sort.
    """

    name: str
    title: str
    saved: tuple[Table, ...]
    panels: tuple[Panel, ...] = ()
    columns: int = 1
    legend: Legend = ()
    legends: tuple[tuple[str, Legend], ...] = ()
    table: HtmlTable | None = None
    notes: tuple[str, ...] = ()
    tips: dict[str, list[str]] = field(default_factory=dict)
    beside: bool = False
    is_heat: bool = False
    lead: str = ""
    source: str = ""
    cautions: tuple[Caution, ...] = ()
    sorted: tuple[list[list[str]], list[list[float | None]]] | None = None

    @property
    def kind(self) -> str:
        """How the page lays it out: only a table, only drawings, or both."""
        if self.table is None:
            return "drawing"
        return "both" if self.panels else "table"


def identifier(name: str) -> str:
    """Return a name that is valid as part of an element's identifier."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "exhibit"


def share_of_range(axis: Axis, value: float, values: Sequence[float]) -> float:
    """Return the position of a value in the range of `values`, 0 to 1, on the axis's scale."""
    low, high = min(values), max(values)
    if axis.scale != "linear" and low > 0:
        low, high, value = math.log(low), math.log(high), math.log(value)
    return 1.0 if high <= low else (value - low) / (high - low)


def ramp(
    share: float, colors: Sequence[tuple[float, float, float]] = _RAMP
) -> tuple[float, float, float]:
    """Return the colour (red, green, blue, 0 to 1) of a share; small shares are light."""
    place = min(max(share, 0.0), 1.0) * (len(colors) - 1)
    left = min(int(place), len(colors) - 2)
    along = place - left
    red, green, blue = (
        (1 - along) * one + along * other
        for one, other in zip(colors[left], colors[left + 1], strict=True)
    )
    return red, green, blue


def cell_style(share: float) -> str:
    """Return the background and text colours of a heat map's cell."""
    return _lettered(ramp(share))


def parted_style(share: float) -> str:
    """Return the colours of a factor's cell: -1 strongest below 1, 0 neutral, 1 strongest above."""
    return _lettered(ramp(abs(share), _BELOW if share < 0 else _ABOVE))


def _lettered(color: tuple[float, float, float]) -> str:
    """Return a background and the text colour with the best contrast on it."""
    red, green, blue = color
    below = luminance(red, green, blue)
    # WCAG 2: the contrast of two luminances is (lighter + 0.05) / (darker + 0.05).
    dark_contrast = (below + 0.05) / (luminance(*_DARK_LETTERS) + 0.05)
    white_contrast = 1.05 / (below + 0.05)
    letters = rgb_text(_DARK_LETTERS) if dark_contrast > white_contrast else "#fff"
    return f"background:{rgb_text((red, green, blue))};color:{letters}"


def rgb_text(colour: tuple[float, float, float]) -> str:
    """Write a colour as CSS."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)


def luminance(red: float, green: float, blue: float) -> float:
    """Return the brightness of a colour, as in a grey print: 0 is black, 1 white."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (red, green, blue)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
