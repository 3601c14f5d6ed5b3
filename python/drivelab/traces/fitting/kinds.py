"""Kinds of requests: alike in action, place and size, and at most 64 of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.traces.fitting.places import (
    AGAIN,
    AGAIN_OTHER,
    AHEAD,
    BEHIND,
    NEXT,
    NEXT_OF_ANY,
    REGION,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from drivelab.traces.fitting.places import Placed
    from drivelab.traces.fitting.requests import Requests

#: The most kinds of a fitted scenario.
MOST_KINDS: Final = 64
#: Ranks and distances at which another kind begins, by place.
_RANKS: Final = {
    NEXT: (1, 2, 3, 5, 9),
    NEXT_OF_ANY: (1, 4),
    AGAIN: (1, 3, 8, 32, 128, 1024),
    AGAIN_OTHER: (1, 3, 8, 32, 128, 1024),
}
_NEAR_BYTES: Final = 128 << 10
_GOES_ON: Final = (NEXT, NEXT_OF_ANY, AGAIN, AGAIN_OTHER)


@dataclass(frozen=True)
class _Kind:
    action: int
    place: int
    size_class: int
    part: int
    log_size: float

    def distance(self, other: _Kind) -> float:
        """Return how unlike two kinds of one action are, in steps that a drive notices."""
        unlike = 0.7 * abs(self.part - other.part)
        if self.place != other.place:
            unlike += 6
            unlike += 4 * ((self.place in _GOES_ON) != (other.place in _GOES_ON))
        if self.size_class != other.size_class:
            unlike += 1 + 4 * abs(self.log_size - other.log_size)
        return unlike


@dataclass(frozen=True)
class Kinds:
    """The kind of each request, and the properties of the kinds.

    Attributes
    ----------
    of_request
        The number of each request's kind.
    action, place, size_class
        Properties of each kind.
    """

    of_request: NDArray[np.int64]
    action: NDArray[np.int64]
    place: NDArray[np.int64]
    size_class: NDArray[np.int64]


def kinds_of(requests: Requests, placed: Placed) -> Kinds:
    """Find the kinds of requests; rare ones join the most similar one."""
    part = np.zeros(len(placed.place), np.int64)
    for place, bounds in _RANKS.items():
        part = np.where(placed.place == place, np.digitize(placed.rank, bounds), part)
    is_near = (placed.place == AHEAD) | (placed.place == BEHIND)
    part = np.where(is_near, placed.distance_bytes > _NEAR_BYTES, part)
    key = np.stack([requests.action, placed.place, placed.size_class, part])
    found, of_request, counts = np.unique(key, axis=1, return_inverse=True, return_counts=True)
    of_request = of_request.reshape(-1)
    logs = np.bincount(of_request, np.log2(requests.size_bytes)) / counts
    all_kinds = [
        _Kind(action, place, size_class, part, float(log))
        for (action, place, size_class, part), log in zip(found.T.tolist(), logs, strict=True)
    ]
    leaders = _joined(all_kinds, counts.astype(np.float64))
    kept, numbers = np.unique(leaders, return_inverse=True)
    return Kinds(
        numbers[of_request].astype(np.int64),
        found[0][kept],
        found[1][kept],
        found[2][kept],
    )


def _joined(kinds: list[_Kind], counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the kind that each kind became part of."""
    leaders = np.arange(len(kinds))
    alive = set(range(len(kinds)))
    while len(alive) > MOST_KINDS:
        rarest = min(alive, key=lambda each: (counts[each], each))
        others = [
            each for each in sorted(alive - {rarest}) if kinds[each].action == kinds[rarest].action
        ]
        alive.discard(rarest)
        if not others:
            # The only kind of its action cannot join another, so another goes first.
            counts[rarest] = np.inf
            alive.add(rarest)
            continue
        into = min(others, key=lambda each: (kinds[rarest].distance(kinds[each]), -counts[each]))
        leaders[leaders == rarest] = into
        counts[into] += counts[rarest]
    return leaders


def needs_region(kinds: Kinds) -> NDArray[np.bool_]:
    """Return which requests draw a region."""
    return np.asarray(kinds.place[kinds.of_request] == REGION)
