"""Sustained performance of simulated drives: measured from states that writing has led to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

SETTLING = Path(__file__).parents[3] / "settling_drive.toml"
READ = Characteristics(queue_depth=4)
SMALL = Characteristics(write_ratio=1.0)
LARGE = Characteristics(write_ratio=1.0, write_size=128 << 10)
IN_ORDER = Characteristics(write_ratio=1.0, write_random=0.0)
MIXED = Characteristics(write_ratio=0.5, queue_depth=4)
ALL = list(enumerate([SMALL, READ, IN_ORDER, MIXED, LARGE]))
BURST = MeasurementPlan(warmup_requests=100, requests=2_000)
SUSTAINED = replace(BURST, writes="sustained")


@pytest.fixture(scope="module")
def drive() -> Iterator[SimulatedDrive]:
    with SimulatedDrive.open(f"sim:{SETTLING}", varies=False) as drive:
        yield drive


def amplification(one: Measurement) -> float:
    return float(one.extra["write_amplification_ratio"])


def test_random_writes_are_slower_when_they_last_and_reads_are_the_same(
    drive: SimulatedDrive,
) -> None:
    burst = list(drive.measure(ALL, BURST))
    lasting = list(drive.measure(ALL, SUSTAINED))
    assert amplification(burst[0]) == 1
    assert amplification(lasting[0]) > 3
    assert lasting[0].latency_ns_mean > 2 * burst[0].latency_ns_mean
    # Reads need no state, and find the one of the preset.
    assert lasting[1] == burst[1]
    # Whole blocks are free behind writes in order, and none behind large pieces.
    assert amplification(lasting[2]) == 1
    assert amplification(lasting[4]) > 2
    # Reads next to writes wait for the collection that the writes cause.
    assert lasting[3].read is not None
    assert burst[3].read is not None
    assert lasting[3].read.latency_ns_mean > burst[3].read.latency_ns_mean


def test_it_amplifies_as_after_a_long_warm_up(drive: SimulatedDrive) -> None:
    # The drive has 348,160 pages: all of it is written twice before.
    long = MeasurementPlan(warmup_requests=696_320, requests=80_000)
    [waited] = drive.measure([(0, SMALL)], long)
    [settled] = drive.measure([(0, SMALL)], replace(SUSTAINED, requests=80_000))
    # Rounds agree within 2 %, and a thousand blocks are collected: 1 % of chance.
    assert amplification(settled) == pytest.approx(amplification(waited), rel=0.03)


@pytest.mark.parametrize("workers", [1, 3])
def test_neither_threads_nor_other_workloads_matter(drive: SimulatedDrive, workers: int) -> None:
    plan = replace(SUSTAINED, workers=workers)
    together = list(drive.measure(ALL, plan))
    backwards = list(drive.measure(ALL[::-1], plan))
    alone = [next(iter(drive.measure([one], plan))) for one in ALL]
    assert together == alone == backwards[::-1]


def test_a_range_is_settled_by_writes_in_that_range(drive: SimulatedDrive) -> None:
    quarter = drive.capacity_bytes // 4
    [whole] = drive.measure([(0, SMALL)], SUSTAINED)
    [part] = drive.measure([(0, SMALL)], SUSTAINED, range_bytes=quarter)
    # The spare space of all of it serves a quarter.
    assert 1 < amplification(part) < amplification(whole)


@pytest.mark.parametrize("preset", ["bali-st91000640ns"])
def test_a_disk_has_no_state_but_its_cache_is_full(preset: str) -> None:
    with SimulatedDrive.open(f"sim:{preset}", varies=False) as disk:
        [burst] = disk.measure([(0, SMALL)], BURST)
        [lasting] = disk.measure([(0, SMALL)], SUSTAINED)
        # 32 MiB hold 8,192 of them.
        [waited] = disk.measure([(0, SMALL)], replace(BURST, warmup_requests=24_676))
    assert lasting.latency_ns_mean > 10 * burst.latency_ns_mean
    assert lasting == waited
