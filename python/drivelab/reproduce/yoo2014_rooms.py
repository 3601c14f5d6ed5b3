"""Figure 12 of Yoo et al. 2014: the modules of a drive that programs run on, VSSIM's and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.report.drawing.svg import BLUE, GREEN, INK, ORANGE, document

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE_INCHES: Final = (7.4, 4.2)
_WIDE: Final = 2.5
_HIGH: Final = 0.9
# Name in the paper, what has its role here, left and lower end, colour.
_BOXES: Final = (
    ("guest OS in QEMU", "any program: fio,\na file system, a database", 0.1, 2.9, INK),
    ("RAMDISK", "data: memory or a file", 3.3, 0.1, INK),
    ("FTL module", "firmware: crates/ftl", 3.3, 1.5, BLUE),
    ("IO emulator", "simulator and the thread\nthat keeps time", 3.3, 2.9, ORANGE),
    ("SSD monitor", "drivelab watch", 6.5, 2.9, GREEN),
)
_ARROWS: Final = (
    ((2.6, 3.35), (3.3, 3.35), "requests, replies"),
    ((4.55, 2.9), (4.55, 2.4), ""),
    ((4.55, 1.5), (4.55, 1.0), ""),
    ((5.8, 3.35), (6.5, 3.35), "once a second"),
)


def draw_live_drive() -> str:
    """Draw figure 12 as an SVG document."""

    def draw(figure: Figure) -> None:
        axes = figure.add_axes((0.02, 0.02, 0.96, 0.9))
        axes.set_axis_off()
        axes.set_xlim(0, 9.1)
        axes.set_ylim(0, 4.1)
        axes.set_title("A drive for programs: VSSIM (figure 12), and what has its role here")
        for box in _BOXES:
            _box(axes, box)
        for start, end, text in _ARROWS:
            axes.annotate("", end, start, arrowprops={"arrowstyle": "<->", "color": INK})
            axes.text(
                (start[0] + end[0]) / 2, start[1] + 0.5, text, ha="center", va="bottom", fontsize=8
            )

    return document(draw, _SIZE_INCHES)


def _box(axes: Axes, box: tuple[str, str, float, float, str]) -> None:
    from matplotlib.patches import Rectangle

    published, ours, left, low, color = box
    axes.add_patch(
        Rectangle((left, low), _WIDE, _HIGH, facecolor="none", edgecolor=color, linewidth=1.6)
    )
    middle = left + _WIDE / 2
    axes.text(
        middle, low + 0.68, published, ha="center", va="center", fontsize=10, fontweight="bold"
    )
    axes.text(middle, low + 0.3, ours, ha="center", va="center", fontsize=8, wrap=True)
