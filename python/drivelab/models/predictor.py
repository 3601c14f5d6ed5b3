"""What answers for workloads, and how it is fitted: the contract of every kind of formula.

A predictor answers from plain numbers, without scikit-learn, so that a stored model needs
only what is written in its file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from drivelab.checked_json import Node
from drivelab.models.features import FeatureSet, FloatArray

IntArray = NDArray[np.int64]

#: scikit-learn takes seeds of 32 bits.
SEEDS: Final = 2**32


class Predictor(Protocol):
    """Answers for workloads in effect (see `drivelab.models.features.workload_table`)."""

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row, independent of the other rows in the batch."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the numbers that describe the predictor completely."""
        ...


@runtime_checkable
class Hasty(Predictor, Protocol):
    """A predictor that can also answer sooner, and a little less exactly."""

    def in_haste(self) -> Predictor:
        """Return one that does."""
        ...


def in_haste(predictor: Predictor) -> Predictor:
    """Return what answers like a predictor, sooner if it can: for means over many answers."""
    return predictor.in_haste() if isinstance(predictor, Hasty) else predictor


class StoredPredictor(Predictor, Protocol):
    """A predictor that a model's file holds."""

    #: By which the file names it, in what `to_json` gives.
    kind: ClassVar[str]

    @classmethod
    def from_json(cls, node: Node, features: FeatureSet) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        MismatchError
            When it is anything else.
        """
        ...


#: Makes a predictor from features, a table of workloads in effect, the targets, the known variance
#: of each and a seed.
Fit = Callable[[FeatureSet, FloatArray, FloatArray, FloatArray, int], Predictor]


@dataclass(frozen=True)
class Estimator:
    """How a formula is fitted, and what people call it.

    Attributes
    ----------
    label
        In words, such as ``regression tree``.
    fit
        Fits it to logarithms. A combination is fitted from its `members` instead.
    predictor
        The class that `fit` returns.
    features
        The feature sets that it exists for; ``own`` means the columns of the user's table.
    refit
        Fits it to most of the rows of an existing predictor, starting from that result; None fits
        from the beginning.
    members
        Names of the estimators whose answers a combination weighs; empty for others.
    most_rows, most_inputs
        For the user's own measurements (`drivelab.models.own`): the most rows and inputs that it is
        fitted to; None if more only take longer.
    """

    label: str
    fit: Fit
    predictor: type[StoredPredictor]
    features: tuple[str, ...] = ("basic", "extended", "own")
    refit: (
        Callable[[Predictor, FeatureSet, FloatArray, FloatArray, FloatArray], Predictor] | None
    ) = None
    members: tuple[str, ...] = ()
    most_rows: int | None = None
    most_inputs: int | None = None


def predict_out_of_fold(
    predictors: Sequence[Predictor], table: FloatArray, folds: IntArray
) -> FloatArray:
    """Return each row's prediction by the predictor that was fitted to the other folds."""
    result = np.empty(len(table))
    for fold, predictor in enumerate(predictors):
        rows = folds == fold
        result[rows] = predictor.predict(table[rows])
    return result
