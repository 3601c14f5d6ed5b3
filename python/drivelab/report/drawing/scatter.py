"""Predicted against measured values on logarithmic axes, with the diagonal and a band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Table
from drivelab.report.drawing.axes import left_inches, set_axis, upright_label
from drivelab.report.drawing.line_styles import AreaStyle, LineStyle
from drivelab.report.drawing.looks import SMALL_INCHES, Drawn, Panel, identifier
from drivelab.report.drawing.svg import BAND, BLUE, GREY, INK, ORANGE, dots, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from drivelab.exhibits import ScatterFigure

#: Size and opacity of dots by the most dots of a panel: where there are few, readers look at each.
_SIZES: Final = ((60, 5.5, 0.8), (200, 4.4, 0.7), (500, 3.4, 0.6))
_MANY: Final = (2.2, 0.6)
_COLORS: Final = (BLUE, ORANGE)
_SIZE_INCHES: Final = (SMALL_INCHES[0], 3.3)
_BOTTOM_INCHES: Final = 0.48
_TITLE_INCHES: Final = 0.28


def drawn_scatter(figure: ScatterFigure) -> Drawn:
    """Draw one cloud of dots, with its title inside, to stand in a row with others."""
    plot = _SIZE_INCHES[1] - _BOTTOM_INCHES - _TITLE_INCHES
    values = [*figure.up, *figure.y.also]
    svg = panel(
        lambda axes: _draw(axes, figure, plot),
        size_inches=_SIZE_INCHES,
        margins_inches=(left_inches(figure.y, values, plot), _BOTTOM_INCHES, 0.22, _TITLE_INCHES),
        identifier=identifier(figure.name),
        label=f"{figure.title}: {figure.y.label} against {figure.x.label}",
    )
    columns = (figure.x.label, figure.y.label)
    return Drawn(
        name=figure.name,
        title=figure.title,
        saved=(Table(figure.name, columns, tuple(zip(figure.across, figure.up, strict=True))),),
        panels=(Panel(svg, figure.name if figure.texts else None),),
        legend=(
            (LineStyle(_COLORS[figure.place], "o", joins=False), figure.label),
            *(((AreaStyle(BAND), "its interval"),) if figure.factor else ()),
        ),
        notes=(figure.note,) if figure.note else (),
        tips={figure.name: list(figure.texts)} if figure.texts else {},
    )


def _draw(axes: Axes, figure: ScatterFigure, height: float) -> None:
    every = [*figure.across, *figure.up]
    set_axis(axes, "x", figure.x, every)
    set_axis(axes, "y", figure.y, every)
    axes.set_ylabel(upright_label(figure.y, height))
    limits = axes.get_xlim()
    if figure.factor is not None:
        low, high = ([end * by for end in limits] for by in (1 / figure.factor, figure.factor))
        axes.fill_between(limits, low, high, color=BAND, linewidth=0)
    axes.plot(limits, limits, color=INK, linewidth=0.9)
    for factor in (0.5, 2):
        ends = [end * factor for end in limits]
        axes.plot(limits, ends, color=GREY, linewidth=0.7, linestyle=(0, (3, 3)))
    size, opacity = _look(len(figure.up))
    dots(
        axes,
        figure.across,
        figure.up,
        color=_COLORS[figure.place],
        size=size,
        opacity=opacity,
        name="points",
        front=True,
    )
    axes.set_title(figure.title)


def _look(dots_drawn: int) -> tuple[float, float]:
    """Return the size of dots in points, and their opacity."""
    for most, size, opacity in _SIZES:
        if dots_drawn <= most:
            return size, opacity
    return _MANY
