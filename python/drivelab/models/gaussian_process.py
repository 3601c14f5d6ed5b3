"""A Gaussian process of several inputs: its covariance, its likelihood, what it says of a row.

Inputs are standardised, targets centred and scaled; before anything is seen, targets have the mean
0 and the covariance::

    k(x, x') = amplitude m(r) + slope x . x' + constant,     r^2 = sum(((x_j - x'_j) / length_j)^2)
    m(r)     = (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)   Matern, nu = 5/2

Each input has its own length; a long one means that the input hardly matters. The slopes are
straight lines in every input with a normal prior, so that trends need no lengths and continue
beyond the data. Each row has its own noise. A nugget, the same for all rows, is the variance that
inputs do not explain (Rasmussen and Williams 2006: equations 2.25, 2.26, 2.30, 4.17, 5.9).

`drivelab.profile.kriging` is another process: of one input, around a line, averaged over its
parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dtrtrs
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Variance of the constant, in squares of the targets' standard deviation: as good as unknown.
CONSTANT: Final = 10.0
# Of natural logarithms: what is searched, in units of standardised inputs and targets.
_AMPLITUDES: Final = (math.log(1e-4), math.log(1e3))
_SLOPES: Final = (math.log(1e-6), math.log(1e2))
_NUGGETS: Final = (math.log(1e-7), math.log(1.0))
_LENGTHS: Final = (math.log(0.05), math.log(300.0))
_START: Final = (math.log(1.0), math.log(0.1), math.log(1e-3))
# A weak prior draws lengths to a few standard deviations of an input: with more inputs than the
# rows can distinguish, irrelevant inputs should not seem to matter.
_USUAL_LENGTH: Final = math.log(6.0)
_LENGTH_DEVIATION: Final = 1.5
_STEPS: Final = 150
# What keeps matrices regular where rows are equal and nothing varies.
_REGULAR: Final = 1e-9
_ROOT_5: Final = math.sqrt(5.0)


@dataclass(frozen=True)
class Process:
    """A Gaussian process before anything is seen.

    Attributes
    ----------
    amplitude, slope, nugget
        Variances of the smooth part, of the straight lines in every input, and of what the inputs
        do not explain; in squares of the targets' standard deviation.
    lengths
        One an input, in its standard deviations, shape (d,).
    """

    amplitude: float
    slope: float
    nugget: float
    lengths: Array

    def smooth(self, rows: Array, others: Array) -> Array:
        """Return the covariance of the smooth part, shape (n, m).

        Every entry is computed independently, so an answer never depends on the other rows that are
        asked for.
        """
        far = cdist(rows / self.lengths, others / self.lengths)
        far *= _ROOT_5
        found: Array = far / 3.0
        found += 1.0
        found *= far
        found += 1.0
        np.exp(np.negative(far, out=far), out=far)
        found *= far
        found *= self.amplitude
        return found

    def covariance(self, rows: Array, others: Array) -> Array:
        """Return the covariance of smooth part, lines and constant, shape (n, m)."""
        found = self.smooth(rows, others)
        found += self.slope * (rows @ others.T) + CONSTANT
        return found

    def line(self, rows: Array, weights: Array) -> tuple[float, Array]:
        """Return height and slopes of what the lines and the constant are under weights of rows."""
        slopes: Array = self.slope * (weights @ rows)
        return CONSTANT * float(weights.sum()), slopes

    def variance(self, rows: Array) -> Array:
        """Return the diagonal of `covariance` of rows with themselves, shape (n,)."""
        found: Array = self.amplitude + CONSTANT + self.slope * (rows**2).sum(axis=1)
        return found


def root_of(process: Process, rows: Array, noise: Array) -> Array:
    """Return the lower triangular root of the covariance of noisy targets, shape (n, n)."""
    seen = process.covariance(rows, rows)
    seen[np.diag_indices(len(rows))] += process.nugget + noise + _REGULAR
    root, failed = dpotrf(seen, lower=1, clean=1, overwrite_a=1)
    if failed:
        raise ArithmeticError("the covariance of the rows is not positive")
    return np.asarray(root, dtype=np.float64)


def solved(root: Array, columns: Array, *, transposed: bool = False) -> Array:
    """Return ``root^-1 columns``, or with the transposed root."""
    # LAPACK takes matrices by columns: the transposed one, of the upper triangle, is no copy.
    if root.flags.f_contiguous:
        found, _ = dtrtrs(root, columns, lower=1, trans=int(transposed))
    else:
        found, _ = dtrtrs(root.T, columns, lower=0, trans=int(not transposed))
    return np.asarray(found, dtype=np.float64)


def likeliest(
    rows: Array,
    targets: Array,
    noise: Array,
    *,
    start: Process | None = None,
    steps: int = _STEPS,
) -> tuple[Process, float]:
    """Search the process under which the targets are most likely.

    Parameters
    ----------
    rows, targets, noise
        Standardised inputs of shape (n, d), targets of about mean 0 and variance 1, and each
        target's known variance.
    start
        Where to begin; near the answer, few steps are needed.
    steps
        Of the search (L-BFGS), at most.

    Returns
    -------
    process
        The likeliest.
    log_likelihood
        Logarithm of the targets' likelihood under it.
    """
    columns = rows.shape[1]
    if start is None:
        first = np.array([*_START, *[math.log(2.0 * math.sqrt(columns))] * columns])
    else:
        variances = (start.amplitude, start.slope, start.nugget)
        first = np.log([*variances, *start.lengths.tolist()])
    bounds = [_AMPLITUDES, _SLOPES, _NUGGETS, *[_LENGTHS] * columns]
    likelihood = Likelihood(rows, targets, noise)
    found = minimize(
        likelihood,
        np.clip(first, [low for low, _ in bounds], [high for _, high in bounds]),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "ftol": 1e-7, "gtol": 1e-4},
    )
    amplitude, slope, nugget = np.exp(found.x[:3]).tolist()
    process = Process(amplitude, slope, nugget, np.exp(found.x[3:]))
    return process, -float(found.fun) + likelihood.penalty(found.x)


class Likelihood:
    """The negative logarithm of the likelihood, with its gradient, and a pull on the lengths."""

    def __init__(self, rows: Array, targets: Array, noise: Array) -> None:
        self.rows = rows
        self.targets = targets
        self.noise = noise
        self.lines = rows @ rows.T

    @staticmethod
    def penalty(logarithms: Array) -> float:
        """Return what is added for lengths far from the usual."""
        away = (logarithms[3:] - _USUAL_LENGTH) / _LENGTH_DEVIATION
        return 0.5 * float(away @ away)

    def __call__(self, logarithms: Array) -> tuple[float, Array]:
        """Return the value and its gradient at logarithms of the parameters, lengths last."""
        amplitude, slope, nugget = np.exp(logarithms[:3])
        scaled = self.rows / np.exp(logarithms[3:])
        norms = (scaled**2).sum(axis=1)
        # In place: memory is slower than arithmetic.
        far = scaled @ scaled.T
        far *= -2.0
        far += norms
        far += norms[:, np.newaxis]
        np.maximum(far, 0.0, out=far)
        np.sqrt(far, out=far)
        far *= _ROOT_5
        falling = np.exp(-far)
        # What its derivative by a logarithm of a length is a multiple of, and Matern's function.
        bend = (1 + far) * falling
        smooth = far * far
        smooth *= falling
        smooth /= 3.0
        smooth += bend
        bend *= amplitude * 5.0 / 3.0
        smooth *= amplitude
        seen = smooth + slope * self.lines
        seen += CONSTANT
        seen[np.diag_indices(len(seen))] += nugget + self.noise + _REGULAR
        root, failed = dpotrf(seen, lower=1, clean=1, overwrite_a=1)
        if failed:
            return 1e25, np.zeros_like(logarithms)
        weights = solved(root, solved(root, self.targets), transposed=True)
        inverse, _ = dpotri(root, lower=1)
        # Its lower triangle only.
        inverse += inverse.T
        inverse[np.diag_indices(len(inverse))] /= 2
        value = 0.5 * float(self.targets @ weights) + float(np.log(np.diagonal(root)).sum())
        value += 0.5 * len(weights) * math.log(2 * math.pi)
        inverse -= np.outer(weights, weights)
        gradient = np.empty_like(logarithms)
        gradient[0] = 0.5 * np.vdot(inverse, smooth)
        gradient[1] = 0.5 * slope * np.vdot(inverse, self.lines)
        gradient[2] = 0.5 * nugget * np.trace(inverse)
        bend *= inverse
        gradient[3:] = bend.sum(axis=1) @ scaled**2 - (scaled * (bend @ scaled)).sum(axis=0)
        gradient[3:] += (logarithms[3:] - _USUAL_LENGTH) / _LENGTH_DEVIATION**2
        return value + self.penalty(logarithms), gradient


def answers(process: Process, asked: Array, rows: Array, weights: Array) -> Array:
    """Return the mean of standardised targets at `asked`, shape (n,).

    Parameters
    ----------
    process
        Under which targets are predicted.
    asked, rows
        Standardised inputs of what is asked, and of what was seen.
    weights
        Inverse of the covariance of what was seen times its targets, shape (m,).
    """
    height, slopes = process.line(rows, weights)
    found: Array = (process.smooth(asked, rows) * weights).sum(axis=1)
    # Column by column: a matrix product may round differently for other batches.
    for column, slope in enumerate(slopes.tolist()):
        found += slope * asked[:, column]
    found += height
    return found
