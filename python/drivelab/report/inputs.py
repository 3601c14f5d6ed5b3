"""What a report is computed from: a run's header, its measurements and its models' evaluation.

The report reads three things and nothing else. This module is the seam: `drivelab.report.build`
fills it from a run folder, the tests from data made by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drivelab.blackbox.evaluate import best_model

if TYPE_CHECKING:
    from drivelab.blackbox.accuracy import Accuracy
    from drivelab.blackbox.evaluate import Evaluation, ModelKey
    from drivelab.drives.measurement import Measurement


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
        Of the models, its rows in the order of `measurements`.
    """

    header: Mapping[str, Any]
    measurements: Sequence[Measurement]
    evaluation: Evaluation

    @property
    def accuracy(self) -> Mapping[ModelKey, Accuracy]:
        """By model, over predictions of workloads that it had not seen."""
        return self.evaluation.cross_validated

    @property
    def folds(self) -> int:
        """Parts of the cross-validation."""
        return len(set(self.evaluation.folds.tolist()))

    @property
    def groups(self) -> int:
        """Distinct workloads."""
        return len({measurement.characteristics.key() for measurement in self.measurements})

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
