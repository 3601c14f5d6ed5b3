"""Whether an optimisation of accesses pays on a drive, by its profile.

An optimisation turns requests of size s into others and costs time for each of them. What it gains
is told as a ratio, time before over time after, each for one request of size s::

    reordering    random(s) / in order(s)             requests sorted into the file's order
    aggregating   random(s) k / random(k s)           k neighbours sent as one, order as it was
    scheduling    random(s) k / in order(k s)         both

with k s the largest multiple of s among the profile's sizes. It pays where the gain is above what
is needed: a ratio that was named, or 1 + cost / time after. By the interval of the gain the answer
is ``pays``, ``does not pay`` or ``unsure``. Where the size stays and the order changes, that is the
interval of the profile's ratio. Errors of two sizes are taken for independent: where they go
together, the interval is wider than it need be.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drivelab.serra.profile import Profile
    from drivelab.workloads.whole_pass import Direction

Optimisation = Literal["reordering", "aggregating", "scheduling"]
Answer = Literal["pays", "does not pay", "unsure"]

OPTIMISATIONS: Final[tuple[Optimisation, ...]] = ("reordering", "aggregating", "scheduling")


@dataclass(frozen=True)
class Cost:
    """What an optimisation has to make up for; one of the two is given.

    Attributes
    ----------
    time_ns
        That it adds to each request.
    ratio
        Of time before over time after that it needs.
    """

    time_ns: float | None = None
    ratio: float | None = None

    def needed(self, after_ns: float) -> float:
        """Return the gain above which it pays."""
        return self.ratio if self.ratio is not None else 1 + (self.time_ns or 0.0) / after_ns


@dataclass(frozen=True)
class Decision:
    """Whether one optimisation pays for requests of one size.

    Attributes
    ----------
    direction, optimisation, request_bytes
        For what.
    becomes_bytes
        Size of the requests that are sent instead.
    gain_ratio, low_ratio, high_ratio
        Time before over time after, and its interval; the same three where nothing was repeated.
    needed_ratio
        What it has to be above.
    """

    direction: Direction
    optimisation: Optimisation
    request_bytes: int
    becomes_bytes: int
    gain_ratio: float
    low_ratio: float
    high_ratio: float
    needed_ratio: float

    @property
    def answer(self) -> Answer:
        """By the interval."""
        if self.low_ratio > self.needed_ratio:
            return "pays"
        return "does not pay" if self.high_ratio <= self.needed_ratio else "unsure"


def decisions(profile: Profile, cost: Cost) -> list[Decision]:
    """Answer for every direction, optimisation and size; sizes rise."""
    return [
        one
        for direction in profile.ratios
        for optimisation in OPTIMISATIONS
        for one in _of_sizes(profile, cost, direction, optimisation)
    ]


def _of_sizes(
    profile: Profile, cost: Cost, direction: Direction, optimisation: Optimisation
) -> Iterator[Decision]:
    random = profile.curves[direction, True]
    after = profile.curves[direction, optimisation == "aggregating"]
    reach, of_ratios = profile.centres[direction].reach(), profile.ratios[direction].bounds
    for size, before_ns in random.times_ns.items():
        larger = size if optimisation == "reordering" else _largest_multiple(size, random.times_ns)
        after_ns = after.times_ns[larger] * size / larger
        gain = before_ns / after_ns
        if larger != size:
            variance = random.variances.get(size, 0.0) + after.variances.get(larger, 0.0)
            factor = math.exp(reach * math.sqrt(variance))
            bounds = (gain / factor, gain * factor)
        elif optimisation == "aggregating":
            # One and the same request on both sides gains nothing, surely.
            bounds = (gain, gain)
        else:
            bounds = of_ratios.get(size, (gain, gain))
        needed = cost.needed(after_ns)
        yield Decision(direction, optimisation, size, larger, gain, *bounds, needed)


def _largest_multiple(size: int, sizes: dict[int, float]) -> int:
    return max(each for each in sizes if each % size == 0)


def spans(found: Sequence[Decision]) -> list[tuple[Answer, int, int]]:
    """Put neighbouring sizes with the same answer together: answer, first and last size."""
    return [
        (answer, group[0].request_bytes, group[-1].request_bytes)
        for answer, group in (
            (answer, list(each)) for answer, each in itertools.groupby(found, lambda d: d.answer)
        )
    ]
