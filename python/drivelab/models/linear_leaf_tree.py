"""One regression tree with linear leaves, as a scikit-learn estimator."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import (
    _check_sample_weight,
    validate_data,
)

from drivelab import _core
from drivelab.errors import ParameterError, UsageError
from drivelab.models.ensemble_regressor import EnsembleRegressor, no_texts
from drivelab.models.tree_rows import answers_by_leaf

LOSSES: Final = ("squared_error", "quantile")
_NO_LIMIT: Final = 2**32 - 1


class LinearLeafTree(EnsembleRegressor):
    """A regression tree that can be read: a linear function in every leaf (GUIDE).

    The column of a split is the one whose values the signs of a node's residuals follow most, by
    chi-squared tests of columns and of pairs, so that a column is not preferred for having many
    values. Then the best place on it is searched. Leaves are multilinear least squares, or
    linear quantile regressions. The tree is pruned by cross-validated cost complexity.

    A missing feature (NaN) goes to the side that suits it and adds nothing to a linear function,
    as if it were the mean of its column. Categories split, but are not part of linear functions;
    one that was never seen goes to the side of more rows. A leaf's function is clamped to the range
    of its training rows, extended half-way to the next training value.

    Parameters
    ----------
    loss : {"squared_error", "quantile"}, default="squared_error"
        What leaves minimise.
    quantile : float, default=0.5
        Which quantile, above 0 and below 1; without effect for squared errors.
    max_depth : int or None, default=None
        Splits from the root to a leaf, at most; 0 is one linear function.
    min_samples_leaf : int, default=20
        Rows of a leaf, at least; the sum of their weights where they have any.
    ridge : float, default=0.0
        Penalty on squared coefficients of standardised features, for squared errors.
    max_bins : int, default=64
        Bins of a feature in which splits are searched, 2 to 254; a feature with no more
        distinct values is searched exactly. Categories are not counted: 254 at most.
    categorical_features : array of int, of bool or of str, or None, default=None
        Which columns are categories, given as numbers: places, a mask, or names of the columns of
        a data frame.
    prune_folds : int, default=10
        Folds of the cross-validation that prunes; 0 prunes only splits that save nothing. Rows
        with equal features are never in two folds.
    prune_standard_errors : float, default=0.0
        The smallest tree is taken whose cross-validated error is at most this many standard errors
        above the least. 0 is most accurate; 0.5 or 1 is shorter to read.
    n_jobs : int or None, default=None
        Threads that prune and predict; None is one, -1 all cores. Results are the same for
        any number.

    Attributes
    ----------
    ensemble_ : drivelab._core.TreeEnsemble
        The fitted tree; `ensemble_.arrays()` describes it completely.
    nodes_ : dict of list
        For each node of the tree, in the order of its arrays: ``weight`` (of its rows), ``mean``
        (of their targets), ``loss`` (mean, of its own linear function) and ``by_interaction``
        (whether a pair of columns chose its split). For a leaf also ``lowest`` (the least answer of
        its rows) and ``negative`` (weight of its rows whose answer is below 0).
    feature_importances_ : array of shape (n_features_in_,)
        What splits on a feature save of the loss, and how far its terms move the answers of leaves
        from their means (squared, or absolute for a quantile); the sum is 1.
    n_leaves_ : int
        Number of leaves.
    missing_seen_ : array of bool, shape (n_features_in_,)
        Whether each feature was missing in any row.
    target_range_ : tuple of float
        Smallest and largest target seen.
    n_features_in_ : int
        Number of features seen.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where all are text.

    See Also
    --------
    drivelab.models.tree_text.export_text : The tree and its equations as text.
    drivelab.models.exhibits.tree.tree_figure : The tree as an exhibit.

    Notes
    -----
    Loh (2002), "Regression trees with unbiased variable selection and interaction detection",
    Statistica Sinica 12; quantiles as in Chaudhuri and Loh (2002), Bernoulli 8. What the paper
    corrects by a bootstrap is computed here, so that nothing is drawn: the same data and
    parameters give the same tree, in any order of the rows. A weight counts as repetitions: a
    row of weight 2 gives the same tree as the row twice.

    Every pair of columns is tested with its fit, so that time grows with the cube of their number:
    for tens of columns, not for hundreds.

    If a quantile is fitted, a column of only two numbers cannot be tested on its own (the fit
    balances the signs on both sides); pairs may still choose it. Name it among the categories to
    have it tested.
    """

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        quantile: float = 0.5,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        ridge: float = 0.0,
        max_bins: int = 64,
        categorical_features: ArrayLike | None = None,
        prune_folds: int = 10,
        prune_standard_errors: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.ridge = ridge
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.prune_folds = prune_folds
        self.prune_standard_errors = prune_standard_errors
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Fit the tree.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Finite, or NaN where missing.
        y : array of shape (n_samples,)
            Finite.
        sample_weight : array of shape (n_samples,) or None
            How often each row counts, 0 or more, one of them above 0; None is once.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            When shapes or values are wrong, or a parameter is out of range.
        """
        with no_texts(X):
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
        weights = _check_sample_weight(
            sample_weight, features, dtype=np.float64, ensure_non_negative=True
        )
        rows, columns = features.shape
        parameters = self._checked_parameters()
        try:
            self.ensemble_, self.nodes_, importances = _core.fit_linear_leaf_tree(
                features,
                rows,
                columns,
                targets,
                np.ascontiguousarray(weights),
                self._categorical(columns).tolist(),
                threads=self._threads(),
                **parameters,
            )
        except UsageError as error:
            raise ParameterError(str(error)) from error
        self.feature_importances_ = np.array(importances)
        self.n_leaves_ = self.ensemble_.arrays()["feature"].count(-1)
        self.missing_seen_ = np.isnan(features[weights > 0]).any(axis=0)
        counted = targets[weights > 0]
        self.target_range_ = (float(counted.min()), float(counted.max()))
        answers = np.frombuffer(self.ensemble_.predict(features, rows, columns, self._threads()))
        self.nodes_ |= answers_by_leaf(self.ensemble_.arrays(), features, answers, weights)
        return self

    def _checked_parameters(self) -> dict[str, Any]:
        """Return what the core takes; it checks ranges, but not what is not a number."""
        if self.loss not in LOSSES:
            raise ParameterError(f"loss is {self.loss!r}; allowed: {', '.join(LOSSES)}")
        depth = self.max_depth
        return {
            "quantile": _real("quantile", self.quantile) if self.loss == "quantile" else None,
            "max_depth": _NO_LIMIT if depth is None else _whole("max_depth", depth),
            "min_samples_leaf": _whole("min_samples_leaf", self.min_samples_leaf),
            "ridge": _real("ridge", self.ridge),
            "max_bins": _whole("max_bins", self.max_bins),
            "folds": _whole("prune_folds", self.prune_folds, but=1),
            "standard_errors": _real("prune_standard_errors", self.prune_standard_errors, low=0.0),
        }

    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        if self.n_jobs == -1:
            return len(os.sched_getaffinity(0))
        jobs = _whole("n_jobs", self.n_jobs)
        if jobs == 0:
            raise ParameterError("n_jobs is 0; allowed: None, -1, or 1 or more")
        return jobs

    def _categorical(self, columns: int) -> NDArray[np.bool_]:
        """Tell which columns are categories."""
        chosen = np.zeros(columns, dtype=bool)
        if self.categorical_features is None:
            return chosen
        given = np.asarray(self.categorical_features)
        if given.size == 0:
            return chosen
        if given.dtype == bool and given.shape == (columns,):
            return given
        places: Sequence[Any] = given.ravel().tolist()
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            known = {name: place for place, name in enumerate(names)}
            places = [known.get(place, place) for place in places]
        for place in places:
            if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < columns:
                raise ParameterError(
                    f"categorical_features names {place!r}; allowed: places 0 to {columns - 1}, a "
                    "mask of as many as there are columns, or names of columns"
                )
            chosen[place] = True
        return chosen


def _whole(name: str, value: object, but: int | None = None) -> int:
    """Return a whole number from 0 on that fits the core."""
    whole = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else -1
    if not 0 <= whole <= _NO_LIMIT or whole == but:
        others = "" if but is None else f" but {but}"
        raise ParameterError(f"{name} is {value!r}; allowed: a whole number from 0 on{others}")
    return whole


def _real(name: str, value: object, low: float = -math.inf) -> float:
    """Return a finite number."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not (math.isfinite(number) and number >= low):
        least = "" if low == -math.inf else f", {low:g} or more"
        raise ParameterError(f"{name} is {value!r}; allowed: a finite number{least}")
    return number
