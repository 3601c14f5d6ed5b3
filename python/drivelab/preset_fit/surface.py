"""The loss averaged over a small range: straight lines through candidates around a place.

Simulated requests meet by chance, above all on disks, and even a change without other effects makes
them meet differently. A single candidate is therefore unreliable; lines through many are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.preset_fit.descent import REACH

if TYPE_CHECKING:
    from drivelab.preset_fit.bench import Bench
    from drivelab.preset_fit.candidate import FloatArray

# Variation of a residual that halves its square's weight.
_STEADY: Final = 0.02


@dataclass(frozen=True)
class Lines:
    """The residuals around a place as straight lines.

    Attributes
    ----------
    left
        Residuals at the place itself, shape (n,).
    slopes
        Their derivatives by each parameter, shape (n, p).
    scatter
        Standard deviation of candidates around each line, shape (n,).
    doubt
        Mean contribution of the random variation to the products of the slopes, shape (p, p).
    """

    left: FloatArray
    slopes: FloatArray
    scatter: FloatArray
    doubt: FloatArray

    @property
    def steadier(self) -> Lines:
        """The same with less weight on residuals that vary, so that few of them hide the rest."""
        share = _STEADY / np.hypot(_STEADY, self.scatter)
        scatter = self.scatter * share
        less = float(scatter @ scatter) / max(float(self.scatter @ self.scatter), 1e-300)
        return Lines(
            self.left * share, self.slopes * share[:, np.newaxis], scatter, self.doubt * less
        )

    @property
    def normal(self) -> FloatArray:
        """Products of the slopes, shape (p, p), without the contribution of random variation."""
        values, vectors = np.linalg.eigh(self.slopes.T @ self.slopes - self.doubt)
        kept: FloatArray = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return kept


def lines_around(
    bench: Bench, here: FloatArray, width: FloatArray, count: int, seed: int
) -> Lines | None:
    """Fit lines to the residuals of candidates around a place.

    None if too few candidates are possible.

    Parameters
    ----------
    bench
        Runs the simulations.
    here
        Logarithms, shape (p,).
    width
        Distance of the candidates to either side, shape (p,).
    count
        Number of candidates.
    seed
        Seed of random numbers.
    """
    active = bench.active
    # In pairs, one on either side: a curvature then does not tilt the lines.
    half = np.random.default_rng(seed).uniform(-1, 1, ((count + 1) // 2, len(active)))
    places: list[FloatArray] = []
    found: list[FloatArray] = []
    for shifts in (*half, *-half):
        candidate: FloatArray = here.copy()
        candidate[active] = np.clip(here[active] + shifts * width[active], -REACH, REACH)
        left = bench.left(candidate)
        if left is not None:
            places.append((candidate - here)[active])
            found.append(left)
    free = len(found) - len(active) - 1
    if free < 1:
        return None
    columns = np.column_stack([np.ones(len(places)), np.array(places)])
    inverse = np.linalg.pinv(columns.T @ columns)
    lines = inverse @ columns.T @ np.array(found)
    variance = ((np.array(found) - columns @ lines) ** 2).sum(axis=0) / free
    slopes = np.zeros((len(found[0]), len(here)))
    slopes[:, active] = lines[1:].T
    doubt = np.zeros((len(here), len(here)))
    doubt[np.ix_(active, active)] = variance.sum() * inverse[1:, 1:]
    return Lines(lines[0], slopes, np.sqrt(variance), doubt)
