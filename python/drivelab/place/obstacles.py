"""Which limit prevents a placement, and what it would have to be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.place.bound import Bound, Forbidden, relaxable, relaxed_value
from drivelab.place.model import Model
from drivelab.place.solution import Placed, totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drivelab.place.interference import Behaviour
    from drivelab.place.plan import PlacementPlan

_MOST_LATENCIES: Final = ("latency_ns_mean", "latency_ns_p99")


@dataclass(frozen=True)
class Obstacle:
    """Something without which there would be a placement, or that no drive of the pool can do.

    Attributes
    ----------
    what
        As `drivelab.place.bound.Bound`; also ``size``, of a workload that no drive can hold, and
        ``together``, where changing one bound is not enough.
    of
        The place of the workload or of the kind of drive.
    asked, least
        What the plan says, and what it would have to say: the least of what is at most, the most
        of what is at least.
    drive
        The kind of drive that comes closest; ``None`` of what is not of one drive.
    placed
        The placement that there would be, where one was looked for.
    is_of_several
        Whether another drive meets this limit but breaks another one.
    """

    what: str
    of: int | None
    asked: float
    least: float
    drive: int | None = None
    placed: tuple[Placed, ...] = ()
    is_of_several: bool = False


def obstacles_alone(plan: PlacementPlan, behaviours: Sequence[Behaviour]) -> list[Obstacle]:
    """Find workloads that no drive of the pool could hold even alone, and why not."""
    found: list[Obstacle] = []
    for at, demand in enumerate(plan.demands):
        if not any(_holds(plan, each, at) for each in behaviours):
            found += _why(plan, behaviours, at) or [
                Obstacle("size", at, float(demand.size_bytes), _largest(behaviours)[0])
            ]
    return found


def _holds(plan: PlacementPlan, behaviour: Behaviour, at: int) -> bool:
    return (
        at in behaviour.alone
        and not behaviour.alone[at].broken(plan.demands[at])
        and behaviour.utilisation[at] <= plan.utilisation_at_most
    )


def _largest(behaviours: Sequence[Behaviour]) -> tuple[float, int]:
    return max((float(each.capacity_bytes), -each.drive) for each in behaviours)


def _why(plan: PlacementPlan, behaviours: Sequence[Behaviour], at: int) -> list[Obstacle]:
    demand = plan.demands[at]
    tried = [(each.drive, each) for each in behaviours if at in each.tried]
    if not tried:
        capacity, place = _largest(behaviours)
        return [Obstacle("size", at, float(demand.size_bytes), capacity, -place)]
    able = [(place, each) for place, each in tried if at in each.alone]
    if not able:
        served, place = max((each.tried[at].iops, -place) for place, each in tried)
        return [Obstacle("demand", at, demand.rate_iops or 0.0, served, -place)]
    closest: dict[str, Obstacle] = {}
    broken_by: dict[int, list[Obstacle]] = {}
    for place, each in able:
        broken = each.alone[at].broken(demand)
        for name, (asked, value) in broken.items():
            _keep_best(closest, Obstacle(name, at, asked, value, place))
            # Of a kind of drive the first behaviour counts, of what leaves the least behind.
            one = Obstacle(name, at, asked, value, place, is_of_several=True)
            if not any(other.what == name for other in broken_by.setdefault(place, [])):
                broken_by[place].append(one)
        if not broken:
            used, limit = each.utilisation[at], plan.utilisation_at_most
            _keep_best(closest, Obstacle("utilisation", at, limit, used, place))
    # A limit that some drive meets does not prevent a placement alone.
    return [
        each
        for name, each in closest.items()
        if name == "utilisation" or all(name in one.alone[at].broken(demand) for _, one in able)
    ] or [one for each in broken_by.values() for one in each]


def _keep_best(closest: dict[str, Obstacle], one: Obstacle) -> None:
    is_most = one.what in _MOST_LATENCIES or one.what == "utilisation"
    before = closest.get(one.what)
    if before is None or (one.least < before.least if is_most else one.least > before.least):
        closest[one.what] = one


def obstacles_together(
    plan: PlacementPlan,
    behaviours: Sequence[Behaviour],
    forbidden: Sequence[Forbidden],
    time_limit: float | None,
) -> list[Obstacle]:
    """Find each bound that is in the way alone; where none is, what would do without several."""
    found = list(_single(plan, behaviours, forbidden, time_limit))
    if found:
        return found
    without = [each for each in relaxable(plan) if each.what in ("cost", "watts", "drives")]
    model = Model(plan, behaviours, forbidden, without=without)
    solution = model.solve("cost" if plan.has_prices else "drives", time_limit)
    if solution is None:
        return []
    cost = totals(plan, solution.placed)["cost"]
    needed = float(len(solution.placed)) if cost is None else cost
    return [Obstacle("together", None, plan.cost_at_most or 0.0, needed, placed=solution.placed)]


def _single(
    plan: PlacementPlan,
    behaviours: Sequence[Behaviour],
    forbidden: Sequence[Forbidden],
    time_limit: float | None,
) -> Iterator[Obstacle]:
    for bound in relaxable(plan):
        model = Model(plan, behaviours, forbidden, relaxed=bound)
        solution = model.solve("slack", time_limit)
        if solution is None:
            continue
        asked = _asked(plan, bound)
        least = relaxed_value(bound, asked, solution.slack)
        if math.isfinite(least):
            yield Obstacle(
                bound.what,
                bound.of,
                asked,
                least,
                bound.of if bound.what == "drives" else None,
                solution.placed,
            )


def _asked(plan: PlacementPlan, bound: Bound) -> float:
    if bound.what == "cost":
        return plan.cost_at_most or 0.0
    if bound.what == "watts":
        return plan.watts_at_most or 0.0
    if bound.what == "utilisation":
        return plan.utilisation_at_most
    if bound.of is None:
        raise TypeError(f"{bound.what} is a limit on nothing")
    if bound.what == "drives":
        return float(plan.offers[bound.of].at_most)
    value: float = getattr(plan.demands[bound.of].bounds, bound.what)
    return value
