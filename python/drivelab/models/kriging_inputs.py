"""What kriging sees of a workload.

::

    work       work of the workload (`drivelab.models.work`), or the linear inputs of other features
    units      imbalance over parallel units
    parts      time and parts of the bottleneck model
    time       logarithm of the queueing model's time
    shares     of that time, by cost
    rivals     how far the times of other likely queueing models are from it
    elsewhere  the shares of the likeliest of those

A model of many inputs and few measurements is unsure in many ways. Several processes that each see
other inputs are wrong in other places, so their mean is better than each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from drivelab.models.bottleneck import Bottleneck
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.predictor import IntArray
from drivelab.models.queueing import FEW_REQUESTS, Queueing
from drivelab.models.work import Stripes, work_inputs

# The inputs that each process leaves out, where there is a queueing model.
_VIEWS: Final = (
    frozenset[str](),
    frozenset(("work", "elsewhere")),
    frozenset(("rivals", "elsewhere")),
    frozenset(("shares", "elsewhere")),
)
# Of so many rivals the shares are inputs.
_ELSEWHERE: Final = 2


@dataclass(frozen=True)
class Inputs:
    """Inputs of a model's processes.

    Attributes
    ----------
    features
        Whose.
    stripes
        Over which units accesses spread; None where that explains nothing.
    bottleneck
        Whose answers are inputs too; None where they are not.
    is_mean
        Whether the processes are of what the bottleneck model leaves.
    queueing
        Whose time the processes are around, and whose shares are inputs; None where there is none.
    rivals
        Other queueing models of the same measurements, likeliest first.
    trust
        Weights of the queueing model and its rivals in the time that the processes are around;
        their sum is 1.
    """

    features: FeatureSet
    stripes: Stripes | None = None
    bottleneck: Bottleneck | None = None
    is_mean: bool = False
    queueing: Queueing | None = None
    rivals: tuple[Queueing, ...] = ()
    trust: tuple[float, ...] = (1.0,)

    def of(self, table: FloatArray, requests: int | None = None) -> FloatArray:
        """Return the inputs of workloads in effect, finite, shape (n, d).

        Parameters
        ----------
        table
            Workloads in effect, shape (n, 8).
        requests
            About how many a queueing model replays; None for as many as its mean needs.
        """
        return np.column_stack([columns for _, columns in self._blocks(table, requests)])

    def _blocks(self, table: FloatArray, requests: int | None) -> list[tuple[str, FloatArray]]:
        """Return the columns by the name of their kind."""
        if self.features.name != "extended":
            return [("work", self.features.project_linear(table))]
        found = [("work", work_inputs(table))]
        # Units last where they are found last: a search begins with the lengths before it.
        if self.bottleneck is not None and self.is_mean:
            found.append(("parts", self.bottleneck.parts(table).T))
        if self.stripes is not None:
            found.append(("units", self.stripes.inputs(table)))
        if self.bottleneck is not None and not self.is_mean:
            found.append(("parts", self.bottleneck.parts(table).T))
        if self.queueing is not None:
            own = self.queueing.inputs(table, requests)
            found += [("time", own[:, :1]), ("shares", own[:, 1:])]
        if self.queueing is not None and self.rivals:
            others = [each.inputs(table, requests) for each in self.rivals]
            apart = [each[:, 0] - own[:, 0] for each in others]
            found.append(("rivals", np.column_stack(apart)))
            shares = [each[:, 1:] for each in others[:_ELSEWHERE]]
            found.append(("elsewhere", np.column_stack(shares)))
        return found

    def kinds(self) -> tuple[str, ...]:
        """Return the kind of each column, a name of the list above."""
        anything = np.array([[0.0, 1.0, 4096.0, np.nan, 1.0, *[np.nan] * 3]])
        blocks = self._blocks(anything, FEW_REQUESTS)
        return tuple(name for name, columns in blocks for _ in range(columns.shape[1]))

    def views(self) -> list[IntArray]:
        """Return the columns that each process sees; the first sees all."""
        kinds = self.kinds()
        every = range(len(kinds))
        left_out = _VIEWS if self.queueing is not None else _VIEWS[:1]
        seen = (tuple(at for at in every if kinds[at] not in names) for names in left_out)
        return [np.array(columns) for columns in dict.fromkeys(seen)]

    def mean(self, table: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return what the processes are around, of workloads and their inputs, shape (n,)."""
        if self.queueing is not None:
            kinds = np.array(self.kinds())
            time: FloatArray = inputs[:, kinds == "time"].sum(axis=1)
            time += inputs[:, kinds == "rivals"] @ np.array(self.trust[1:])
            return time
        if self.bottleneck is None or not self.is_mean:
            return np.zeros(len(table))
        return self.bottleneck.predict(table)
