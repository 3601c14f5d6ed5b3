"""What an optimisation of accesses makes of requests, and what it has to make up for.

An optimisation turns requests of size s into others and costs time for each of them. What it gains
is given as a ratio, time before over time after, each for one request of size s::

    reordering    random(s) / in order(s)             requests sorted into the file's order
    aggregating   random(s) k / random(k s)           k neighbours sent as one, order as it was
    scheduling    random(s) k / in order(k s)         both

with k s the largest multiple of s among the profile's sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Optimisation = Literal["reordering", "aggregating", "scheduling"]

OPTIMISATIONS: Final[tuple[Optimisation, ...]] = ("reordering", "aggregating", "scheduling")


@dataclass(frozen=True)
class Cost:
    """What an optimisation has to make up for; one of the two is given.

    Attributes
    ----------
    time_ns
        That it adds to each request.
    ratio
        The needed ratio of time before over time after.
    """

    time_ns: float | None = None
    ratio: float | None = None

    def needed(self, after_ns: float) -> float:
        """Return the gain above which it pays."""
        return self.ratio if self.ratio is not None else 1 + (self.time_ns or 0.0) / after_ns


def is_random_after(optimisation: Optimisation) -> bool:
    """Return whether the order is still random."""
    return optimisation == "aggregating"


def becomes(optimisation: Optimisation, some: Iterable[int], sizes: Sequence[int]) -> list[int]:
    """Return what requests of some sizes are sent as: one of the sizes for each, in bytes."""
    if optimisation == "reordering":
        return list(some)
    every, largest = set(sizes), max(sizes)
    return [
        next(times * size for times in range(largest // size, 0, -1) if times * size in every)
        for size in some
    ]
