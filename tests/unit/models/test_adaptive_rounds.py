"""How many measurements a run foresees that asks round by round."""

from __future__ import annotations

import pytest
from fake_drive import answer, workloads

from drivelab.campaign.rounds import Asked, Measured
from drivelab.drives.plan import MeasurementPlan
from drivelab.models.adaptive import ExpectedError, Judged
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
COUNTED = MeasurementPlan(requests=100)
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
    # The curves come after the first ten.
    assert rounds.expected_total == 40 + 75


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


def everything(rounds: AdaptiveRounds, pool: dict, plan: MeasurementPlan) -> list[tuple[int, str]]:
    """Measure until nothing more is asked for; give what was foreseen, and how many there were."""
    asked: list[Asked] = []
    foreseen = [(rounds.expected_total, rounds.bound)]
    while True:
        parts = Parts.of_stretches((one.part, len(one.places)) for one in asked)
        given = [pool[one.part][place] for one in asked for place in one.places]
        measurements = [answer(index, one, plan) for index, one in enumerate(given)]
        more = rounds.next_round(Measured(asked, parts, measurements, 0.0))
        if not more:
            return [*foreseen, (len(measurements), "")]
        foreseen.append((rounds.expected_total, rounds.bound))
        asked += more


@pytest.fixture
def well_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the error be known without a model: 3 % from the first round on."""

    def learn(rounds: AdaptiveRounds, held, parts) -> None:
        rounds._judged = Judged(None, ExpectedError(0.03, 0.005, len(held)))

    monkeypatch.setattr(AdaptiveRounds, "_learn", learn)
    monkeypatch.setattr(AdaptiveRounds, "_choose", lambda *_: ())


@pytest.mark.usefixtures("well_known")
def test_an_error_that_is_reached_leaves_the_check() -> None:
    pool = {**POOL, "training": workloads(300), "check": workloads(5), "sweeps": []}
    rounds = AdaptiveRounds(Goal(error_ratio=0.05), pool, COUNTED, is_real=False)
    *before, last, end = everything(rounds, pool, COUNTED)
    assert rounds.ended_by == "error"
    assert before == 2 * [(1200 + 5, "at most")]
    assert last == (60 + 5, "about")
    assert end == (60 + 5, "")


@pytest.mark.usefixtures("well_known")
def test_a_budget_foresees_what_it_has_room_for() -> None:
    pool = {**POOL, "training": workloads(300), "check": workloads(5), "sweeps": []}
    one = answer(0, pool["training"][0], COUNTED)
    rounds = AdaptiveRounds(
        Goal(90, budget_seconds=40 * one.duration_ns / 1e9), pool, COUNTED, is_real=False
    )
    first, second, *later, end = everything(rounds, pool, COUNTED)
    assert rounds.ended_by == "budget"
    # Nobody knows yet how long a measurement is: ten, and those of the check.
    assert (first, second) == ((5, "at least"), (10 + 5, "at least"))
    assert later
    assert all(bound == "about" for _, bound in later)
    assert all(total == pytest.approx(end[0], abs=12) for total, _ in later)
