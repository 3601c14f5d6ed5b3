"""Measurements: sums, percentiles, contradictions, JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from drivelab import _core
from drivelab.drives.measurement import Measurement, MeasurementPlan, OperationResult
from drivelab.errors import RunError, UsageError
from drivelab.workloads.characteristics import Characteristics


def result_of(latencies: list[int], size: int = 4096) -> OperationResult:
    histogram: dict[int, int] = {}
    for latency in latencies:
        number = _core.histogram_bin(latency)
        histogram[number] = histogram.get(number, 0) + 1
    return OperationResult(
        requests=len(latencies),
        bytes=len(latencies) * size,
        latency_ns_mean=sum(latencies) / len(latencies),
        latency_ns_min=min(latencies),
        latency_ns_max=max(latencies),
        histogram=histogram,
    )


MIXED = Measurement(
    index=7,
    characteristics=Characteristics(write_ratio=0.25),
    duration_ns=2_000_000,
    read=result_of([85_000, 85_000, 91_000]),
    write=result_of([115_000], size=8192),
    extra={"write_amplification_ratio": 1.5},
)


def test_both_directions_are_added_up() -> None:
    assert MIXED.requests == 4
    assert MIXED.bytes == 3 * 4096 + 8192
    assert MIXED.latency_ns_mean == pytest.approx(94_000)
    assert MIXED.iops == pytest.approx(2000)
    assert MIXED.bandwidth_bytes_per_second == pytest.approx(20_480 / 0.002)


def test_percentiles_over_both_directions() -> None:
    middle = _core.histogram_value(_core.histogram_bin(85_000))
    assert MIXED.percentile_ns(50) == max(middle, 85_000)
    assert MIXED.percentile_ns(75) == _core.histogram_value(_core.histogram_bin(91_000))
    assert MIXED.percentile_ns(100) <= 115_000


def test_percentiles_stay_within_what_was_measured() -> None:
    single = result_of([85_000])
    for percent in (0, 50, 99.99, 100):
        assert single.percentile_ns(percent) == 85_000


@pytest.mark.parametrize("percent", [-0.1, 100.1, float("nan")])
def test_percentiles_outside_zero_to_a_hundred(percent: float) -> None:
    with pytest.raises(UsageError, match="allowed: 0 to 100"):
        MIXED.percentile_ns(percent)


def test_json_round_trip() -> None:
    again = Measurement.from_json(json.loads(json.dumps(MIXED.to_json())))
    assert again == MIXED
    assert list(MIXED.to_json()) == [
        "index",
        "characteristics",
        "duration_ns",
        "read",
        "write",
        "extra",
    ]
    assert list(MIXED.to_json()["read"]) == [
        "requests",
        "bytes",
        "latency_ns_mean",
        "latency_ns_min",
        "latency_ns_max",
        "latency_ns_histogram",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"requests": 0, "histogram": {}}, "0 requests completed"),
        ({"bytes": 0}, "moved 0 bytes"),
        ({"latency_ns_mean": float("nan")}, "mean latency nan ns is not between"),
        ({"latency_ns_mean": 2e9}, "is not between"),
        ({"latency_ns_min": -1}, "is not between"),
        ({"histogram": {900: 2}}, "the histogram counts 2 of 3 requests"),
        ({"histogram": {900: 4, 901: -1}}, "the histogram counts 3 of 3 requests"),
        ({"histogram": {1856: 3}}, "outside 0 to 1855"),
    ],
)
def test_contradictions_are_no_results(change: dict[str, Any], message: str) -> None:
    values = {
        "requests": 3,
        "bytes": 12288,
        "latency_ns_mean": 85_000.0,
        "latency_ns_min": 80_000,
        "latency_ns_max": 90_000,
        "histogram": {900: 3},
    }
    OperationResult(**values)
    with pytest.raises(RunError, match=message):
        OperationResult(**{**values, **change})


def test_a_measurement_without_requests_is_none() -> None:
    with pytest.raises(RunError, match="completed no request"):
        Measurement(0, Characteristics(), 100, None, None)
    with pytest.raises(RunError, match="took 0 ns"):
        Measurement(0, Characteristics(), 0, result_of([1]), None)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {**MIXED.to_json(), "index": 1.5},
        {**MIXED.to_json(), "read": None, "write": None},
        {**MIXED.to_json(), "read": {}},
        {**MIXED.to_json(), "extra": []},
        {**MIXED.to_json(), "read": {**MIXED.to_json()["read"], "latency_ns_histogram": {"x": 1}}},
    ],
)
def test_foreign_json_is_refused(data: object) -> None:
    with pytest.raises(UsageError):
        Measurement.from_json(data)


def test_plan_round_trip_leaves_out_what_results_do_not_depend_on() -> None:
    plan = MeasurementPlan(seed=3, warmup_requests=10, requests=20, seconds=0.5, workers=2)
    assert plan.to_json() == {
        "seed": 3,
        "warmup_requests": 10,
        "requests": 20,
        "seconds": 0.5,
    }
    assert MeasurementPlan.from_json(plan.to_json()) == MeasurementPlan(3, 10, 20, 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1}, "seed is -1; allowed: 0 to"),
        ({"seed": 2**64}, "allowed: 0 to 18446744073709551615"),
        ({"requests": 0}, "requests is 0; allowed: 1 to"),
        ({"warmup_requests": -1}, "warmup_requests is -1"),
        ({"seconds": 0}, "seconds is 0; allowed: more than 0"),
        ({"seconds": float("nan")}, "seconds is NaN"),
        ({"workers": 0}, "workers is 0; allowed: 1 to"),
    ],
)
def test_impossible_plans_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        MeasurementPlan(**change)


def test_histogram_bins_that_do_not_exist() -> None:
    with pytest.raises(UsageError, match="allowed: 0 to 1855"):
        _core.histogram_value(1856)
    low, high = _core.histogram_range(1000)
    assert _core.histogram_bin(low) == _core.histogram_bin(high) == 1000
