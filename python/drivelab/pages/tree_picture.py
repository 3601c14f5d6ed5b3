"""A tree with linear leaves as a picture, like figure 8 of Huang et al. 2011.

A split shows its condition, which holds on the left, a leaf its mean and how many rows it has, and
a table below the equations. A leaf that can answer below 0 although no target was is orange.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from drivelab.models.linear_leaf_tree import LinearLeafTree
from drivelab.models.tree_reading import Leaf, Split, read_tree
from drivelab.report.drawing.svg import BLUE, GREY, INK, ORANGE, PAPER, document

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEAF_INCHES: Final = 1.3
_LEVEL_INCHES: Final = 0.85
_LINE_INCHES: Final = 0.17
_MARGIN_INCHES: Final = 0.3
_POINTS: Final = 7.5
_LETTERS: Final = 110
_LETTER_INCHES: Final = 0.062


def tree_picture(
    tree: LinearLeafTree,
    *,
    feature_names: Sequence[str] | None = None,
    target: str = "y",
    most_levels: int = 5,
) -> str:
    """Draw a fitted tree as an SVG document.

    Parameters
    ----------
    tree
        A fitted tree.
    feature_names
        One a feature; those it was fitted with where left out, else x0, x1 and so on.
    target
        What the equations call their answer.
    most_levels
        Levels of splits that are drawn; a branch below says how many leaves it has.
    """
    layout = _Layout(read_tree(tree, feature_names), most_levels)
    lines = _table(layout, target)
    letters = max(len(line) for line, _ in lines)
    width = 2 * _MARGIN_INCHES + max(layout.columns * _LEAF_INCHES, letters * _LETTER_INCHES)
    tree_inches = layout.levels * _LEVEL_INCHES
    height = tree_inches + len(lines) * _LINE_INCHES + 2 * _MARGIN_INCHES

    def draw(figure: Figure) -> None:
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(-height, 0)
        _draw_tree(axes, layout, (width - layout.columns * _LEAF_INCHES) / 2)
        for number, (line, color) in enumerate(lines):
            down = -tree_inches - _MARGIN_INCHES - number * _LINE_INCHES
            axes.text(_MARGIN_INCHES, down, line, fontsize=_POINTS, color=color, va="top")

    return document(draw, (width, height))


class _Layout:
    """The nodes that are drawn: leaves side by side, each split between its children.

    Attributes
    ----------
    nodes
        All nodes.
    ends
        Places of those below which nothing is drawn, from left to right.
    level, across
        Of each node drawn: its distance from the root, and from the left in leaves.
    """

    def __init__(self, nodes: list[Split | Leaf], most_levels: int) -> None:
        self.nodes = nodes
        self.ends: list[int] = []
        self.level: dict[int, int] = {0: 0}
        self.across: dict[int, float] = {}
        below = [0]
        while below:
            place = below.pop()
            node = nodes[place]
            if isinstance(node, Leaf) or self.level[place] >= most_levels:
                self.across[place] = len(self.ends) + 0.5
                self.ends.append(place)
                continue
            for child in (node.right, node.left):
                self.level[child] = self.level[place] + 1
                below.append(child)
        # Children come after their parents.
        for place in sorted(self.level, reverse=True):
            node = nodes[place]
            if place not in self.across and isinstance(node, Split):
                self.across[place] = (self.across[node.left] + self.across[node.right]) / 2

    @property
    def columns(self) -> int:
        """Nodes side by side."""
        return len(self.ends)

    @property
    def levels(self) -> int:
        """Nodes one below the other."""
        return max(self.level.values()) + 1

    def leaves_below(self, place: int) -> int:
        """Count the leaves of a branch."""
        count, below = 0, [place]
        while below:
            node = self.nodes[below.pop()]
            if isinstance(node, Leaf):
                count += 1
            else:
                below += [node.left, node.right]
        return count

    def words(self, place: int) -> tuple[str, str]:
        """Return what a node shows, and its colour."""
        node = self.nodes[place]
        words = f"mean {node.mean:.4g}\n{node.weight:.6g} rows"
        if isinstance(node, Leaf):
            return f"leaf {node.number}\n{words}", ORANGE if node.impossible else INK
        if place in self.ends:
            return f"{self.leaves_below(place)} leaves\n{words}", GREY
        condition = node.left_words or f"not: {node.right_words}"
        return f"{condition}\n{words}", BLUE


def _table(layout: _Layout, target: str) -> list[tuple[str, str]]:
    """Return the lines below the tree, with the colour of each."""
    lines = [("Left where a condition holds, right where it does not.", GREY)]
    for place in layout.ends:
        node = layout.nodes[place]
        if isinstance(node, Leaf):
            words = f"leaf {node.number}: {node.equation(target)}"
            if node.impossible:
                words += f" (invalid below 0: it reaches down to {node.lowest:.4g})"
            color = layout.words(place)[1]
            wrapped = textwrap.wrap(words, _LETTERS, subsequent_indent=" " * 8)
            lines += [(line, color) for line in wrapped]
    return lines


def _draw_tree(axes: Axes, layout: _Layout, left_inches: float) -> None:
    def point(place: int) -> tuple[float, float]:
        across = left_inches + layout.across[place] * _LEAF_INCHES
        return across, -(layout.level[place] + 0.5) * _LEVEL_INCHES

    for place in layout.level:
        node = layout.nodes[place]
        if isinstance(node, Split) and place not in layout.ends:
            for child in (node.left, node.right):
                x, y = zip(point(place), point(child), strict=True)
                axes.plot(x, y, color=GREY, linewidth=1, zorder=1)
    for place in layout.level:
        words, color = layout.words(place)
        frame = {"facecolor": PAPER, "edgecolor": color, "boxstyle": "round,pad=0.35"}
        axes.text(
            *point(place),
            words,
            fontsize=_POINTS,
            color=color,
            ha="center",
            va="center",
            bbox=frame,
            zorder=2,
        )
