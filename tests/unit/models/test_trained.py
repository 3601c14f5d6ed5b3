"""Questions outside the trained range, and the nearest trained workloads."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from synthetic_drive import characteristics, grid_workloads, measurements, spread_workloads

from drivelab.models.features import workload_table
from drivelab.models.model import PerformanceModel
from drivelab.models.trained import TrainedWorkloads
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.design import parse_design

pytestmark = pytest.mark.usefixtures("models_in_outline")

LOW = Characteristics(
    write_ratio=0.0, queue_depth=1, read_size=1024, read_random=0.0, read_stride=0
)
HIGH = Characteristics(
    write_ratio=1.0, queue_depth=64, write_size=262144, write_random=0.0, write_stride=512 * 511
)
MIXED = Characteristics(
    write_ratio=0.5,
    queue_depth=8,
    read_size=262144,
    write_size=1024,
    read_random=0.5,
    write_random=1.0,
    read_stride=512 * 511,
)


def trained_on(*workloads: Characteristics) -> TrainedWorkloads:
    return TrainedWorkloads(workload_table(workloads))


def plain_distance(
    one: Characteristics, other: Characteristics, trained: TrainedWorkloads
) -> float:
    """The distance in words: scaled values, each times the share of requests that it is about."""

    def place(workload: Characteristics) -> list[float]:
        values = workload.canonical()

        def scaled(name: str) -> float:
            value, ends = values[name], trained.ranges[name]
            if value is None or ends is None:
                return 0.0
            if name.endswith("stride"):
                value, *ends = (math.log2(1 + each / 512) for each in (value, *ends))
            elif name.endswith(("size", "depth")):
                value, *ends = (math.log2(each) for each in (value, *ends))
            return (value - ends[0]) / ((ends[1] - ends[0]) or 1)

        found = [scaled("write_ratio"), scaled("queue_depth")]
        for direction, share in (
            ("read", 1 - workload.write_ratio),
            ("write", workload.write_ratio),
        ):
            in_order = 1 - getattr(workload, f"{direction}_random")
            found += [share * scaled(f"{direction}_size"), share * scaled(f"{direction}_random")]
            found += [share * in_order * scaled(f"{direction}_stride")]
        return found

    return math.dist(place(one), place(other))


def test_distance_in_words() -> None:
    workloads = [characteristics(row) for row in grid_workloads(40, 0)]
    questions = [characteristics(row) for row in spread_workloads(20, 1)]
    trained = trained_on(*workloads)
    for question in questions:
        row = workload_table([question])
        distances = [plain_distance(question, one, trained) for one in workloads]
        assert trained.distance(row)[0] == pytest.approx(min(distances), rel=1e-12)
        nearest = trained.nearest(row[0], 3)
        assert [place for place, _ in nearest] == list(np.argsort(distances, kind="stable")[:3])
        assert [distance for _, distance in nearest] == pytest.approx(sorted(distances)[:3])


def test_far_by_brute_force() -> None:
    workloads = [characteristics(row) for row in grid_workloads(150, 3)]
    trained = trained_on(*workloads, *workloads[:10])
    distinct = list({workload.key(): workload for workload in workloads}.values())
    nearest = sorted(
        min(plain_distance(one, other, trained) for other in distinct if other is not one)
        for one in distinct
    )
    # The smallest distance that 99 % do not exceed.
    usual = nearest[math.ceil(0.99 * len(nearest)) - 1]
    assert trained.far == pytest.approx(max(0.5, usual))
    assert trained.far > 0.5
    assert trained_on(LOW).far == 0.5


def test_range_and_a_little_more_is_inside() -> None:
    trained = trained_on(LOW, HIGH, MIXED)

    def beyond(**values: float) -> list[bool]:
        asked = dataclasses.replace(MIXED, **values)  # type: ignore[arg-type]
        return trained.out_of_range(workload_table([asked]))[0].tolist()

    # A fiftieth of six octaves is 0.12: 2 ** 6.12 = 69.6.
    assert not any(beyond(queue_depth=69))
    assert beyond(queue_depth=70) == [False, True] + 6 * [False]
    assert not any(beyond(read_size=1024))
    assert beyond(read_size=512)[2]
    # What has no effect is not outside; what never varied is exact.
    assert not any(beyond(write_ratio=0.0, write_size=2**25))
    only = trained_on(LOW)
    assert not only.outside(workload_table([LOW]))[0]
    assert only.outside(workload_table([dataclasses.replace(LOW, queue_depth=2)]))[0]


def test_between_two_clusters_nothing_near_was_measured() -> None:
    # Small requests one at a time and large ones many at a time, nothing in between.
    rows = grid_workloads(80, 1)
    rows[:40, 1:4] = (1, 4096, 4096)
    rows[40:, 1:4] = (64, 262144, 262144)
    model = PerformanceModel.fit(measurements(rows), is_explained=False)
    between = Characteristics(
        write_ratio=0.5,
        queue_depth=8,
        read_size=32768,
        write_size=32768,
        read_random=0.5,
        write_random=0.5,
    )
    assert model.outside([between]).tolist() == [True]
    (message,) = model.outside_training(between)
    assert "every characteristic is inside its range, but nothing near was measured" in message
    inside = dataclasses.replace(between, queue_depth=1, read_size=4096, write_size=4096)
    assert model.outside([inside]).tolist() == [False]
    assert model.outside_training(inside) == []


def test_a_warning_says_what_a_mask_says() -> None:
    model = PerformanceModel.fit(measurements(spread_workloads(40, 1)), is_explained=False)
    asked = [characteristics(row) for row in [*grid_workloads(100, 2), *spread_workloads(100, 3)]]
    said = [bool(model.outside_training(workload)) for workload in asked]
    assert model.outside(asked).tolist() == said
    assert 100 < sum(said) < 190


@pytest.mark.parametrize("name", ["huang2011:60", "huang2011:300"])
def test_designs_hold_most_of_their_ranges(name: str) -> None:
    # Off-grid questions are what models are for: of those inside the ranges few are far.
    selection = parse_design(name).select(0)
    chosen = [selection.workloads[place] for place in selection.parts.range("training")]
    asked = workload_table([characteristics(row) for row in spread_workloads(500, 5)])
    assert trained_on(*chosen).outside(asked).mean() < 0.1


def test_nearest_workloads_are_shown_as_they_were_measured() -> None:
    measured = measurements(grid_workloads(60, 4), noise=0.02)
    model = PerformanceModel.fit(measured, is_explained=False)
    one = measured[17]
    first, second = model.nearest(one.characteristics, count=2)
    assert (first.index, first.distance) == (17, 0.0)
    assert first.characteristics.key() == one.characteristics.key()
    assert first.performance == {
        "latency_ns_mean": one.latency_ns_mean,
        "bandwidth_bytes_per_second": one.bandwidth_bytes_per_second,
        "iops": one.iops,
    }
    assert second.distance > 0
    assert len(model.nearest(one.characteristics, count=100)) == 60
