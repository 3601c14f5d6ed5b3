"""What estimators share whose fitted form is an ensemble of trees: how they answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from drivelab import _core


class EnsembleRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that is fitted into `ensemble_`; missing features (NaN) are allowed."""

    ensemble_: _core.TreeEnsemble

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Predict one value a row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Finite, or NaN where missing.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        features = validate_data(
            self, X, reset=False, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )
        rows, columns = features.shape
        answers = self.ensemble_.predict(features, rows, columns, self._threads())
        return np.frombuffer(answers).copy()

    def _threads(self) -> int:
        """Return how many threads answer."""
        return 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
