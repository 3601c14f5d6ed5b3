"""What the reserved parts of a run say about models that were fitted without them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from drivelab.models import intervals
from drivelab.models.accuracy import measure_accuracy
from drivelab.models.evaluate import MODEL_KEYS, Evaluation, ModelKey
from drivelab.models.features import FloatArray
from drivelab.models.measured import Rows
from drivelab.models.trained import TrainedWorkloads

#: A model's predictions for workloads in effect, in the unit of its metric.
Answers = Callable[[ModelKey, FloatArray], FloatArray]


def interval_scores(
    answers: Answers, trained: TrainedWorkloads, calibration: Rows
) -> dict[ModelKey, FloatArray]:
    """Return by model how far it is off on each reserved workload, ascending.

    Workloads outside what was trained are left out: such questions get no interval.
    """
    inside = ~trained.outside(calibration.table)
    table = calibration.table[inside]
    return {
        key: np.sort(
            np.abs(np.log(calibration.observed[key.metric][inside]) - np.log(answers(key, table)))
        )
        for key in MODEL_KEYS
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
