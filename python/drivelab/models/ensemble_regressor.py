"""What estimators share whose fitted form is an ensemble of trees: how they answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from drivelab import _core
from drivelab.errors import ParameterError


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

        Raises
        ------
        ValueError
            When shapes or values are wrong.
        """
        check_is_fitted(self)
        with no_texts(X):
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


@contextmanager
def no_texts(given: Any) -> Iterator[None]:
    """Say which column holds texts, where scikit-learn cannot convert them and names none.

    Raises
    ------
    ParameterError
        For the first column with a text that is not a number.
    """
    try:
        yield
    except ValueError as error:
        cells = np.asarray(given, dtype=object)
        names = getattr(given, "columns", range(cells.shape[-1] if cells.ndim else 0))
        for name, column in zip(names, cells.T if cells.ndim == 2 else (), strict=False):
            text = next(
                (one for one in column if isinstance(one, str) and not _is_number(one)), None
            )
            if text is not None:
                raise ParameterError(
                    f"column {name!r} contains the text {text!r}; give categories as numbers, the "
                    "same number for the same text in every table"
                ) from error
        raise


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
