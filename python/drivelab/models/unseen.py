"""What workloads say about models that were fitted without them.

Those of the calibration part by cross-validation: each is answered by the fit that left it out,
so that no measurement is lost for models. Those of the check part are never fitted to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from drivelab.models import intervals
from drivelab.models.accuracy import measure_accuracy
from drivelab.models.evaluate import MODEL_KEYS, Evaluation, ModelKey
from drivelab.models.features import FloatArray
from drivelab.models.measured import Rows
from drivelab.models.trained import BoolArray, TrainedWorkloads

#: A model's predictions for workloads in effect, in the unit of its metric.
Answers = Callable[[ModelKey, FloatArray], FloatArray]


def interval_scores(evaluation: Evaluation, calibration: BoolArray) -> dict[ModelKey, FloatArray]:
    """Return by model how far it is off on each workload that was drawn for it, ascending.

    Parameters
    ----------
    evaluation
        Of the models.
    calibration
        Which of its rows are in the calibration part, shape (n,).
    """
    return {
        key: np.sort(
            np.abs(np.log(evaluation.observed[key.metric]) - np.log(predicted))[calibration]
        )
        for key, predicted in evaluation.out_of_fold.items()
    }


def with_check(
    evaluation: Evaluation,
    answers: Answers,
    trained: TrainedWorkloads,
    scores: Mapping[ModelKey, FloatArray],
    check: Rows,
) -> Evaluation:
    """Return an evaluation with the accuracy and the intervals' coverage on the check part."""
    inside = ~trained.outside(check.table)
    table = check.table[inside]
    outside = len(inside) - len(table)
    if not len(table):
        return dataclasses.replace(evaluation, check_outside=outside)
    observed = {metric: values[inside] for metric, values in check.observed.items()}
    predicted = {key: answers(key, table) for key in MODEL_KEYS}
    coverage: dict[str, dict[float, float]] = {}
    for metric, key in evaluation.best.items():
        errors = np.abs(np.log(observed[metric]) - np.log(predicted[key]))
        coverage[metric] = {
            level: float(np.mean(errors <= intervals.half_width(scores[key], level)))
            for level in intervals.levels_possible(len(scores[key]))
        }
    accuracy = {key: measure_accuracy(observed[key.metric], predicted[key]) for key in MODEL_KEYS}
    return dataclasses.replace(
        evaluation, check=accuracy, check_outside=outside, check_coverage=coverage
    )
