"""Figures 1 to 3 of Coughlin et al. 2010, for our drives.

Figure 2 has three dimensions in the paper, where high columns hide low ones. Here it is a heat map
with its numbers in it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from drivelab.report.drawing.line_styles import series_style
from drivelab.report.drawing.svg import INK, document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE_INCHES: Final = (7.2, 4.4)
_TALL_INCHES: Final = (7.2, 6.6)
#: Above this share of the colours' range, black text is easier to read than white.
_LIGHT_SHARE: Final = 0.55


def saturation(sections: Mapping[str, Mapping[str, Any]], drives: Sequence[str]) -> str:
    """Draw write IOPS relative to the first minute's over time (figure 1)."""

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        for place, drive in enumerate(drives):
            minutes = sections[drive]["minutes"]
            fresh = sections[drive]["fresh_iops"]
            axes.plot(
                minutes["end_minutes"],
                [iops / fresh for iops in minutes["iops"]],
                label=drive,
                linewidth=1.3,
                **series_style(place, trace=True).options(),
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("time (min)")
        axes.set_ylabel("throughput over the first minute's")
        axes.set_title("4 KiB random writes from fresh out of the box")
        _legend_beside(axes)

    return document(draw, _WIDE_INCHES)


def block_sizes(series: Mapping[str, Mapping[int, float]], groups: Sequence[Sequence[str]]) -> str:
    """Draw a heat map of IOPS at 35 % writes by drive and block size (figure 2)."""
    drives = [drive for group in groups for drive in group]
    sizes = sorted(series[drives[0]])
    heights = [[math.log10(max(series[drive][size], 1.0)) for size in sizes] for drive in drives]

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        image = axes.imshow(heights, aspect="auto", cmap="cividis")
        axes.grid(visible=False)
        axes.set_xticks(range(len(sizes)), [f"{size / 1024:g}" for size in sizes])
        axes.set_yticks(range(len(drives)), drives)
        axes.set_xlabel("block size (KiB)")
        axes.set_title("IOPS at 35 % random writes, settled (bold: the highest of a drive)")
        low, high = image.get_clim()
        for row, drive in enumerate(drives):
            best = max(series[drive].values())
            for column, size in enumerate(sizes):
                value = series[drive][size]
                share = (heights[row][column] - low) / ((high - low) or 1.0)
                axes.text(
                    column,
                    row,
                    f"{value:,.0f}" if value >= 10 else f"{value:.1f}",
                    ha="center",
                    va="center",
                    fontsize=8,
                    fontweight="bold" if value == best else "normal",
                    color=INK if share > _LIGHT_SHARE else "white",
                )
        bar = figure.colorbar(image, ax=axes, shrink=0.6)
        decades = range(math.ceil(low), math.floor(high) + 1)
        bar.set_ticks(list(decades), labels=[f"{10**each:,}" for each in decades])
        bar.set_label("throughput (IOPS)")

    return document(draw, _TALL_INCHES)


def contents(series: Mapping[str, Mapping[int, float]], drive: str) -> str:
    """Draw IOPS of one drive against block size, by kind of data (figure 3)."""
    words = {"zero": "all zero", "database": "database", "random": "random"}

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        for place, (content, values) in enumerate(series.items()):
            sizes = sorted(values)
            axes.plot(
                [size / 1024 for size in sizes],
                [values[size] for size in sizes],
                label=words.get(content, content),
                linewidth=1.5,
                **series_style(place).options(),
            )
        sizes = sorted(next(iter(series.values())))
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks([size / 1024 for size in sizes], [f"{size / 1024:g}" for size in sizes])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("block size (KiB)")
        axes.set_ylabel("throughput (IOPS)")
        axes.set_title(f"{drive} at 35 % random writes, by what is written")
        _legend_beside(axes)

    return document(draw, _WIDE_INCHES)


def _legend_beside(axes: Axes) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
