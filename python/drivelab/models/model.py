"""A drive's performance model: fit, ask, save, load."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from drivelab.drives.measurement import Measurement
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.models import difficulty, intervals, model_file
from drivelab.models.combination import Asked
from drivelab.models.contents import ModelContents
from drivelab.models.evaluate import (
    ModelKey,
    best_model,
    fit_and_evaluate,
)
from drivelab.models.features import (
    FEATURE_SETS,
    UNITS,
    FloatArray,
    characteristics_of,
    workload_table,
)
from drivelab.models.measured import METRICS, fitted_and_checked
from drivelab.models.predictor import Predictor
from drivelab.models.predictors import ESTIMATORS
from drivelab.models.surfaces import SurfaceKey
from drivelab.models.trained import BoolArray, TrainedWorkloads
from drivelab.models.unseen import interval_scores, with_check
from drivelab.near_names import meant
from drivelab.units import format_size
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.parts import Parts


@dataclass(frozen=True)
class NearWorkload:
    """A workload that a model was trained on, seen from a question.

    Attributes
    ----------
    index
        Of its measurement.
    distance
        From the question, see `drivelab.models.trained`.
    characteristics
        The workload, with defaults where a characteristic has no effect.
    performance
        What was measured, by metric, in its unit.
    """

    index: int
    distance: float
    characteristics: Characteristics
    performance: Mapping[str, float]


@dataclass(frozen=True)
class PerformanceModel(ModelContents):
    """Latency, bandwidth and throughput of one drive from workload characteristics.

    Metrics are those of `drivelab.models.measured.METRICS`, features ``basic`` and ``extended``
    (Huang et al. 2011, section IV.A), estimators those of `drivelab.models.predictors.ESTIMATORS`.
    One surface is fitted for each estimator and the features that it takes: to the logarithm of
    latency over queue depth, from which all metrics follow (`drivelab.models.answers`).
    """

    @classmethod
    def fit(
        cls,
        measurements: Sequence[Measurement],
        *,
        parts: Parts | None = None,
        seed: int = 0,
        provenance: Mapping[str, Any] | None = None,
        like: Self | None = None,
        is_explained: bool = True,
    ) -> Self:
        """Fit every model to what a run measured for models, calibrate it and evaluate it.

        Parameters
        ----------
        measurements
            At least five distinct workloads to fit to.
        parts
            The purpose of each measurement, by its index; None means that none was drawn for
            intervals and none is for a check: then there are none, and no off-grid accuracy.
        seed
            Seed of folds, estimators and shuffles, 0 or more.
        provenance
            Stored with the model; must be JSON-able.
        like
            A model of other measurements of the same drive: what only a long search finds, the
            layout of the queueing model above all, is taken over from it.
        is_explained
            Whether importance and effects of the characteristics are found.

        Raises
        ------
        UsageError
            When there are too few workloads, or a measurement has no performance above 0.
        """
        rows, check = fitted_and_checked(measurements, parts)
        surfaces = None if like is None else like.surfaces
        predictors, evaluation = fit_and_evaluate(
            rows, seed, like=surfaces, is_explained=is_explained
        )
        trained = TrainedWorkloads(rows.table)
        fitted = cls(
            predictors,
            trained,
            evaluation,
            scores=interval_scores(evaluation, trained, rows.are({"calibration"})),
            seed=seed,
            provenance=dict(provenance or {}),
        )
        checked = with_check(
            evaluation,
            trained,
            fitted.scores,
            check,
            answers=fitted._answers,
            difficulties=fitted.difficulty,
        )
        return dataclasses.replace(fitted, evaluation=checked)

    @property
    def surfaces(self) -> Mapping[SurfaceKey, Predictor]:
        """What answers, by features and estimator, whichever performance is asked for."""
        return {key.surface: one.surface for key, one in self.predictors.items()}

    @property
    def ranges(self) -> Mapping[str, tuple[float, float] | None]:
        """Smallest and largest trained value of each characteristic in effect; None if never."""
        return self.trained.ranges

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
                raise UsageError(
                    f"unknown {what} {name!r}; {meant(name, allowed)}allowed: {', '.join(allowed)}"
                )
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
        asked = Asked(workload_table(workloads))
        return self._answers(self.key(metric, features, estimator), asked)

    def interval(
        self,
        workloads: Sequence[Characteristics] | FloatArray,
        *,
        metric: str,
        level: float,
        features: str | None = None,
        estimator: str | None = None,
    ) -> FloatArray:
        """Return where the performance of workloads lies, as sure as the level says.

        Parameters
        ----------
        workloads, metric, features, estimator
            As `predict` takes them.
        level
            0.8, 0.9 or 0.95: the share of workloads, drawn at random from the population that
            the design states, that the interval holds at least; on average over campaigns.

        Returns
        -------
        array of shape (n, 2)
            Lower and upper end in the metric's unit; NaN for workloads outside what was
            trained, where nothing is known about errors.

        Raises
        ------
        UsageError
            For an unknown name or level, or an impossible workload.
        CannotAnswerError
            When too few workloads were reserved for the level, or an answer would lie outside
            what a number can hold.
        """
        intervals.check_level(level)
        key = self.key(metric, features, estimator)
        width = intervals.half_width(self.scores[key], level)
        asked = Asked(workload_table(workloads))
        answers = self._answers(key, asked)
        ends = intervals.around(answers, width * self.difficulty(key.surface, asked))
        ends[self.trained.outside(asked.table)] = np.nan
        return ends

    def difficulty(self, key: SurfaceKey, asked: Asked) -> FloatArray:
        """Return how hard workloads in effect are for a model; see `drivelab.models.difficulty`."""
        return difficulty.of_workloads(
            key,
            asked,
            predictors=self.predictors,
            evaluation=self.evaluation,
            trained=self.trained,
        )

    def outside(self, workloads: Sequence[Characteristics] | FloatArray) -> BoolArray:
        """Tell which workloads lie outside what was trained, shape (n,)."""
        return self.trained.outside(workload_table(workloads))

    def outside_training(self, workload: Characteristics) -> list[str]:
        """Say in which way a workload lies outside what was trained.

        Returns
        -------
        list of str
            A line for each characteristic beyond the trained range, or one that nothing near
            was measured; empty where the workload lies inside.
        """
        workload.validate()
        messages = []
        row = workload_table([workload])
        for name, value, beyond in zip(
            FIELDS, row[0], self.trained.out_of_range(row)[0], strict=True
        ):
            trained = self.ranges[name]
            if beyond and trained is None:
                messages.append(f"{name} had no effect in any trained workload")
            elif beyond and trained is not None:
                low, high = (_shown(name, end) for end in trained)
                messages.append(f"{name} is {_shown(name, value)}; trained on {low} to {high}")
        if not messages and self.trained.outside(row)[0]:
            distance = self.trained.distance(row)[0]
            messages.append(
                "every characteristic is inside its range, but nothing near was measured: the "
                f"distance to the nearest workload is {distance:.2f}, and up to "
                f"{self.trained.far:.2f} is usual (1 is one characteristic's whole range)"
            )
        return messages

    def nearest(self, workload: Characteristics, count: int = 3) -> list[NearWorkload]:
        """Return the trained workloads nearest to a workload, the nearest first."""
        workload.validate()
        evaluation = self.evaluation
        return [
            NearWorkload(
                index=int(evaluation.indices[row]),
                distance=distance,
                characteristics=characteristics_of(self.trained.table[row]),
                performance={metric: float(evaluation.observed[metric][row]) for metric in METRICS},
            )
            for row, distance in self.trained.nearest(workload_table([workload])[0], count)
        ]

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
            When there is no such file, it is not a model, a damaged one or one of another version.
        """
        return cls(**model_file.read(path))

    def _answers(self, key: ModelKey, asked: Asked) -> FloatArray:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            answers: FloatArray = np.exp(self.predictors[key].of(asked))
        impossible = ~((answers > 0) & (answers < np.inf))
        if impossible.any():
            raise CannotAnswerError(
                f"the {key.features} {key.estimator} model has no answer for workload "
                f"{int(np.argmax(impossible))}: it is too far outside the training data"
            )
        return answers


def _shown(name: str, value: float) -> str:
    return format_size(int(value)) if UNITS[name] == "bytes" else f"{value:g}"
