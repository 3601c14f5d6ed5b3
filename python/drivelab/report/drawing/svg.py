"""The look of every figure, and its drawing as a piece of SVG for a page.

The same figure is always the same bytes: identifiers are hashed with a fixed salt, no date is
written, coordinates are rounded. Text stays text, set in the page's own fonts, so that a
reader can select and search it.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from typing import TYPE_CHECKING, Any, Final, Literal
from xml.sax.saxutils import escape

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text

from drivelab.plain_text import escaped_lines
from drivelab.report.drawing.theme import themed_styles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

# Okabe and Ito's palette: distinguishable with every common kind of colour blindness.
BLUE: Final = "#0072B2"
ORANGE: Final = "#D55E00"
GREEN: Final = "#009E73"
GREY: Final = "#8A94A0"
INK: Final = "#1F2933"
#: Behind lines and dots: where most lies.
BAND: Final = "#DDE3EA"
PAPER: Final = "#FFFFFF"

PANEL_INCHES: Final = (3.6, 2.9)

_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "drivelab",
    "font.size": 9,
    # A name may hold two of its dollar signs.
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "text.color": INK,
    "axes.edgecolor": "#9AA5B1",
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E7EB",
    "grid.linewidth": 0.7,
    "xtick.color": "#52606D",
    "ytick.color": "#52606D",
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}
_ROUNDED: Final = re.compile(r' (?:d|x|y|points|viewBox)="[^"]*"')
_LONG_NUMBER: Final = re.compile(r"(-?\d+\.\d\d)\d+")
_FONT: Final = re.compile(r" font-family: [^;\"]*;?")
# A browser might fetch the first, and the second names places that say what an image is.
_OUTSIDE: Final = re.compile(r"<!DOCTYPE[^>]*>\s*|\s*<metadata>.*?</metadata>", re.DOTALL)
# What nothing refers to: names of groups, and turns by nothing.
_IDLE: Final = re.compile(
    r' id="(?:figure|axes|patch|line2d|xtick|ytick|text|PathCollection|FillBetween\w*)_\d+"'
    r'| transform="rotate\(-0 [^"]*"'
)
_USES: Final = re.compile(r"<g>((?:<use [^>]*/>)+)</g>")
_STYLE_OF: Final = re.compile(r' style="([^"]*)"')
# The shapes of a group, and the end of each of them.
_NAMED_GROUP: Final = re.compile(r'<g id="([^"]*)">((?:\s*<path [^>]*/>)*\s*)</g>')
_SHAPE: Final = re.compile(r"(/>)")
_WRAPPED: Final = re.compile(r"<g>(<(?:text|path) [^>]*(?:/>|>[^<]*</text>))</g>")
# A dot is a line from a point to itself, as `dots` draws it.
_DOT: Final = re.compile(r"M (\S+) (\S+)\s+L \1 \2\s*")


def panel(
    draw: Callable[[Axes], None],
    *,
    margins_inches: tuple[float, float, float, float] = (0.85, 0.5, 0.15, 0.3),
    size_inches: tuple[float, float] = PANEL_INCHES,
    identifier: str,
    label: str,
) -> str:
    """Draw one panel and return it as an SVG element.

    Parameters
    ----------
    draw
        Draws into the axes it is given.
    margins_inches
        Left, bottom, right and top of the axes.
    size_inches
        Width and height; the page scales the panel to its column.
    identifier
        Unique on the page: prefix of every identifier inside.
    label
        What the panel shows, for readers who do not see it.
    """
    width, height = size_inches
    left, bottom, right, top = margins_inches
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size_inches)
        axes = figure.add_axes(
            (
                left / width,
                bottom / height,
                (width - left - right) / width,
                (height - bottom - top) / height,
            )
        )
        draw(axes)
        text = _saved(figure, on_paper=False)
    return embedded(text, identifier, label)


def document(draw: Callable[[Figure], None], size_inches: tuple[float, float]) -> str:
    """Draw a whole figure and return it as an SVG document of its own, for a file.

    Parameters
    ----------
    draw
        Draws into the figure it is given.
    size_inches
        Width and height.
    """
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size_inches)
        draw(figure)
        text = _saved(figure)
    # Where the font is missing, one of about the same width keeps every text in its place.
    return text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")


def _saved(figure: Figure, *, on_paper: bool = True) -> str:
    """Return a figure as SVG that refers to nothing outside: no document type, no metadata.

    What is not `on_paper` has no ground of its own: the page's is seen through it.
    """
    for text in figure.findobj(Text):
        if isinstance(text, Text):
            # Of names: XML has no place for most of it.
            text.set_text(escaped_lines(text.get_text()))
    out = io.StringIO()
    with warnings.catch_warnings():
        # Text stays text: the reader's fonts draw it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(
            out,
            format="svg",
            metadata={"Date": None, "Creator": None},
            transparent=not on_paper,
        )
    return _OUTSIDE.sub("", escaped_lines(out.getvalue()), count=2)


def with_titles(text: str, titles: Mapping[str, Sequence[str]]) -> str:
    """Return shapes a title, which a browser shows to whoever points at one.

    Parameters
    ----------
    text
        A drawing of `document`.
    titles
        By the name (gid) of a collection of shapes, a title for each, in their order.
    """

    def titled(match: re.Match[str]) -> str:
        shapes = _SHAPE.split(match[2])
        words = iter(titles[match[1]])
        joined = [f">{_title(next(words))}</path>" if part == "/>" else part for part in shapes]
        return f'<g id="{match[1]}">{"".join(joined)}</g>'

    return _NAMED_GROUP.sub(lambda match: titled(match) if match[1] in titles else match[0], text)


def _title(words: str) -> str:
    return f"<title>{escape(escaped_lines(words))}</title>"


def embedded(text: str, identifier: str, label: str) -> str:
    """Make a document a piece of a page: names of its own, one text for all of it."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = _DOT.sub(_short_dot, text)
    text = _FONT.sub("", text)
    text = _IDLE.sub("", text)
    text = _ROUNDED.sub(lambda match: _LONG_NUMBER.sub(r"\1", match[0]), text)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{identifier}-", text)
    text = re.sub(r"\s*\n\s*", " ", text)
    text = text.replace("> <", "><")
    text = _USES.sub(_shared_style, text)
    text = themed_styles(_WRAPPED.sub(r"\1", text))
    label = escape(escaped_lines(label), {'"': "&quot;"})
    role = f' role="img" aria-label="{label}"'
    # By a function: a backslash of the label would be read as a reference.
    return re.sub(r' width="[^"]*" height="[^"]*"', lambda _: role, text, count=1)


def _shared_style(match: re.Match[str]) -> str:
    # Every marker of a line looks the same: said once.
    styles = set(_STYLE_OF.findall(match[1]))
    return (
        f'<g style="{styles.pop()}">{_STYLE_OF.sub("", match[1])}</g>'
        if len(styles) == 1
        else match[0]
    )


def _short_dot(match: re.Match[str]) -> str:
    # A tenth of a point is finer than a page shows, and thousands of dots are most of its size.
    return f"M{float(match[1]):.1f} {float(match[2]):.1f}h0"


def dots(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    *,
    color: str,
    size: float,
    opacity: float = 1.0,
    name: str | None = None,
    front: bool = False,
) -> None:
    """Draw many small dots as one element: a tenth of the size of one marker each.

    Parameters
    ----------
    axes
        Where.
    x, y
        Centres.
    color, size, opacity
        Looks; the size in points. With an opacity of 0 they are there to be pointed at.
    name
        Last part of the element's identifier, by which a page's script finds the dots. They
        are written in the order of `x` and `y`.
    front
        In front of lines instead of behind them.
    """
    if not x:
        return
    vertices = []
    for across, up in zip(x, y, strict=True):
        vertices += [(across, up), (across, up)]
    path = Path(vertices, [Path.MOVETO, Path.LINETO] * len(x))
    # Simplifying would drop lines without length, which is what a dot is.
    path.should_simplify = False
    # Limits are set by whoever draws; finding them among thousands of dots takes long.
    axes.add_artist(
        PathPatch(
            path,
            fill=False,
            edgecolor=color,
            linewidth=size,
            alpha=opacity,
            capstyle="round",
            zorder=3 if front else 1.5,
            gid=name,
        )
    )


def log_ticks(low: float, high: float) -> list[float]:
    """Return round values for a logarithmic axis: about three to seven of them.

    Parameters
    ----------
    low, high
        The ends of the axis, positive.
    """
    decades = math.log10(high / low)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step, digits = 1, [1]
    if decades > 6:
        step = 2
    elif decades <= 1.1:
        digits = [1, 2, 5]
    elif decades <= 2.6:
        digits = [1, 3]
    values = [digit * 10.0**power for power in range(first, last + 1, step) for digit in digits]
    return [value for value in values if low * 0.999 <= value <= high * 1.001]


def log_axis(
    axes: Axes, which: Literal["x", "y"], limits: tuple[float, float], text: Callable[[float], str]
) -> None:
    """Make an axis logarithmic with few, round ticks whose texts carry the unit.

    Parameters
    ----------
    axes
        Where.
    which
        The axis.
    limits
        Ends of the axis, positive.
    text
        Writes one value.
    """
    ticks = log_ticks(*limits)
    texts = [text(tick) for tick in ticks]
    if which == "x":
        axes.set_xscale("log")
        axes.set_xticks(ticks, texts)
        axes.set_xticks([], minor=True)
        axes.set_xlim(*limits)
    else:
        axes.set_yscale("log")
        axes.set_yticks(ticks, texts)
        axes.set_yticks([], minor=True)
        axes.set_ylim(*limits)


def log_limits(values: Sequence[float], margin: float = 0.06) -> tuple[float, float]:
    """Return the ends of a logarithmic axis that shows all values with some air."""
    low, high = min(values), max(values)
    if high / low < 1.5:
        low, high = low / 1.25, high * 1.25
    air = (high / low) ** margin
    return low / air, high * air
