"""Boosted regression trees with linear leaves, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from drivelab import _core
from drivelab.models.ensemble_regressor import EnsembleRegressor


class BoostedLinearTrees(EnsembleRegressor):
    """Gradient-boosted regression trees whose leaves are ridge regressions.

    Splits are chosen by how much linear fits on both sides gain over one linear fit, so
    trends cost no splits, and kinks and changes of slope are found where they are.
    Squared error; missing features (NaN) go to the side that suits them and contribute
    nothing to linear parts. A leaf's linear part is clamped to the range of its training
    rows, carried on half-way to the next training value; outside all training values the
    answer is that of the outermost.

    The defaults suit a few hundred to a few thousand measurements of a drive.

    Parameters
    ----------
    n_estimators : int, default=150
        Trees, at most; fitting stops early only when nothing is left to explain.
    learning_rate : float, default=0.1
        Share of each tree's answer that is added, above 0, at most 1.
    max_leaves : int, default=8
        Leaves a tree.
    min_samples_leaf : int, default=5
        Rows on each side of a split, at least.
    ridge : float, default=0.1
        Penalty on squared coefficients of standardised features; a ridge of n counts like
        n rows that say that the feature does nothing.
    max_bins : int, default=32
        Bins of a feature in which splits are searched, 2 to 254; a feature with no more
        distinct values is searched exactly.
    row_fraction : float, default=1.0
        Share of the rows, drawn without replacement, that each tree sees.
    random_state : int, RandomState or None, default=None
        Draws the rows; without effect at a row fraction of 1.

    Attributes
    ----------
    ensemble_ : drivelab._core.TreeEnsemble
        The fitted trees; `ensemble_.arrays()` describes them completely.
    n_features_in_ : int
        Number of features seen.

    Notes
    -----
    Linear leaves and gains of linear fits follow the idea of piecewise linear regression
    trees (Loh 2002; Shi et al. 2019). The same data, parameters and seed give the same
    trees on one machine.
    """

    def __init__(
        self,
        n_estimators: int = 150,
        *,
        learning_rate: float = 0.1,
        max_leaves: int = 8,
        min_samples_leaf: int = 5,
        ridge: float = 0.1,
        max_bins: int = 32,
        row_fraction: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.ridge = ridge
        self.max_bins = max_bins
        self.row_fraction = row_fraction
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Fit the trees.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Finite, or NaN where missing.
        y : array of shape (n_samples,)
            Finite.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            When shapes or values are wrong, as scikit-learn says it.
        UsageError
            When a parameter is out of range, or values spread too widely for squares.
        """
        features, targets = validate_data(
            self,
            X,
            y,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan",
            y_numeric=True,
        )
        targets = np.ascontiguousarray(targets, dtype=np.float64)
        seed = int(check_random_state(self.random_state).randint(2**31))
        rows, columns = features.shape
        self.ensemble_ = _core.fit_trees(
            features,
            rows,
            columns,
            targets,
            rounds=self.n_estimators,
            learning_rate=self.learning_rate,
            max_leaves=self.max_leaves,
            min_samples_leaf=self.min_samples_leaf,
            ridge=self.ridge,
            max_bins=self.max_bins,
            row_fraction=self.row_fraction,
            linear_leaves=True,
            seed=seed,
        )
        return self
