"""How good the models of a run are, as a small table, and what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits import Table
from drivelab.exhibits.quantities import METRICS, listed, share_text
from drivelab.models.combination import Combination
from drivelab.models.predictors import ESTIMATORS

if TYPE_CHECKING:
    from drivelab.models.model import PerformanceModel


def relative_errors(model: PerformanceModel) -> Table:
    """Give the mean relative error of every model, a row each, the best of each metric marked.

    Columns are metric, model, in-sample and cross-validated errors and, where it was checked,
    those off the grid.
    """
    evaluation = model.evaluation
    columns: tuple[str, ...] = ("relative error", "", "in-sample", "unseen")
    rows: list[tuple[str, ...]] = []
    marked = set()
    for metric, quantity in METRICS.items():
        of_metric = [key for key in evaluation.cross_validated if key.metric == metric]
        for key in of_metric:
            if model.best[metric] == key:
                marked.add((len(rows), columns.index("unseen")))
            cells = [
                share_text(evaluation.in_sample[key].mre),
                share_text(evaluation.cross_validated[key].mre),
            ]
            if evaluation.check is not None:
                cells.append(share_text(evaluation.check[key].mre))
            label = quantity.label.lower() if key == of_metric[0] else ""
            rows.append((label, f"{key.features} {ESTIMATORS[key.estimator].label}", *cells))
    if evaluation.check is not None:
        columns = (*columns, "off-grid")
    return Table("relative_errors", columns, tuple(rows), marked=frozenset(marked), right=True)


def accuracy_meaning(model: PerformanceModel) -> list[str]:
    """Say in a sentence what the errors are means over, in lines of a terminal."""
    evaluation = model.evaluation
    told = [
        "(means; unseen: cross-validated, * is the best;",
        " in-sample: on the workloads fitted to",
    ]
    if evaluation.check is None:
        return [told[0], f"{told[1]})"]
    rows = next(iter(evaluation.check.values())).rows
    outside = f", {evaluation.check_outside} others lie outside" if evaluation.check_outside else ""
    return [
        told[0],
        f"{told[1]};",
        f" off-grid: on {rows:,} workloads between the design's values{outside})",
    ]


def chosen_words(model: PerformanceModel) -> str:
    """Say which model answers unless another is named, and what it is made of."""
    key = next(iter(model.best.values()))
    words = f"Asked unless another is named: {key.features} {ESTIMATORS[key.estimator].label}"
    surface = model.predictors[key].surface
    if not isinstance(surface, Combination):
        return f"{words}."
    parts = [
        f"{share_text(weight)} {ESTIMATORS[name].label}"
        for name, weight in sorted(surface.weights.items(), key=lambda one: -one[1])
    ]
    return f"{words}, {listed(parts)}."
