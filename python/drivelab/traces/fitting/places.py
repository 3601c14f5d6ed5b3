"""Where each request goes relative to those before it.

::

        next          where a stream of its group ended
    next_of_any   where a stream of another group ended
    again         where an earlier request of its group went
        again_other   the same, for the other action
    ahead, behind at most 2 MiB from the end of a stream of its group
    region        anywhere else

A group is an action and a class of sizes. `crates/workload/src/windows` draws from these places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from drivelab.traces.fitting.requests import Requests

PLACES: Final = ("next", "next_of_any", "again", "again_other", "ahead", "behind", "region")
NEXT, NEXT_OF_ANY, AGAIN, AGAIN_OTHER, AHEAD, BEHIND, REGION = range(len(PLACES))
_STREAMS: Final = 32
_HISTORY: Final = 8192
_NEAR_BYTES: Final = 2 << 20
#: A size with this share of the requests is its own class; there are at most this many.
_COMMON_SHARE: Final = 0.02
_MOST_COMMON: Final = 8


@dataclass(frozen=True)
class Placed:
    """For each request: its class of sizes, its place, and the reference of that place.

    Attributes
    ----------
    size_class
        Number of its class of sizes.
    place
        One of `PLACES`.
    rank
        The stream or earlier request it refers to, counted back from the last.
    distance_bytes
        Distance ahead (positive) or behind, in bytes.
    """

    size_class: NDArray[np.int64]
    place: NDArray[np.int64]
    rank: NDArray[np.int64]
    distance_bytes: NDArray[np.int64]


def size_classes(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give each size a class: each common one its own, the others by powers of two."""
    known, counts = np.unique(sizes, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_COMMON]
    common = [known[each] for each in order if counts[each] >= _COMMON_SHARE * len(sizes)]
    found = _MOST_COMMON + np.floor(np.log2(sizes)).astype(np.int64)
    for number, size in enumerate(common):
        found = np.where(sizes == size, number, found)
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


class _Direction:
    """What one action did: ends of streams, the last one first, and what may be repeated."""

    def __init__(self) -> None:
        self.all: list[int] = []
        self.groups: dict[int, list[int]] = {}
        self.counts: dict[int, int] = {}
        self.last: dict[int, dict[int, tuple[int, int]]] = {}

    def went(self, request: int, group: int, offset: int, size: int) -> None:
        for ends in (self.all, self.groups.setdefault(group, [])):
            if len(ends) >= _STREAMS:
                ends.pop()
            ends.insert(0, offset + size)
        count = self.counts.get(group, 0)
        self.last.setdefault(group, {})[offset] = (request, count)
        self.counts[group] = count + 1

    def go_on(self, group: int, end: int) -> None:
        if end in self.all:
            self.all.remove(end)
        own = self.groups.get(group, [])
        for ends in (own, *self.groups.values()):
            if end in ends:
                ends.remove(end)
                return

    def earlier(self, group: int, offset: int) -> tuple[int, int]:
        """Return which request went there last (-1 for none), and its rank."""
        request, number = self.last.get(group, {}).get(offset, (-1, 0))
        rank = self.counts.get(group, 0) - number - 1
        return (request, rank) if rank < _HISTORY else (-1, 0)


def placed(requests: Requests) -> Placed:
    """Return where each request goes."""
    classes = size_classes(requests.size_bytes)
    count = len(classes)
    place = np.full(count, REGION, np.int64)
    rank, distance = np.zeros(count, np.int64), np.zeros(count, np.int64)
    directions = (_Direction(), _Direction())
    rows = zip(
        requests.offset_bytes.tolist(),
        requests.size_bytes.tolist(),
        requests.action.tolist(),
        classes.tolist(),
        strict=True,
    )
    for number, (offset, size, action, group) in enumerate(rows):
        own, other = directions[action], directions[1 - action]
        place[number], rank[number], distance[number] = _found(own, other, group, offset)
        if place[number] in (NEXT, NEXT_OF_ANY):
            own.go_on(group, offset)
        own.went(number, group, offset, size)
    return Placed(classes, place, rank, distance)


def _found(own: _Direction, other: _Direction, group: int, offset: int) -> tuple[int, int, int]:
    ends = own.groups.get(group, [])
    if offset in ends:
        return NEXT, ends.index(offset), 0
    if offset in own.all:
        return NEXT_OF_ANY, own.all.index(offset), 0
    mine, others = own.earlier(group, offset), other.earlier(group, offset)
    if mine[0] >= 0 or others[0] >= 0:
        return (AGAIN, mine[1], 0) if mine[0] > others[0] else (AGAIN_OTHER, others[1], 0)
    if ends:
        rank = min(range(len(ends)), key=lambda each: abs(offset - ends[each]))
        apart = offset - ends[rank]
        if abs(apart) <= _NEAR_BYTES:
            return (AHEAD if apart > 0 else BEHIND), rank, abs(apart)
    return REGION, 0, 0
