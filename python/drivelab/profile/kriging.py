"""Access times between measured sizes by kriging, and how sure they are.

A straight line through a curve that bends is off between its points, and a line from each measured
size to the next inherits the errors of both. Kriging avoids this: the logarithm of an access time
is that of a line plus a Gaussian process of the logarithm of the size::

    log t(s)  = log(a + b s) + f(s) + e(s)
    f         smooth: amplitude^2 k(|log s - log s'| / length), Matern with nu = 3/2
        e         independent at each size, nugget^2: stripes that cut requests, chance in short
        passes
        measured  = log t(s) + noise, with the variance of the repetitions' centre

The prediction is a weighted mean of the measurements. Near sizes count more; how much more depends
on the noise and the smoothness of the curve (Rasmussen and Williams 2006, equations 2.25 and 2.26;
k is 4.17). The smoothness is not known in advance: every combination of amplitude, length and
nugget of a grid counts by its marginal likelihood (2.30). a and b are fitted to relative errors,
both at least 0. What the measured sizes do not determine of them is part of f with a wide normal
prior (2.39), in the directions in which the logarithm of the line changes with a and b. So an
interval covers the uncertainty of repetitions and of sizes in between.

Both orders of a direction may be one process of two curves. Each has its own line, f of one is
correlated with that of the other (cokriging; Rasmussen and Williams 2006, section 9.1), and in
addition to separate e both jump by the same at each size. pair_kriging.py decides when.

No library was found that takes a line with unknown coefficients for the mean and averages over the
process's parameters; scikit-learn's regressor does neither. The linear algebra is NumPy's and
SciPy's.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.linalg.lapack import dtrtrs
from scipy.optimize import nnls

from drivelab.one_thread import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# From less than anybody measures to jumps of a third; lengths from neighbouring sizes to all of
# them: sizes double in 0.7.
_AMPLITUDES: Final = (0.003, 0.01, 0.03, 0.1, 0.3)
_LENGTHS: Final = (0.25, 0.6, 1.5, 4.0)
_NUGGETS: Final = (0.0, 0.01, 0.03, 0.1)
_PARAMETERS: Final = tuple(itertools.product(_AMPLITUDES, _LENGTHS, _NUGGETS))
# Of two curves: that of f, and how far both jump by the same.
_CORRELATIONS: Final = (0.9, 0.999)
_COMMON: Final = (0.0, 0.1)
_TWO_CURVES: Final = tuple(itertools.product(_CORRELATIONS, _COMMON))
# What counts less than this part of the likeliest is left out.
_LEAST_WEIGHT: Final = 0.02
# Of more points of a curve so many say first which models are hopeless, from the first to the last:
# those whose likelihood is less than 1e-15 of the largest.
_MOST_ASKED: Final = 48
_HOPELESS: Final = math.log(1e15)
#: Of one repetition, where nothing was repeated.
ASSUMED_VARIANCE: Final = 0.03**2
# Variance that keeps matrices regular where nothing varies; far below any nugget.
_REGULAR: Final = 1e-9
# Of a centre's variance that the fit of the line takes for its shape.
_LINE_VARIANCE: Final = 1e-4
# So many sizes are predicted at once.
_ROWS: Final = 1024


@dataclass(frozen=True)
class Points:
    """Sizes of one curve or of two.

    Attributes
    ----------
    sizes
        In bytes.
    curves
        Of which each is: 0, or 1 of the second.
    """

    sizes: Array
    curves: NDArray[np.intp]

    @classmethod
    def of(cls, *sizes: Sequence[int]) -> Points:
        """Put the sizes of each curve behind those of the one before."""
        curves = np.repeat(np.arange(len(sizes)), [len(each) for each in sizes])
        return cls(np.concatenate([np.asarray(each, float) for each in sizes]), curves)

    @classmethod
    def of_curve(cls, sizes: Array, curve: int) -> Points:
        """Take the sizes as those of a curve."""
        return cls(sizes, np.full(len(sizes), curve))

    def __getitem__(self, places: NDArray[np.intp]) -> Points:
        return Points(self.sizes[places], self.curves[places])

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def count(self) -> int:
        """Of curves."""
        return int(self.curves.max()) + 1


class Kriging:
    """One curve, or two that go together.

    Parameters
    ----------
    points
        That were measured; at least two of each curve.
    times_ns
        Their access times, above 0.
    variances
        Of their logarithms, by repetition; 0 where that is not known.
    """

    def __init__(
        self, points: Points, times_ns: Sequence[float], variances: Sequence[float]
    ) -> None:
        with one_thread():
            self._fit(points, times_ns, variances)

    def _fit(self, points: Points, times_ns: Sequence[float], variances: Sequence[float]) -> None:
        self._points = points
        times, noise = np.asarray(times_ns, float), np.asarray(variances, float)
        self._lines = np.stack(
            [
                _line(points.sizes[its], times[its], noise[its])
                for its in (points.curves == curve for curve in range(points.count))
            ]
        )
        self._models = np.array(_models(points.count))
        models = len(self._models)
        rests = np.log(times / self._on_line(points))
        asked = _spread(points)
        if len(asked) < len(points):
            some = _likelihoods(*self._conditions(points[asked], rests[asked], noise[asked]))
            self._models = self._models[some >= some.max() - _HOPELESS]
        roots, rows = self._conditions(points, rests, noise)
        likelihoods = _likelihoods(roots, rows)
        weights = np.exp(likelihoods - likelihoods.max())
        #: Logarithm of the mean likelihood of all models, but for what is the same for each.
        self.log_evidence = float(likelihoods.max() + np.log(weights.sum() / models))
        counted = np.flatnonzero(weights >= _LEAST_WEIGHT)
        self._weights = weights[counted] / weights[counted].sum()
        self._models, self._roots, self._rests = (
            self._models[counted],
            roots[counted],
            rows[counted],
        )

    def _conditions(self, points: Points, rests: Array, noise: Array) -> tuple[Array, Array]:
        """Return roots of the covariance of measured points, and the rests in them, by model."""
        seen = self._covariances(points, points)
        every = np.arange(len(points))
        seen[:, every, every] += noise + _REGULAR
        roots = np.asarray(np.linalg.cholesky(seen), float)
        return roots, _in_roots(roots, itertools.repeat(rests))

    def at(self, sizes: Sequence[int], curve: int = 0) -> tuple[Array, Array]:
        """Return logarithms of a curve's times in ns, and their variances, at sizes in bytes."""
        every = np.asarray(sizes, float)

        def part(places: NDArray[np.intp]) -> tuple[Array, Array]:
            points = Points.of_curve(every[places], curve)
            before = self._models[:, [0, 2, 4]] ** 2
            basis = (self._basis(points) ** 2).sum(axis=1)
            mean, variance = self._predicted(
                self._explained(points), before.sum(axis=1, keepdims=True) + basis
            )
            return np.log(self._on_line(points)) + mean, variance

        return _in_parts(part, np.arange(len(every)))

    def differences(
        self, sizes: Sequence[int], others: Sequence[int], curves: tuple[int, int]
    ) -> tuple[Array, Array]:
        """Return logarithms of times over other times, and their variances.

        Parameters
        ----------
        sizes, others
            In bytes, as many.
        curves
            That of the sizes, and that of the others.
        """
        every, theirs = np.asarray(sizes, float), np.asarray(others, float)

        def part(places: NDArray[np.intp]) -> tuple[Array, Array]:
            one = Points.of_curve(every[places], curves[0])
            other = Points.of_curve(theirs[places], curves[1])
            mean, variance = self._predicted(
                self._explained(one) - self._explained(other), self._apart(one, other)
            )
            return np.log(self._on_line(one) / self._on_line(other)) + mean, variance

        return _in_parts(part, np.arange(len(every)))

    def _apart(self, points: Points, others: Points) -> Array:
        """Return variances of the differences before anything was measured, by model."""
        distances = np.abs(np.log(points.sizes / others.sizes))
        is_one = points.curves == others.curves
        is_same = points.sizes == others.sizes
        amplitudes, lengths, nuggets, together, common = self._models.T[..., np.newaxis]
        alike = np.where(is_one, 1.0, together) * _matern(distances / lengths)
        jumps = 2 * nuggets**2 * ~(is_one & is_same) + 2 * common**2 * ~is_same
        basis = ((self._basis(points) - self._basis(others)) ** 2).sum(axis=1)
        found: Array = 2 * (1 - alike) * amplitudes**2 + jumps + basis
        return found

    @property
    def jump_variances(self) -> tuple[float, float]:
        """For a size that is not measured, whichever of its neighbours are.

        Of its time, and of one curve's time over the other's at the same size.
        """
        nuggets, common = (self._weights @ self._models[:, place] ** 2 for place in (2, 4))
        return float(nuggets + common), float(2 * nuggets)

    def covariance(self, points: Points) -> Array:
        """Return the covariance of the logarithms at points, mean of the models'."""
        with one_thread():
            before = self._mean_covariance(points)
            # Of all models together: each by the root of its weight.
            parts = np.sqrt(self._weights)[:, np.newaxis, np.newaxis] * self._explained(points)
            explained = parts.reshape(-1, len(points))
            found: Array = before - explained.T @ explained
        return found

    def _predicted(self, explained: Array, before: Array) -> tuple[Array, Array]:
        """Return mean and variance of what is left over the lines, of all models together.

        `explained` is what it shares with what was measured, `before` its variance before that.
        """
        means = (explained * self._rests[..., np.newaxis]).sum(axis=1)
        variances = np.maximum(before - (explained**2).sum(axis=1), 0.0)
        mean: Array = self._weights @ means
        # What the models leave open, and what they disagree in.
        variance: Array = self._weights @ (variances + (means - mean) ** 2)
        return mean, variance

    def _explained(self, points: Points) -> Array:
        """Return what points share with those that were measured, in whose roots, by model."""
        return _in_roots(self._roots, self._covariances(self._points, points))

    def _covariances(self, points: Points, others: Points) -> Array:
        """Return covariances before anything was measured, by model."""
        is_same = points.sizes[:, np.newaxis] == others.sizes
        distances = np.abs(np.log(points.sizes)[:, np.newaxis] - np.log(others.sizes))
        lengths, which = np.unique(self._models[:, 1], return_inverse=True)
        amplitudes, _, nuggets, together, common = self._models.T[..., np.newaxis, np.newaxis]
        # In place: there are many models, and memory is slower than arithmetic.
        found: Array = _matern(distances / lengths[:, np.newaxis, np.newaxis])[which]
        found *= amplitudes**2
        for curve in range(len(self._lines)):
            its, theirs = points.curves == curve, others.curves != curve
            found[np.ix_(np.arange(len(found)), its, theirs)] *= together
        rows, columns = np.nonzero(is_same)
        is_one = points.curves[rows] == others.curves[columns]
        found[:, rows, columns] += common[..., 0] ** 2 + nuggets[..., 0] ** 2 * is_one
        found += self._basis(points) @ self._basis(others).T
        return found

    def _mean_covariance(self, points: Points) -> Array:
        """Return the mean of the models' covariances of points, before anything was measured."""
        is_one = points.curves[:, np.newaxis] == points.curves
        is_same = points.sizes[:, np.newaxis] == points.sizes
        distances = np.abs(np.log(points.sizes)[:, np.newaxis] - np.log(points.sizes))
        amplitudes, lengths, nuggets, together, common = self._models.T
        found: Array = self._basis(points) @ self._basis(points).T
        for length in np.unique(lengths):
            weights = self._weights * amplitudes**2 * (lengths == length)
            smooth = np.where(is_one, weights.sum(), weights @ together)
            found += smooth * _matern(distances / length)
        jumps = (self._weights @ nuggets**2) * is_one + self._weights @ common**2
        found += jumps * is_same
        return found

    def _on_line(self, points: Points) -> Array:
        bases, slopes = self._lines[points.curves].T
        times: Array = bases + slopes * points.sizes
        return times

    def _basis(self, points: Points) -> Array:
        """Return how the lines' logarithms change with their a and b."""
        on_line = self._on_line(points)
        found = np.zeros((len(points), 2 * len(self._lines)))
        for curve, (base, slope) in enumerate(self._lines):
            measured = self._points.sizes[self._points.curves == curve]
            least, most = float(measured.min()), float(measured.max())
            its = points.curves == curve
            found[its, 2 * curve] = (base + slope * least) / on_line[its]
            steep = points.sizes[its] / most * (base + slope * most)
            found[its, 2 * curve + 1] = steep / on_line[its]
        return found


def _models(curves: int) -> list[tuple[float, ...]]:
    """Return amplitude, length, nugget, correlation and common jumps of every model."""
    more = ((1.0, 0.0),) if curves == 1 else _TWO_CURVES
    return [(*one, *two) for one in _PARAMETERS for two in more]


def _in_roots(roots: Array, columns: Iterable[Array]) -> Array:
    """Solve for columns in the lower triangles of roots, by model."""
    # A transposed root lies as LAPACK wants it.
    found = [dtrtrs(root.T, each, trans=1)[0] for root, each in zip(roots, columns, strict=False)]
    return np.stack(found)


def _likelihoods(roots: Array, rests: Array) -> Array:
    """Return the logarithm of the likelihood of what is left over the lines, by model."""
    found: Array = -0.5 * (rests**2).sum(axis=1)
    found -= np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    return found


def _spread(points: Points) -> NDArray[np.intp]:
    """Return the places of at most `_MOST_ASKED` points of each curve: neighbours, spread over all.

    At equal ranks alone, every second size would not tell that the others jump.
    """
    places = []
    for curve in range(points.count):
        its = np.flatnonzero(points.curves == curve)
        its = its[np.argsort(points.sizes[its], kind="stable")]
        if len(its) > _MOST_ASKED:
            first = np.linspace(0, len(its) - 2, _MOST_ASKED // 2).round().astype(int)
            its = its[np.unique([first, first + 1])]
        places.append(its)
    return np.concatenate(places)


def _in_parts(
    part: Callable[[NDArray[np.intp]], tuple[Array, Array]], places: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Predict at most `_ROWS` places at once."""
    parts = np.array_split(places, math.ceil(len(places) / _ROWS))
    with one_thread():
        logs, variances = zip(*(part(some) for some in parts), strict=True)
    return np.concatenate(logs), np.concatenate(variances)


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
