"""What a campaign will cost, compared with brute force and with the campaign itself."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fake_drive import FakeDrive

from drivelab._core import histogram_bin
from drivelab.campaign.campaign import accepted_by, run_campaign
from drivelab.campaign.forecast import (
    Forecast,
    forecast_by_pilot,
    forecast_from_plan,
    together,
)
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.measurement import Measurement
from drivelab.drives.naming import open_drive
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.plan import MeasurementPlan
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.design import parse_design

CAPACITY = 1_000_000
SMALL = Path(__file__).parents[2] / "small_drive.toml"
READ = Characteristics(read_size=8192)
WRITE = Characteristics(write_ratio=1.0, write_size=4096)
# 3 of 4 bytes are written.
MIXED = Characteristics(write_ratio=0.5, read_size=4096, write_size=12288)


class SteadyDrive(FakeDrive):
    """Moves exactly 100 MB/s, one request at a time, and writes the ratio's share."""

    def measure(
        self, work: Sequence[tuple[int, Characteristics]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        for index, workload in work:
            self.measured.append(index)
            assert plan.requests is not None
            writes = round(plan.requests * workload.write_ratio)
            parts = {
                direction: operation(count, size)
                for direction, count, size in (
                    ("read", plan.requests - writes, workload.read_size),
                    ("write", writes, workload.write_size),
                )
            }
            moved = sum(part.bytes for part in parts.values() if part is not None)
            yield Measurement(index, workload, moved * 10, parts["read"], parts["write"])


def operation(requests: int, size: int) -> OperationResult | None:
    if not requests:
        return None
    latency = size * 10
    counted = {histogram_bin(latency): requests}
    return OperationResult(requests, requests * size, float(latency), latency, latency, counted)


def test_a_real_drives_time_and_writes_follow_from_a_plan_of_seconds() -> None:
    plan = MeasurementPlan.of_kind("real", seconds=2.0, warmup_seconds=0.5)
    cost = forecast_from_plan([READ, WRITE, MIXED, MIXED], plan, CAPACITY)
    assert cost.drive_seconds == cost.host_seconds == 4 * 2.5
    assert cost.written_bytes == 0
    # 2.5 s at 100 MB/s, all of it for writes, three quarters for the two mixes.
    assert cost.written_bytes_per_rate == round(250e6 * (0 + 1 + 0.75 + 0.75))
    assert (cost.at_most, cost.pilot_workloads) == (False, 0)


def test_a_real_drives_writes_follow_from_a_plan_of_requests() -> None:
    plan = MeasurementPlan.of_kind("real", requests=1000, warmup_requests=200, warmup_seconds=0.0)
    cost = forecast_from_plan([READ, WRITE, MIXED], plan, CAPACITY)
    assert (cost.drive_seconds, cost.host_seconds) == (None, None)
    assert cost.written_bytes == 1200 * (4096 + 6144)
    assert cost.written_bytes_per_rate == 0


def test_sustained_writes_cost_twice_the_drive_for_each_kind_in_each_round() -> None:
    plan = MeasurementPlan.of_kind("real", requests=1000, writes="sustained")
    assert forecast_from_plan([READ], plan, CAPACITY).settling_bytes == 0
    one = forecast_from_plan([READ, WRITE, WRITE], plan, CAPACITY, rounds=5)
    # The drive stays settled from one round to the next.
    assert one.settling_bytes == 2 * CAPACITY
    three = [WRITE, replace(WRITE, write_size=1 << 20), replace(WRITE, write_random=0.0)]
    assert forecast_from_plan(three, plan, CAPACITY).settling_bytes == 3 * 2 * CAPACITY
    # A round begins with the kind that the last one ended with.
    later = forecast_from_plan(three, plan, CAPACITY, rounds=4)
    assert later.settling_bytes == (3 + 3 * 2) * 2 * CAPACITY
    both = together([three_of(plan, three), three_of(replace(plan, writes="burst"), three)])
    assert both.settling_bytes == 3 * 2 * CAPACITY
    assert both.written_bytes == 2 * later.written_bytes
    assert both.drive_seconds is None


def three_of(plan: MeasurementPlan, workloads: list[Characteristics]) -> Forecast:
    return forecast_from_plan(workloads, plan, CAPACITY)


@pytest.mark.parametrize("asked", [{"requests": 10, "seconds": 3.0}, {"half_width_ratio": 0.01}])
def test_what_may_end_earlier_is_at_most(asked) -> None:
    plan = MeasurementPlan.of_kind("real", **asked)
    cost = forecast_from_plan([WRITE], plan, CAPACITY)
    assert cost.at_most
    assert plan.seconds is not None
    assert cost.drive_seconds == plan.warmup_seconds + plan.seconds


def test_equal_workloads_are_extrapolated_exactly() -> None:
    drive = SteadyDrive()
    plan = MeasurementPlan(requests=1000, warmup_requests=500)
    cost = forecast_by_pilot(drive, [MIXED] * 100, plan)
    assert cost.written_bytes == 100 * 1500 * 6144
    assert cost.drive_seconds == pytest.approx(100 * 1500 * 8192 / 100e6)
    assert cost.written_bytes_per_rate == 0
    assert (cost.pilot_workloads, cost.at_most) == (16, False)
    # The first once more, for what is made once.
    assert len(drive.measured) == 17


def test_a_warm_up_by_time_counts() -> None:
    plan = MeasurementPlan(requests=1000, warmup_requests=0, warmup_seconds=2.0)
    cost = forecast_by_pilot(SteadyDrive(), [WRITE] * 3, plan)
    assert cost.drive_seconds == pytest.approx(3 * (2.0 + 1000 * 4096 / 100e6))
    assert cost.written_bytes == pytest.approx(3 * (200e6 + 1000 * 4096))


def test_the_pilot_is_spread_over_the_sizes() -> None:
    """Sixteen of 3,200 workloads give the sum over all within a hundredth."""
    sizes = [512 * (1 + place % 320) for place in range(3200)]
    random.Random(1).shuffle(sizes)
    asked = [Characteristics(read_size=size) for size in sizes]
    plan = MeasurementPlan(requests=100, warmup_requests=0)
    cost = forecast_by_pilot(SteadyDrive(), asked, plan)
    assert cost.drive_seconds == pytest.approx(100 * sum(sizes) / 100e6, rel=0.01)


def test_a_simulated_campaign_costs_what_was_announced(tmp_path: Path) -> None:
    """Bytes to within the chance of which requests write; time to within the pilot's spread.

    Of 800 requests at a write ratio of 0.5 the standard deviation is 14, of 60 workloads
    together 2 % of the bytes at most; five of these are 10 %. Simulated time differs between
    workloads of one size by queue depth and direction: sixteen stand for sixty to within a factor.
    """
    plan = MeasurementPlan(requests=600, warmup_requests=200)
    with open_drive(f"sim:{SMALL}") as drive:
        asked = parse_design("huang2011:60").select(3, accepted_by(drive)).workloads
        cost = forecast_by_pilot(drive, asked, plan)
        with run_campaign(
            drive, asked, plan, tmp_path / "run", design_name="test", progress=False
        ) as store:
            measurements = stored_measurements(store)
    counted = sum(one.write.bytes for one in measurements if one.write is not None)
    assert cost.written_bytes == pytest.approx(counted * 800 / 600, rel=0.1)
    seconds = sum(one.duration_ns for one in measurements) / 1e9 * 800 / 600
    assert seconds / 2 < cost.drive_seconds < seconds * 2


class PatientDrive(SteadyDrive):
    """Counts the more requests the smaller they are, as a half-width may ask for."""

    def measure(
        self, work: Sequence[tuple[int, Characteristics]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        for index, workload in work:
            asked = MeasurementPlan(requests=2**26 // workload.write_size)
            yield from super().measure([(index, workload)], asked)


def test_requests_that_depend_on_their_size_are_extrapolated_share_by_share() -> None:
    """Each workload writes 64 MiB, and so does each of all, to within its share's sizes."""
    asked = [
        Characteristics(write_ratio=1.0, write_size=512 * (8 + at % 504)) for at in range(2016)
    ]
    plan = MeasurementPlan(warmup_requests=0, half_width_ratio=0.01, requests=100)
    cost = forecast_by_pilot(PatientDrive(), asked, plan)
    assert cost.pilot_workloads == 64
    # One count for all would be off by a factor of two.
    assert cost.written_bytes == pytest.approx(2016 * 2**26, rel=0.02)
