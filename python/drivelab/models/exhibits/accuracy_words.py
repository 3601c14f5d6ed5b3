"""How good the models of a run are, as the cells of a small table, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits.quantities import METRICS, share_text
from drivelab.models.predictors import ESTIMATORS

if TYPE_CHECKING:
    from drivelab.models.model import PerformanceModel


def accuracy_cells(model: PerformanceModel) -> list[list[str]]:
    """Give the mean relative error of every model, a row each below one of titles.

    The best of each metric is starred. Columns are metric, model, in-sample and cross-validated
    errors and, where it was checked, those off the grid.
    """
    evaluation = model.evaluation
    head = ["relative error", "", "in-sample", "unseen  "]
    rows = [head if evaluation.check is None else [*head, "off-grid"]]
    for metric, quantity in METRICS.items():
        of_metric = [key for key in evaluation.cross_validated if key.metric == metric]
        for key in of_metric:
            star = " *" if model.best[metric] == key else "  "
            cells = [
                share_text(evaluation.in_sample[key].mre),
                share_text(evaluation.cross_validated[key].mre) + star,
            ]
            if evaluation.check is not None:
                cells.append(share_text(evaluation.check[key].mre))
            label = quantity.label.lower() if key == of_metric[0] else ""
            rows.append([label, f"{key.features} {ESTIMATORS[key.estimator].label}", *cells])
    return rows


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
