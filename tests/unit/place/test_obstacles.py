"""Without a placement, the limit that is in the way is named, with the value that would do."""

from __future__ import annotations

from typing import Any

import pytest
from made_placement import behaviour, demand, outcome, plan

from drivelab.place.interference import Behaviour
from drivelab.place.obstacles import Obstacle, obstacles_alone, obstacles_together
from drivelab.place.placing import Placement, solved
from drivelab.place.plan import Offer, PlacementPlan
from drivelab.place.words import broken_text, headline, obstacle_text, obstacle_texts

CHEAP = Offer("sim:cheap", 1, 40.0, 2.0)
QUICK = Offer("sim:quick", 2, 90.0, 6.0)


def pool(cheap_ns: float = 4e5, quick_ns: float = 1e5, **how: Any) -> list[Behaviour]:
    return [
        behaviour(CHEAP, 4, {0: outcome(cheap_ns), 1: outcome(cheap_ns)}, **how),
        behaviour(QUICK, 4, {0: outcome(quick_ns), 1: outcome(quick_ns)}, drive=1, **how),
    ]


def texts_for(asked: PlacementPlan, behaviours: list[Behaviour]) -> list[str]:
    """Give what is said of a plan that has no placement."""
    alone = obstacles_alone(asked, behaviours)
    if alone:
        return [obstacle_text(asked, each) for each in alone]
    assert solved(asked, behaviours) is None
    found = obstacles_together(asked, behaviours, (), None)
    return [obstacle_text(asked, each) for each in found]


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (
            {"latency_ns_mean": 5e4},
            "No drive of the pool meets the limit on the mean latency of web (at most 50.0 µs, "
            "latency_ms_mean_at_most), even alone: the least is 100 µs, on sim:quick.",
        ),
        (
            {"latency_ns_p99": 2e5},
            "No drive of the pool meets the limit on the 99 % latency of web (at most 200 µs, "
            "latency_ms_p99_at_most), even alone: the least is 300 µs, on sim:quick.",
        ),
        (
            {"iops": 5000.0},
            "No drive of the pool meets the limit on the throughput of web (at least 5,000 "
            "IOPS, iops_at_least), even alone: the most is 1,000 IOPS, on sim:cheap.",
        ),
        (
            {"bytes_per_second": 2e7},
            "No drive of the pool meets the limit on the bandwidth of web (at least 20.0 MB/s, "
            "mb_per_second_at_least), even alone: the most is 4.10 MB/s, on sim:cheap.",
        ),
    ],
)
def test_what_no_drive_can_do_even_alone(bounds: dict[str, float], said: str) -> None:
    asked = plan([demand("web", **bounds), demand("log")], [CHEAP, QUICK])
    assert texts_for(asked, pool()) == [said]


def test_a_workload_larger_than_any_drive() -> None:
    asked = plan([demand("web", 9), demand("log")], [CHEAP, QUICK])
    behaviours = [
        behaviour(CHEAP, 4, {1: outcome(1e5)}),
        behaviour(QUICK, 6, {1: outcome(1e5)}, drive=1),
    ]
    assert texts_for(asked, behaviours) == [
        "web takes 9 GiB of a drive, and the largest of the pool, sim:quick, has 6 GiB."
    ]


def test_a_workload_that_no_drive_keeps_up_with() -> None:
    asked = plan([demand("web", rate_iops=1e5)], [CHEAP])
    slow = outcome(1e8, iops=9000.0)
    one = Behaviour(0, CHEAP, 2**33, {0: slow}, {}, {}, {})
    assert texts_for(asked, [one]) == [
        "No drive of the pool keeps up with web: 100,000 requests a second arrive, and sim:cheap "
        "serves the most, 9,000."
    ]


def test_rates_of_less_than_one_request_a_second() -> None:
    assert broken_text("demand", 0.4, 0.25) == (
        "0.4 requests a second arrive and 0.25 are served, so they queue up"
    )


def test_a_workload_that_takes_too_much_of_every_drive() -> None:
    asked = plan([demand("web")], [CHEAP])
    one = behaviour(CHEAP, 4, {0: outcome(1e5)}, {0: 0.85})
    assert texts_for(asked, [one]) == [
        "web alone takes 85 % of what sim:cheap could serve of it, and utilisation_at_most is 70 %."
    ]


def test_two_bounds_that_no_drive_meets_together() -> None:
    # The one is quick and serves little, the other serves much and is slow.
    asked = plan([demand("web", latency_ns_mean=2e5, iops=3000.0)], [CHEAP, QUICK])
    behaviours = [
        behaviour(CHEAP, 4, {0: outcome(4e5, iops=5000.0)}),
        behaviour(QUICK, 4, {0: outcome(1e5, iops=1000.0)}, drive=1),
    ]
    assert texts_for(asked, behaviours) == [
        "No drive of the pool meets all limits of web, even alone: on sim:cheap the mean "
        "latency is 400 µs, and allowed is at most 200 µs (latency_ms_mean_at_most).",
        "No drive of the pool meets all limits of web, even alone: on sim:quick the throughput "
        "is 1,000 IOPS, and allowed is at least 3,000 IOPS (iops_at_least).",
    ]


def test_what_costs_too_much() -> None:
    asked = plan(
        [demand("web", latency_ns_mean=2e5), demand("log")], [CHEAP, QUICK], cost_at_most=50.0
    )
    # The whole is cheapest on one quick drive.
    assert texts_for(asked, pool()) == [
        "cost_at_most = 50: the cheapest placement costs 90.",
        "The limit on the mean latency of web (at most 200 µs, latency_ms_mean_at_most): with "
        "480 µs there is a placement.",
    ]


def test_what_draws_too_much() -> None:
    asked = plan(
        [demand("web", latency_ns_p99=5e5), demand("log")], [CHEAP, QUICK], watts_at_most=3.0
    )
    said = texts_for(asked, pool())
    assert said[0] == "watts_at_most = 3: the most sparing placement draws 6 W."
    assert said[1].endswith("with 1.44 ms there is a placement.")


def test_too_few_drives() -> None:
    demands = [demand("web", 3), demand("log", 3)]
    asked = plan(demands, [CHEAP])
    assert texts_for(asked, pool()[:1]) == ["sim:cheap: at_most = 1; with 2 there is a placement."]


def test_too_little_of_each_drive() -> None:
    asked = plan([demand("web"), demand("log")], [CHEAP])
    used = pool(utilisation={0: 0.5, 1: 0.3})[:1]
    assert texts_for(asked, used) == [
        "sim:cheap: at_most = 1; with 2 there is a placement.",
        "utilisation_at_most = 0.7: with 0.8 there is a placement.",
    ]


def test_several_bounds_at_once() -> None:
    demands = [demand("web", 3), demand("log", 3)]
    asked = plan(demands, [CHEAP], cost_at_most=50.0)
    behaviours = pool()[:1]
    assert texts_for(asked, behaviours) == [
        "Changing one limit is not enough. With as many drives as needed, the cheapest "
        "placement costs 80: 2 sim:cheap."
    ]


def test_obstacles_are_led_in() -> None:
    asked = plan([demand("web")], [CHEAP], cost_at_most=10.0)
    one = Obstacle("cost", None, 10.0, 40.0, placed=())
    placement = Placement(asked, (), obstacles=(one,))
    assert headline(placement) == "No placement meets every limit."
    assert obstacle_texts(placement) == [obstacle_text(asked, one)]
