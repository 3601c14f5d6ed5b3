"""A drive's performance model: fit, ask, save, load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from drivelab.blackbox import model_file
from drivelab.blackbox.evaluate import (
    METRICS,
    Evaluation,
    ModelKey,
    best_model,
    fit_and_evaluate,
)
from drivelab.blackbox.features import FEATURE_SETS, UNITS, FloatArray, workload_table
from drivelab.blackbox.predictors import ESTIMATORS, Predictor
from drivelab.drives.measurement import Measurement
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.units import format_size
from drivelab.workloads.characteristics import FIELDS, Characteristics


@dataclass(frozen=True)
class PerformanceModel:
    """Latency, bandwidth and throughput of one drive from workload characteristics.

    Holds every combination of metric (`evaluate.METRICS`), features (``basic``,
    ``extended``) and estimator (``ols``, ``cart``, ``boosted``), each fitted to the natural
    logarithm of the performance (Huang et al. 2011, section IV.A).

    Attributes
    ----------
    predictors
        By model, of the logarithm.
    ranges
        Smallest and largest trained value of each characteristic where it was in effect;
        None for one that never was.
    evaluation
        Accuracy, the best model by metric, importance and effects.
    seed
        Of folds, estimators and shuffles.
    provenance
        What the caller says about the measurements: drive, design, plan, versions.
    """

    predictors: Mapping[ModelKey, Predictor]
    ranges: Mapping[str, tuple[float, float] | None]
    evaluation: Evaluation
    seed: int
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def fit(
        cls,
        measurements: Sequence[Measurement],
        *,
        seed: int = 0,
        provenance: Mapping[str, Any] | None = None,
    ) -> Self:
        """Fit every model and evaluate it.

        Parameters
        ----------
        measurements
            Of at least five distinct workloads.
        seed
            Of folds, estimators and shuffles, 0 or more.
        provenance
            Stored with the model; must be JSON-able.

        Raises
        ------
        UsageError
            When there are too few workloads, or a measurement has no performance above 0.
        """
        observed = {
            metric: np.array([getattr(one, metric) for one in measurements], dtype=np.float64)
            for metric in METRICS
        }
        for metric, values in observed.items():
            bad = np.flatnonzero(~((values > 0) & (values < np.inf)))
            if bad.size:
                index = measurements[int(bad[0])].index
                raise UsageError(
                    f"measurement {index} has a {metric} of {values[bad[0]]:g}; a model needs "
                    "performance above 0"
                )
        table = workload_table([one.characteristics for one in measurements])
        indices = np.array([one.index for one in measurements], dtype=np.int64)
        keys = [one.characteristics.key() for one in measurements]
        predictors, evaluation = fit_and_evaluate(table, observed, indices, keys, seed)
        return cls(predictors, _ranges(table), evaluation, seed, dict(provenance or {}))

    @property
    def best(self) -> Mapping[str, ModelKey]:
        """By metric, the model with the smallest cross-validated MRE."""
        return self.evaluation.best

    def key(
        self, metric: str, features: str | None = None, estimator: str | None = None
    ) -> ModelKey:
        """Return the model that is meant: the best by cross-validated MRE where left open.

        Raises
        ------
        UsageError
            Lists the valid names.
        """
        for what, name, allowed in (
            ("metric", metric, METRICS),
            ("features", features, tuple(FEATURE_SETS)),
            ("estimator", estimator, tuple(ESTIMATORS)),
        ):
            if name is not None and name not in allowed:
                raise UsageError(f"{name!r} is no {what}; allowed: {', '.join(allowed)}")
        allowed_features = None if features is None else {features}
        return best_model(self.evaluation.cross_validated, metric, allowed_features, estimator)

    def predict(
        self,
        workloads: Sequence[Characteristics] | FloatArray,
        *,
        metric: str,
        features: str | None = None,
        estimator: str | None = None,
    ) -> FloatArray:
        """Predict the performance of workloads.

        Parameters
        ----------
        workloads
            Characteristics, or an array of shape (n, 8), see `features.workload_table`.
        metric
            ``latency_ns_mean``, ``bandwidth_bytes_per_second`` or ``iops``.
        features, estimator
            Which model; the best by cross-validated MRE where left open.

        Returns
        -------
        array of shape (n,)
            In the metric's unit.

        Raises
        ------
        UsageError
            For an unknown name or an impossible workload.
        CannotAnswerError
            When the answer would lie outside what a number can hold.
        """
        key = self.key(metric, features, estimator)
        table = workload_table(workloads)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            answers: FloatArray = np.exp(self.predictors[key].predict(table))
        impossible = ~((answers > 0) & (answers < np.inf))
        if impossible.any():
            raise CannotAnswerError(
                f"the {key.features} {key.estimator} model has no answer for workload "
                f"{int(np.argmax(impossible))}: it lies too far outside what was trained"
            )
        return answers

    def outside_training(self, workload: Characteristics) -> list[str]:
        """Say which characteristics in effect lie outside the trained range.

        Returns
        -------
        list of str
            One line each; empty where all lie inside.
        """
        workload.validate()
        messages = []
        for name, value in workload.canonical().items():
            trained = self.ranges[name]
            if value is None or trained is None:
                if value is not None:
                    messages.append(f"{name} had no effect in any trained workload")
                continue
            low, high = trained
            if not low <= value <= high:
                messages.append(
                    f"{name} is {_shown(name, value)}; trained on {_shown(name, low)} to "
                    f"{_shown(name, high)}"
                )
        return messages

    def save(self, path: Path) -> None:
        """Write the model as one JSON file; a model there before is replaced in one step.

        Raises
        ------
        RunError
            When the file cannot be written.
        """
        model_file.write(path, self)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote; everything is checked, nothing executed.

        Raises
        ------
        UsageError
            When there is no such file, it is no model, a damaged one or a newer one.
        """
        return cls(**model_file.read(path))


def _ranges(table: FloatArray) -> dict[str, tuple[float, float] | None]:
    ranges: dict[str, tuple[float, float] | None] = {}
    for column, name in enumerate(FIELDS):
        values = table[~np.isnan(table[:, column]), column]
        ranges[name] = (float(values.min()), float(values.max())) if values.size else None
    return ranges


def _shown(name: str, value: float) -> str:
    return format_size(int(value)) if UNITS[name] == "bytes" else f"{value:g}"
