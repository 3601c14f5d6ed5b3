"""Measurements: sums, percentiles, contradictions, JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from drivelab import _core
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
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


BATCHES = LatencyBatches(2, (90_000.0, 98_000.0), (1_000_000, 2_000_000), -0.5, 940.0)
MIXED = Measurement(
    index=7,
    workload=Characteristics(write_ratio=0.25),
    duration_ns=2_000_000,
    read=result_of([85_000, 85_000, 91_000]),
    write=result_of([115_000], size=8192),
    extra={"write_amplification_ratio": 1.5},
    batches=BATCHES,
    stopped_by="half_width",
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
        "batches",
        "stopped_by",
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
        ({"histogram": {2368: 3}}, "outside 0 to 2367"),
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
        {**MIXED.to_json(), "stopped_by": []},
        {**MIXED.to_json(), "batches": {}},
        {**MIXED.to_json(), "batches": {**BATCHES.to_json(), "ends_ns": [1.5, 2]}},
        {**MIXED.to_json(), "batches": {**BATCHES.to_json(), "means_ns": None}},
        {**MIXED.to_json(), "read": {**MIXED.to_json()["read"], "latency_ns_histogram": {"x": 1}}},
    ],
)
def test_foreign_json_is_refused(data: object) -> None:
    with pytest.raises(UsageError):
        Measurement.from_json(data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"read": 5}, "an operation's result is an object; found 5"),
        ({"extra": None}, "extra is an object; found None"),
        ({"extra": {"a": None}}, "None is not a number"),
        ({"batches": 5}, "is an object; found 5"),
        ({"batches": {**BATCHES.to_json(), "means_ns": None}}, "None is not a list"),
        ({"streams": 5}, "5 is not a list of streams"),
        ({"streams": [{}, {}]}, "1 streams were sent, and 2 have a result"),
    ],
)
def test_what_is_no_measurement_is_said_in_a_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        Measurement.from_json({**MIXED.to_json(), **change})
    assert "NoneType" not in str(refused.value)


def test_half_width_over_the_mean() -> None:
    assert MIXED.half_width_ratio == pytest.approx(940 / 94_000)
    assert replace(MIXED, batches=None).half_width_ratio is None
    unknown = replace(BATCHES, half_width_ns=None)
    assert replace(MIXED, batches=unknown).half_width_ratio is None


def test_what_closed_the_window_is_one_of_four() -> None:
    with pytest.raises(RunError, match="allowed: requests, seconds, half_width, max_requests"):
        replace(MIXED, stopped_by="boredom")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"requests_per_batch": 0}, "batches of 0 requests"),
        ({"ends_ns": (1,)}, "2 means of 1 batches"),
        ({"means_ns": (1.0,) * 65, "ends_ns": (1,) * 65}, "65 means of 65 batches"),
        ({"means_ns": (1.0, float("nan"))}, "impossible mean"),
        ({"means_ns": (1.0, -1.0)}, "impossible mean"),
        ({"ends_ns": (2, 1)}, "out of order"),
        ({"ends_ns": (-1, 1)}, "out of order"),
        ({"correlation": 1.5}, "correlation of 1.5"),
        ({"correlation": float("nan")}, "correlation of nan"),
        ({"half_width_ns": -1.0}, "half-width of -1.0"),
        ({"half_width_ns": float("inf")}, "half-width of inf"),
    ],
)
def test_contradictions_are_no_batches(change: dict[str, Any], message: str) -> None:
    with pytest.raises(RunError, match=message):
        replace(BATCHES, **change)


def test_histogram_bins_that_do_not_exist() -> None:
    with pytest.raises(UsageError, match="allowed: 0 to 2367"):
        _core.histogram_value(2368)
    low, high = _core.histogram_range(1000)
    assert _core.histogram_bin(low) == _core.histogram_bin(high) == 1000
