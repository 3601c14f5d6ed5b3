"""Placing: try, solve, simulate the solution, forbid groups that broke a limit, solve again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.errors import RunError
from drivelab.place.bound import Bound, Forbidden
from drivelab.place.measured import Group
from drivelab.place.model import Model
from drivelab.place.obstacles import Obstacle, obstacles_alone, obstacles_together
from drivelab.place.solution import Placed, Solution, mean_latency_ns
from drivelab.place.trials import behaviours_of, refuse_fresh

if TYPE_CHECKING:
    from drivelab.place.interference import Behaviour
    from drivelab.place.measured import Bench
    from drivelab.place.outcome import Outcome
    from drivelab.place.plan import PlacementPlan

#: Weight of the second objective, which decides between placements with an equal first one.
_MOST_ASSIGNMENTS: Final = 600
_SLACK: Final = 1e-6


@dataclass(frozen=True)
class Shared:
    """A drive that is used, and what its workloads do there.

    Attributes
    ----------
    placed
        Its kind and its workloads.
    predicted, simulated
        What each workload does by its place in the plan, as the program counted with, and all of
        them together on the simulated drive.
    broken
        Of each workload the bounds that do not hold in the simulation.
    """

    placed: Placed
    predicted: dict[int, Outcome]
    simulated: dict[int, Outcome]
    broken: dict[int, dict[str, tuple[float, float]]]


@dataclass(frozen=True)
class Placement:
    """What came of a plan.

    Attributes
    ----------
    plan
        The plan.
    behaviours
        Results for the kinds of drives.
    drives
        That are used, in the order of the plan; empty where there is no placement.
    value, gap
        Of the objective, and how much less it may still be, as a share.
    rounds
        How often the program was solved.
    forbidden
        Groups that broke a bound on the way.
    obstacles
        What prevents a placement, if there is none.
    """

    plan: PlacementPlan
    behaviours: tuple[Behaviour, ...]
    drives: tuple[Shared, ...] = ()
    value: float = 0.0
    gap: float = 0.0
    rounds: int = 0
    forbidden: tuple[Forbidden, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def holds(self) -> bool:
        """Return whether there is a placement, and every limit is met in the simulation."""
        return bool(self.drives) and not any(each.broken for each in self.drives)

    @property
    def latency_ns_mean(self) -> float:
        """Mean latency of all requests, simulated."""
        done = [one for each in self.drives for one in each.simulated.values()]
        served = sum(one.iops for one in done)
        return sum(one.iops * one.latency_ns_mean for one in done) / served if served else 0.0


def place(
    plan: PlacementPlan,
    benches: Sequence[Bench],
    *,
    rounds: int,
    time_limit: float | None = None,
) -> Placement:
    """Place the workloads of a plan.

    Parameters
    ----------
    plan
        What is asked.
    benches
        A drive of each kind, in the order of the plan.
    rounds
        How often the program is solved at most: a group that breaks a bound when it is simulated
        is forbidden, and the next round does without it.
    time_limit
        Seconds for each solution.

    Raises
    ------
    CannotAnswerError
        When a drive cannot run a workload at all.
    RunError
        When a measurement or the solver fails.
    """
    for bench in benches:
        refuse_fresh(bench, plan.demands)
        bench.fit_window()
    behaviours = tuple(
        behaviour
        for drive, bench in enumerate(benches)
        for behaviour in behaviours_of(bench, drive, plan.offers[drive], plan.demands)
    )
    alone = obstacles_alone(plan, behaviours)
    if alone:
        return Placement(plan, behaviours, obstacles=tuple(alone))
    return _rounds(plan, benches, behaviours, rounds, time_limit)


def _rounds(
    plan: PlacementPlan,
    benches: Sequence[Bench],
    behaviours: tuple[Behaviour, ...],
    rounds: int,
    time_limit: float | None,
) -> Placement:
    """Solve until every limit is met in the simulation, nothing is left, or the rounds are over."""
    forbidden: list[Forbidden] = []
    number = 0
    while True:
        number += 1
        solution = solved(plan, behaviours, forbidden, time_limit)
        if solution is None:
            found = obstacles_together(plan, behaviours, forbidden, time_limit)
            return Placement(
                plan,
                behaviours,
                rounds=number,
                forbidden=tuple(forbidden),
                obstacles=tuple(found),
            )
        drives = _simulated(plan, behaviours, benches, solution.placed)
        broken = [each for each in drives if each.broken]
        if not broken or number == rounds:
            value, gap = solution.value, solution.gap
            return Placement(plan, behaviours, drives, value, gap, number, tuple(forbidden))
        forbidden += map(_forbid, broken)


def solved(
    plan: PlacementPlan,
    behaviours: Sequence[Behaviour],
    forbidden: Sequence[Forbidden] = (),
    time_limit: float | None = None,
) -> Solution | None:
    """Solve the program: what is asked for is least, and then what nobody asked for.

    Of placements that cost the same the one with the least mean latency is taken, and of those with
    the same mean latency the cheapest, unless there are very many.
    """
    model = Model(plan, behaviours, forbidden)
    first = model.solve(plan.objective, time_limit)
    if first is None or len(plan.demands) * sum(_drives(plan)) > _MOST_ASSIGNMENTS:
        return first
    if first.gap > 0:
        # The time was not enough for the first objective.
        return first
    second = "latency" if plan.objective != "latency" else "cost"
    if second == "cost" and not plan.has_prices:
        second = "drives"
    model.keep_at_most(plan.objective, first.value + _SLACK * max(1.0, abs(first.value)))
    try:
        better = model.solve(second, time_limit)
    except RunError:
        # The minimum is known, but not the best of the placements that reach it.
        return first
    placed = first.placed if better is None else better.placed
    value = first.value
    if plan.objective == "latency":
        value = mean_latency_ns(plan.demands, behaviours, placed) / 1e6
    return Solution(placed, value, first.gap)


def _drives(plan: PlacementPlan) -> list[int]:
    return [min(each.at_most, len(plan.demands)) for each in plan.offers]


def _simulated(
    plan: PlacementPlan,
    behaviours: Sequence[Behaviour],
    benches: Sequence[Bench],
    placed: Sequence[Placed],
) -> tuple[Shared, ...]:
    """Simulate the workloads of each drive together."""
    for kind, bench in enumerate(benches):
        groups = [Group(each.group) for each in placed if each.drive == kind]
        bench.try_all(groups, "drives as they are used")
    found = []
    for each in placed:
        done = benches[each.drive].outcomes(Group(each.group))
        predicted = {at: behaviours[each.behaviour].predicted(at, each.group) for at in each.group}
        broken = {at: bad for at, one in done.items() if (bad := _broken(plan, at, one))}
        found.append(Shared(each, predicted, done, broken))
    return tuple(found)


def _broken(plan: PlacementPlan, at: int, one: Outcome) -> dict[str, tuple[float, float]]:
    found = one.broken(plan.demands[at])
    rate = plan.demands[at].rate_iops
    if not one.keeps_up and rate is not None:
        found["demand"] = (rate, one.iops)
    return found


def _forbid(each: Shared) -> Forbidden:
    broken: dict[Bound, float] = {}
    for at, bounds in each.broken.items():
        for name, (asked, found) in bounds.items():
            is_most = name.startswith("latency")
            factor = found / asked if is_most else asked / max(found, 1e-9)
            broken[Bound(name, at)] = max(1.0, factor)  # type: ignore[arg-type]
    return Forbidden(each.placed.drive, each.placed.group, broken)
