"""The program compared with trying every placement: the same optimum, or none."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import product

import pytest
from made_placement import behaviour, demand, outcome, plan

from drivelab.place.bound import Bound, Forbidden
from drivelab.place.interference import Behaviour
from drivelab.place.model import Model
from drivelab.place.outcome import Outcome
from drivelab.place.placing import solved
from drivelab.place.plan import Objective, Offer, PlacementPlan
from drivelab.place.solution import Placed, mean_latency_ns, totals

Groups = list[Placed]


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """Give every way to part items into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for parts in partitions(rest):
        yield [[first], *parts]
        for place in range(len(parts)):
            yield [*parts[:place], [first, *parts[place]], *parts[place + 1 :]]


def placements(asked: PlacementPlan, behaviours: list[Behaviour]) -> Iterator[Groups]:
    """Give every placement that is possible, by trying all of them."""
    for parts in partitions(list(range(len(asked.demands)))):
        for kinds in product(range(len(behaviours)), repeat=len(parts)):
            placed = [
                Placed(kind, tuple(sorted(each)), kind)
                for kind, each in zip(kinds, parts, strict=True)
            ]
            if allowed(asked, behaviours, placed):
                yield placed


def allowed(asked: PlacementPlan, behaviours: list[Behaviour], placed: Groups) -> bool:
    sizes = {at: each.size_bytes for at, each in enumerate(asked.demands)}
    for kind, one in enumerate(behaviours):
        if sum(each.drive == kind for each in placed) > one.offer.at_most:
            return False
    for each in placed:
        one = behaviours[each.drive]
        if not one.may_hold(each.group, sizes):
            return False
        if one.used(each.group) > asked.utilisation_at_most + 1e-9:
            return False
        if any(one.predicted(at, each.group).broken(asked.demands[at]) for at in each.group):
            return False
    sums = totals(asked, placed)
    return all(
        limit is None or sums[name] <= limit
        for name, limit in (("cost", asked.cost_at_most), ("watts", asked.watts_at_most))
    )


def value_of(asked: PlacementPlan, behaviours: list[Behaviour], placed: Groups) -> float:
    if asked.objective == "latency":
        return mean_latency_ns(asked.demands, behaviours, placed) / 1e6
    return float(totals(asked, placed)[asked.objective])


def random_problem(seed: int, objective: Objective) -> tuple[PlacementPlan, list[Behaviour]]:
    draw = random.Random(seed)
    count = draw.randint(3, 5)
    bounds = [
        {"latency_ns_mean": draw.choice([1.5e5, 2.5e5, 4e5])},
        {"latency_ns_p99": draw.choice([5e5, 9e5])},
        {"iops": draw.choice([400.0, 700.0])},
        {"bytes_per_second": 2e6},
        {},
    ]
    demands = [
        demand(
            f"w{at}", draw.randint(1, 6), draw.choice([None, 500.0, 2000.0]), **draw.choice(bounds)
        )
        for at in range(count)
    ]
    offers = [
        Offer(f"sim:{name}", draw.randint(1, 3), float(draw.randint(10, 90)), draw.uniform(1, 9))
        for name in "abc"
    ]
    behaviours = []
    for drive, offer in enumerate(offers):
        held = [at for at in range(count) if draw.random() < 0.9]
        alone = {at: outcome(draw.uniform(0.8e5, 2e5), iops=draw.uniform(500, 1500)) for at in held}
        growth = {
            (at, other): draw.uniform(1.0, 1.8) for at in held for other in held if at != other
        }
        used = {at: draw.uniform(0.05, 0.4) for at in held}
        conflicts = [
            pair for pair in product(held, repeat=2) if pair[0] < pair[1] and draw.random() < 0.15
        ]
        behaviours.append(
            behaviour(
                offer,
                draw.randint(5, 14),
                alone,
                used,
                growth=growth,
                conflicts=conflicts,
                drive=drive,
            )
        )
    limits = {
        "cost_at_most": draw.choice([None, 120.0]),
        "watts_at_most": draw.choice([None, 12.0]),
    }
    return plan(demands, offers, objective=objective, **limits), behaviours


@pytest.mark.parametrize("objective", ["cost", "watts", "latency"])
def test_it_finds_what_trying_everything_finds(objective: Objective) -> None:
    found = 0
    for seed in range(40):
        asked, behaviours = random_problem(seed, objective)
        best = min(
            (value_of(asked, behaviours, each) for each in placements(asked, behaviours)),
            default=None,
        )
        solution = solved(asked, behaviours)
        if best is None:
            assert solution is None, seed
            continue
        found += 1
        assert solution is not None, seed
        placed = list(solution.placed)
        assert sorted(at for each in placed for at in each.group) == list(range(len(asked.demands)))
        assert allowed(asked, behaviours, placed), seed
        # Tangents lie up to 0.5 % below a mean latency.
        tolerance = 0.006 if objective == "latency" else 1e-6
        assert value_of(asked, behaviours, placed) == pytest.approx(best, rel=tolerance), seed
        assert solution.value == pytest.approx(best, rel=tolerance)
    assert 10 < found < 40


def test_of_placements_that_cost_the_same_the_quickest_is_taken() -> None:
    offer = Offer("sim:a", 2, 50.0, 1.0)
    other = Offer("sim:b", 2, 50.0, 1.0)
    demands = [demand("x"), demand("y")]
    slow = {0: outcome(3e5), 1: outcome(3e5)}
    quick = {0: outcome(1e5), 1: outcome(1e5)}
    solution = solved(
        plan(demands, [offer, other]),
        [behaviour(offer, 9, slow), behaviour(other, 9, quick, drive=1)],
    )
    assert solution is not None
    assert solution.placed == (Placed(1, (0, 1), 1),)


def test_a_forbidden_group_and_whoever_holds_it_is_left_out() -> None:
    offer = Offer("sim:a", 3, 50.0, 1.0)
    demands = [demand(name) for name in "xyz"]
    one = behaviour(offer, 9, {at: outcome(1e5) for at in range(3)})
    asked = plan(demands, [offer])
    whole = solved(asked, [one])
    assert whole is not None
    assert len(whole.placed) == 1
    forbidden = [Forbidden(0, (0, 1), {Bound("demand", 0): 1.5})]
    parted = solved(asked, [one], forbidden)
    assert parted is not None
    assert [each.group for each in parted.placed] == [(0, 2), (1,)] or [
        each.group for each in parted.placed
    ] == [(0,), (1, 2)]


def test_groups_of_one_and_two_are_as_measured() -> None:
    offer = Offer("sim:a", 1)
    one = behaviour(offer, 9, {0: outcome(1e5), 1: outcome(2e5)}, growth={(0, 1): 1.5})
    assert one.predicted(0, (0,)) == Outcome(1e5, 3e5, 1000.0, 4096000.0)
    beside = one.beside[0, 1]
    assert one.predicted(0, (0, 1)).latency_ns_mean == pytest.approx(beside.latency_ns_mean)
    assert one.predicted(0, (0, 1)).latency_ns_p99 == beside.latency_ns_p99
    assert one.predicted(0, (0, 1)).iops == pytest.approx(beside.iops)


def test_of_three_means_multiply_and_slowest_requests_add() -> None:
    growth = {(0, 1): 1.5, (0, 2): 2.0}
    one = behaviour(Offer("sim:a", 1), 9, {at: outcome(1e5) for at in range(3)}, growth=growth)
    predicted = one.predicted(0, (0, 1, 2))
    assert predicted.latency_ns_mean == pytest.approx(3e5)
    assert predicted.latency_ns_p99 == pytest.approx(3e5 * (1 + 0.5 + 1.0))
    assert predicted.iops == pytest.approx(1000 / 3)


def test_a_relaxed_bound_is_the_least_that_makes_it_possible() -> None:
    offer = Offer("sim:a", 1, 50.0, 1.0)
    demands = [demand("x", latency_ns_mean=1.5e5), demand("y")]
    one = behaviour(offer, 9, {at: outcome(1e5) for at in range(2)}, growth={(0, 1): 2.0})
    asked = plan(demands, [offer])
    assert solved(asked, [one]) is None
    bound = Bound("latency_ns_mean", 0)
    solution = Model(asked, [one], relaxed=bound).solve("slack")
    assert solution is not None
    assert 1.5e5 * math.exp(solution.slack) == pytest.approx(2e5, rel=1e-4)
