"""Access times between measured sizes by kriging, and how sure they are.

A straight line through a curve that bends errs between its points, and a line from each measured
size to the next takes over the error of both. Kriging does neither: the logarithm of an access time
is that of a line, and what is left over is a Gaussian process of the logarithm of the size::

    log t(s)  = log(a + b s) + f(s) + e(s)
    f         smooth: amplitude^2 k(|log s - log s'| / length), Matern with nu = 3/2
    e         of each size by itself, nugget^2: stripes that cut requests, chance in short passes
    measured  = log t(s) + noise, of the variance of the repetitions' centre

The prediction is a weighted mean of what was measured, near sizes counting more, the more the
noisier they are and the smoother the curve (Rasmussen and Williams 2006, equations 2.25 and 2.26;
k is 4.17). How smooth nobody knows before: every combination of amplitude, length and nugget of a
grid counts by its marginal likelihood (2.30). a and b are fitted to relative errors, both at least
0; what the measured sizes leave open of them is part of f with a wide normal prior (2.39), in
directions in which the logarithm of the line changes with a and b. So an interval tells
what repetitions leave open and what lies between sizes.

No library was found that takes a line with unknown coefficients for the mean and averages over the
process's parameters; scikit-learn's regressor does neither. The linear algebra is NumPy's.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import nnls
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# From less than anybody measures to jumps of a third; lengths from neighbouring sizes to all of
# them: sizes double in 0.7.
_AMPLITUDES: Final = (0.003, 0.01, 0.03, 0.1, 0.3)
_LENGTHS: Final = (0.25, 0.6, 1.5, 4.0)
_NUGGETS: Final = (0.0, 0.01, 0.03)
_PARAMETERS: Final = tuple(itertools.product(_AMPLITUDES, _LENGTHS, _NUGGETS))
# What counts less than this part of the likeliest is left out.
_LEAST_WEIGHT: Final = 0.02
#: Of one repetition, where nothing was repeated.
ASSUMED_VARIANCE: Final = 0.03**2
# Variance that keeps matrices regular where nothing varies; far below any nugget.
_REGULAR: Final = 1e-9
# Of a centre's variance that the fit of the line takes for its shape.
_LINE_VARIANCE: Final = 1e-4
# So many sizes are predicted at once.
_ROWS: Final = 1024


class Kriging:
    """The curve of one test.

    Parameters
    ----------
    sizes
        That were measured, in bytes; at least two.
    times_ns
        Their access times, above 0.
    variances
        Of their logarithms, by repetition; 0 where that is not known.
    """

    def __init__(
        self, sizes: Sequence[int], times_ns: Sequence[float], variances: Sequence[float]
    ) -> None:
        with _one_thread():
            self._fit(sizes, times_ns, variances)

    def _fit(
        self, sizes: Sequence[int], times_ns: Sequence[float], variances: Sequence[float]
    ) -> None:
        self._sizes = np.asarray(sizes, float)
        times, noise = np.asarray(times_ns, float), np.asarray(variances, float)
        self._line = _line(self._sizes, times, noise)
        self._models = np.array(_PARAMETERS)
        seen = self._covariances(self._sizes, self._sizes) + np.diag(noise + _REGULAR)
        roots = np.linalg.cholesky(seen)
        rests = np.log(times / self._on_line(self._sizes))
        rows = np.linalg.solve(roots, np.broadcast_to(rests[:, np.newaxis], (*rests.shape, 1)))
        likelihoods = -0.5 * (rows[..., 0] ** 2).sum(axis=1)
        likelihoods -= np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        weights = np.exp(likelihoods - likelihoods.max())
        counted = np.flatnonzero(weights >= _LEAST_WEIGHT)
        self._weights = weights[counted] / weights[counted].sum()
        self._models, self._roots = self._models[counted], roots[counted]
        self._rests = rows[counted]

    def at(self, sizes: Sequence[int]) -> tuple[Array, Array]:
        """Return logarithms of access times in ns, and their variances, at sizes in bytes."""
        parts = np.array_split(np.asarray(sizes, float), math.ceil(len(sizes) / _ROWS))
        with _one_thread():
            logs, variances = zip(*(self._at(part) for part in parts), strict=True)
        return np.concatenate(logs), np.concatenate(variances)

    @property
    def jump_variance(self) -> float:
        """Of a size that is not measured: its own, whatever is measured beside it."""
        return float(self._weights @ self._models[:, 2] ** 2)

    def covariance(self, sizes: Sequence[int]) -> Array:
        """Return the covariance of the logarithms at sizes in bytes, mean of the models'."""
        some = np.asarray(sizes, float)
        with _one_thread():
            before = np.tensordot(self._weights, self._covariances(some, some), axes=1)
            # Of all models together: each by the root of its weight.
            parts = np.sqrt(self._weights)[:, np.newaxis, np.newaxis] * self._explained(some)
            explained = parts.reshape(-1, len(some))
            found: Array = before - explained.T @ explained
        return found

    def _at(self, sizes: Array) -> tuple[Array, Array]:
        explained = self._explained(sizes)
        means = (explained * self._rests).sum(axis=1)
        before = (self._models[:, [0, 2]] ** 2).sum(axis=1, keepdims=True)
        before = before + (self._basis(sizes) ** 2).sum(axis=1)
        variances = np.maximum(before - (explained**2).sum(axis=1), 0.0)
        mean = self._weights @ means
        # What the models leave open, and what they disagree in.
        variance = self._weights @ (variances + (means - mean) ** 2)
        logs: Array = np.log(self._on_line(sizes)) + mean
        return logs, variance

    def _explained(self, sizes: Array) -> Array:
        """Return what sizes share with those that were measured, in whose roots, by model."""
        found: Array = np.linalg.solve(self._roots, self._covariances(self._sizes, sizes))
        return found

    def _covariances(self, sizes: Array, others: Array) -> Array:
        """Return covariances before anything was measured, by model."""
        is_same = sizes[:, np.newaxis] == others
        distances = np.abs(np.log(sizes)[:, np.newaxis] - np.log(others))
        lengths, which = np.unique(self._models[:, 1], return_inverse=True)
        shapes = _matern(distances / lengths[:, np.newaxis, np.newaxis])
        amplitudes, nuggets = self._models[:, [0, 2]].T[..., np.newaxis, np.newaxis] ** 2
        found: Array = amplitudes * shapes[which] + nuggets * is_same
        found += self._basis(sizes) @ self._basis(others).T
        return found

    def _on_line(self, sizes: Array) -> Array:
        times: Array = self._line[0] + self._line[1] * sizes
        return times

    def _basis(self, sizes: Array) -> Array:
        """Return how the line's logarithm changes with a and with b."""
        largest = float(self._sizes.max())
        line = self._on_line(sizes)
        ends = self._on_line(np.array([self._sizes.min(), largest]))
        return np.stack([ends[0] / line, sizes / largest * ends[1] / line], axis=1)


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[object]:
    """Let nobody wait for threads: on a busy machine that takes far longer than such matrices."""
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited


def _line(sizes: Array, times: Array, noise: Array) -> Array:
    """Return a and b of the line with the least relative errors, neither below 0."""
    weights = 1 / np.sqrt(noise + _LINE_VARIANCE)
    rows = np.stack([weights / times, weights * sizes / times], axis=1)
    found, _ = nnls(rows, weights)
    return np.asarray(found, float)


def _matern(distances: Array) -> Array:
    """Return Matern's function for nu = 3/2 (Rasmussen and Williams 2006, equation 4.17)."""
    far = math.sqrt(3) * distances
    found: Array = (1 + far) * np.exp(-far)
    return found
