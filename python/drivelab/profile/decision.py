"""Whether an optimisation of accesses pays on a drive, by its profile.

It pays if the gain (optimisation.py) is above what is needed: a given ratio, or 1 + cost / time
after. From the interval of the gain the answer is ``pays``, ``does not pay`` or ``unsure``. Common
errors of the two times are no error of the gain: if both orders jump together, or the larger
requests are near the smaller ones on the same curve.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from drivelab.profile.optimisation import OPTIMISATIONS, becomes, is_random_after

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drivelab.profile.optimisation import Cost, Optimisation
    from drivelab.profile.profile import Profile
    from drivelab.workloads.whole_pass import Direction

Answer = Literal["pays", "does not pay", "unsure"]


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
        Time before over time after, and its interval; without one where nothing was repeated.
    needed_ratio
        The value that the gain has to exceed.
    """

    direction: Direction
    optimisation: Optimisation
    request_bytes: int
    becomes_bytes: int
    gain_ratio: float
    low_ratio: float | None
    high_ratio: float | None
    needed_ratio: float

    @property
    def answer(self) -> Answer:
        """By the interval; without one nobody knows."""
        if self.low_ratio is None or self.high_ratio is None:
            return "unsure"
        if self.low_ratio > self.needed_ratio:
            return "pays"
        return "does not pay" if self.high_ratio <= self.needed_ratio else "unsure"

    @property
    def half_width_ratio(self) -> float:
        """Half of the interval's length over the gain; infinite where nobody knows it."""
        if self.low_ratio is None or self.high_ratio is None:
            return math.inf
        return (self.high_ratio - self.low_ratio) / 2 / self.gain_ratio


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
    random = profile.curves[direction, True].times_ns
    after = profile.curves[direction, is_random_after(optimisation)].times_ns
    variances = profile.gain_variances[direction].get(optimisation, {})
    reach = profile.centres[direction].reach()
    sizes = list(random)
    for size, larger in zip(sizes, becomes(optimisation, sizes, sizes), strict=True):
        # Exactly 1 where nothing changes.
        after_ns = after[larger] * (size / larger)
        gain = random[size] / after_ns
        bounds: tuple[float | None, float | None] = (None, None)
        if variances:
            factor = math.exp(reach * math.sqrt(variances[size]))
            bounds = (gain / factor, gain * factor)
        elif optimisation == "aggregating" and size == larger:
            bounds = (gain, gain)
        needed = cost.needed(after_ns)
        yield Decision(direction, optimisation, size, larger, gain, *bounds, needed)


def open_half_width_ratio(found: Sequence[Decision]) -> float:
    """Return how far gains are from being known whose answers are unsure.

    Half of an interval's length over its gain, median over the unsure sizes of a direction and
    optimisation, the largest of these; 0 where every answer is sure.
    """
    groups = itertools.groupby(found, lambda one: (one.direction, one.optimisation))
    widths = (
        [one.half_width_ratio for one in group if one.answer == "unsure"] for _, group in groups
    )
    return max((statistics.median(each) for each in widths if each), default=0.0)


def spans(found: Sequence[Decision]) -> list[tuple[Answer, int, int]]:
    """Put neighbouring sizes with the same answer together: answer, first and last size."""
    return [
        (answer, group[0].request_bytes, group[-1].request_bytes)
        for answer, group in (
            (answer, list(each)) for answer, each in itertools.groupby(found, lambda d: d.answer)
        )
    ]
