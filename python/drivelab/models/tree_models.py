"""Regression trees: one with constant leaves, and boosted ones with linear leaves."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Final, Self

import numpy as np

from drivelab import _core
from drivelab.checked_json import MismatchError, Node
from drivelab.errors import UsageError
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.predictor import SEEDS, Estimator, Predictor

# Below this a batch is answered before a second thread has started.
_ROWS_WORTH_THREADS: Final = 20_000
_LARGEST: Final = float(np.finfo(np.float64).max)
# By what share of the range that was trained a readable tree's answers may leave it: features of
# workloads nearly follow from each other, and huge coefficients cancel only where they were fitted.
# So does GUIDE.
_BEYOND: Final = 0.1


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
    limits
        Smallest and largest answer; None where nothing limits them.
    """

    kind: ClassVar[str] = "trees"

    def __init__(
        self,
        features: FeatureSet,
        ensemble: _core.TreeEnsemble,
        *,
        single_precision: bool,
        limits: tuple[float, float] | None = None,
    ) -> None:
        self.features = features
        self.ensemble = ensemble
        self.single_precision = single_precision
        self.limits = limits

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row; many rows are shared between the cores, bits unchanged."""
        inputs = self.features.project(table)
        if self.single_precision:
            inputs = inputs.astype(np.float32).astype(np.float64)
        rows, columns = inputs.shape
        threads = len(os.sched_getaffinity(0)) if rows >= _ROWS_WORTH_THREADS else 1
        contiguous = np.ascontiguousarray(inputs)
        answers = np.frombuffer(self.ensemble.predict(contiguous, rows, columns, threads))
        return answers if self.limits is None else np.clip(answers, *self.limits)

    def to_json(self) -> dict[str, Any]:
        """Return the trees' arrays, as `drivelab._core.TreeEnsemble` documents them."""
        return {
            "kind": self.kind,
            "single_precision": self.single_precision,
            "limits": None if self.limits is None else list(self.limits),
            "arrays": self.ensemble.arrays(),
        }

    @classmethod
    def from_json(cls, node: Node, features: FeatureSet) -> Self:
        """Read the trees' arrays."""
        columns = len(features.features)
        arrays = node.of("arrays")
        if not isinstance(arrays.value, dict):
            arrays.refuse("an object")
        if arrays.of("columns").integer(1, 2**31) != columns:
            arrays.of("columns").refuse(f"{columns}")
        try:
            ensemble = _core.TreeEnsemble.from_arrays(arrays.value)
        except (UsageError, TypeError, ValueError, OverflowError) as error:
            raise MismatchError(f"{arrays.place}: {error}") from error
        limits = None
        if node.of("limits").value is not None:
            low, high = node.of("limits").numbers(2).tolist()
            if low > high:
                node.of("limits").refuse("the smaller first")
            limits = low, high
        single_precision = node.of("single_precision").boolean()
        return cls(features, ensemble, single_precision=single_precision, limits=limits)


def fit_cart(
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    """Fit one regression tree with constant leaves of at least two rows (CART)."""
    del noise  # rows count alike
    from sklearn.tree import DecisionTreeRegressor

    estimator = DecisionTreeRegressor(min_samples_leaf=2, random_state=seed % SEEDS)
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
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    """Fit boosted trees with linear leaves, with their defaults."""
    del noise  # rows count alike
    from drivelab.models.estimators import BoostedLinearTrees

    estimator = BoostedLinearTrees(random_state=seed % SEEDS)
    fitted = estimator.fit(features.project(table), targets)
    return Trees(features, fitted.ensemble_, single_precision=False)


def fit_readable(
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    """Fit one tree with linear leaves that people can read (GUIDE)."""
    from drivelab.models.linear_leaf_tree import LinearLeafTree

    del noise, seed  # rows count alike, and nothing is drawn
    fitted = LinearLeafTree().fit(features.project(table), targets)
    limits = limits_of_answers(fitted.target_range_)
    return Trees(features, fitted.ensemble_, single_precision=False, limits=limits)


def limits_of_answers(target_range: tuple[float, float]) -> tuple[float, float]:
    """Return the least and the largest answer of a readable tree that was fitted to such a range.

    Parameters
    ----------
    target_range
        Smallest and largest target.
    """
    low, high = target_range
    return low - _BEYOND * (high - low), high + _BEYOND * (high - low)


CART: Final = Estimator("regression tree", fit_cart, Trees)
BOOSTED: Final = Estimator("boosted linear trees", fit_boosted, Trees)
READABLE: Final = Estimator(
    "linear-leaf tree", fit_readable, Trees, most_rows=50_000, most_inputs=40
)
