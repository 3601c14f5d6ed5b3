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
from drivelab.models.effects import (
    Effect,
    Importance,
    partial_dependence,
    permutation_importance,
)
from drivelab.models.features import FEATURE_SETS, FloatArray
from drivelab.models.measured import METRICS, Rows
from drivelab.models.mixes import between_ratios
from drivelab.models.predictor import IntArray, Predictor, predict_out_of_fold
from drivelab.models.predictors import ESTIMATORS

FOLDS: Final = 5


class ModelKey(NamedTuple):
    """One of the models: which performance, from which features, by which estimator."""

    metric: str
    features: str
    estimator: str


MODEL_KEYS: Final = tuple(
    ModelKey(metric, features, estimator)
    for metric in METRICS
    for features in FEATURE_SETS
    for estimator in ESTIMATORS
)


@dataclass(frozen=True)
class Evaluation:
    """What cross-validation found.

    Attributes
    ----------
    indices
        The measurement's index of each row, shape (n,).
    folds
        Fold in which each row was predicted, 0 to 4.
    observed
        By metric, shape (n,), in the metric's unit.
    out_of_fold
        By model, predictions for the rows by the fit that did not see their workloads.
    cross_validated, in_sample
        Accuracy of these, and of the fit to all rows on the rows it was fitted to.
    best
        By metric, the model with the smallest cross-validated MRE.
    best_extended
        By metric, the same among the extended models; importance and effects are of these.
    importance, effects
        By metric; the most important characteristic first. Characteristics never in effect
        are left out, and effects of those that never vary.
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


def fold_numbers(keys: Sequence[Hashable], seed: int) -> IntArray:
    """Assign rows to folds, equal keys to the same one.

    Distinct keys are shuffled and dealt out in turn, so that folds hold equally many
    workloads, give or take one.

    Parameters
    ----------
    keys
        What identifies each row's workload, at least `FOLDS` distinct ones.
    seed
        Of the shuffle.

    Returns
    -------
    array of shape (n,)
        Fold numbers 0 to 4.
    """
    numbers: dict[Hashable, int] = {}
    groups = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    refuse_too_few(len(numbers))
    order = np.random.default_rng(seed).permutation(len(numbers))
    fold_of_group = np.empty(len(numbers), dtype=np.int64)
    fold_of_group[order] = np.arange(len(numbers)) % FOLDS
    return fold_of_group[groups]


def refuse_too_few(distinct: int) -> None:
    """Raise `UsageError` when that many distinct workloads are too few for a model."""
    if distinct < FOLDS:
        raise UsageError(
            f"a model needs measurements of at least {FOLDS} distinct workloads to train on, so "
            f"that some can check it; there are {distinct}"
        )


def fit_and_evaluate(rows: Rows, seed: int) -> tuple[dict[ModelKey, Predictor], Evaluation]:
    """Fit every model on all rows and evaluate it by grouped cross-validation.

    Parameters
    ----------
    rows
        The training part of a run, at least `FOLDS` distinct workloads.
    seed
        Of folds, estimators and shuffles.

    Returns
    -------
    predictors
        By model, fitted to all rows; they predict the natural logarithm.
    evaluation
        Without what the check part says.
    """
    table, observed = rows.table, rows.observed
    folds = fold_numbers(rows.keys, seed)
    # Everything in it is single-threaded and the same whichever thread runs it.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        predictors, of_folds = _fit_all(pool, rows, folds, seed)
        out_of_fold = {
            key: np.exp(predict_out_of_fold(of_folds[key], table, folds)) for key in MODEL_KEYS
        }
        cross_validated = {
            key: measure_accuracy(observed[key.metric], out_of_fold[key]) for key in MODEL_KEYS
        }
        best_extended = best_models(cross_validated, {"extended"})
        importance = {
            metric: pool.submit(
                permutation_importance, of_folds[key], table, folds, observed[metric], seed
            )
            for metric, key in best_extended.items()
        }
        effects = {
            metric: pool.submit(partial_dependence, predictors[key], table, seed)
            for metric, key in best_extended.items()
        }
    evaluation = Evaluation(
        indices=rows.indices,
        folds=folds,
        observed=dict(observed),
        out_of_fold=out_of_fold,
        cross_validated=cross_validated,
        in_sample={
            key: measure_accuracy(observed[key.metric], np.exp(predictors[key].predict(table)))
            for key in MODEL_KEYS
        },
        best=best_models(cross_validated),
        best_extended=best_extended,
        importance={metric: found.result() for metric, found in importance.items()},
        effects={metric: found.result() for metric, found in effects.items()},
    )
    return predictors, evaluation


def _fit_all(
    pool: ThreadPoolExecutor, rows: Rows, folds: IntArray, seed: int
) -> tuple[dict[ModelKey, Predictor], dict[ModelKey, list[Predictor]]]:
    """Fit every model to all rows, and to all but each fold."""
    logarithms = {metric: np.log(values) for metric, values in rows.observed.items()}

    def fit(task: tuple[ModelKey, int | None]) -> Predictor:
        key, fold = task
        chosen = slice(None) if fold is None else folds != fold
        train = ESTIMATORS[key.estimator].fit
        targets = logarithms[key.metric][chosen]
        fitted = train(FEATURE_SETS[key.features], rows.table[chosen], targets, seed)
        return between_ratios(fitted, rows.table[chosen], key.metric)

    tasks = [(key, fold) for key in MODEL_KEYS for fold in (None, *range(FOLDS))]
    fitted = dict(zip(tasks, pool.map(fit, tasks), strict=True))
    return (
        {key: fitted[key, None] for key in MODEL_KEYS},
        {key: [fitted[key, fold] for fold in range(FOLDS)] for key in MODEL_KEYS},
    )


def best_model(
    accuracy: Mapping[ModelKey, Accuracy],
    metric: str,
    features: Container[str] | None = None,
    estimator: str | None = None,
) -> ModelKey:
    """Return a metric's model with the smallest MRE, the first of equals.

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
    candidates = [
        key
        for key in accuracy
        if key.metric == metric
        and (features is None or key.features in features)
        and estimator in (None, key.estimator)
    ]
    return min(candidates, key=lambda key: accuracy[key].mre)


def best_models(
    accuracy: Mapping[ModelKey, Accuracy], features: Container[str] | None = None
) -> dict[str, ModelKey]:
    """Return by metric what `best_model` does."""
    return {metric: best_model(accuracy, metric, features) for metric in METRICS}
