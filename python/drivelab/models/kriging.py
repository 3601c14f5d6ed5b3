"""Kriging, exact Gaussian process regression, as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from drivelab.errors import ParameterError
from drivelab.models.gaussian_process import Process, answers, likeliest, root_of, solved
from drivelab.one_thread import one_thread

#: Of more rows the matrices would not fit, nor would anybody wait.
MOST_ROWS: Final = 5_000


class KrigingRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Exact Gaussian process: Matern 5/2 with a length an input, lines, known noise and a nugget.

    Parameters are those of the largest marginal likelihood, searched with gradients. See
    `drivelab.models.gaussian_process` for the covariance.

    Parameters
    ----------
    max_steps : int, default=150
        Largest number of search steps.
    max_search_rows : int, default=1200
        The search uses at most this many rows, spread over all of them; every row counts in
        predictions.
    start : Process or None, default=None
        Where the search begins: the `process_` of a fit to nearly the same rows needs few steps.

    Attributes
    ----------
    process_ : Process
        The likeliest.
    log_likelihood_ : float
        Of the standardised targets of the rows that the search saw.
    centre_, scale_ : array of shape (n_features_in_,)
        What inputs are standardised by.
    target_centre_, target_scale_ : float
        The same of targets; a scale of 0 says that all are equal.
    rows_ : array of shape (n_samples, n_features_in_)
        Standardised inputs.
    root_ : array of shape (n_samples, n_samples)
        Lower triangular root (Cholesky) of the covariance of the standardised noisy targets.
    weights_ : array of shape (n_samples,)
        Inverse of that covariance times the standardised targets.
    n_features_in_ : int
        Number of features seen.

    Examples
    --------
    >>> import numpy as np
    >>> from drivelab.models.kriging import KrigingRegressor
    >>> places = np.linspace(0, 3, 12).reshape(-1, 1)
    >>> kriging = KrigingRegressor().fit(places, np.sin(places[:, 0]))
    >>> mean, std = kriging.predict([[1.5]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.5)) < 0.01)
    True
    """

    def __init__(
        self,
        *,
        max_steps: int = 150,
        max_search_rows: int = 1200,
        start: Process | None = None,
    ) -> None:
        self.max_steps = max_steps
        self.max_search_rows = max_search_rows
        self.start = start

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        noise_variance: ArrayLike | None = None,
    ) -> Self:
        """Fit the process.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Finite; at most `MOST_ROWS` rows.
        y : array of shape (n_samples,)
            Finite.
        noise_variance : array of shape (n_samples,) or None
            Known variance of each target, 0 or more, in squares of its unit; None is 0. What
            is not known of the noise, and the same for all, is found as the nugget.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            When shapes or values are wrong, there are too many rows, values spread too widely for
            squares, or a parameter is out of range.
        """
        for name in ("max_steps", "max_search_rows"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ParameterError(f"{name} is {value!r}; allowed: a whole number from 1 on")
        features, targets = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        targets = np.asarray(targets, dtype=np.float64)
        refuse_too_many(len(targets))
        noise = _checked_noise(noise_variance, len(targets))
        refuse_too_wide(features, targets)
        self.centre_, self.scale_ = features.mean(axis=0), features.std(axis=0)
        # A column that differs only by rounding is constant.
        self.scale_[self.scale_ <= 1e-12 * np.abs(self.centre_)] = 1.0
        self.rows_ = (features - self.centre_) / self.scale_
        self.target_centre_ = float(targets.mean())
        spread = float(targets.std())
        self.target_scale_ = spread if spread > 1e-12 * abs(self.target_centre_) else 0.0
        unit = self.target_scale_ or 1.0
        standard = (targets - self.target_centre_) / unit if self.target_scale_ else 0 * targets
        noise = noise / unit**2
        with one_thread():
            self.process_, self.log_likelihood_ = self._likeliest(standard, noise)
            self.root_ = root_of(self.process_, self.rows_, noise)
            self.weights_ = solved(self.root_, solved(self.root_, standard), transposed=True)
        return self

    def _likeliest(
        self, targets: NDArray[np.float64], noise: NDArray[np.float64]
    ) -> tuple[Process, float]:
        count = len(targets)
        asked = np.arange(count)
        if count > self.max_search_rows:
            # Golden steps: spread over all rows, in whatever order these are.
            asked = np.argsort((asked * 0.6180339887498949) % 1.0)[: self.max_search_rows]
        columns = self.rows_.shape[1]
        start = self.start
        if start is not None and len(start.lengths) != columns:
            raise ParameterError(f"start has {len(start.lengths)} lengths for {columns} features")
        steps = self.max_steps if self.target_scale_ else 1
        return likeliest(self.rows_[asked], targets[asked], noise[asked], start=start, steps=steps)

    def predict(
        self,
        X: ArrayLike,  # noqa: N803
        return_std: bool = False,
    ) -> Any:
        """Predict one value a row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Finite.
        return_std : bool, default=False
            Whether to return, too, the standard deviation of each row's target itself, nugget
            included, measured without further noise.

        Returns
        -------
        mean : array of shape (n_samples,)
        std : array of shape (n_samples,)
            Only with `return_std`.
        """
        rows = self._standardised(X)
        standard = answers(self.process_, rows, self.rows_, self.weights_)
        mean = self.target_centre_ + self.target_scale_ * standard
        if not return_std:
            return mean
        shared = self.process_.covariance(rows, self.rows_)
        explained = solved(self.root_, shared.T)
        variance = self.process_.variance(rows) - (explained**2).sum(axis=0)
        variance = np.maximum(variance, 0.0) + self.process_.nugget
        return mean, self.target_scale_ * np.sqrt(variance)

    def covariance(
        self,
        X: ArrayLike,  # noqa: N803
        others: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Return what is not known yet of rows: the covariance after what was seen.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        others : array of shape (n_others, n_features) or None
            Other rows; None are the same.

        Returns
        -------
        array of shape (n_samples, n_others)
            Covariances in squares of the target's unit, without nugget and noise, which belong to
            single measurements: `nugget_variance_` is the former.

        Notes
        -----
        Measuring row i of candidates with covariance C, with the noise variance s, leaves
        ``C - C[:, i] C[i, :] / (C[i, i] + nugget_variance_ + s)`` (`after_measuring`), whatever
        value it will have.
        """
        rows = self._standardised(X)
        again = rows if others is None else self._standardised(others)
        one = solved(self.root_, self.process_.covariance(self.rows_, rows))
        other = (
            one
            if others is None
            else solved(self.root_, self.process_.covariance(self.rows_, again))
        )
        found: NDArray[np.float64] = self.process_.covariance(rows, again) - one.T @ other
        found *= self.target_scale_**2
        return found

    @property
    def nugget_variance_(self) -> float:
        """Return the variance that the inputs do not explain, in squares of the target's unit."""
        check_is_fitted(self)
        return self.process_.nugget * self.target_scale_**2

    def _standardised(self, given: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        features = validate_data(self, given, reset=False, dtype=np.float64)
        rows: NDArray[np.float64] = (features - self.centre_) / self.scale_
        return rows


def after_measuring(
    covariance: NDArray[np.float64], place: int, noise_variance: float
) -> NDArray[np.float64]:
    """Return what is left of a covariance once one of its rows is measured.

    Parameters
    ----------
    covariance
        Covariance of candidates, shape (n, n), as `KrigingRegressor.covariance` returns it.
    place
        The candidate that is measured.
    noise_variance
        Variance of that measurement, nugget included, above 0.
    """
    column = covariance[:, place]
    left: NDArray[np.float64] = covariance - np.outer(
        column, column / (column[place] + noise_variance)
    )
    return left


def refuse_too_many(rows: int) -> None:
    """Raise `ParameterError` if kriging cannot handle this many rows."""
    if rows > MOST_ROWS:
        raise ParameterError(
            f"kriging takes at most {MOST_ROWS:,} rows, found {rows:,}: its matrices grow with the "
            "square of them; use boosted trees (BoostedLinearTrees)"
        )


def refuse_too_wide(features: NDArray[np.float64], targets: NDArray[np.float64]) -> None:
    """Raise `ParameterError` for values whose squares leave double precision, as trees do."""
    with np.errstate(over="ignore", invalid="ignore"):
        wide = ~np.isfinite(features.std(axis=0))
        spread = targets.std()
    if wide.any():
        what = f"the values of column {int(np.argmax(wide))}"
    elif not np.isfinite(spread):
        what = "the targets"
    else:
        return
    raise ParameterError(f"{what} spread too widely for squared errors in f64; rescale them")


def _checked_noise(given: ArrayLike | None, rows: int) -> NDArray[np.float64]:
    if given is None:
        return np.zeros(rows)
    noise: NDArray[np.float64] = check_array(
        given, ensure_2d=False, dtype=np.float64, input_name="noise_variance"
    )
    if noise.shape != (rows,) or not (noise >= 0).all():
        raise ParameterError(
            f"noise_variance needs one value a row, 0 or more; found the shape {noise.shape} for "
            f"{rows} rows"
        )
    return noise
