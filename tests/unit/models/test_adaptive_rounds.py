"""How many measurements a run foresees that asks round by round."""

from __future__ import annotations

from fake_drive import workloads

from drivelab.campaign.rounds import Asked, Measured
from drivelab.drives.plan import MeasurementPlan
from drivelab.models.adaptive_rounds import AdaptiveRounds
from drivelab.models.goal import Goal
from drivelab.workloads.parts import Parts

POOL = {
    "training": workloads(40),
    "calibration": workloads(40),
    "chosen": workloads(40),
    "sweeps": workloads(75),
    "check": [],
    "probes": [],
}
SECOND = MeasurementPlan.of_kind("real", seconds=1.0, warmup_seconds=0.2)


def test_a_budget_bounds_what_is_foreseen_before_anything_is_measured() -> None:
    rounds = AdaptiveRounds(Goal(budget_seconds=300), POOL, SECOND, is_real=True)
    assert rounds.expected_total == 250
    asked = rounds.next_round(Measured([], Parts(), [], 0.0))
    assert sum(len(one.places) for one in asked) == 10
    # Not as many as a run without a budget may have: 1,200.
    assert rounds.expected_total == 250


def test_a_long_budget_ends_nothing() -> None:
    rounds = AdaptiveRounds(Goal(40, None, 86_400), POOL, SECOND, is_real=True)
    assert rounds.expected_total == 40 + 75
    rounds.next_round(Measured([], Parts(), [], 0.0))
    assert rounds.expected_total == 40


def test_without_a_budget_everything_is_foreseen() -> None:
    rounds = AdaptiveRounds(Goal(), POOL, SECOND, is_real=True)
    assert rounds.expected_total == 300 + 75
    assert isinstance(rounds.next_round(Measured([], Parts(), [], 0.0))[0], Asked)
    assert rounds.expected_total == 300 + 75


def test_a_budget_limits_the_time_of_real_drives() -> None:
    start = Measured([], Parts(), [], 40.0)
    for is_real, budget, left in ((True, 300.0, 260.0), (False, 300.0, None), (True, None, None)):
        rounds = AdaptiveRounds(Goal(budget_seconds=budget), POOL, SECOND, is_real=is_real)
        assert rounds.seconds_left is None
        rounds.next_round(start)
        assert rounds.seconds_left == left


def test_a_budget_does_not_limit_what_it_does_not_count() -> None:
    pool = {**POOL, "check": workloads(5)}
    rounds = AdaptiveRounds(Goal(budget_seconds=300), pool, SECOND, is_real=True)
    rounds.next_round(Measured([], Parts(), [], 40.0))
    assert rounds.seconds_left is None
