"""What a report is computed from: a run's header, its measurements and its models' evaluation.

The report reads these and nothing else. This module is the seam: `drivelab.report.build`
fills it from a run folder, the tests from data made by hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from drivelab.models.evaluate import best_model
from drivelab.models.intervals import half_width, levels_possible
from drivelab.workloads.parts import Parts

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.models.accuracy import Accuracy
    from drivelab.models.evaluate import Evaluation, ModelKey
    from drivelab.models.features import FloatArray
    from drivelab.models.model import PerformanceModel
    from drivelab.store import Failure


@dataclass(frozen=True)
class Intervals:
    """How wide the intervals of the best models are.

    Attributes
    ----------
    workloads
        That were reserved for it and lie inside what was trained.
    factors
        By metric and level (0.9 is 90 %): an interval reaches from the prediction over the
        factor to the prediction times it. Levels that need more workloads are missing.
    """

    workloads: int = 0
    factors: Mapping[str, Mapping[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """Workloads between those that models were trained on, and what the models say there.

    Attributes
    ----------
    measurements
        Of the check part, those inside what was trained; at least one.
    predicted
        By model, of each of them.
    """

    measurements: Sequence[Measurement]
    predicted: Mapping[ModelKey, FloatArray]


@dataclass(frozen=True)
class RunData:
    """One run, as the report sees it.

    Attributes
    ----------
    header
        What the store keeps about the run: ``drive``, ``design``, ``plan`` and ``origin``.
    measurements
        Those that the models were fitted to, ordered by index.
    evaluation
        Of the models, its rows in the order of `training`.
    failures
        Measurements that failed.
    intervals
        Of the best models.
    check
        None where the run has no check part, or none of it lies inside what was trained.
    starts
        Each time that a process began to measure into the run.
    """

    header: Mapping[str, Any]
    measurements: Sequence[Measurement]
    evaluation: Evaluation
    failures: Sequence[Failure] = ()
    intervals: Intervals = Intervals()
    check: Check | None = None
    starts: Sequence[Mapping[str, Any]] = ()

    @property
    def name(self) -> str:
        """The string that names the drive."""
        return str(self.header["drive"]["name"])

    @property
    def kind(self) -> str:
        """``simulated``, ``closed_form`` or ``real``."""
        return str(self.header["drive"]["kind"])

    @cached_property
    def parts(self) -> Parts:
        """What each measurement is for, by its index."""
        return Parts.from_json(self.header["design"]["parts"])

    @property
    def planned(self) -> int:
        """Measurements that the campaign asks for."""
        return self.parts.total

    @cached_property
    def training(self) -> Sequence[Measurement]:
        """Those that models were fitted to."""
        wanted = self.parts.range("training")
        return [one for one in self.measurements if one.index in wanted]

    @cached_property
    def designed(self) -> Sequence[Measurement]:
        """Those of the design: for models and for the width of intervals."""
        reserved = self.parts.range("calibration")
        wanted = range(self.parts.range("training").start, reserved.stop)
        return [one for one in self.measurements if one.index in wanted]

    @property
    def accuracy(self) -> Mapping[ModelKey, Accuracy]:
        """By model, over predictions of workloads that it had not seen."""
        return self.evaluation.cross_validated

    @property
    def folds(self) -> int:
        """Parts of the cross-validation."""
        return len(set(self.evaluation.folds.tolist()))

    @cached_property
    def groups(self) -> int:
        """Distinct workloads that models were fitted to."""
        return len({one.characteristics.key() for one in self.training})

    def metrics(self) -> list[str]:
        """Return the metrics that have models, in the order of the models."""
        return list(dict.fromkeys(key.metric for key in self.accuracy))

    def best(self, metric: str, features: str | None = None) -> ModelKey:
        """Return the model of a metric with the smallest mean relative error.

        Parameters
        ----------
        metric
            One of `metrics()`.
        features
            Only among the models with these features; None is among all.
        """
        return best_model(self.accuracy, metric, None if features is None else {features})


def run_data(
    header: Mapping[str, Any],
    measurements: Sequence[Measurement],
    model: PerformanceModel,
    failures: Sequence[Failure] = (),
    starts: Sequence[Mapping[str, Any]] = (),
) -> RunData:
    """Put together what a report needs, asking the models what they say of the check part.

    Parameters
    ----------
    header, measurements, failures, starts
        Of the run.
    model
        Fitted to its training part.
    """
    run = RunData(
        header, measurements, model.evaluation, failures, _intervals(model), starts=starts
    )
    checked = [one for one in measurements if one.index in run.parts.range("check")]
    if model.evaluation.check is None or not checked:
        return run
    outside = model.outside([one.characteristics for one in checked])
    inside = [one for one, out in zip(checked, outside, strict=True) if not out]
    workloads = [one.characteristics for one in inside]
    predicted = {
        key: model.predict(
            workloads, metric=key.metric, features=key.features, estimator=key.estimator
        )
        for key in model.evaluation.check
    }
    return replace(run, check=Check(inside, predicted))


def _intervals(model: PerformanceModel) -> Intervals:
    scores = {metric: model.scores[key] for metric, key in model.best.items()}
    return Intervals(
        workloads=max(map(len, scores.values()), default=0),
        factors={
            metric: {level: math.exp(half_width(found, level)) for level in levels}
            for metric, found in scores.items()
            if (levels := levels_possible(len(found)))
        },
    )
