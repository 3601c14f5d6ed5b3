"""What a model consists of, and so what its file keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drivelab.models.answers import Answer
from drivelab.models.evaluate import Evaluation, ModelKey
from drivelab.models.features import FloatArray
from drivelab.models.trained import TrainedWorkloads


@dataclass(frozen=True)
class ModelContents:
    """Every fitted model of a drive, and how good each is.

    Attributes
    ----------
    predictors
        By model, of the logarithm; the three metrics of one surface share it.
    trained
        The workloads that were fitted to, in the order of `evaluation.indices`.
    evaluation
        Accuracy, the best model by metric, importance and effects.
    scores
        By model, how far a fit without it is off on each workload of the calibration part,
        ascending; see `drivelab.models.intervals`.
    seed
        Seed of folds, estimators and shuffles.
    provenance
        What the caller says about the measurements: drive, design, plan, versions.
    """

    predictors: Mapping[ModelKey, Answer]
    trained: TrainedWorkloads
    evaluation: Evaluation
    scores: Mapping[ModelKey, FloatArray]
    seed: int
    provenance: Mapping[str, Any] = field(default_factory=dict)
