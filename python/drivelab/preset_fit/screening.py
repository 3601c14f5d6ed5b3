"""Which values change anything under these workloads: elementary effects (Morris 1991).

Each value is moved by itself at the base preset. What changes nothing there is moved again in
places around it, where others are other values too. What still changes nothing is held: no search
could tell it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.preset_fit.bench import moved

if TYPE_CHECKING:
    from drivelab.preset_fit.bench import Bench
    from drivelab.preset_fit.candidate import FloatArray

#: How far values are moved, on the logarithm: half or twice.
FAR: Final = 0.7
#: What moves no workload's latency by more is nothing.
NOTHING: Final = 0.005
# Places around the base preset in which a value without an effect is moved again.
_PLACES: Final = 3


def screen(bench: Bench, seed: int) -> FloatArray:
    """Let only those parameters be searched that change something; return slopes at the base.

    Parameters
    ----------
    bench
        Simulates.
    seed
        Of the places around.
    """
    nothing = np.zeros(len(bench.parameters))
    columns = {place: _effect(bench, nothing, place) for place in bench.active}
    still = [place for place, column in columns.items() if not _is_something(column)]
    uniform = np.random.default_rng(seed).uniform
    for _ in range(_PLACES if still else 0):
        around = uniform(-FAR, FAR, len(nothing))
        still = [place for place in still if not _is_something(_effect(bench, around, place))]
    # Where nothing changes anything there is nothing to search, and the fit says so of each.
    bench.active = [place for place in bench.active if place not in still]
    none = np.zeros(bench.compared)
    return np.column_stack(
        [none if column is None else column / (2 * FAR) for column in columns.values()]
    )


def _effect(bench: Bench, here: FloatArray, place: int) -> FloatArray | None:
    """Return how latencies change from half to twice a parameter; None where that is impossible."""
    low, high = (bench.left(moved(here, place, sign * FAR)) for sign in (-1, 1))
    return None if low is None or high is None else high - low


def _is_something(effect: FloatArray | None) -> bool:
    return effect is None or bool(np.abs(effect).max() > NOTHING)
