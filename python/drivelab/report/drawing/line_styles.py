"""Styles of lines: colour, dash and marker all differ, so any one of them is enough.

Drives on one plot also differ by their kind. A real drive's line is solid and has filled markers.
A simulated drive's is dashed and a formula's dotted, both with hollow markers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.report.drawing.theme import themed

if TYPE_CHECKING:
    from collections.abc import Mapping

# Okabe and Ito's palette, with darker shades for colours that are too pale for a thin line.
_COLORS: Final = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#A6387F",
    "#8A6D00",
    "#3C3C3C",
    "#2E9BD6",
    "#7A4A1E",
)
_MARKERS: Final = ("o", "s", "^", "D", "v", "X", "P", "h")
#: The most drives that a reader can distinguish on one plot.
MOST_LINES: Final = len(_COLORS)
_DASHES: Final[Mapping[str, tuple[float, ...]]] = {
    "real": (),
    "simulated": (5.0, 2.0),
    "closed_form": (1.2, 1.6),
}
_PATTERN_DASHES: Final = ((), (5.0, 2.0), (1.2, 1.6))
# Lines without markers have fewer colours, each of another hue, and more dashes. The next line of
# the same colour has the dash after next, which differs clearly.
_TRACE_COLORS: Final = _COLORS[:6]
_TRACE_DASHES: Final = ((), (5.0, 2.0), (6.0, 1.8, 1.2, 1.8), (1.2, 1.6))
#: Markers as paths around (0, 0), for the sample in a legend.
_MARKER_PATHS: Final[Mapping[str, str]] = {
    "o": "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "s": "M-3.2 -3.2h6.4v6.4h-6.4z",
    "^": "M0 -4l3.9 7h-7.8z",
    "D": "M0 -4.2l4.2 4.2l-4.2 4.2l-4.2 -4.2z",
    "v": "M0 4l3.9 -7h-7.8z",
    "X": "M-3.8 -2l1.8 -1.8l2 2l2 -2l1.8 1.8l-2 2l2 2l-1.8 1.8l-2 -2l-2 2l-1.8 -1.8l2 -2z",
    "P": "M-1.3 -3.9h2.6v2.6h2.6v2.6h-2.6v2.6h-2.6v-2.6h-2.6v-2.6h2.6z",
    "h": "M0 -4l3.5 2v4l-3.5 2l-3.5 -2v-4z",
}


@dataclass(frozen=True)
class LineStyle:
    """The look of one line.

    Attributes
    ----------
    color
        Colour of line and marker.
    marker
        Matplotlib's name of the marker; empty for no marker.
    dash
        Lengths on and off in line widths; empty for a solid line.
    hollow
        Whether the marker is white inside.
    joins
        Whether a line joins the markers.
    """

    color: str
    marker: str
    dash: tuple[float, ...] = ()
    hollow: bool = False
    joins: bool = True

    def options(self) -> dict[str, Any]:
        """Return the arguments for Matplotlib's ``plot``."""
        through = (0, self.dash) if self.dash else "solid"
        return {
            "color": self.color,
            "linestyle": through if self.joins else "none",
            "marker": self.marker or "none",
            "markerfacecolor": "white" if self.hollow else self.color,
            "markeredgewidth": 1.2,
        }

    def sample(self) -> str:
        """Return a sample of the line as an SVG element, for a legend."""
        dash = " ".join(f"{1.8 * length:g}" for length in self.dash)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        color = themed(self.color)
        inside = "var(--paper,#fff)" if self.hollow else color
        marker = (
            f'<path d="{_MARKER_PATHS[self.marker]}" transform="translate(18 6)" '
            f'style="fill:{inside};stroke:{color}" stroke-width="1.2"/>'
            if self.marker
            else ""
        )
        line = f'<path d="M1 6h34" style="stroke:{color}" stroke-width="1.8"{dashed}/>'
        return (
            '<svg class="sample" viewBox="0 0 36 12" width="36" height="12" aria-hidden="true">'
            f"{line if self.joins else ''}{marker}</svg>"
        )


@dataclass(frozen=True)
class AreaStyle:
    """The style of an area between two lines, or of cells.

    Attributes
    ----------
    color
        Its colour on paper.
    inverts
        Whether a dark page inverts it, as it does the image of a heat map.
    """

    color: str
    inverts: bool = False

    def sample(self) -> str:
        """Return a sample of the area as an SVG element, for a legend."""
        name = "sample inverts" if self.inverts else "sample"
        return (
            f'<svg class="{name}" viewBox="0 0 36 12" width="36" height="12" aria-hidden="true">'
            f'<path d="M1 1h34v10h-34z" style="fill:{themed(self.color)}"/></svg>'
        )


#: Style of the least-squares line of a measurement window.
FIT_STYLE: Final = LineStyle("#D55E00", "", (1.2, 1.6))
#: Styles of clouds of dots, and of their means.
CLOUD_STYLE: Final = LineStyle("#93A1B0", "o", joins=False)
MEAN_STYLE: Final = LineStyle("#1F2933", "D", hollow=True, joins=False)
#: Style of the area that holds most values.
BAND_STYLE: Final = AreaStyle("#DDE3EA")


def drive_style(place: int, kind: str) -> LineStyle:
    """Return the style of a drive by its place in the list, which is below `MOST_LINES`.

    Parameters
    ----------
    place
        Counts from 0.
    kind
        ``real``, ``simulated`` or ``closed_form``.
    """
    return LineStyle(_COLORS[place], _MARKERS[place], _DASHES[kind], hollow=kind != "real")


def series_style(place: int, *, trace: bool = False) -> LineStyle:
    """Return the style of a series by its place in the figure, which is below 24.

    Parameters
    ----------
    place
        Counts from 0. Colours and markers repeat after eight, with another dash; colours of traces
        repeat after six.
    trace
        Whether it is a line of many values, without markers.
    """
    if trace:
        return _trace_style(place)
    dash = _PATTERN_DASHES[place // MOST_LINES % len(_PATTERN_DASHES)]
    at = place % MOST_LINES
    return LineStyle(_COLORS[at], _MARKERS[at], dash, hollow=place >= MOST_LINES)


def _trace_style(place: int) -> LineStyle:
    """Return a style by place: the first lines differ by dash, all 24 by colour and dash.

    Colours repeat after six lines and dashes after four, so both together after twelve. From there
    on, each line has the dash of the next place.
    """
    colors, dashes = len(_TRACE_COLORS), len(_TRACE_DASHES)
    both = math.lcm(colors, dashes)
    return LineStyle(
        _TRACE_COLORS[place % colors], "", _TRACE_DASHES[(place + place // both) % dashes]
    )
