"""The style of every figure, and figures as SVG elements of a page.

The same figure always gives the same bytes: identifiers are hashed with a fixed salt, no date is
written, and coordinates are rounded. Text stays text in the page's own fonts, so that a reader can
select and search it.
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
#: Colour of the area that holds most values, behind lines and dots.
BAND: Final = "#DDE3EA"
PAPER: Final = "#FFFFFF"

PANEL_INCHES: Final = (3.6, 2.9)

_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "drivelab",
    "font.size": 9,
    # Otherwise two dollar signs in a name would start a formula.
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
# A browser might fetch the first; the second holds URLs that only describe the file type.
_OUTSIDE: Final = re.compile(r"<!DOCTYPE[^>]*>\s*|\s*<metadata>.*?</metadata>", re.DOTALL)
# Attributes without a use: names of groups, and rotations by 0.
_IDLE: Final = re.compile(
    r' id="(?:figure|axes|patch|line2d|xtick|ytick|text|PathCollection|FillBetween\w*)_\d+"'
    r'| transform="rotate\(-0 [^"]*"'
)
_USES: Final = re.compile(r"<g>((?:<use [^>]*/>)+)</g>")
_STYLE_OF: Final = re.compile(r' style="([^"]*)"')
# The shapes of a group, and the end of each shape.
_NAMED_GROUP: Final = re.compile(r'<g id="([^"]*)">((?:\s*<path [^>]*/>)*\s*)</g>')
_SHAPE: Final = re.compile(r"(/>)")
_WRAPPED: Final = re.compile(r"<g>(<(?:text|path) [^>]*(?:/>|>[^<]*</text>))</g>")
# `dots` draws a dot as a line from a point to itself.
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
        Draws into the axes that it gets.
    margins_inches
        Space left, below, right and above the axes.
    size_inches
        Width and height; the page scales the panel to its column.
    identifier
        Prefix of every identifier inside; unique on the page.
    label
        Alternative text for screen readers.
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
    """Draw a whole figure and return it as an SVG document, for a file.

    Parameters
    ----------
    draw
        Draws into the figure that it gets.
    size_inches
        Width and height.
    """
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size_inches)
        draw(figure)
        text = _saved(figure)
    # If the font is missing, another font of similar width keeps every text in its place.
    return text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")


def _saved(figure: Figure, *, on_paper: bool = True) -> str:
    """Return a figure as SVG without references to the outside: no document type, no metadata.

    Unless `on_paper`, it has no background of its own, and the page's shows through.
    """
    for text in figure.findobj(Text):
        if isinstance(text, Text):
            # XML cannot contain most control characters, which a name may have.
            text.set_text(escaped_lines(text.get_text()))
    out = io.StringIO()
    with warnings.catch_warnings():
        # Matplotlib's font does not matter: text stays text in the reader's fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(
            out,
            format="svg",
            metadata={"Date": None, "Creator": None},
            transparent=not on_paper,
        )
    return _OUTSIDE.sub("", escaped_lines(out.getvalue()), count=2)


def with_titles(text: str, titles: Mapping[str, Sequence[str]]) -> str:
    """Add a title to shapes; a browser shows it as a tooltip.

    Parameters
    ----------
    text
        A drawing by `document`.
    titles
        For the name (gid) of each collection of shapes, the titles of its shapes in order.
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
    """Turn a document into an element of a page, with its own identifiers and one label."""
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
    # With a function as replacement, a backslash in the label stays a backslash.
    return re.sub(r' width="[^"]*" height="[^"]*"', lambda _: role, text, count=1)


def _shared_style(match: re.Match[str]) -> str:
    # All markers of a line have the same style, so it is written once.
    styles = set(_STYLE_OF.findall(match[1]))
    return (
        f'<g style="{styles.pop()}">{_STYLE_OF.sub("", match[1])}</g>'
        if len(styles) == 1
        else match[0]
    )


def _short_dot(match: re.Match[str]) -> str:
    # A page shows no more than a tenth of a point, and dots make up most of a drawing's size.
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
    """Draw many small dots as one element, at a tenth of the size of separate markers.

    Parameters
    ----------
    axes
        Axes to draw into.
    x, y
        Centres of the dots.
    color, size, opacity
        Style; the size in points. With an opacity of 0, dots only serve tooltips.
    name
        Last part of the element's identifier, by which the page's script finds the dots. They are
        written in the order of `x` and `y`.
    front
        Whether to draw in front of lines instead of behind them.
    """
    if not x:
        return
    vertices = []
    for across, up in zip(x, y, strict=True):
        vertices += [(across, up), (across, up)]
    path = Path(vertices, [Path.MOVETO, Path.LINETO] * len(x))
    # Simplifying would remove lines without length, which the dots are.
    path.should_simplify = False
    # The caller sets the limits; computing them from thousands of dots takes long.
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
    """Return about three to seven round values for a logarithmic axis.

    Parameters
    ----------
    low, high
        Ends of the axis, positive.
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
    """Make an axis logarithmic with a few round ticks, whose texts include the unit.

    Parameters
    ----------
    axes
        Axes to change.
    which
        Which of the two: x or y.
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
    """Return the ends of a logarithmic axis that shows all values with some margin."""
    low, high = min(values), max(values)
    if high / low < 1.5:
        low, high = low / 1.25, high * 1.25
    air = (high / low) ** margin
    return low / air, high * air
