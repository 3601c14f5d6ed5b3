"""How hard a workload is for a combination of models: what widens its interval, or narrows it.

Two quantities show that an answer may be off, and neither needs the true answer:

        errors nearby     errors of fits without them on the nearest trained workloads
        disagreement      distance of the members' answers from the combination's

Their geometric mean follows the true errors, but exaggerates at both ends: a few neighbours happen
to be answered well, or one model errs alone. Its square root made the narrowest intervals of nine
scales that were tried on four flash drives, an array and a disk. Scores of a conformal interval
are divided by it and its width is multiplied by it (normalised nonconformity: Papadopoulos,
Vovk and Gammerman 2011), so that the promise stays what it was.

A single model has no members that could disagree, so for it every workload has difficulty 1, and
its intervals have the same width everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.models.evaluate import Evaluation, ModelKey
from drivelab.models.measured import METRICS
from drivelab.models.predictors import ESTIMATORS
from drivelab.models.surfaces import SurfaceKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.models.answers import Answer
    from drivelab.models.combination import Asked
    from drivelab.models.features import FloatArray
    from drivelab.models.trained import TrainedWorkloads

#: Errors are averaged over this many neighbours.
NEIGHBOURS: Final = 25
# A single tree answers in steps, so it would disagree everywhere.
_COARSE: Final = ("guide",)
# What is closer than this is as good as equal; no difficulty is 0.
_LEAST: Final = 1e-6


def of_workloads(
    key: SurfaceKey,
    asked: Asked,
    *,
    predictors: Mapping[ModelKey, Answer],
    evaluation: Evaluation,
    trained: TrainedWorkloads,
) -> FloatArray:
    """Return how hard workloads are for a model; the same for every performance.

    Parameters
    ----------
    key
        The model that answers.
    asked
        The workloads.
    predictors, evaluation, trained
        Errors of all models: see `drivelab.models.contents.ModelContents`.

    Returns
    -------
    array of shape (n,)
        Above 0; in no unit: what counts is the ratio from one workload to another.
    """
    compared = _compared(key)
    if not compared:
        return np.ones(len(asked.table))
    near = trained.neighbours(asked.table, NEIGHBOURS)
    answers, *others = (asked.of(predictors[one].surface) for one in compared)
    return _difficulty(_unseen_errors(evaluation, key)[near], answers, others)


def of_unseen(key: SurfaceKey, evaluation: Evaluation, trained: TrainedWorkloads) -> FloatArray:
    """Return how hard each trained workload was for the fit that had not seen it, shape (n,).

    Its neighbours are others than itself, and so are repeats of it.
    """
    compared = _compared(key)
    if not compared:
        return np.ones(len(trained.table))
    near = trained.neighbours_of_trained(NEIGHBOURS)
    answers, *others = (np.log(evaluation.out_of_fold[one]) for one in compared)
    return _difficulty(_unseen_errors(evaluation, key)[near], answers, others)


def _compared(key: SurfaceKey) -> list[ModelKey]:
    """Return a combination, then the members that are compared with it; nothing of other models."""
    members = [
        SurfaceKey(key.features, name)
        for name in ESTIMATORS[key.estimator].members
        if key.features in ESTIMATORS[name].features and name not in _COARSE
    ]
    return [ModelKey(METRICS[0], *one) for one in (key, *members)] if members else []


def _unseen_errors(evaluation: Evaluation, key: SurfaceKey) -> FloatArray:
    metric = METRICS[0]
    said = evaluation.out_of_fold[ModelKey(metric, *key)]
    errors: FloatArray = np.abs(np.log(evaluation.observed[metric]) - np.log(said))
    return errors


def _difficulty(
    nearby: FloatArray, answers: FloatArray, others: Sequence[FloatArray]
) -> FloatArray:
    local = np.maximum(nearby.mean(axis=1), _LEAST)
    apart = np.maximum(np.mean([np.abs(one - answers) for one in others], axis=0), _LEAST)
    found: FloatArray = np.sqrt(np.sqrt(local * apart))
    return found
