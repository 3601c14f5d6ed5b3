"""How good the models of a run are, as a small table, and what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits import Table
from drivelab.exhibits.quantities import METRICS, listed, mre_text, share_text
from drivelab.models.combination import Combination
from drivelab.models.evaluate import Evaluation, ModelKey
from drivelab.models.predictors import ESTIMATORS

if TYPE_CHECKING:
    from drivelab.models.model import PerformanceModel


def relative_errors(evaluation: Evaluation) -> Table:
    """Return a table of mean relative errors: a row per model, best first, the chosen one marked.

    Columns are the model, its cross-validated error in each metric and, where it was checked, those
    off the grid.
    """
    errors = {"unseen": evaluation.cross_validated}
    if evaluation.check is not None:
        errors["off-grid"] = evaluation.check
    names = [quantity.label.lower().split()[-1] for quantity in METRICS.values()]
    columns = ("mean relative error", *(f"{what} {name}" for what in errors for name in names))
    surfaces = sorted(
        dict.fromkeys(key.surface for key in evaluation.cross_validated),
        key=lambda one: sum(evaluation.cross_validated[ModelKey(m, *one)].mre for m in METRICS),
    )
    rows = [
        (
            f"{one.features} {ESTIMATORS[one.estimator].label}",
            *(mre_text(of[ModelKey(m, *one)].mre) for of in errors.values() for m in METRICS),
        )
        for one in surfaces
    ]
    chosen = surfaces.index(next(iter(evaluation.best.values())).surface)
    return Table(
        "relative_errors", columns, tuple(rows), marked=frozenset({(chosen, 0)}), right=True
    )


def accuracy_meaning(evaluation: Evaluation) -> list[str]:
    """Say in a sentence what the errors are means over, in lines of a terminal."""
    meaning = "(unseen: cross-validated; * answers unless another is named"
    if evaluation.check is None:
        return [f"{meaning})"]
    rows = next(iter(evaluation.check.values())).rows
    outside = f", {evaluation.check_outside} others are outside" if evaluation.check_outside else ""
    return [
        f"{meaning};",
        f" off-grid: on {rows:,} workloads between the design's values{outside})",
    ]


def chosen_words(model: PerformanceModel) -> str:
    """Say which model answers unless another is named, and what it is made of."""
    key = next(iter(model.best.values()))
    words = f"Chosen: {key.features} {ESTIMATORS[key.estimator].label}"
    surface = model.predictors[key].surface
    if not isinstance(surface, Combination):
        return f"{words}."
    parts = [
        f"{share_text(weight)} {ESTIMATORS[name].label}"
        for name, weight in sorted(surface.weights.items(), key=lambda one: -one[1])
    ]
    return f"{words}, {listed(parts)}."
