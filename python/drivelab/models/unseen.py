"""Predictions for workloads by models that were fitted without them.

In the calibration part by cross-validation: each workload is predicted by the fit that left it out,
so that all measurements can be used for models. Models are never fitted to the check part.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from drivelab.models import difficulty, intervals
from drivelab.models.accuracy import measure_accuracy
from drivelab.models.combination import Asked
from drivelab.models.evaluate import MODEL_KEYS, Evaluation, ModelKey
from drivelab.models.features import FloatArray
from drivelab.models.measured import Rows
from drivelab.models.surfaces import SurfaceKey
from drivelab.models.trained import BoolArray, TrainedWorkloads

#: A model's predictions for workloads in effect, in the unit of its metric.
Answers = Callable[[ModelKey, Asked], FloatArray]
#: How hard workloads are for a model.
Difficulties = Callable[[SurfaceKey, Asked], FloatArray]


def interval_scores(
    evaluation: Evaluation, trained: TrainedWorkloads, calibration: BoolArray
) -> dict[ModelKey, FloatArray]:
    """Return by model how far it is off on each workload that was drawn for it, ascending.

    Each over how hard the workload is (`drivelab.models.difficulty`).

    Parameters
    ----------
    evaluation, trained
        Of the models.
    calibration
        Which of its rows are in the calibration part, shape (n,).
    """
    hard = {
        key: difficulty.of_unseen(key, evaluation, trained)
        for key in dict.fromkeys(one.surface for one in evaluation.out_of_fold)
    }
    scores = {}
    for key, predicted in evaluation.out_of_fold.items():
        errors = np.abs(np.log(evaluation.observed[key.metric]) - np.log(predicted))
        scores[key] = np.sort((errors / hard[key.surface])[calibration])
    return scores


def with_check(
    evaluation: Evaluation,
    trained: TrainedWorkloads,
    scores: Mapping[ModelKey, FloatArray],
    check: Rows,
    *,
    answers: Answers,
    difficulties: Difficulties,
) -> Evaluation:
    """Return an evaluation with the accuracy and the intervals' coverage on the check part.

    Parameters
    ----------
    evaluation, trained, scores
        Of the models.
    check
        The check part.
    answers, difficulties
        What a model says of workloads, and how hard they are for it.
    """
    inside = ~trained.outside(check.table)
    asked = Asked(check.table[inside])
    outside = len(inside) - len(asked.table)
    if not len(asked.table):
        return dataclasses.replace(evaluation, check_outside=outside)
    observed = {metric: values[inside] for metric, values in check.observed.items()}
    predicted = {key: answers(key, asked) for key in MODEL_KEYS}
    coverage: dict[str, dict[float, float]] = {}
    for metric, key in evaluation.best.items():
        errors = np.abs(np.log(observed[metric]) - np.log(predicted[key]))
        errors /= difficulties(key.surface, asked)
        coverage[metric] = {
            level: float(np.mean(errors <= intervals.half_width(scores[key], level)))
            for level in intervals.levels_possible(len(scores[key]))
        }
    accuracy = {key: measure_accuracy(observed[key.metric], predicted[key]) for key in MODEL_KEYS}
    return dataclasses.replace(
        evaluation, check=accuracy, check_outside=outside, check_coverage=coverage
    )
