"""Several estimators' answers weighed against each other (stacking: Wolpert 1992; Breiman 1996).

Estimators err in different places. Of what each says of workloads that it had not seen, the weights
are those, none below 0 and 1 together, whose weighted mean errs least on the logarithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np

from drivelab.checked_json import Node
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.predictor import Estimator, Predictor, in_haste

#: Whose answers are combined, by the name of their estimators.
MEMBERS: Final = ("boosted", "guide", "kriging", "bottleneck_kriging", "queueing_kriging")
# Weights below this are as good as none.
_LEAST: Final = 1e-3
# Errors above this multiple of the median are outliers; how often that is recomputed.
_FAR: Final = 3.0
_ROUNDS: Final = 5
# How much more the sum of the weights counts than the data.
_SUM: Final = 1e4


class Combination:
    """A weighted mean of what predictors say.

    Parameters
    ----------
    members
        By the name of their estimators, those that have a weight.
    weights
        Theirs, above 0, 1 together.
    """

    kind: ClassVar[str] = "combination"

    def __init__(self, members: Mapping[str, Predictor], weights: Mapping[str, float]) -> None:
        self.members = members
        self.weights = weights

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row."""
        return Asked(table).of(self)

    def in_haste(self) -> Combination:
        """Return the same weights of members that answer sooner."""
        members = {name: in_haste(self.members[name]) for name in self.weights}
        return Combination(members, self.weights)

    def to_json(self) -> dict[str, Any]:
        """Return the weights; the members are models of the same file."""
        return {"kind": self.kind, "weights": dict(self.weights)}

    @classmethod
    def from_json(cls, node: Node, features: FeatureSet) -> Combination:
        """Read the weights; `of_members` brings the members."""
        del features
        weights = {
            name: node.of("weights").of(name).number() for name in MEMBERS if _has(node, name)
        }
        if not weights or min(weights.values()) <= 0 or abs(sum(weights.values()) - 1) > 1e-9:
            node.of("weights").refuse("weights above 0, 1 together, of members")
        return cls({}, weights)

    def of_members(self, members: Mapping[str, Predictor]) -> Combination:
        """Return the same weights of other predictors."""
        return Combination({name: members[name] for name in self.weights}, self.weights)


class Asked:
    """What predictors say of a table, each computed once, however often it is asked for.

    Parameters
    ----------
    table
        Workloads in effect, shape (n, 8).
    """

    def __init__(self, table: FloatArray) -> None:
        self.table = table
        # Predictors are kept too, so that no other one is given the same identity.
        self._said: dict[int, tuple[Predictor, FloatArray]] = {}

    def of(self, predictor: Predictor) -> FloatArray:
        """Return one value a row."""
        known = self._said.get(id(predictor))
        if known is None:
            known = predictor, self._computed(predictor)
            self._said[id(predictor)] = known
        return known[1]

    def _computed(self, predictor: Predictor) -> FloatArray:
        if not isinstance(predictor, Combination):
            return predictor.predict(self.table)
        found = np.zeros(len(self.table))
        for name, weight in predictor.weights.items():
            found += weight * self.of(predictor.members[name])
        return found


def _has(node: Node, name: str) -> bool:
    weights = node.of("weights").value
    return isinstance(weights, dict) and name in weights


def combining_weights(answers: Mapping[str, FloatArray], targets: FloatArray) -> dict[str, float]:
    """Return the weights of the members, none below 0 and 1 together.

    Parameters
    ----------
    answers
        By member, its predictions of rows that it had not seen, shape (n,).
    targets
        Of these rows.
    """
    from scipy.optimize import nnls

    names = list(answers)
    # Where weights sum to 1, the error of the mean is the mean of the errors.
    left = np.column_stack([answers[name] - targets for name in names])
    usual = _FAR * float(np.median(np.abs(left))) or 1.0
    found = np.full(len(names), 1 / len(names))
    for _ in range(_ROUNDS):
        # Outliers are weighted down, or a few workloads would decide (Huber 1964).
        counts = np.sqrt(1 / np.maximum(1.0, np.abs(left @ found) / usual))
        rows = np.vstack([counts[:, np.newaxis] * left, np.full(len(names), _SUM * usual)])
        found, _ = nnls(rows, np.append(np.zeros(len(targets)), _SUM * usual))
    found = np.where(found < _LEAST, 0.0, found)
    found = found / found.sum()
    return {name: float(weight) for name, weight in zip(names, found, strict=True) if weight > 0}


def _never(*given: object) -> Predictor:
    raise TypeError(f"a combination is made of its members, not of {len(given)} arguments")


COMBINED: Final = Estimator("combination", _never, Combination, members=MEMBERS)
