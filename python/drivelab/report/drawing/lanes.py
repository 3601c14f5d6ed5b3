"""Activities over time: one lane per actor, with bars along a common time axis.

Bars differ by colour and hatching; a tooltip explains each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from drivelab.exhibits import Table
from drivelab.report.drawing.looks import Drawn, Panel, identifier
from drivelab.report.drawing.svg import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PAPER,
    document,
    embedded,
    with_titles,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from drivelab.exhibits import LaneBar, LaneFigure

_PLOT_INCHES: Final = 7.1
#: For a phone: the width of a drawing, and the most height of all lanes together.
_NARROW_INCHES: Final = (3.5, 2.6)
# What stands in the label of a lane, and what is written there where there is little room.
_SHORT: Final = (("channel ", "ch "), ("plane ", "pl "), (", ", " "))
_TITLE_INCHES: Final = 0.6
# Space above the legend, with a heading.
_HEADING_INCHES: Final = 0.24
_LEGEND_INCHES: Final = 0.06
# Space for another line at the top: a note, or a second row of the legend.
_LINE_INCHES: Final = 0.18
# Width of a legend entry's patch and the space around it.
_ENTRY_INCHES: Final = 0.42
_AXIS_INCHES: Final = 0.6
_RIGHT_INCHES: Final = 0.35
# Lanes have full height as long as they fit on a page; more lanes are thinner.
_LANE_INCHES: Final = 0.24
_SMALLEST_LANE_INCHES: Final = 0.09
_COMFORTABLE_INCHES: Final = 10.0
_BAR: Final = 0.76
_TEXT_LANE_INCHES: Final = 0.13
_CHARACTER_INCHES: Final = 0.075
# Most width of a character in a lane's label.
_LABEL_CHARACTER_INCHES: Final = 0.066
# Most bold characters above the plot, and most characters in the line below.
_TITLE_CHARACTERS: Final = 84
_NOTE_CHARACTERS: Final = 112


@dataclass(frozen=True)
class _Look:
    face: str
    edge: str
    hatch: str = ""


#: Looks of bars by name.
LOOKS: Final = {
    "orange": _Look(ORANGE, PAPER),
    "blue": _Look(BLUE, PAPER),
    "green": _Look(GREEN, PAPER),
    "pale blue": _Look("#BFDDF0", BLUE),
    "pale green": _Look("#A9DEC9", GREEN),
    "pale orange": _Look("#F5CDB3", ORANGE),
    "striped": _Look(PAPER, GREY, "//////"),
    "barred": _Look("#EDF0F2", GREY, "|||||"),
    "crossed": _Look("#EDF0F2", INK, "xxxxxx"),
}


def lane_document(figure: LaneFigure, name: str) -> str:
    """Draw lanes as an SVG document with a heading.

    Parameters
    ----------
    figure
        The figure.
    name
        Name of the actors, such as a drive; shortened if it is long.

    Returns
    -------
    str
        The document; equal input gives equal bytes. A browser shows each bar's text as a tooltip.
    """
    return _drawn(figure, f"{_shortened(name, len(figure.title))}: {figure.title}")


def drawn_lanes(figure: LaneFigure, *, is_narrow: bool = False) -> Drawn:
    """Draw lanes for a page, or for a phone, with lanes as thin as necessary."""
    drawing = _drawn(figure, "", is_narrow=is_narrow)
    svg = embedded(drawing, identifier(figure.name), figure.title or "What works when")
    rows = tuple(
        (figure.lanes[bar.lane], bar.kind, bar.start, bar.end, bar.text) for bar in figure.bars
    )
    columns = ("lane", "kind", f"from: {figure.x.label}", f"to: {figure.x.label}", "what")
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=(Table(figure.name, columns, rows),),
        panels=(Panel(svg),),
        notes=(figure.note,) if figure.note else (),
    )


def _drawn(figure: LaneFigure, heading: str, *, is_narrow: bool = False) -> str:
    """Draw lanes; with a heading, the figure's note is above them too."""
    titles: dict[str, list[str]] = {}
    note = figure.note if heading else ""
    count = len(figure.lanes)
    plot_inches = _PLOT_INCHES
    lane_inches = min(_LANE_INCHES, max(_SMALLEST_LANE_INCHES, _COMFORTABLE_INCHES / count))
    if is_narrow:
        plot_inches, most = _NARROW_INCHES
        lane_inches = min(_LANE_INCHES, most / count)
        figure = replace(figure, lanes=tuple(map(_short, figure.lanes)))
    columns = _legend_columns(figure, plot_inches)
    entries = len(figure.kinds) + bool(figure.frame)
    lines = bool(note) + -(-entries // columns) - 1
    head_inches = _TITLE_INCHES if heading else _TITLE_INCHES - _HEADING_INCHES
    height = head_inches + lines * _LINE_INCHES + count * lane_inches + _AXIS_INCHES
    label_inches = 0.2 + _LABEL_CHARACTER_INCHES * max(map(len, figure.lanes))
    width = label_inches + plot_inches + _RIGHT_INCHES
    left = label_inches / width
    place = (left, _AXIS_INCHES / height, plot_inches / width, count * lane_inches / height)

    def draw_into(drawing: Figure) -> None:
        axes = drawing.add_axes(place)
        titles.update(_draw(axes, figure, lane_inches, plot_inches))
        _head(drawing, left, heading, note)
        below_inches = bool(heading) * _HEADING_INCHES + bool(note) * _LINE_INCHES
        _draw_legend(drawing, left, figure, columns, below_inches=below_inches)

    return with_titles(document(draw_into, (width, height)), titles)


def _draw(
    axes: Axes, figure: LaneFigure, lane_inches: float, plot_inches: float
) -> dict[str, list[str]]:
    """Draw into axes; return the texts of the bars, by the name of their collection."""
    low, high = figure.x.also[0], figure.x.also[-1]
    # Every second lane has a light ground, which leads the eye to its label.
    for place in range(0, len(figure.lanes), 2):
        axes.axhspan(place - 0.5, place + 0.5, color="#F7F8F9", zorder=0, linewidth=0)
    titles: dict[str, list[str]] = {}
    # Earlier kinds are drawn on top: a unit may read while a program waits.
    for depth, (name, _, look) in enumerate(reversed(figure.kinds)):
        for framed in (False, True):
            bars = [bar for bar in figure.bars if bar.kind == name and bar.framed == framed]
            if bars:
                group = f"bars-{len(titles)}"
                titles[group] = [bar.text for bar in bars]
                _draw_bars(axes, bars, LOOKS[look], group, depth=depth)
    if lane_inches >= _TEXT_LANE_INCHES:
        _write_labels(axes, figure.bars, plot_inches / max(high - low, 1e-9))
    if figure.ends is not None:
        axes.axvline(figure.ends, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    for above in figure.rules:
        axes.axhline(above - 0.5, color=GREY, linewidth=0.8)
    every = max(1, round(0.14 / lane_inches + 0.3))
    places = range(0, len(figure.lanes), every)
    axes.set_yticks(list(places), [figure.lanes[place] for place in places], fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(figure.lanes) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(low, high)
    axes.set_xlabel(figure.x.label)
    return titles


def _draw_bars(axes: Axes, bars: Sequence[LaneBar], look: _Look, group: str, *, depth: int) -> None:
    boxes = []
    for bar in bars:
        low, high = bar.lane - _BAR / 2, bar.lane + _BAR / 2
        boxes.append([(bar.start, low), (bar.end, low), (bar.end, high), (bar.start, high)])
    axes.add_collection(
        PolyCollection(
            boxes,
            facecolor=look.face,
            edgecolor=INK if bars[0].framed else look.edge,
            linewidth=1.1 if bars[0].framed else 0.4,
            hatch=look.hatch,
            zorder=2 + depth / 100,
            gid=group,
        )
    )


def _write_labels(axes: Axes, bars: Sequence[LaneBar], inches_per_time: float) -> None:
    """Write its label into every bar with enough space."""
    for bar in bars:
        room = (bar.end - bar.start) * inches_per_time
        if bar.label and room > _CHARACTER_INCHES * (len(bar.label) + 0.6):
            axes.text(
                (bar.start + bar.end) / 2,
                bar.lane,
                bar.label,
                ha="center",
                va="center_baseline",
                fontsize=7.5,
            )


def _head(drawing: Figure, left: float, heading: str, note: str) -> None:
    height = drawing.get_figheight()
    if heading:
        drawing.text(left, 1 - 0.22 / height, heading, fontsize=10, fontweight="bold")
    if len(note) > _NOTE_CHARACTERS:
        note = f"{note[: _NOTE_CHARACTERS - 1]}…"
    if note:
        drawing.text(left, 1 - (0.22 + _LINE_INCHES) / height, note, fontsize=8.5)


def _legend_columns(figure: LaneFigure, plot_inches: float = _PLOT_INCHES) -> int:
    """Return the number of legend entries per row."""
    texts = [words for _, words, _ in figure.kinds] + [figure.frame] * bool(figure.frame)
    for columns in range(len(texts), 1, -1):
        widest = sorted(map(len, texts), reverse=True)[:columns]
        inches = sum(widest) * _LABEL_CHARACTER_INCHES + columns * _ENTRY_INCHES
        if inches <= plot_inches:
            return columns
    return 1


def _draw_legend(
    drawing: Figure, left: float, figure: LaneFigure, columns: int, *, below_inches: float
) -> None:
    looks = [(words, LOOKS[look]) for _, words, look in figure.kinds]
    looks += [(figure.frame, _Look(PAPER, INK))] * bool(figure.frame)
    drawing.legend(
        handles=[
            Patch(facecolor=look.face, edgecolor=look.edge, hatch=look.hatch, label=words)
            for words, look in looks
        ],
        loc="upper left",
        bbox_to_anchor=(left, 1 - (below_inches + _LEGEND_INCHES) / drawing.get_figheight()),
        bbox_transform=drawing.transFigure,
        borderaxespad=0,
        borderpad=0,
        ncols=columns,
        columnspacing=1.2,
        handlelength=1.6,
    )


def _short(lane: str) -> str:
    """Return a shortened label of a lane."""
    for text, short in _SHORT:
        lane = lane.replace(text, short)
    return lane


def _shortened(name: str, title_characters: int) -> str:
    room = max(12, _TITLE_CHARACTERS - title_characters - 2)
    return name if len(name) <= room else f"…{name[1 - room :]}"
