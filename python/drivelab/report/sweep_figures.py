"""Drawing the sweeps: figures 3 to 7 of Huang et al. 2011, for one drive or for several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from matplotlib.ticker import MaxNLocator

from drivelab.report.figures import Panel, axis_label, tick_text
from drivelab.report.quantities import METRICS
from drivelab.report.svg import INK, dots, log_axis, log_limits, panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from drivelab.report.line_styles import LineStyle
    from drivelab.report.sweeps import Line

#: An axis whose values span more than this is logarithmic.
DECADE: Final = 10.0
_MOST_TICKS: Final = 7
#: Half-widths of a mean latency from this share on are drawn; below, a marker covers them.
BARS_FROM: Final = 0.05


@dataclass(frozen=True)
class Drawn:
    """A line and its look; its label stands in the page's legend."""

    line: Line
    style: LineStyle


@dataclass(frozen=True)
class SweepPanel:
    """What a panel shows: one metric of some lines.

    Attributes
    ----------
    identifier
        Unique on the page; also the name of its points' texts.
    title
        Above the panel.
    label
        What it shows, for readers who do not see it.
    metric
        Of all lines.
    drawn
        The lines; those without points are left out.
    """

    identifier: str
    title: str
    label: str
    metric: str
    drawn: Sequence[Drawn]


def sweep_panels(panels: Sequence[SweepPanel], adjective: str) -> list[Panel]:
    """Draw panels; those of one metric have one axis of performance.

    Parameters
    ----------
    panels
        Of one figure.
    adjective
        What the numbers are: measured, simulated or calculated; empty where they differ.
    """
    drawings = []
    for one in panels:
        values = [
            value
            for other in panels
            if other.metric == one.metric
            for drawn in other.drawn
            for value in drawn.line.performance[one.metric]
        ]
        if not values:
            continue
        svg = panel(
            partial(_draw, one=one, values=values, adjective=adjective),
            identifier=one.identifier,
            label=one.label,
            size_inches=(3.6, 2.7),
            margins_inches=(0.85, 0.5, 0.16, 0.28),
        )
        drawings.append(Panel(svg, tips=one.identifier))
    return drawings


def _draw(axes: Axes, *, one: SweepPanel, values: Sequence[float], adjective: str) -> None:
    across: list[float] = []
    up: list[float] = []
    for place, drawn in enumerate(one.drawn):
        line = drawn.line
        performance = line.performance[one.metric]
        for x, y in _stretches(line, performance):
            # Where lines coincide, the first lies in front and the others' markers peek out.
            look = drawn.style.options() | {"markersize": 4.6 + 0.9 * place}
            axes.plot(x, y, zorder=3 - place / 100, clip_on=False, **look)
        if one.metric == "latency_ns_mean":
            _half_widths(axes, drawn)
        across += line.values
        up += performance
    _value_axis(axes, one.drawn)
    _performance_axis(axes, one.metric, values, adjective)
    axes.set_title(one.title)
    # Nothing to see: the page's script finds the points by it.
    dots(axes, across, up, color=INK, size=1, opacity=0, name="points", front=True)


def _half_widths(axes: Axes, drawn: Drawn) -> None:
    """Draw how far the true mean latency may lie from each point, as far as the axis shows it."""
    line = drawn.line
    for x, y, ratio in zip(
        line.values, line.performance["latency_ns_mean"], line.half_widths, strict=True
    ):
        if ratio >= BARS_FROM:
            # A logarithmic axis has no place for what lies at 0 or below.
            ends = [y * max(1 - ratio, 1e-3), y * (1 + ratio)]
            axes.plot([x, x], ends, color=drawn.style.color, linewidth=1, alpha=0.55, zorder=2)


def _stretches(line: Line, performance: Sequence[float]) -> list[tuple[list[float], list[float]]]:
    """Cut a line where a point in between was not measured."""
    stretches: list[tuple[list[float], list[float]]] = []
    last = -math.inf
    for value, y in zip(line.values, performance, strict=True):
        if not stretches or any(last < gap < value for gap in line.missing):
            stretches.append(([], []))
        stretches[-1][0].append(value)
        stretches[-1][1].append(y)
        last = value
    return stretches


def _value_axis(axes: Axes, drawn: Sequence[Drawn]) -> None:
    lines = [one.line for one in drawn]
    planned = sorted({value for line in lines for value in (*line.values, *line.missing)})
    characteristic = lines[0].characteristic
    if characteristic == "write_ratio":
        quarters = [place / 4 for place in range(5)]
        axes.set_xticks(quarters, [f"{100 * value:.0f}" for value in quarters])
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("share of writes (%)")
        return
    ticks = planned[:: math.ceil(len(planned) / _MOST_TICKS)]
    size = characteristic != "queue_depth"
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{value / 1024:.4g}" if size else f"{value:.0f}" for value in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(planned[0] / 1.08, planned[-1] * 1.08)
    axes.set_xlabel("request size (KiB)" if size else "queue depth (requests in flight)")


def _performance_axis(axes: Axes, metric: str, values: Sequence[float], adjective: str) -> None:
    text = partial(tick_text, metric)
    if max(values) > DECADE * min(values):
        log_axis(axes, "y", log_limits(values), text)
    else:
        ticks = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]).tick_values(0, max(values))
        shown = [tick for tick in ticks if 0 <= tick <= 1.1 * max(values)]
        axes.set_yticks(shown, [text(tick) if tick else "0" for tick in shown])
        axes.set_ylim(0, 1.1 * max(values))
    axes.set_ylabel(f"{adjective} {axis_label(metric)}".strip())


def point_texts(one: SweepPanel, labels: Sequence[str]) -> list[str]:
    """Return what to say at each point of a panel, in the order in which they are drawn.

    Parameters
    ----------
    one
        The panel.
    labels
        What each line is called.
    """
    item = METRICS[one.metric]
    texts = []
    for drawn, label in zip(one.drawn, labels, strict=True):
        line = drawn.line
        points = zip(line.values, line.performance[one.metric], line.indices, strict=True)
        texts += [
            f"{label}, {value_text(line.characteristic, value)}\n{item.label}: {item.text(y)} "
            f"(number {index})"
            for value, y, index in points
        ]
    return texts


def value_text(characteristic: str, value: float) -> str:
    """Say a value of what a sweep varies, such as ``queue depth 4``."""
    if characteristic == "write_ratio":
        return f"{100 * value:.3g} % writes"
    if characteristic == "queue_depth":
        return f"queue depth {value:.0f}"
    return f"{value / 1024:.4g} KiB"
