"""Which drives are used, what is on each, and the resulting sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drivelab.place.interference import Behaviour
    from drivelab.place.plan import Demand, PlacementPlan


@dataclass(frozen=True)
class Placed:
    """One drive that is used.

    Attributes
    ----------
    drive
        The place of its kind in the plan.
    group
        The places of its workloads.
    behaviour
        The place of the behaviour that they were counted with.
    """

    drive: int
    group: tuple[int, ...]
    behaviour: int


@dataclass(frozen=True)
class Solution:
    """An answer of the program.

    Attributes
    ----------
    placed
        The drives that are used, in the order of the plan.
    value
        Of the objective.
    gap
        How much smaller the objective could still be, as a share; 0 if it is the minimum.
    slack
        By how much the bound that may be relaxed is: a factor of it, or a number of drives.
    """

    placed: tuple[Placed, ...]
    value: float
    gap: float = 0.0
    slack: float = 0.0


def request_shares(demands: Sequence[Demand], behaviours: Sequence[Behaviour]) -> list[float]:
    """Return the share of all requests that each workload sends.

    A workload that waits for the drive counts with its result alone on the best drive for it.
    """
    rates = [
        each.rate_iops
        or max((one.alone[at].iops for one in behaviours if at in one.alone), default=0.0)
        for at, each in enumerate(demands)
    ]
    total = sum(rates)
    return [rate / total for rate in rates] if total else [0.0 for _ in rates]


def mean_latency_ns(
    demands: Sequence[Demand], behaviours: Sequence[Behaviour], placed: Sequence[Placed]
) -> float:
    """Return the predicted mean latency of all requests."""
    shares = request_shares(demands, behaviours)
    return sum(
        shares[at] * behaviours[each.behaviour].predicted(at, each.group).latency_ns_mean
        for each in placed
        for at in each.group
    )


def totals(plan: PlacementPlan, placed: Sequence[Placed]) -> dict[str, Any]:
    """Return the price and the power of the used drives; `None` if unknown."""
    offers = [plan.offers[each.drive] for each in placed]
    return {
        "cost": sum(each.price or 0.0 for each in offers) if plan.has_prices else None,
        "watts": sum(each.watts or 0.0 for each in offers) if plan.has_watts else None,
    }
