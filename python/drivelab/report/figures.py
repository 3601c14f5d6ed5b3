"""The figures: tables in, drawings out. Nothing is computed here that a table does not hold.

A figure is a list of panels. Each panel is drawn at the width of a phone, so that a page may
put them side by side or one below the other and every text stays readable. The small
multiples of `drivelab.report.effects` have a module of their own, `effect_figures`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from drivelab.report.quantities import (
    CHARACTERISTICS,
    ESTIMATOR_LABELS,
    METRICS,
    share_text,
)
from drivelab.report.svg import (
    BAND,
    BLUE,
    GREEN,
    INK,
    ORANGE,
    log_axis,
    log_limits,
    panel,
)
from drivelab.report.table import number, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from drivelab.report.table import Cell, Table

    Rows = Sequence[dict[str, Cell]]

#: Of the models, by the features that they know.
FEATURE_COLORS: Final = {"basic": ORANGE, "extended": BLUE}
#: The workloads' lines in `percentile_curves`, in order.
LINE_COLORS: Final = (GREEN, BLUE, ORANGE)
_PERCENTILE_TICKS: Final = (50.0, 90.0, 99.0, 99.9, 99.99)
# An axis of errors needs some length even where nothing is wrong.
_SMALLEST_RANGE: Final = 0.001


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure.

    Attributes
    ----------
    svg
        An SVG element.
    tips
        Name of the list of texts, one a point in the order in which they are drawn, that the
        page shows where a point is pointed at.
    """

    svg: str
    tips: str | None = None


def tick_text(metric: str, value: float) -> str:
    """Write a metric on an axis: a latency with its unit, which changes along it, 1000 as 1k."""
    if METRICS[metric].unit == "ms":
        for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)):
            if value >= factor * 0.999:
                return f"{value / factor:,.6g} {unit}"
    shown = value * METRICS[metric].factor
    if METRICS[metric].unit == "IOPS" and shown >= 1000:
        return f"{shown / 1000:,.6g}k"
    return f"{shown:,.6g}"


def axis_label(metric: str) -> str:
    """Name a metric's axis, with the unit where the ticks do not carry it."""
    item = METRICS[metric]
    unit = {"MB/s": " (MB/s)", "IOPS": " (IOPS)"}.get(item.unit, "")
    return f"{item.label.lower()}{unit}"


def accuracy_bars(accuracy: Table) -> list[Panel]:
    """Draw the cross-validated mean relative error of every model as bars, a panel a metric."""
    panels = []
    for metric in dict.fromkeys(str(cell) for cell in accuracy.column("metric")):
        svg = panel(
            partial(
                _draw_accuracy,
                rows=accuracy.records(metric=metric, judged_on="cross_validated"),
                metric=metric,
            ),
            identifier=f"mre-{metric}",
            label=f"Mean relative error by model, {METRICS[metric].label.lower()}",
            size_inches=(3.6, 2.5),
            margins_inches=(1.0, 0.48, 0.22, 0.28),
        )
        panels.append(Panel(svg))
    return panels


def _draw_accuracy(axes: Axes, *, rows: Rows, metric: str) -> None:
    estimators = list(dict.fromkeys(str(row["estimator"]) for row in rows))
    features = list(dict.fromkeys(str(row["features"]) for row in rows))
    for row in rows:
        feature, mre = str(row["features"]), number(row["mre"])
        slot = features.index(feature) - (len(features) - 1) / 2
        place = estimators.index(str(row["estimator"])) + 0.36 * slot
        axes.barh(place, 100 * mre, height=0.32, color=FEATURE_COLORS[feature])
        _beside(axes, share_text(mre), 100 * mre, place)
    names = [ESTIMATOR_LABELS[name].replace(" ", "\n", 1) for name in estimators]
    axes.set_yticks(range(len(estimators)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 125 * max(_SMALLEST_RANGE, *(number(row["mre"]) for row in rows)))
    axes.locator_params(axis="x", nbins=5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("mean relative error (%), less is better")
    axes.set_title(METRICS[metric].label)


def _beside(axes: Axes, text: str, end: float, place: float) -> None:
    """Write a bar's value behind its end."""
    axes.annotate(
        text,
        (end, place),
        xytext=(4, 0),
        textcoords="offset points",
        verticalalignment="center",
        fontsize=8.5,
    )


def percentile_curves(percentiles: Table, adjective: str) -> list[Panel]:
    """Draw latency over percentiles: typical workloads and the spread, reads and writes."""
    latencies = numbers(percentiles.column("latency_ns"))
    if not latencies:
        return []
    limits = log_limits(latencies)
    panels = []
    for direction in ("read", "write"):
        rows = percentiles.records(direction=direction)
        if not rows:
            continue
        svg = panel(
            partial(
                _draw_percentiles,
                rows=rows,
                limits=limits,
                title=f"{direction.title()}s",
                adjective=adjective,
            ),
            identifier=f"percentiles-{direction}",
            label=f"Latency percentiles of {direction}s",
            size_inches=(4.2, 2.8),
            margins_inches=(0.85, 0.5, 0.3, 0.3),
        )
        panels.append(Panel(svg))
    return panels


def _draw_percentiles(
    axes: Axes, *, rows: Rows, limits: tuple[float, float], title: str, adjective: str
) -> None:
    lines: dict[tuple[Cell, Cell], tuple[list[float], list[float]]] = {}
    for row in rows:
        x, y = lines.setdefault((row["line"], row["index"]), ([], []))
        x.append(_nines(number(row["percentile"])))
        y.append(number(row["latency_ns"]))
    low, high = lines.get(("spread_p10", None)), lines.get(("spread_p90", None))
    if low and high:
        axes.fill_between(low[0], low[1], high[1], color=BAND, linewidth=0)
    workloads = [line for line in lines if line[0] == "workload"]
    for line, color in zip(workloads, LINE_COLORS, strict=False):
        axes.plot(*lines[line], color=color)
    highest = max(max(x) for x, _ in lines.values())
    ticks = [value for value in _PERCENTILE_TICKS if _nines(value) <= highest + 0.01]
    axes.set_xticks([_nines(value) for value in ticks], [f"{value:g} %" for value in ticks])
    axes.set_xlim(_nines(50), highest + 0.05)
    log_axis(axes, "y", limits, partial(tick_text, "latency_ns_mean"))
    axes.set_xlabel("percentile: share of requests that take no longer")
    axes.set_ylabel(f"{adjective} latency")
    axes.set_title(title)


def _nines(percentile: float) -> float:
    return -math.log10(1 - percentile / 100)


def importance_bars(importance: Table) -> list[Panel]:
    """Draw how much worse predictions get without each characteristic, a panel a metric."""
    panels = []
    for metric in dict.fromkeys(str(cell) for cell in importance.column("metric")):
        svg = panel(
            partial(_draw_importance, rows=importance.records(metric=metric), metric=metric),
            identifier=f"importance-{metric}",
            label=f"Importance of each characteristic for {METRICS[metric].label.lower()}",
            size_inches=(3.6, 2.9),
            margins_inches=(1.1, 0.48, 0.22, 0.28),
        )
        panels.append(Panel(svg))
    return panels


def _draw_importance(axes: Axes, *, rows: Rows, metric: str) -> None:
    shuffled = [number(row["mre_shuffled"]) for row in rows]
    intact = number(rows[0]["mre_intact"])
    places = range(len(rows))
    axes.barh(places, [100 * mre for mre in shuffled], height=0.62, color=BLUE)
    for place, mre in zip(places, shuffled, strict=True):
        _beside(axes, share_text(mre), 100 * mre, place)
    axes.axvline(100 * intact, color=INK, linewidth=1, linestyle=(0, (3, 2)))
    names = [CHARACTERISTICS[str(row["characteristic"])].label for row in rows]
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlim(0, 128 * max(_SMALLEST_RANGE, *shuffled, intact))
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("error with it shuffled (%)")
    axes.set_title(METRICS[metric].label)
