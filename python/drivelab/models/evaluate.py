"""How good each model is, and which is best.

Three accuracies, from the kindest to the hardest: in-sample, on the rows that a model was
fitted to, as Huang et al. 2011 seem to report; cross-validated, on workloads of the same
design that a fit has not seen; off-grid, on a fixed set of workloads spread over the whole
ranges, whatever the design's values. Only the second chooses models.

Cross-validation is grouped: all measurements of one workload are in one fold, so that no
model is asked about a workload that it has seen under other random numbers.
"""

from __future__ import annotations

import os
from collections.abc import Container, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.accuracy import Accuracy, measure_accuracy
from drivelab.models.answers import Answer, of_surface, surface_targets
from drivelab.models.effects import (
    Effect,
    Importance,
    partial_dependence,
    permutation_importance,
)
from drivelab.models.features import FEATURE_SETS, FloatArray
from drivelab.models.measured import METRICS, Rows
from drivelab.models.mixes import between_ratios
from drivelab.models.predictor import IntArray, Predictor
from drivelab.models.predictors import ESTIMATORS, surface_names
from drivelab.models.surfaces import Given, SurfaceKey, fit_surfaces
from drivelab.one_thread import one_thread
from drivelab.workloads.parts import DRAWN

FOLDS: Final = 10
#: With fewer distinct workloads there is no model.
FEWEST_WORKLOADS: Final = 5
#: What the MRE of a combination counts in the choice of the best.
PREFERENCE: Final = 0.9


class ModelKey(NamedTuple):
    """One of the models: which performance, from which features, by which estimator."""

    metric: str
    features: str
    estimator: str

    @property
    def surface(self) -> SurfaceKey:
        """The surface that answers."""
        return SurfaceKey(self.features, self.estimator)


SURFACE_KEYS: Final = tuple(SurfaceKey(*names) for names in surface_names())
MODEL_KEYS: Final = tuple(ModelKey(metric, *key) for metric in METRICS for key in SURFACE_KEYS)


@dataclass(frozen=True)
class Evaluation:
    """What cross-validation found.

    Attributes
    ----------
    indices
        The measurement's index of each row, shape (n,).
    folds
        Fold in which each row was predicted, 0 to 9.
    observed
        By metric, shape (n,), in the metric's unit.
    out_of_fold
        By model, predictions for the rows by the fit that did not see their workloads.
    cross_validated, in_sample
        Accuracy of these on the rows that stand for the population (not those that a model
        chose), and of the fit to all rows on the rows it was fitted to.
    best
        By metric, the model with the smallest cross-validated MRE, mean of all metrics: the same
        surface for each.
    best_extended
        By metric, the same among the extended models; importance and effects are of these.
    importance, effects
        By metric; the most important characteristic first. Characteristics never in effect
        are left out, and effects of those that never vary. Empty where not asked for.
    check
        Off-grid accuracy: of the fit to all rows, on the measurements of the check part that
        lie inside what was trained. None where there is no check part, or none inside.
    check_outside
        Measurements of the check part that lie outside what was trained.
    check_coverage
        By metric and level, the share of the former that the best model's interval holds;
        levels without an interval are missing. None where `check` is.
    """

    indices: IntArray
    folds: IntArray
    observed: dict[str, FloatArray]
    out_of_fold: dict[ModelKey, FloatArray]
    cross_validated: dict[ModelKey, Accuracy]
    in_sample: dict[ModelKey, Accuracy]
    best: dict[str, ModelKey]
    best_extended: dict[str, ModelKey]
    importance: dict[str, tuple[Importance, ...]]
    effects: dict[str, tuple[Effect, ...]]
    check: dict[ModelKey, Accuracy] | None = None
    check_outside: int = 0
    check_coverage: dict[str, dict[float, float]] | None = None


def fold_numbers(keys: Sequence[Hashable], seed: int, most: int = FOLDS) -> IntArray:
    """Assign rows to folds, equal keys to the same one.

    Distinct keys are shuffled and dealt out in turn, so that folds hold equally many
    workloads, give or take one.

    Parameters
    ----------
    keys
        What identifies each row's workload, at least `FEWEST_WORKLOADS` distinct ones.
    seed
        Of the shuffle.
    most
        Folds at most.

    Returns
    -------
    array of shape (n,)
        Fold numbers from 0 on; with fewer distinct workloads than folds one less than there are.
    """
    numbers: dict[Hashable, int] = {}
    groups = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    refuse_too_few(len(numbers))
    order = np.random.default_rng(seed).permutation(len(numbers))
    fold_of_group = np.empty(len(numbers), dtype=np.int64)
    fold_of_group[order] = np.arange(len(numbers)) % min(most, len(numbers))
    return fold_of_group[groups]


def refuse_too_few(distinct: int) -> None:
    """Raise `UsageError` when that many distinct workloads are too few for a model."""
    if distinct < FEWEST_WORKLOADS:
        raise UsageError(
            f"a model needs measurements of at least {FEWEST_WORKLOADS} distinct workloads, to "
            f"check it on some that it has not seen; there are {distinct}"
        )


def fit_and_evaluate(
    rows: Rows,
    seed: int,
    *,
    like: Mapping[SurfaceKey, Predictor] | None = None,
    is_explained: bool = True,
) -> tuple[dict[ModelKey, Answer], Evaluation]:
    """Fit every model on all rows and evaluate it by grouped cross-validation.

    Parameters
    ----------
    rows
        The parts of a run that are fitted to, at least `FEWEST_WORKLOADS` distinct workloads.
    seed
        Of folds, estimators and shuffles.
    like
        Surfaces of other measurements of the same drive, see `surfaces.fit_surfaces`.
    is_explained
        Whether importance and effects are found.

    Returns
    -------
    predictors
        By model, fitted to all rows; they predict the natural logarithm.
    evaluation
        Without what the check part says.
    """
    table, observed = rows.table, rows.observed
    folds = fold_numbers(rows.keys, seed)
    drawn = rows.are(DRAWN)
    # Everything in it is single-threaded and the same whichever thread runs it.
    with one_thread(), ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        targets = surface_targets(table, observed)
        given = Given(table, targets, rows.noise, folds, seed)
        # Between the mixes of reads and writes that were measured, trees alone answer in steps.
        fitted = fit_surfaces(
            pool, SURFACE_KEYS, FEATURE_SETS, given, finish=between_ratios, like=like
        )
        surfaces, unseen = fitted.whole, fitted.unseen
        out_of_fold = {
            key: np.exp(of_surface(unseen[key.surface], table, key.metric)) for key in MODEL_KEYS
        }
        cross_validated = {
            key: measure_accuracy(observed[key.metric][drawn], out_of_fold[key][drawn])
            for key in MODEL_KEYS
        }
        predictors = {key: Answer(surfaces[key.surface], key.metric) for key in MODEL_KEYS}
        best_extended = best_models(cross_validated, {"extended"})
        # Every metric has the same best surface, asked once for all of them.
        chosen = best_extended[METRICS[0]].surface
        if is_explained:
            important = pool.submit(
                permutation_importance, fitted.of_folds[chosen], table, folds, observed, seed
            )
            effective = pool.submit(partial_dependence, surfaces[chosen], table, METRICS)
        seen = {key: surface.predict(table) for key, surface in surfaces.items()}
    evaluation = Evaluation(
        indices=rows.indices,
        folds=folds,
        observed=dict(observed),
        out_of_fold=out_of_fold,
        cross_validated=cross_validated,
        in_sample={
            key: measure_accuracy(
                observed[key.metric], np.exp(of_surface(seen[key.surface], table, key.metric))
            )
            for key in MODEL_KEYS
        },
        best=best_models(cross_validated),
        best_extended=best_extended,
        importance=important.result() if is_explained else dict.fromkeys(METRICS, ()),
        effects=effective.result() if is_explained else dict.fromkeys(METRICS, ()),
    )
    return predictors, evaluation


def best_model(
    accuracy: Mapping[ModelKey, Accuracy],
    metric: str,
    features: Container[str] | None = None,
    estimator: str | None = None,
) -> ModelKey:
    """Return a metric's model with the smallest MRE, the first of equals.

    The MRE is the mean over the metrics that there are, so that every metric has the same
    surface, and answers never contradict each other. A combination is chosen unless another is
    better by a tenth (`PREFERENCE`): a few workloads decide which of many models has the smallest
    error, and a combination was the better choice on workloads that were not among them.

    Parameters
    ----------
    accuracy
        By model, those to choose from.
    metric
        One of `METRICS`.
    features
        Only models with one of these feature sets; None allows all.
    estimator
        Only models by this estimator; None allows all.
    """
    errors: dict[SurfaceKey, list[float]] = {}
    for key, found in accuracy.items():
        if (features is None or key.features in features) and estimator in (None, key.estimator):
            errors.setdefault(key.surface, []).append(found.mre)

    def error(key: SurfaceKey) -> float:
        preferred = PREFERENCE if ESTIMATORS[key.estimator].members else 1.0
        return preferred * float(np.mean(errors[key]))

    return ModelKey(metric, *min(errors, key=error))


def best_models(
    accuracy: Mapping[ModelKey, Accuracy], features: Container[str] | None = None
) -> dict[str, ModelKey]:
    """Return by metric what `best_model` does."""
    return {metric: best_model(accuracy, metric, features) for metric in METRICS}
