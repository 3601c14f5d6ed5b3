"""One surface, three answers: in a closed loop a drive's performances are one and the same.

The number of outstanding requests is the queue depth. So by Little's law latency times throughput
is the queue depth, and bandwidth is throughput times the mean size (Little 1961). The logarithm of
latency over queue depth, the mean time from one completion to the next, is fitted. Each performance
follows from it, so a model's answers never contradict each other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.models.features import FloatArray, mean_size
from drivelab.workloads.characteristics import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.models.combination import Asked
    from drivelab.models.predictor import Predictor

_QUEUE_DEPTH: Final = FIELDS.index("queue_depth")
_NS_A_SECOND: Final = math.log(1e9)


def surface_targets(table: FloatArray, observed: Mapping[str, FloatArray]) -> FloatArray:
    """Return what surfaces are fitted to: the logarithm of latency over queue depth in ns.

    Parameters
    ----------
    table
        Workloads in effect, shape (n, 8).
    observed
        By metric, their performance.
    """
    targets: FloatArray = np.log(observed["latency_ns_mean"] / table[:, _QUEUE_DEPTH])
    return targets


def of_surface(values: FloatArray, table: FloatArray, metric: str) -> FloatArray:
    """Return the logarithm of a metric, in its unit, from what a surface says, shape (n,).

    Parameters
    ----------
    values
        Answers of the surface for the workloads of `table`.
    table
        Workloads in effect, shape (n, 8).
    metric
        One of `drivelab.models.measured.METRICS`.
    """
    if metric == "latency_ns_mean":
        found: FloatArray = values + np.log(table[:, _QUEUE_DEPTH])
        return found
    rate: FloatArray = _NS_A_SECOND - values
    return rate if metric == "iops" else rate + np.log(mean_size(table))


class Answer:
    """What a surface says of one metric, on the logarithm.

    Parameters
    ----------
    surface
        Of latency over queue depth.
    metric
        The requested performance.
    """

    def __init__(self, surface: Predictor, metric: str) -> None:
        self.surface = surface
        self.metric = metric

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row."""
        return of_surface(self.surface.predict(table), table, self.metric)

    def of(self, asked: Asked) -> FloatArray:
        """Return what `predict` does of a table that others are asked about too."""
        return of_surface(asked.of(self.surface), asked.table, self.metric)

    def to_json(self) -> dict[str, Any]:
        """Return what describes the surface, without the metric."""
        return self.surface.to_json()
