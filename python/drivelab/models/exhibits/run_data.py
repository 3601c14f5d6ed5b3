"""What the exhibits of a run are made of: its campaign, and its models' evaluation.

They read these and nothing else. This module is the seam: `drivelab.pages.run` fills it from a
run folder, the tests from data made by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from drivelab.campaign.exhibits.data import CampaignData
from drivelab.models import difficulty
from drivelab.models.evaluate import best_model
from drivelab.models.intervals import half_width, levels_possible
from drivelab.models.limits import Limits, limits_of
from drivelab.models.measured import METRICS

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.models.accuracy import Accuracy
    from drivelab.models.evaluate import Evaluation, ModelKey
    from drivelab.models.features import FloatArray
    from drivelab.models.linear_leaf_tree import LinearLeafTree
    from drivelab.models.model import PerformanceModel
    from drivelab.store import Failure
    from drivelab.workloads.parts import Parts

# Of the factors of intervals: the median, and what a tenth and nine tenths do not exceed.
_SHOWN: Final = (0.5, 0.1, 0.9)


class Factor(NamedTuple):
    """An interval reaches from the prediction over a factor to the prediction times it.

    It differs by workload: the median over the workloads that were drawn at random, and what a
    tenth and nine tenths of them do not exceed.
    """

    usual: float
    narrow: float
    wide: float


@dataclass(frozen=True)
class Intervals:
    """How wide the intervals of the best models are.

    Attributes
    ----------
    workloads
        That were drawn at random for it.
    factors
        By metric and level (0.9 is 90 %). Levels that need more workloads are missing.
    """

    workloads: int = 0
    factors: Mapping[str, Mapping[float, Factor]] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """Workloads between those that models were trained on, and what the models say there.

    Attributes
    ----------
    measurements
        Off-grid measurements inside the trained range; at least one.
    predicted
        By model, its predictions for each of them.
    """

    measurements: Sequence[Measurement]
    predicted: Mapping[ModelKey, FloatArray]


@dataclass(frozen=True)
class RunData(CampaignData):
    """One campaign and its models, as their exhibits see them.

    Attributes
    ----------
    evaluation
        Of the models, its rows in the order of `training`.
    intervals
        Of the best models.
    check
        None where the run has no check part, or none of it lies inside what was trained.
    limits
        What limits the drive; None where the bottleneck model was not asked.
    """

    evaluation: Evaluation
    intervals: Intervals = field(default=Intervals(), kw_only=True)
    check: Check | None = field(default=None, kw_only=True)
    limits: Limits | None = field(default=None, kw_only=True)

    @property
    def accuracy(self) -> Mapping[ModelKey, Accuracy]:
        """By model, over predictions of workloads that it had not seen."""
        return self.evaluation.cross_validated

    @property
    def folds(self) -> int:
        """Parts of the cross-validation."""
        return len(set(self.evaluation.folds.tolist()))

    @cached_property
    def readable_tree(self) -> LinearLeafTree | None:
        """The tree of the ``guide`` model, as it was fitted; None where there is none."""
        from drivelab.models.answers import surface_targets
        from drivelab.models.features import FEATURE_SETS
        from drivelab.models.linear_leaf_tree import LinearLeafTree
        from drivelab.models.measured import Rows

        if not any(key.estimator == "guide" for key in self.accuracy):
            return None
        rows = Rows.of(self.fitted)
        inputs = FEATURE_SETS["extended"].project(rows.table)
        return LinearLeafTree().fit(inputs, surface_targets(rows.table, rows.observed))

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
        header,
        measurements,
        model.evaluation,
        failures=failures,
        starts=starts,
        limits=limits_of(model),
    )
    run = replace(run, intervals=_intervals(model, run.parts))
    checked = [one for one in measurements if run.parts.part_of(one.index) == "check"]
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


def _intervals(model: PerformanceModel, parts: Parts) -> Intervals:
    scores = {metric: model.scores[key] for metric, key in model.best.items()}
    evaluation = model.evaluation
    drawn = [parts.part_of(int(index)) == "calibration" for index in evaluation.indices]
    # Every metric has the same best surface.
    best = model.best[METRICS[0]].surface
    hard = difficulty.of_unseen(best, evaluation, model.trained)[drawn]

    def factor(found: FloatArray, level: float) -> Factor:
        usual, narrow, wide = np.exp(half_width(found, level) * np.quantile(hard, _SHOWN)).tolist()
        return Factor(usual, narrow, wide)

    return Intervals(
        workloads=max(map(len, scores.values()), default=0),
        factors={
            metric: {level: factor(found, level) for level in levels}
            for metric, found in scores.items()
            if (levels := levels_possible(len(found)))
        },
    )
