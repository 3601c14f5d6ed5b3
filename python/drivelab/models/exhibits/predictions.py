"""Predictions against observations, one dot per workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits import Multiples, ScatterFigure, number
from drivelab.exhibits.metric_axes import metric_axis, on_axis
from drivelab.exhibits.quantities import METRICS, PROVENANCE, workload_text
from drivelab.models.exhibits.interval_words import band_level, band_words
from drivelab.models.exhibits.tables import check_predictions, predictions
from drivelab.models.predictors import ESTIMATORS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.exhibits import Table
    from drivelab.models.evaluate import ModelKey
    from drivelab.models.exhibits.run_data import RunData

#: By the features that models know, which colour their dots have.
_PLACES = {"extended": 0, "basic": 1}


def predicted_observed(run: RunData) -> Multiples:
    """Show predicted against observed: the extended models above the basic ones, each the best.

    The last row shows the best models on the check part.
    """
    features = list(dict.fromkeys(key.features for key in run.accuracy))
    order = sorted(features, key=lambda name: name != "extended")
    chosen = [run.best(metric, name) for name in order for metric in run.metrics()]
    best = [run.best(metric) for metric in run.metrics()]
    table = predictions(run)
    figures = _figures(run, table, chosen, _texts(run, run.fitted))
    saved = [table]
    adjective = PROVENANCE[run.kind].adjective
    notes = [
        f"Each dot is one workload: across is its {adjective} value, up is the prediction of a "
        "model that was fitted without it. On the solid line the prediction is exact; between the "
        "dashed lines it is within a factor of two.",
        band_words(run),
    ]
    if run.check is not None:
        table = check_predictions(run.check)
        saved.append(table)
        texts = _texts(run, run.check.measurements)
        figures += _figures(run, table, best, texts, off_grid=True)
        notes.append(
            "The last row shows workloads that are spread over the whole ranges, off the grid of "
            "the design."
        )
    note = " ".join(text for text in notes if text)
    return Multiples("predicted", "", tuple(figures), note=note, saved=tuple(saved))


def _figures(
    run: RunData,
    table: Table,
    keys: Sequence[ModelKey],
    texts: tuple[str, ...],
    *,
    off_grid: bool = False,
) -> list[ScatterFigure]:
    bands, figures = _bands(run), []
    adjective = PROVENANCE[run.kind].adjective
    for key in keys:
        rows = table.records(metric=key.metric)
        columns = ["observed", *(_column(other) for other in keys if other.metric == key.metric)]
        every = [number(row[column]) for row in rows for column in columns]
        x, y = (
            metric_axis(key.metric, every, word, logarithmic=True)
            for word in (adjective, "predicted")
        )
        of = "Off-grid" if off_grid else key.features.title()
        figures.append(
            ScatterFigure(
                f"{'check' if off_grid else 'predictions'}-{key.metric}-{key.features}",
                f"{of}: {ESTIMATORS[key.estimator].label}",
                x,
                y,
                tuple(on_axis(key.metric, number(row["observed"])) for row in rows),
                tuple(on_axis(key.metric, number(row[_column(key)])) for row in rows),
                f"{key.features} model",
                place=_PLACES[key.features],
                factor=bands.get(key),
                texts=texts,
            )
        )
    return figures


def _column(key: ModelKey) -> str:
    return f"predicted_{key.features}_{key.estimator}"


def _bands(run: RunData) -> Mapping[ModelKey, float]:
    level = band_level(run)
    if level is None:
        return {}
    best = [run.best(metric) for metric in run.metrics()]
    factors = {key: run.intervals.factors.get(key.metric, {}) for key in best}
    return {key: found[level].usual for key, found in factors.items() if level in found}


def _texts(run: RunData, measurements: Sequence[Measurement]) -> tuple[str, ...]:
    texts = []
    for one in measurements:
        values = (METRICS[name].text(float(getattr(one, name))) for name in run.metrics())
        texts.append(f"{one.index}: {workload_text(one.characteristics)}\n{', '.join(values)}")
    return tuple(texts)
