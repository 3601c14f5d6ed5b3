"""What workloads do to each other on a drive, and what that predicts for any group of them.

Each workload is measured alone, and every two together. A group is predicted from these. The mean
latency of a workload grows by the product of its neighbours' factors, so queues grow faster than in
proportion. Its 99 % latency grows by the sum of what neighbours add, because stragglers of two
neighbours seldom meet in one request. A workload that waits for the drive keeps the product of the
shares of its rate that neighbours leave. Groups of one and of two are as measured. docs/place.md
gives the errors.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from drivelab.place.outcome import Outcome

if TYPE_CHECKING:
    from drivelab.drives.write_pattern import WritePattern
    from drivelab.place.plan import Offer


@dataclass(frozen=True)
class Behaviour:
    """What the workloads of a plan do on one kind of drive, by their places in the plan.

    A drive's behaviour depends on what was written to it. Workloads that write sequentially find a
    clean drive as long as no neighbour writes at random. So a kind of drive has a behaviour for
    each kind of writing of the plan, and the one for sequential writes contains no other workloads.

    Attributes
    ----------
    drive
        The place of the kind of drive in the plan.
    offer
        The kind of drive, how many there are, what one costs.
    capacity_bytes
        Of one.
    after
        The kind of writing that came before; ``None`` where each group finds what it leaves itself.
    tried
        What each did alone, of those that fit.
    alone
        Those that one such drive can hold: it keeps up with them.
    beside
        For each pair that it can hold: what the first did while the second ran.
    utilisation
        The share of what the drive could serve of a workload that it asks for; 0 where it waits
        for the drive.
    """

    drive: int
    offer: Offer
    capacity_bytes: int
    tried: Mapping[int, Outcome]
    alone: Mapping[int, Outcome]
    beside: Mapping[tuple[int, int], Outcome]
    utilisation: Mapping[int, float]
    after: WritePattern | None = None

    def can_share(self, one: int, other: int) -> bool:
        """Return whether two workloads may be on one drive, whatever their limits are."""
        return (one, other) in self.beside

    def growth(self, at: int, other: int) -> float:
        """Return how many times as long a neighbour makes requests take in the mean, at least 1."""
        ratio = self.beside[at, other].latency_ns_mean / self.alone[at].latency_ns_mean
        return max(1.0, ratio)

    def added_ns(self, at: int, other: int) -> float:
        """Return what a neighbour adds to the 99 % latency, at least 0."""
        return max(0.0, self.beside[at, other].latency_ns_p99 - self.alone[at].latency_ns_p99)

    def kept(self, at: int, other: int, rate: str) -> float:
        """Return the share of a rate that a neighbour leaves, at most 1."""
        before: float = getattr(self.alone[at], rate)
        left: float = getattr(self.beside[at, other], rate)
        return min(1.0, max(left / before, 1e-9)) if before else 1.0

    def predicted(self, at: int, group: Collection[int]) -> Outcome:
        """Return what a workload does in a group whose pairs all may share a drive."""
        own = self.alone[at]
        others = [other for other in group if other != at]
        return Outcome(
            own.latency_ns_mean * math.prod(self.growth(at, other) for other in others),
            own.latency_ns_p99 + sum(self.added_ns(at, other) for other in others),
            own.iops * math.prod(self.kept(at, other, "iops") for other in others),
            own.bytes_per_second
            * math.prod(self.kept(at, other, "bytes_per_second") for other in others),
        )

    def used(self, group: Collection[int]) -> float:
        """Return the utilisation by a group."""
        return sum(self.utilisation[at] for at in group)

    def may_hold(self, group: Collection[int], sizes: Mapping[int, int]) -> bool:
        """Return whether a group fits, and every two of it may share a drive."""
        return (
            all(at in self.alone for at in group)
            and sum(sizes[at] for at in group) <= self.capacity_bytes
            and all(self.can_share(*pair) for pair in combinations(sorted(group), 2))
        )
