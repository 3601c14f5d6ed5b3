"""Plans of measurements: what ends one, the defaults of each kind of drive, JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import UsageError


def test_round_trip_leaves_out_what_results_do_not_depend_on() -> None:
    plan = MeasurementPlan(
        seed=3,
        warmup_requests=10,
        warmup_seconds=0.25,
        requests=20,
        seconds=0.5,
        half_width_ratio=0.01,
        max_requests=30,
        workers=2,
    )
    assert plan.to_json() == {
        "seed": 3,
        "warmup_requests": 10,
        "warmup_seconds": 0.25,
        "requests": 20,
        "seconds": 0.5,
        "half_width_ratio": 0.01,
        "max_requests": 30,
    }
    again = MeasurementPlan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == MeasurementPlan(3, 10, 0.25, 20, 0.5, 0.01, 30)


def test_only_sustained_writes_are_named() -> None:
    lasting = MeasurementPlan(writes="sustained")
    assert lasting.to_json()["writes"] == "sustained"
    assert MeasurementPlan.from_json(lasting.to_json()) == lasting
    assert "writes" not in MeasurementPlan().to_json()
    with pytest.raises(UsageError, match="writes is 'both'; allowed: sustained, burst"):
        MeasurementPlan(writes="both")


def test_most_requests_count_only_with_a_half_width() -> None:
    plan = MeasurementPlan(max_requests=5)
    assert plan.to_json()["max_requests"] is None
    assert MeasurementPlan.from_json(plan.to_json()) == MeasurementPlan()


def test_a_share_of_the_drive_counts_only_with_a_half_width() -> None:
    plan = MeasurementPlan.of_kind("simulated")
    assert plan.to_json()["burst_ratio"] == 0.01
    assert MeasurementPlan.from_json(plan.to_json()) == plan
    assert "burst_ratio" not in plan.holding(ends_by_itself=True).to_json()
    # Plans of runs that do not say it have no such end.
    before = {key: value for key, value in plan.to_json().items() if key != "burst_ratio"}
    assert MeasurementPlan.from_json(before).burst_ratio is None


def ends(plan: MeasurementPlan, *, by_itself: bool) -> tuple[object, object, object]:
    holding = plan.holding(ends_by_itself=by_itself)
    return holding.requests, holding.seconds, holding.half_width_ratio


def test_what_ends_by_itself_runs_to_its_end_unless_another_was_asked_for() -> None:
    assert ends(MeasurementPlan(), by_itself=True) == (None, None, None)
    assert ends(MeasurementPlan(), by_itself=False) == (20_000, None, None)
    asked = MeasurementPlan(requests=7, seconds=1.0, half_width_ratio=0.1)
    for by_itself in (True, False):
        assert ends(asked, by_itself=by_itself) == (7, 1.0, 0.1)


@pytest.mark.parametrize("kind", ["simulated", "closed_form", "real"])
def test_what_ends_a_kind_by_default_gives_way_to_the_workloads_own_end(kind: str) -> None:
    usual = MeasurementPlan.of_kind(kind, warmup_requests=3)
    assert ends(usual, by_itself=True) == (None, None, None)
    assert ends(usual, by_itself=False) == (usual.requests, usual.seconds, usual.half_width_ratio)
    asked = MeasurementPlan.of_kind(kind, seconds=5.0)
    assert ends(asked, by_itself=True) == (None, 5.0, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1}, "seed is -1; allowed: 0 to"),
        ({"seed": 2**64}, "allowed: 0 to 18446744073709551615"),
        ({"requests": 0}, "requests is 0; allowed: 1 to"),
        ({"warmup_requests": -1}, "warmup_requests is -1"),
        ({"warmup_seconds": -0.1}, "warmup_seconds is -0.1; allowed: 0 to"),
        ({"warmup_seconds": float("nan")}, "warmup_seconds is NaN"),
        ({"seconds": 0}, "seconds is 0; allowed: more than 0"),
        ({"seconds": float("nan")}, "seconds is NaN"),
        ({"seconds": 10**400}, "seconds is"),
        ({"half_width_ratio": 0}, "half_width_ratio is 0; allowed"),
        ({"half_width_ratio": 1.0}, "half_width_ratio is 1.0; allowed"),
        ({"half_width_ratio": float("nan")}, "half_width_ratio is NaN"),
        ({"half_width_ratio": 0.01, "requests": 9, "max_requests": 8}, "at least requests, 9"),
        ({"max_requests": 0}, "max_requests is 0; allowed: 1 to"),
        ({"burst_ratio": 0}, "burst_ratio is 0; allowed: more than 0, to 1"),
        ({"burst_ratio": 1.01}, "burst_ratio is 1.01; allowed: more than 0, to 1"),
        ({"workers": 0}, "workers is 0; allowed: 1 to"),
    ],
)
def test_impossible_plans_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        MeasurementPlan(**change)


@pytest.mark.parametrize(
    ("kind", "asked", "expected"),
    [
        (
            "simulated",
            {},
            MeasurementPlan(requests=5000, half_width_ratio=0.01, burst_ratio=0.01),
        ),
        (
            "simulated",
            {"writes": "sustained"},
            MeasurementPlan(requests=5000, half_width_ratio=0.01, writes="sustained"),
        ),
        ("closed_form", {}, MeasurementPlan(requests=20_000)),
        ("simulated", {"seconds": None, "requests": 7}, MeasurementPlan(requests=7)),
        ("simulated", {"seconds": 5.0}, MeasurementPlan(requests=None, seconds=5.0)),
        ("simulated", {"seconds": 5.0, "requests": 7}, MeasurementPlan(requests=7, seconds=5.0)),
        (
            "simulated",
            {"half_width_ratio": 0.01},
            MeasurementPlan(requests=5000, half_width_ratio=0.01),
        ),
        (
            "simulated",
            {"half_width_ratio": 0.01, "max_requests": 100},
            MeasurementPlan(requests=100, half_width_ratio=0.01, max_requests=100),
        ),
        ("real", {}, MeasurementPlan(0, 0, 0.2, None, 1.0)),
        ("real", {"seconds": 30.0}, MeasurementPlan(0, 0, 3.0, None, 30.0)),
        ("real", {"requests": 7}, MeasurementPlan(0, 0, 0.2, 7, None)),
        ("real", {"warmup_seconds": 0.0}, MeasurementPlan(0, 0, 0.0, None, 1.0)),
        (
            "real",
            {"half_width_ratio": 0.05},
            MeasurementPlan(0, 0, 1.0, None, 10.0, half_width_ratio=0.05),
        ),
    ],
)
def test_what_was_not_asked_for_has_the_default_of_the_kind(
    kind: str, asked: dict[str, Any], expected: MeasurementPlan
) -> None:
    assert MeasurementPlan.of_kind(kind, **asked) == expected
