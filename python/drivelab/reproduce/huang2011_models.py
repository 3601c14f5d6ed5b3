"""The models of Huang et al. 2011: trees for each performance, and how good they are.

Section III.D: a regression tree with linear leaves, fitted by least squares to the logarithm of a
performance. Here each model is fitted twice, as this tree, which can be read, and as boosted trees
of the same kind. The better of the two on workloads that it has not seen (five folds) counts. The
paper judges a model on the workloads that it was fitted to; that is ``in_sample`` here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.models.accuracy import Accuracy, measure_accuracy
from drivelab.models.evaluate import fold_numbers
from drivelab.models.features import FEATURE_SETS
from drivelab.models.measured import METRICS, Rows
from drivelab.models.trained import TrainedWorkloads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.models.features import FloatArray
    from drivelab.models.predictor import IntArray

# Huang et al. 2011 do not say how they cross-validate; five is usual.
_FOLDS: Final = 5


@dataclass(frozen=True)
class Fitted:
    """How good the model of one performance is.

    Attributes
    ----------
    trees
        Which of `TREES` it uses.
    in_sample
        Accuracy on the workloads that it was fitted to.
    cross_validated
        Accuracy on workloads of the same design that a fit has not seen.
    off_grid
        Accuracy on workloads between the values of the design, inside their ranges; None if there
        are none.
    """

    trees: str
    in_sample: Accuracy
    cross_validated: Accuracy
    off_grid: Accuracy | None = None


def _readable(_seed: int) -> Any:
    from drivelab.models.linear_leaf_tree import LinearLeafTree

    return LinearLeafTree()


def _boosted(seed: int) -> Any:
    from drivelab.models.estimators import BoostedLinearTrees

    return BoostedLinearTrees(random_state=seed)


#: Estimators by name, each made from a seed.
TREES: Final[Mapping[str, Callable[[int], Any]]] = {
    "linear-leaf tree": _readable,
    "boosted linear trees": _boosted,
}


def fitted_models(
    trained: Sequence[Measurement],
    features: str,
    *,
    check: Sequence[Measurement] = (),
    seed: int = 0,
) -> dict[str, Fitted]:
    """Fit trees to each performance and judge them.

    Parameters
    ----------
    trained
        Measurements of at least five distinct workloads.
    features
        ``basic`` or ``extended``, equation 2 or 4.
    check
        Measurements of workloads between the design's values.
    seed
        Seed of folds and trees.

    Returns
    -------
    dict
        Fitted models by metric of `drivelab.models.measured.METRICS`.
    """
    rows = Rows.of(trained)
    data = _Data(
        rows,
        _inside(rows, check),
        FEATURE_SETS[features].project,
        fold_numbers(rows.keys, seed, _FOLDS),
    )
    return {
        metric: min(
            (data.fitted(name, metric, seed) for name in TREES),
            key=lambda each: each.cross_validated.mre,
        )
        for metric in METRICS
    }


@dataclass(frozen=True)
class _Data:
    """The rows that the trees of every performance are fitted to and judged on."""

    rows: Rows
    check: Rows | None
    project: Callable[[FloatArray], FloatArray]
    folds: IntArray

    def fitted(self, trees: str, metric: str, seed: int) -> Fitted:
        inputs = self.project(self.rows.table)
        observed = self.rows.observed[metric]
        targets = np.log(observed)
        unseen = np.empty(len(targets))
        for fold in range(_FOLDS):
            others = self.folds != fold
            of_others = TREES[trees](seed).fit(inputs[others], targets[others])
            unseen[~others] = of_others.predict(inputs[~others])
        whole = TREES[trees](seed).fit(inputs, targets)
        off_grid = None
        if self.check is not None:
            answers = whole.predict(self.project(self.check.table))
            off_grid = measure_accuracy(self.check.observed[metric], np.exp(answers))
        return Fitted(
            trees,
            measure_accuracy(observed, np.exp(whole.predict(inputs))),
            measure_accuracy(observed, np.exp(unseen)),
            off_grid,
        )


def _inside(rows: Rows, check: Sequence[Measurement]) -> Rows | None:
    """Return the off-grid workloads that are inside the trained ranges; None if there are none."""
    if not check:
        return None
    outside = TrainedWorkloads(rows.table).outside(Rows.of(check).table)
    inside = [one for one, beyond in zip(check, outside, strict=True) if not beyond]
    return Rows.of(inside) if inside else None
