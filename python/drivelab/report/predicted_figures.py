"""Drawing what models said against what was observed, with the band of their intervals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from drivelab.report.figures import FEATURE_COLORS, Panel, axis_label, tick_text
from drivelab.report.quantities import ESTIMATOR_LABELS, METRICS
from drivelab.report.svg import BAND, GREY, INK, dots, log_axis, log_limits, panel
from drivelab.report.table import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from drivelab.models.evaluate import ModelKey
    from drivelab.report.table import Cell, Table

    Rows = Sequence[dict[str, Cell]]

#: With more dots than this on a panel, smaller ones.
MANY_DOTS: Final = 500


def predicted_observed(
    predictions: Table,
    keys: Sequence[ModelKey],
    bands: Mapping[ModelKey, float],
    adjective: str,
    *,
    off_grid: bool = False,
) -> list[Panel]:
    """Draw predicted against observed, a panel a model, logarithmic, with the diagonal.

    Parameters
    ----------
    predictions
        As `drivelab.report.tables.predictions` makes it.
    keys
        The models to show, in the order of the panels.
    bands
        By model, the factor around the prediction that is shaded.
    adjective
        What the observed numbers are: measured, simulated or calculated.
    off_grid
        Whether the workloads are those of the check part.
    """
    panels = []
    tips = "check" if off_grid else "predictions"
    of = ", off-grid workloads" if off_grid else ""
    for key in keys:
        rows = predictions.records(metric=key.metric)
        columns = ["observed", *(_column(other) for other in keys if other.metric == key.metric)]
        limits = log_limits([number(row[column]) for row in rows for column in columns])
        estimator = ESTIMATOR_LABELS[key.estimator]
        svg = panel(
            partial(
                _draw_predicted,
                rows=rows,
                key=key,
                limits=limits,
                band=bands.get(key),
                adjective=adjective,
                title=f"{'Off-grid' if off_grid else key.features.title()}: {estimator}",
            ),
            identifier=f"{tips}-{key.metric}-{key.features}",
            label=f"Predicted against {adjective} {METRICS[key.metric].label.lower()}, "
            f"{key.features} model{of}",
            size_inches=(3.6, 3.3),
            margins_inches=(0.8, 0.48, 0.22, 0.28),
        )
        panels.append(Panel(svg, tips=tips))
    return panels


def _column(key: ModelKey) -> str:
    return f"predicted_{key.features}_{key.estimator}"


def _draw_predicted(
    axes: Axes,
    *,
    rows: Rows,
    key: ModelKey,
    limits: tuple[float, float],
    band: float | None,
    adjective: str,
    title: str,
) -> None:
    if band is not None:
        low, high = ([end * factor for end in limits] for factor in (1 / band, band))
        axes.fill_between(limits, low, high, color=BAND, linewidth=0)
    axes.plot(limits, limits, color=INK, linewidth=0.9)
    for factor in (0.5, 2):
        ends = [end * factor for end in limits]
        axes.plot(limits, ends, color=GREY, linewidth=0.7, linestyle=(0, (3, 3)))
    dots(
        axes,
        [number(row["observed"]) for row in rows],
        [number(row[_column(key)]) for row in rows],
        color=FEATURE_COLORS[key.features],
        size=3.4 if len(rows) <= MANY_DOTS else 2.2,
        opacity=0.6,
        name="points",
        front=True,
    )
    log_axis(axes, "x", limits, partial(tick_text, key.metric))
    log_axis(axes, "y", limits, partial(tick_text, key.metric))
    label = axis_label(key.metric)
    axes.set_xlabel(f"{adjective} {label}")
    axes.set_ylabel(f"predicted {label}")
    axes.set_title(title)
