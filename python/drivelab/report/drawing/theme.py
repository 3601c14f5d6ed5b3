"""Colours of drawings as CSS variables, with values for light and dark pages.

A drawing is made in the colours of paper. On a page, each colour becomes a variable that is named
for its purpose, with the paper colour as its fallback.
"""

from __future__ import annotations

import re
from typing import Final

#: Variable in `templates/report.css`, by colour on paper.
_NAMES: Final = {
    "#1f2933": "ink",
    "#52606d": "soft",
    "#9aa5b1": "edge",
    "#e4e7eb": "grid",
    "#d9dfe6": "line",
    "#f4f6f8": "wash",
    "#dde3ea": "band",
    "#93a1b0": "cloud",
    "#8a94a0": "grey",
    "#ffffff": "paper",
    # Of lanes: every second one, and bars.
    "#f7f8f9": "stripe",
    "#bfddf0": "pale-blue",
    "#a9dec9": "pale-green",
    "#f5cdb3": "pale-orange",
    "#edf0f2": "pale-grey",
    "#0072b2": "series-1",
    "#d55e00": "series-2",
    "#009e73": "series-3",
    "#a6387f": "series-4",
    "#8a6d00": "series-5",
    "#3c3c3c": "series-6",
    "#2e9bd6": "series-7",
    "#7a4a1e": "series-8",
}
# In a style, or as the ground of a hatching.
_COLOR: Final = re.compile(r"(?<=[:\s])(#[0-9a-f]{6})(?=[;\"])|(?<=fill=\")(#[0-9a-f]{6})(?=\")")


def themed(color: str) -> str:
    """Return a paper colour as CSS that follows the page's theme; others stay the same."""
    name = _NAMES.get(color.lower())
    return color if name is None else f"var(--{name},{color.lower()})"


def themed_styles(svg: str) -> str:
    """Make the colours of a drawing follow the page's theme."""
    return _COLOR.sub(lambda match: themed(match[0]), svg)
