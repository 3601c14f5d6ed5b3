"""Finding the values that have an effect under these workloads: elementary effects (Morris 1991).

Each value is moved alone, starting from the base preset. A value without effect there is moved
again at places around it, where other values differ too. If it still has no effect, it is kept: no
search could determine it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.preset_fit.bench import moved

if TYPE_CHECKING:
    from drivelab.preset_fit.bench import Bench
    from drivelab.preset_fit.candidate import FloatArray

#: Distance of the moves as a logarithm: half or double.
FAR: Final = 0.7
#: A smaller change of all latencies counts as no effect.
NOTHING: Final = 0.005
# Number of places around the base preset at which such a value is moved again.
_PLACES: Final = 3


def screen(bench: Bench, seed: int) -> FloatArray:
    """Restrict the search to parameters with an effect; return the derivatives at the base.

    Parameters
    ----------
    bench
        Runs the simulations.
    seed
        Seed of the places around the base.
    """
    nothing = np.zeros(len(bench.parameters))
    columns = {place: _effect(bench, nothing, place) for place in bench.active}
    still = [place for place, column in columns.items() if not _is_something(column)]
    uniform = np.random.default_rng(seed).uniform
    for _ in range(_PLACES if still else 0):
        around = uniform(-FAR, FAR, len(nothing))
        still = [place for place in still if not _is_something(_effect(bench, around, place))]
    # If no parameter has an effect there is nothing to search; the fit then reports this for each.
    bench.active = [place for place in bench.active if place not in still]
    none = np.zeros(bench.compared)
    return np.column_stack(
        [none if column is None else column / (2 * FAR) for column in columns.values()]
    )


def _effect(bench: Bench, here: FloatArray, place: int) -> FloatArray | None:
    """Return the change of latencies from half to double a parameter; None if impossible."""
    low, high = (bench.left(moved(here, place, sign * FAR)) for sign in (-1, 1))
    return None if low is None or high is None else high - low


def _is_something(effect: FloatArray | None) -> bool:
    return effect is None or bool(np.abs(effect).max() > NOTHING)
