"""Latency percentile curves: which workloads are typical, and how far a curve goes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_run import made_run, measurement, operation, run_of

from drivelab.campaign.exhibits import latency
from drivelab.drives.measurement import Measurement
from drivelab.exhibits import number
from drivelab.workloads.characteristics import Characteristics


def reads_of(means_ns: list[float], requests: int = 1000) -> list[Measurement]:
    made = measurement(0, Characteristics())
    return [
        replace(made, index=index, read=operation(mean, requests, 4096))
        for index, mean in enumerate(means_ns)
    ]


def test_typical_workloads_stand_at_10_50_and_90_percent_of_the_ranking() -> None:
    measurements = reads_of([1e6 - 5e3 * place for place in range(101)])
    chosen = latency.typical(measurements, "read")
    # Ranked from the fastest, which is the last: rank 10 of 0 to 100 is index 90.
    assert [(one.rank, one.measurement.index) for one in chosen] == [
        (0.1, 90),
        (0.5, 50),
        (0.9, 10),
    ]
    assert latency.typical(measurements, "write") == []


def test_a_workload_is_typical_only_once() -> None:
    assert [one.measurement.index for one in latency.typical(reads_of([1e5]), "read")] == [0]


@pytest.mark.parametrize(
    ("requests", "percentile", "shown"),
    [(5000, 99.9, True), (4999, 99.9, False), (500, 99.0, True), (499, 99.0, False)],
)
def test_a_percentile_needs_five_slower_requests(
    requests: int, percentile: float, shown: bool
) -> None:
    assert latency.supported(operation(1e5, requests, 4096), percentile) is shown


def test_curves_rise_and_hold_spread_and_typical_workloads() -> None:
    table = latency.percentiles(made_run(80))
    assert {row[1] for row in table.rows} == {"spread_p10", "spread_p50", "spread_p90", "workload"}
    for direction in ("read", "write"):
        spread = table.records(direction=direction, line="spread_p50")
        values = [number(row["latency_ns"]) for row in spread]
        assert values == sorted(values)
        assert spread[0]["percentile"] == 50
        assert len({row["index"] for row in table.records(direction=direction)}) == 1 + 3


def test_the_spread_is_by_rank_at_each_percentile() -> None:
    # Eleven workloads whose every percentile is a multiple of the first one's.
    measurements = reads_of([1e5 * (place + 1) for place in range(11)])
    run = run_of(measurements)
    table = latency.percentiles(run)
    at = {row["line"]: row["latency_ns"] for row in table.records(percentile=90.0, index=None)}
    ranked = sorted(one.read.percentile_ns(90) for one in measurements if one.read)
    assert at == {"spread_p10": ranked[1], "spread_p50": ranked[5], "spread_p90": ranked[9]}


def test_the_spread_ends_where_workloads_with_few_requests_would_drop_out() -> None:
    measurements = reads_of([1e5] * 8, requests=100000) + reads_of([1e5] * 2, requests=600)
    measurements = [replace(one, index=place) for place, one in enumerate(measurements)]
    run = run_of(measurements)
    spread = latency.percentiles(run).records(line="spread_p50")
    # 600 requests show 99 % (six slower), not 99.2 %.
    assert max(number(row["percentile"]) for row in spread) <= 99.17
