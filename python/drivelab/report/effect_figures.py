"""Small multiples: what each workload characteristic does to a metric, on one common axis."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final

from drivelab.report.effects import scale_of
from drivelab.report.figures import Panel, axis_label, tick_text
from drivelab.report.quantities import CHARACTERISTICS, METRICS, Characteristic
from drivelab.report.svg import BLUE, INK, dots, log_axis, log_limits, log_ticks, panel
from drivelab.report.table import number, numbers
from drivelab.report.tables import column_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from drivelab.report.table import Cell, Table

#: More grey dots than this say no more, and make a page large; those drawn are spread evenly.
MOST_DOTS: Final = 400
# Steps of the golden section fill an interval evenly however many there are.
_GOLDEN = 0.618034


def effect_panels(effects: Table, workloads: Table, metric: str) -> list[Panel]:
    """Draw a panel for each characteristic that the table holds for a metric.

    Parameters
    ----------
    effects
        As `drivelab.report.effects.effects` makes it: the model's line and the diamonds.
    workloads
        As `drivelab.report.tables.workloads` makes it: the grey dots.
    metric
        One of the metrics in both.
    """
    rows = effects.records(metric=metric)
    points = [row for row in workloads.records() if row["part"] == "training"]
    values = numbers(row[metric] for row in points) + numbers(row["predicted"] for row in rows)
    limits = log_limits(values)
    panels = []
    for name in dict.fromkeys(str(row["characteristic"]) for row in rows):
        item = CHARACTERISTICS[name]
        seen = [
            (number(row[column_of(name)]), number(row[metric]))
            for row in points
            if row[column_of(name)] is not None
        ]
        svg = panel(
            partial(
                _draw,
                item=item,
                rows=[row for row in rows if row["characteristic"] == name],
                seen=seen,
                metric=metric,
                limits=limits,
            ),
            identifier=f"effect-{metric}-{name}",
            label=f"Effect of {item.label.lower()} on {METRICS[metric].label.lower()}",
            size_inches=(3.2, 2.4),
            margins_inches=(0.82, 0.48, 0.2, 0.1),
        )
        panels.append(Panel(svg))
    return panels


def _draw(
    axes: Axes,
    *,
    item: Characteristic,
    rows: Sequence[dict[str, Cell]],
    seen: Sequence[tuple[float, float]],
    metric: str,
    limits: tuple[float, float],
) -> None:
    scale = scale_of([value for value, _ in seen], item.kind)
    values = [number(row["value"]) for row in rows]
    listed = {value: float(place) for place, value in enumerate(values)}

    def across(value: float) -> float:
        return listed[value] if scale == "listed" else value

    # Dots of one value stand beside each other, spread by order, not by chance.
    spread = 0.5 if scale == "listed" else 0.0
    x = [
        across(value) + spread * ((_GOLDEN * place) % 1.0 - 0.5)
        for place, (value, _) in enumerate(seen)
    ]
    step = max(1, -(-len(x) // MOST_DOTS))
    dots(axes, x[::step], [up for _, up in seen][::step], color="#B8C2CC", size=2.2)
    observed = [row for row in rows if row["observed"] is not None]
    axes.plot(
        [across(number(row["value"])) for row in observed],
        [number(row["observed"]) for row in observed],
        linestyle="none",
        marker="D",
        markersize=5,
        markerfacecolor="white",
        markeredgecolor=INK,
        markeredgewidth=1.1,
        zorder=4,
    )
    predicted = [number(row["predicted"]) for row in rows]
    axes.plot([across(value) for value in values], predicted, color=BLUE, zorder=3)
    _value_axis(axes, item, values, scale)
    log_axis(axes, "y", limits, partial(tick_text, metric))
    axes.set_ylabel(axis_label(metric))


def _value_axis(axes: Axes, item: Characteristic, values: Sequence[float], scale: str) -> None:
    unit, text = _unit(item, values)
    axes.set_xlabel(f"{item.label.lower()}{unit}")
    if scale == "listed":
        axes.set_xticks(range(len(values)), [text(value) for value in values])
        axes.set_xlim(-0.5, len(values) - 0.5)
        axes.grid(visible=False, axis="x")
    elif scale == "log":
        limits = log_limits(values)
        ticks = _powers_of_four(limits) if item.kind == "bytes" else log_ticks(*limits)
        axes.set_xscale("log")
        axes.set_xticks(ticks, [text(value) for value in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlim(*limits)
    else:
        ticks = even_ticks(max(values), item.kind)
        axes.set_xticks(ticks, [text(value) for value in ticks])
        axes.set_xlim(-0.03 * max(values), 1.03 * max(values))


def even_ticks(highest: float, kind: str) -> list[float]:
    """Return up to six round values from 0 on: quarters of 1, or a power of two apart."""
    step = 0.25 if kind == "share" else 2.0 ** math.ceil(math.log2(highest / 5))
    return [step * place for place in range(math.floor(highest / step + 1e-9) + 1)]


def _powers_of_four(limits: tuple[float, float]) -> list[float]:
    first, last = (math.log(limit, 4) for limit in limits)
    return [4.0**power for power in range(math.ceil(first), math.floor(last) + 1)]


def _unit(item: Characteristic, values: Sequence[float]) -> tuple[str, Callable[[float], str]]:
    """Return what follows the axis' name, and how a tick is written."""
    if item.kind in ("bytes", "gap") and 1024 <= max(values) <= 2**20:
        # One unit for the axis: five ticks with a unit each do not fit a small panel.
        return " (KiB)", lambda value: f"{value / 1024:.4g}"
    return {"count": " (requests in flight)"}.get(item.kind, ""), item.text
