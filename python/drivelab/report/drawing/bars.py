"""Drives or models side by side: one panel per group, with a bar and its interval for each.

Bars are horizontal, with their name and value next to them, so colour alone carries no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Final

from matplotlib.ticker import MaxNLocator

from drivelab.exhibits import Table
from drivelab.exhibits.number_text import value_text
from drivelab.exhibits.quantities import latency_text, mre_text
from drivelab.plain_text import escaped_lines
from drivelab.report.drawing.axes import axis_label, axis_text, plot_inches, stand_apart
from drivelab.report.drawing.line_styles import AreaStyle
from drivelab.report.drawing.looks import FIRST_INCHES, WIDE_INCHES, Drawn, Panel, identifier
from drivelab.report.drawing.svg import BLUE, GREEN, INK, ORANGE, document, panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from drivelab.exhibits import BarFigure

    Interval = tuple[float, float] | None

# For a document: title and legend above its panels, and the left edge of texts.
_HEAD_INCHES: Final = 0.62
_INDENT_INCHES: Final = 0.1
_BAR_INCHES: Final = 0.23
_LINE_INCHES: Final = 0.145
_LETTER_INCHES: Final = 0.074
_TITLE_LETTER_INCHES: Final = 0.092
_NOTE_LETTER_INCHES: Final = 0.066
_VALUE_LETTER_INCHES: Final = 0.07
#: Most bars that the alternative text for screen readers lists.
_MOST_SAID: Final = 12
# Half of the axis's last number extends beyond its end.
_RIGHT_INCHES: Final = 0.3
# The axis ends at this multiple of the largest value, whose text is behind its bar.
_BEYOND: Final = 1.32
# Longer names are wrapped.
_LONGEST_LINE: Final = 22
_PLACES: Final = re.compile(r"(?<=[\s/_:,-])")
#: Colours of the kinds of bars, in the order of their first use.
_KIND_COLORS: Final = (ORANGE, BLUE, GREEN)
#: Format of the value behind a bar, by the quantity of the axis.
_VALUE_TEXTS: Final[dict[str, Callable[[float], str]]] = {
    "share": mre_text,
    "duration": latency_text,
}
_HATCHES: Final = {"simulated": "////", "calculated": "...."}


def drawn_bars(figure: BarFigure, *, is_narrow: bool = False) -> Drawn:
    """Draw groups of bars, one panel per group; a single panel is narrow if `is_narrow`."""
    columns = 1 if len(figure.groups) == 1 else figure.columns
    kinds = list(dict.fromkeys(figure.kinds))
    panels = tuple(
        Panel(_panel(figure, place, group, columns, is_narrow=is_narrow))
        for place, group in enumerate(figure.groups)
    )
    rows = []
    for name, values, intervals in figure.bars:
        for group, value, interval in zip(figure.groups, values, intervals, strict=True):
            low, high = interval or (None, None)
            rows.append((name, group, value, low, high))
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=(Table(figure.name, ("bar", "group", figure.y.label, "low", "high"), tuple(rows)),),
        panels=panels,
        columns=columns,
        legend=tuple((AreaStyle(_KIND_COLORS[place]), kind) for place, kind in enumerate(kinds)),
        notes=(figure.note,) if figure.note else (),
    )


def bars_document(figure: BarFigure) -> str:
    """Draw groups of bars as one SVG document, one panel per group, below each other.

    Returns
    -------
    str
        Equal input gives equal bytes.
    """
    shapes = [_Shape.of(figure, group, 1) for group in figure.groups]
    notes = fill(figure.note, int(WIDE_INCHES / _NOTE_LETTER_INCHES)) if figure.note else ""
    below = 0.16 * (1 + notes.count("\n")) + 0.1 if notes else 0.0
    height = _HEAD_INCHES + sum(shape.height for shape in shapes) + below
    kinds = list(dict.fromkeys(figure.kinds))

    def draw(drawing: Figure) -> None:
        from matplotlib.patches import Patch

        left = _INDENT_INCHES / WIDE_INCHES
        drawing.text(left, 1 - 0.24 / height, figure.title, fontsize=11, fontweight="bold")
        patches = [
            Patch(color=color, label=kind) for color, kind in zip(_KIND_COLORS, kinds, strict=False)
        ]
        if patches:
            drawing.legend(
                handles=patches,
                loc="upper left",
                bbox_to_anchor=(0, 1 - 0.3 / height),
                ncols=len(patches),
            )
        top = height - _HEAD_INCHES
        for place, shape in enumerate(shapes):
            start, bottom, right, above = shape.margins
            base = top - shape.height + bottom
            axes = drawing.add_axes(
                (
                    start / WIDE_INCHES,
                    base / height,
                    (WIDE_INCHES - start - right) / WIDE_INCHES,
                    (shape.height - bottom - above) / height,
                )
            )
            _draw(axes, figure, place, shape.title, shape.names, indent_inches=_INDENT_INCHES)
            top -= shape.height
        if notes:
            drawing.text(left, 0.1 / height, notes, fontsize=8.5)

    return document(draw, (WIDE_INCHES, height))


@dataclass(frozen=True)
class _Shape:
    """The texts of a panel and the space that they take, in inches."""

    names: list[str]
    title: str
    width: float
    height: float
    #: Margins of the axes: left, bottom, right, top.
    margins: tuple[float, float, float, float]

    @classmethod
    def of(cls, figure: BarFigure, group: str, columns: int, *, is_narrow: bool = False) -> _Shape:
        names = [_folded(name) for name, _, _ in figure.bars]
        # The page scales drawings below half a sheet in width down.
        width = FIRST_INCHES[0] if is_narrow else WIDE_INCHES / min(columns, 2)
        letters = max(len(line) for name in names for line in name.split("\n"))
        left = 0.15 + letters * _LETTER_INCHES
        lines = max(1 + name.count("\n") for name in names)
        title = fill(group, int(width / _TITLE_LETTER_INCHES))
        top = 0.14 + 0.16 * (1 + title.count("\n"))
        height = 0.52 + top + max(_BAR_INCHES, 0.03 + _LINE_INCHES * lines) * len(names)
        return cls(names, title, width, height, (left, 0.5, _RIGHT_INCHES, top))


def _panel(
    figure: BarFigure, place: int, group: str, columns: int, *, is_narrow: bool = False
) -> str:
    shape = _Shape.of(figure, group, columns, is_narrow=is_narrow and columns == 1)
    return panel(
        lambda axes: _draw(axes, figure, place, shape.title, shape.names),
        size_inches=(shape.width, shape.height),
        margins_inches=shape.margins,
        identifier=f"{identifier(figure.name)}-{place}",
        label=_said(figure, place, group),
    )


def _said(figure: BarFigure, place: int, group: str) -> str:
    """Return the alternative text of a panel: the bars and their values."""
    text = _VALUE_TEXTS.get(figure.y.quantity, value_text)
    parts = [
        f"{name} {'no value' if values[place] is None else text(values[place] or 0.0)}"
        for name, values, _ in figure.bars[:_MOST_SAID]
    ]
    if len(figure.bars) > _MOST_SAID:
        parts.append(f"and {len(figure.bars) - _MOST_SAID} more bars")
    what = f"{figure.title or figure.y.label}: {group}"
    return f"{what}. {axis_label(figure.y)}: {'; '.join(parts)}."


def _folded(name: str) -> str:
    """Break a name at its spaces and separators; break a long word anywhere."""
    lines = [""]
    for part in _PLACES.split(name):
        piece = part
        if len(lines[-1]) + len(piece.rstrip()) > _LONGEST_LINE and lines[-1]:
            lines.append("")
        while len(piece.rstrip()) > _LONGEST_LINE:
            lines[-1], piece = piece[:_LONGEST_LINE], piece[_LONGEST_LINE:]
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _colors(figure: BarFigure) -> list[str]:
    kinds = list(dict.fromkeys(figure.kinds))
    if not kinds:
        return [BLUE] * len(figure.bars)
    return [_KIND_COLORS[kinds.index(kind)] for kind in figure.kinds]


def _draw(
    axes: Axes,
    figure: BarFigure,
    group: int,
    title: str,
    names: Sequence[str],
    *,
    indent_inches: float = 0.0,
) -> None:
    values = [values[group] for _, values, _ in figure.bars]
    intervals = [intervals[group] for _, _, intervals in figure.bars]
    text = _VALUE_TEXTS.get(figure.y.quantity, value_text)
    ends = [value for value in values if value is not None]
    ends += [interval[1] for interval in intervals if interval is not None]
    ends += (*figure.guides[group : group + 1], *figure.y.also)
    most = max(ends, default=1.0) or 1.0
    axes.set_xlim(0, most * _BEYOND)
    rows = zip(names, values, intervals, _colors(figure), strict=True)
    for place, (name, value, interval, color) in enumerate(rows):
        if value is None:
            axes.text(0.01 * most, place, "no value", verticalalignment="center", fontsize=8)
            continue
        hatch = next((mark for word, mark in _HATCHES.items() if f"({word})" in name), None)
        axes.barh(
            place,
            value,
            height=0.68,
            facecolor="white" if hatch else color,
            edgecolor=color,
            hatch=hatch,
            linewidth=0.8,
        )
        _draw_interval(axes, place, value, interval)
        written = text(value)
        end = max(value, interval[1] if interval else value)
        axes.annotate(
            written,
            (_clear_of(axes, figure.guides[group : group + 1], end, written), place),
            xytext=(4, 0),
            textcoords="offset points",
            verticalalignment="center",
            fontsize=8,
        )
    for guide in figure.guides[group : group + 1]:
        axes.axvline(guide, color=INK, linewidth=1, linestyle=(0, (3, 2)))
    _set_axes(axes, figure, names, most)
    # From the edge of the drawing: there is more space than above the bars.
    axes.annotate(
        title,
        (0, 1),
        xycoords=("figure fraction", "axes fraction"),
        xytext=(72 * indent_inches, 5),
        textcoords="offset points",
        fontsize=9.5,
        fontweight="bold",
    )


def _clear_of(axes: Axes, guides: Sequence[float], end: float, written: str) -> float:
    """Return where the text of a value starts behind its bar, so that no guide crosses it."""
    inches = axes.get_window_extent().width / axes.figure.dpi
    width = (len(written) + 1) * _VALUE_LETTER_INCHES * axes.get_xlim()[1] / inches
    return max([end, *(guide for guide in guides if end <= guide <= end + width)])


def _draw_interval(axes: Axes, place: int, value: float, interval: Interval) -> None:
    if interval is None:
        return
    low, high = interval
    axes.errorbar(
        [value],
        [place],
        xerr=[[value - low], [high - value]],
        fmt="none",
        color=INK,
        elinewidth=1.2,
        capsize=2.5,
    )


def _locator(axes: Axes, most: float, text: Callable[[float], str]) -> MaxNLocator:
    """Return a locator for at most six numbers that do not touch."""
    end = most * _BEYOND
    for count in range(5, 1, -1):
        locator = MaxNLocator(nbins=count, steps=(1, 2, 2.5, 5, 10))
        ticks = [float(tick) for tick in locator.tick_values(0, end) if 0 <= tick <= end]
        step = ticks[1] - ticks[0] if len(ticks) > 1 else end
        if stand_apart([text(tick) for tick in ticks], step / end * plot_inches(axes)):
            break
    return locator


def _set_axes(axes: Axes, figure: BarFigure, names: Sequence[str], most: float) -> None:
    # Redrawn as ticks, so that `panel` does not move them.
    axes.set_yticks(range(len(names)), list(map(escaped_lines, names)), fontsize=8.5)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    text = axis_text(figure.y) if figure.y.quantity != "number" else "{:,.6g}".format
    axes.xaxis.set_major_locator(_locator(axes, most, text))
    axes.xaxis.set_major_formatter(lambda value, _: text(value))
    axes.set_xlabel(axis_label(figure.y))
