"""Tables II and III of Huang et al. 2011: how good the basic and the extended models are.

Each model is judged three times, from the kindest to the hardest: on the workloads that it was
fitted to, on workloads of the design that it had not seen, and on workloads between those of
the design.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from drivelab.exhibits import Axis, BarFigure, Table, Text
from drivelab.exhibits.quantities import METRICS, NOTHING, PROVENANCE, mre_text
from drivelab.models.evaluate import ModelKey
from drivelab.models.predictors import ESTIMATORS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.exhibits import Cell
    from drivelab.models.accuracy import Accuracy
    from drivelab.models.exhibits.run_data import RunData


class Judged(NamedTuple):
    """What models are judged on: its short name, and what that is."""

    name: str
    words: str


#: In the order of the columns.
JUDGED: Final = {
    "in_sample": Judged(
        "Seen",
        "on the workloads that it was fitted to, as Huang et al. 2011 seem to do, which makes "
        "errors look too small",
    ),
    "cross_validated": Judged(
        "Unseen",
        "on workloads of the design that were left out of the fit (cross-validation: they are "
        "split into {folds} parts, equal workloads in the same part, and each part is predicted "
        "by a model fitted to the others)",
    ),
    "off_grid": Judged(
        "Off-grid",
        "on {checked} more workloads, the same for every drive, which are spread evenly over the "
        "whole ranges, also between the values of the design",
    ),
}
TITLES: Final = {
    "basic": "Basic models, four characteristics",
    "extended": "Extended models, all eight characteristics",
}
_NUMERALS: Final = {"basic": "II", "extended": "III"}
#: What the columns of the tables are.
READ_SO: Final = (
    "R² is how much of the variation a model explains (1 is all of it, below 0 is worse than "
    "always answering the mean). MAE is the mean absolute error, with the mean value in "
    "brackets. MRE is the mean relative error: how far off an answer is, on average, as a "
    "share of the true value."
)
#: Which cell stands out.
BEST_SO: Final = (
    "Blue is the model that answers unless you name another: the one with the smallest mean MRE of "
    "the three metrics on unseen workloads, or the combination if no model is better by a tenth."
)


def scores(run: RunData) -> dict[str, Mapping[ModelKey, Accuracy]]:
    """Return the accuracies that a run has, by what the models were judged on."""
    found: dict[str, Mapping[ModelKey, Accuracy]] = {
        "in_sample": run.evaluation.in_sample,
        "cross_validated": run.evaluation.cross_validated,
    }
    if run.evaluation.check is not None:
        found["off_grid"] = run.evaluation.check
    return found


def accuracy(run: RunData) -> Table:
    """Return one row a model and what it was judged on (Huang et al. 2011, tables II and III).

    ``judged_on`` is ``in_sample``, ``cross_validated`` or ``off_grid``.
    """
    columns = ("metric", "features", "estimator", "judged_on", "r2", "mae", "mean", "mre")
    rows = tuple(
        (
            *key,
            judged,
            None if math.isnan(score.r2) else score.r2,
            score.mae,
            score.mean,
            score.mre,
            score.rows,
        )
        for judged, scored in scores(run).items()
        for key, score in scored.items()
    )
    return Table("accuracy", (*columns, "workloads"), rows)


def accuracy_tables(run: RunData) -> list[Table]:
    """Return table II and table III, each if there are such models."""
    judged = scores(run)
    names = [f"{place}) {JUDGED[name].name}" for place, name in enumerate(judged, 1)]
    saved = accuracy(run)
    tables = []
    for features in TITLES:
        rows: list[tuple[Cell, ...]] = []
        groups: list[tuple[str, int]] = []
        best = set()
        for metric in run.metrics():
            keys = [key for key in run.accuracy if (key.metric, key.features) == (metric, features)]
            for key in keys:
                found = [cells(metric, scored[key]) for scored in judged.values()]
                if key == run.best(metric):
                    best.add((len(rows), 3 * list(judged).index("cross_validated") + 3))
                rows.append((ESTIMATORS[key.estimator].label, *(one for of in found for one in of)))
            if keys:
                groups.append((f"{METRICS[metric].label} ({METRICS[metric].unit})", len(keys)))
        if rows:
            tables.append(
                accuracy_table(
                    features,
                    ("Model",),
                    names,
                    rows,
                    groups=groups,
                    saved=saved,
                    marked=frozenset(best),
                )
            )
    return tables


def accuracy_table(
    features: str,
    named: tuple[str, ...],
    judged: Sequence[str],
    rows: Sequence[tuple[Cell, ...]],
    *,
    groups: Sequence[tuple[str, int]],
    saved: Table,
    marked: frozenset[tuple[int, int]] = frozenset(),
) -> Table:
    """Return table II or III of the paper; `named` head the columns in front of the numbers."""
    before = (("", len(named) - 1),) if len(named) > 1 else ()
    return Table(
        f"accuracy-{features}",
        (*named, *(("R²", "MAE (mean)", "MRE") * len(judged))),
        tuple(rows),
        title=TITLES[features],
        source=f"table {_NUMERALS[features]}",
        heads=(*before, *((name, 3) for name in judged)),
        groups=tuple(groups),
        marked=marked,
        right=True,
        saved=(saved,),
    )


def accuracy_intro(run: RunData) -> Text:
    """Say what the models know, and what each is judged on."""
    adjective = PROVENANCE[run.kind].adjective
    checked = 0 if run.check is None else len(run.check.measurements)
    judged = [
        f"{place}) {JUDGED[name].words.format(folds=run.folds, checked=f'{checked:,}')}"
        for place, name in enumerate(scores(run), 1)
    ]
    kinds = len({key.estimator for key in run.accuracy})
    return Text(
        (
            f"A model answers for workloads that were never {adjective}. Basic models know four "
            "characteristics of a workload: share of writes, queue depth, request size and "
            "randomness. Extended models know all eight: reads and writes separately, and strides. "
            f"{kinds} kinds of model were fitted to {len(run.fitted):,} workloads. Each is judged "
            f"{'; '.join(judged)}.",
        )
    )


def left_out(run: RunData) -> list[Text]:
    """Say how many workloads the models do not answer for."""
    if not run.evaluation.check_outside:
        return []
    return [
        Text(
            (
                f"{run.evaluation.check_outside:,} off-grid workloads are outside the ranges that "
                "the models were fitted to, and are left out here. A prediction for such a "
                "workload comes with a warning, and its error is unknown.",
            )
        )
    ]


def accuracy_bars(run: RunData) -> BarFigure:
    """Show the mean relative error of every model on workloads that it had not seen."""
    metrics = run.metrics()
    models = list(dict.fromkeys((key.estimator, key.features) for key in run.accuracy))
    models.sort(key=lambda model: list(ESTIMATORS).index(model[0]))
    bars = []
    for estimator, features in models:
        errors = tuple(
            found.mre
            if (found := run.accuracy.get(ModelKey(metric, features, estimator)))
            else None
            for metric in metrics
        )
        bars.append((f"{ESTIMATORS[estimator].label}, {features}", errors, (None,) * len(metrics)))
    return BarFigure(
        "accuracy-bars",
        "Mean relative error on workloads that were not seen",
        Axis("mean relative error, less is better", quantity="share"),
        tuple(METRICS[metric].label for metric in metrics),
        tuple(bars),
        "The shorter the bar, the closer the predictions.",
        kinds=tuple(f"{features} model" for _, features in models),
        columns=3,
        saved=(accuracy(run),),
    )


def cells(metric: str, score: Accuracy) -> tuple[str, str, str]:
    """Write R2, MAE with the mean, and MRE of one model as the paper does."""
    factor = METRICS[metric].factor
    return (
        # It does not exist where all observations are equal.
        NOTHING if math.isnan(score.r2) else f"{score.r2:.3f}".replace("-", "\N{MINUS SIGN}"),
        f"{_plain(score.mae * factor)} ({_plain(score.mean * factor)})",
        mre_text(score.mre),
    )


def _plain(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    if 0 < value < 0.0005:
        return "<0.001"
    return f"{value:#.3g}" if value >= 0.01 else f"{value:.3f}"
