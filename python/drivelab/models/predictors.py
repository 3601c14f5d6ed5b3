"""Fitted functions from workloads to the logarithm of a performance, and how they are fitted.

A predictor answers from plain numbers, without scikit-learn, so that a stored model needs
only what is written in its file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from drivelab import _core
from drivelab.models.features import FeatureSet, FloatArray

IntArray = NDArray[np.int64]

# Below this a batch is answered before a second thread has started.
_ROWS_WORTH_THREADS: Final = 20_000
# scikit-learn takes seeds of 32 bits.
_SEEDS: Final = 2**32
_LARGEST: Final = float(np.finfo(np.float64).max)


class Predictor(Protocol):
    """Answers for workloads in effect (see `drivelab.models.features.workload_table`)."""

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row, independent of the other rows in the batch."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the numbers that describe the predictor completely."""
        ...


class LinearFunction:
    """``intercept + sum(coefficient * linear input)``.

    Parameters
    ----------
    features
        Whose linear inputs these are.
    intercept
        Value where all inputs are 0.
    coefficients
        One an input.
    """

    def __init__(self, features: FeatureSet, intercept: float, coefficients: FloatArray) -> None:
        self.features = features
        self.intercept = intercept
        self.coefficients = coefficients

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row."""
        inputs = self.features.project_linear(table)
        # Column by column: a matrix product may round differently for other batches.
        result = np.full(len(table), self.intercept)
        for column, coefficient in enumerate(self.coefficients):
            result += coefficient * inputs[:, column]
        return result

    def to_json(self) -> dict[str, Any]:
        """Return intercept and coefficients."""
        return {
            "kind": "linear",
            "intercept": self.intercept,
            "coefficients": self.coefficients.tolist(),
        }


class Trees:
    """A sum of regression trees.

    Parameters
    ----------
    features
        What the trees see.
    ensemble
        The trees.
    single_precision
        Whether features are rounded to float32 before they meet a threshold, as
        scikit-learn's trees do in training and prediction.
    """

    def __init__(
        self, features: FeatureSet, ensemble: _core.TreeEnsemble, *, single_precision: bool
    ) -> None:
        self.features = features
        self.ensemble = ensemble
        self.single_precision = single_precision

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row; many rows are shared between the cores, bits unchanged."""
        inputs = self.features.project(table)
        if self.single_precision:
            inputs = inputs.astype(np.float32).astype(np.float64)
        rows, columns = inputs.shape
        threads = len(os.sched_getaffinity(0)) if rows >= _ROWS_WORTH_THREADS else 1
        contiguous = np.ascontiguousarray(inputs)
        return np.frombuffer(self.ensemble.predict(contiguous, rows, columns, threads))

    def to_json(self) -> dict[str, Any]:
        """Return the trees' arrays, as `drivelab._core.TreeEnsemble` documents them."""
        return {
            "kind": "trees",
            "single_precision": self.single_precision,
            "arrays": self.ensemble.arrays(),
        }


def predict_out_of_fold(
    predictors: Sequence[Predictor], table: FloatArray, folds: IntArray
) -> FloatArray:
    """Return each row's prediction by the predictor that was fitted to the other folds."""
    result = np.empty(len(table))
    for fold, predictor in enumerate(predictors):
        rows = folds == fold
        result[rows] = predictor.predict(table[rows])
    return result


def fit_least_squares(
    features: FeatureSet, table: FloatArray, targets: FloatArray, seed: int
) -> Predictor:
    """Fit ordinary least squares."""
    from sklearn.linear_model import LinearRegression

    del seed  # nothing is drawn
    fitted = LinearRegression().fit(features.project_linear(table), targets)
    return LinearFunction(features, float(fitted.intercept_), fitted.coef_)


def fit_cart(features: FeatureSet, table: FloatArray, targets: FloatArray, seed: int) -> Predictor:
    """Fit one regression tree with constant leaves of at least two rows (CART)."""
    from sklearn.tree import DecisionTreeRegressor

    estimator = DecisionTreeRegressor(min_samples_leaf=2, random_state=seed % _SEEDS)
    tree = estimator.fit(features.project(table), targets).tree_
    is_leaf = tree.children_left < 0
    nodes = int(tree.node_count)
    arrays = {
        "columns": len(features.features),
        "base": 0.0,
        "roots": [0],
        "feature": np.where(is_leaf, -1, tree.feature).tolist(),
        # A split that only parts missing from present has an infinite threshold.
        "threshold": np.clip(np.where(is_leaf, 0, tree.threshold), -_LARGEST, _LARGEST).tolist(),
        "left": np.where(is_leaf, 0, tree.children_left).tolist(),
        "right": np.where(is_leaf, 0, tree.children_right).tolist(),
        "missing_left": (tree.missing_go_to_left.astype(bool) & ~is_leaf).tolist(),
        "value": np.where(is_leaf, tree.value[:, 0, 0], 0.0).tolist(),
        "terms": [0] * nodes,
        "term_feature": [],
        "term_coefficient": [],
        "term_centre": [],
        "term_low": [],
        "term_high": [],
    }
    ensemble = _core.TreeEnsemble.from_arrays(arrays)
    return Trees(features, ensemble, single_precision=True)


def fit_boosted(
    features: FeatureSet, table: FloatArray, targets: FloatArray, seed: int
) -> Predictor:
    """Fit boosted trees with linear leaves, with their defaults."""
    from drivelab.models.estimators import BoostedLinearTrees

    estimator = BoostedLinearTrees(random_state=seed % _SEEDS)
    fitted = estimator.fit(features.project(table), targets)
    return Trees(features, fitted.ensemble_, single_precision=False)


@dataclass(frozen=True)
class Estimator:
    """How a formula is fitted, and what people call it.

    Attributes
    ----------
    label
        In words, such as ``regression tree``.
    fit
        From features, a table of workloads in effect, the logarithms of a performance and a seed
        to a predictor.
    """

    label: str
    fit: Callable[[FeatureSet, FloatArray, FloatArray, int], Predictor]


ESTIMATORS: Final[dict[str, Estimator]] = {
    "ols": Estimator("least squares", fit_least_squares),
    "cart": Estimator("regression tree", fit_cart),
    "boosted": Estimator("boosted linear trees", fit_boosted),
}
