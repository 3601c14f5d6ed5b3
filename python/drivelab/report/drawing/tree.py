"""A tree from left to right, with the predictions at its leaves.

::

                       yes  [ leaf 1 ]
    [ queue depth <= 4 ]
                       no   [ leaf 2 to leaf 8 ]    below the levels that are drawn
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from matplotlib.patches import FancyBboxPatch

from drivelab.exhibits import Table
from drivelab.exhibits.number_text import number_text, value_text
from drivelab.plain_text import escaped
from drivelab.report.drawing.looks import WIDE_INCHES, Drawn, Panel, identifier
from drivelab.report.drawing.svg import BLUE, GREY, INK, ORANGE, PAPER, document, embedded
from drivelab.report.drawing.tables import drawn_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from drivelab.exhibits import TreeFigure, TreeNode

_POINTS: Final = 8
_SOFT: Final = "#52606D"
_LINE_INCHES: Final = 0.15
# Most width of a character.
_LETTER_INCHES: Final = 0.066
_BOLD_LETTER_INCHES: Final = 0.075
# Most characters of a line in a box, and of a line below the tree.
_BOX_LETTERS: Final = 30
_LETTERS: Final = 110
_PADDING_INCHES: Final = 0.07
_GAP_INCHES: Final = 0.14
# Space between two levels of boxes, for the connecting line and its word.
_BETWEEN_INCHES: Final = 0.5
_MARGIN_INCHES: Final = 0.1
_TITLE_INCHES: Final = 0.4
_TITLE_LETTER_INCHES: Final = 0.1


def drawn_tree(figure: TreeFigure) -> Drawn:
    """Draw a tree for a page, with a table of its leaves."""
    layout = _Layout(figure)
    svg = document(layout.draw, (max(layout.width, WIDE_INCHES), layout.height))
    # Includes the leaves that are not drawn.
    ends = [figure.nodes[place] for place in ends_below(figure.nodes, 0)]
    cautions = any(node.caution for node in ends)
    columns = ("end", f"mean {figure.mean}", "rows", "equation", *["caution"] * cautions)
    rows = tuple(
        (node.words, node.mean, _whole(node.rows), node.said, *[node.caution] * cautions)
        for node in ends
    )
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=(_saved(figure),),
        panels=(Panel(embedded(svg, identifier(figure.name), figure.title)),),
        table=drawn_table(Table(figure.name, columns, rows)).table if rows else None,
        notes=(figure.note,) if figure.note else (),
    )


def tree_document(figure: TreeFigure) -> str:
    """Draw a tree as an SVG document with the equations of its leaves below.

    Returns
    -------
    str
        Equal input gives equal bytes.
    """
    layout = _Layout(figure)
    lines: list[tuple[str, str]] = []
    for place in ends_below(figure.nodes, 0):
        node = figure.nodes[place]
        words = f"{escaped(node.words)}: {escaped(node.said)}"
        words += f" ({node.caution})" if node.caution else ""
        # SVG would drop spaces at the beginning of a line.
        indent = "\N{NO-BREAK SPACE}" * 8
        wrapped = textwrap.wrap(words, _LETTERS, subsequent_indent=indent)
        lines += [(line, ORANGE if node.caution else INK) for line in wrapped]
    head = _TITLE_INCHES
    below = len(lines) * _LINE_INCHES + 2 * _MARGIN_INCHES
    letters = max([len(line) for line, _ in lines], default=0)
    title_inches = len(figure.title) * _TITLE_LETTER_INCHES
    inside = max(title_inches, letters * _LETTER_INCHES) + 2 * _MARGIN_INCHES
    width = max(layout.width, inside)
    height = head + layout.height + below

    def draw(drawing: Figure) -> None:
        left = _MARGIN_INCHES / width
        drawing.text(left, 1 - 0.1 / height, figure.title, fontsize=10, fontweight="bold", va="top")
        layout.draw(drawing, above=head, below=below)
        for number, (line, color) in enumerate(lines):
            up = (below - _MARGIN_INCHES - number * _LINE_INCHES) / height
            drawing.text(left, up, line, fontsize=_POINTS, color=color, va="top")

    return document(draw, (width, height))


def _whole(rows: float) -> int | float:
    """Return a number of rows as a whole number if it is one; weights may not be."""
    return int(rows) if float(rows).is_integer() else rows


def _saved(figure: TreeFigure) -> Table:
    """Return the table of all nodes, including those that are not drawn."""
    above = {
        child: (place, answer)
        for place, node in enumerate(figure.nodes)
        for child, answer in zip(node.children, ("yes", "no"), strict=False)
    }
    columns = ("node", "parent", "answer", "words", f"mean {figure.mean}", "rows", "equation")
    return Table(
        figure.name,
        (*columns, "caution"),
        tuple(
            (
                *(place, *above.get(place, (None, None)), node.words, node.mean, node.rows),
                *(node.said or None, node.caution or None),
            )
            for place, node in enumerate(figure.nodes)
        ),
    )


class _Layout:
    """Positions of the drawn nodes: leaves below each other, a question between its answers.

    Attributes
    ----------
    ends
        Drawn nodes without drawn children, from the top.
    level
        For each drawn node, its distance from the root.
    down
        For each drawn node, its centre in inches from the top.
    lines
        For each drawn node, the lines of text in its box.
    """

    def __init__(self, figure: TreeFigure) -> None:
        self.nodes = figure.nodes
        self.ends: list[int] = []
        self.level: dict[int, int] = {0: 0}
        self.down: dict[int, float] = {}
        below = [0]
        while below:
            place = below.pop()
            children = self.nodes[place].children
            if not children or self.level[place] >= figure.levels:
                self.ends.append(place)
                continue
            for child in reversed(children):
                self.level[child] = self.level[place] + 1
                below.append(child)
        self.lines = {place: self._lines(place) for place in self.level}
        tallest = max(map(len, self.lines.values()))
        row = tallest * _LINE_INCHES + 2 * _PADDING_INCHES + _GAP_INCHES
        self.down = {place: (row_number + 0.5) * row for row_number, place in enumerate(self.ends)}
        # Children come after their parents in the list.
        for place in sorted(self.level, reverse=True):
            if place not in self.down:
                middles = [self.down[child] for child in self.nodes[place].children]
                self.down[place] = sum(middles) / len(middles)
        self.height = len(self.ends) * row
        widths = [0.0] * (max(self.level.values()) + 1)
        for place, level in self.level.items():
            *words, numbers = map(len, self.lines[place])
            inside = max(max(words) * _BOLD_LETTER_INCHES, numbers * _LETTER_INCHES)
            widths[level] = max(widths[level], inside + 2 * _PADDING_INCHES)
        self.widths = widths
        self.left = [
            _MARGIN_INCHES + sum(widths[:level]) + level * _BETWEEN_INCHES
            for level in range(len(widths))
        ]
        self.width = self.left[-1] + widths[-1] + _MARGIN_INCHES

    def words(self, place: int) -> str:
        """Return the text of a node: its words, or the number of leaves behind it."""
        node = self.nodes[place]
        if place not in self.ends or not node.children:
            return escaped(node.words)
        first, *between, last = ends_below(self.nodes, place)
        joined = " to " if between else ", "
        return escaped(joined.join(self.nodes[end].words for end in (first, last)))

    def look(self, place: int) -> tuple[str, str, float]:
        """Return the colour, dashes and line width of a box."""
        if place not in self.ends:
            return BLUE, "-", 1.0
        is_cut = bool(self.nodes[place].children)
        if any(self.nodes[end].caution for end in ends_below(self.nodes, place)):
            return ORANGE, "--" if is_cut else "-", 2.0
        return (GREY, "--", 1.0) if is_cut else (INK, "-", 1.0)

    def draw(self, drawing: Figure, above: float = 0.0, below: float = 0.0) -> None:
        """Draw into a figure that leaves this many inches above and below for other things."""
        width, height = drawing.get_size_inches()
        axes = drawing.add_axes((0, below / height, 1, 1 - (above + below) / height))
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(self.height, 0)
        for place in self.level:
            if place not in self.ends:
                self._draw_answers(axes, place)
        for place in self.level:
            self._draw_box(axes, place)

    def _draw_answers(self, axes: Axes, place: int) -> None:
        level = self.level[place]
        end = self.left[level + 1]
        bend = end - _BETWEEN_INCHES * 0.75
        start = self.left[level] + self.widths[level]
        for child, answer in zip(self.nodes[place].children, ("yes", "no"), strict=True):
            down = self.down[child]
            steps = [start, bend, bend, end], [self.down[place], self.down[place], down, down]
            axes.plot(*steps, color=GREY, linewidth=1, zorder=1)
            axes.text(bend + 0.05, down - 0.03, answer, fontsize=7, color=GREY, va="bottom")

    def _draw_box(self, axes: Axes, place: int) -> None:
        color, dashes, thickness = self.look(place)
        lines = self.lines[place]
        height = len(lines) * _LINE_INCHES + 2 * _PADDING_INCHES
        level = self.level[place]
        left, top = self.left[level], self.down[place] - height / 2
        axes.add_patch(
            FancyBboxPatch(
                (left, top),
                self.widths[level],
                height,
                boxstyle="round,pad=0,rounding_size=0.06",
                facecolor=PAPER,
                edgecolor=color,
                linestyle=dashes,
                linewidth=thickness,
                zorder=2,
            )
        )
        for number, line in enumerate(lines):
            is_name = number < len(lines) - 1
            axes.text(
                left + _PADDING_INCHES,
                top + _PADDING_INCHES + (number + 0.5) * _LINE_INCHES,
                line,
                fontsize=_POINTS,
                color=INK if is_name else _SOFT,
                fontweight="bold" if is_name else "normal",
                va="center",
                zorder=3,
            )

    def _lines(self, place: int) -> list[str]:
        node: TreeNode = self.nodes[place]
        words = textwrap.wrap(self.words(place), _BOX_LETTERS) or [""]
        return [*words, f"mean {value_text(node.mean)}, {number_text(node.rows)} rows"]


def ends_below(nodes: Sequence[TreeNode], place: int) -> list[int]:
    """Return the leaves below a node, in their order on the drawing."""
    ends, below = [], [place]
    while below:
        here = below.pop()
        if not nodes[here].children:
            ends.append(here)
        below += reversed(nodes[here].children)
    return ends
