"""Log blocks, found by writes that go to a few places in turn."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from fake_drive import answer

from drivelab.campaign.rounds import Asked, Measured
from drivelab.drives.measurement import Measurement
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.models.adaptive_rounds import AdaptiveRounds
from drivelab.models.goal import Goal
from drivelab.models.probed import may_map_blocks, probed
from drivelab.models.queueing import TRIED_LOGS, Layout
from drivelab.models.rewrites import fast_places, log_blocks, read_rewrites, rewrites_ns
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from drivelab.workloads.probes import (
    FILLS,
    every_probe,
    first_probes,
    is_rewrites,
    places_of,
    rewrites,
)

PLAN = MeasurementPlan(requests=2000)
GIB = 1 << 30
MERGE_NS = 20_000_000.0
WRITE_NS = 400_000.0
STEP = str(64 << 20)


@pytest.mark.parametrize("capacity", [GIB, 3 * GIB // 2, 32_017_047_552, 500_107_837_440])
def test_places_are_as_many_as_the_stream_visits(capacity: int) -> None:
    asked = rewrites(capacity)
    assert [one for one in every_probe(capacity) if is_rewrites(one)] == [
        one.without_ineffective() for one in asked
    ]
    for one in asked:
        one.validate(capacity)
        (stream,) = one.streams()
        ((_, offsets, _),) = stream.within(capacity).generate(1, 0, 200)
        # It begins anywhere, and goes back to the start where a request no longer fits.
        assert places_of(one, capacity) == len(set(offsets[100:]))
    assert rewrites(64 << 20) == []


def written(layout: Layout, capacity: int, logs: int, one: Characteristics) -> float:
    """Write the places in turn on units with so many log blocks, with lists; give the mean time."""
    step = one.write_stride + one.write_size
    held: dict[int, list[list[int]]] = {}
    merged, rounds = 0.0, 40 * layout.block_pages
    places = [place // layout.page_bytes for place in range(0, capacity - one.write_size + 1, step)]
    for count in range(rounds):
        page = places[count % len(places)]
        own = held.setdefault(page % layout.units, [])
        log = next((each for each in own if each[0] == page), None)
        if log is None:
            if len(own) == logs:
                merged += 1 - own.pop(0)[1] / layout.block_pages
            own.append([page, 1])
            continue
        own.remove(log)
        merged += log[1] == layout.block_pages
        own.append([page, log[1] % layout.block_pages + 1])
    return WRITE_NS + MERGE_NS * merged / rounds


@pytest.mark.parametrize("units", [1, 6, 10, 32])
@pytest.mark.parametrize("logs", [2, 4, 8])
def test_log_blocks_are_found_by_arithmetic(units: int, logs: int) -> None:
    layout, capacity = Layout(units=units, block_pages=64), 32_017_047_552
    times = {
        each: {
            one.write_stride + one.write_size: written(layout, capacity, each, one)
            for one in rewrites(capacity)
        }
        for each in TRIED_LOGS["log_blocks"]
        if each
    }
    # Places are spread over units whose number is no power of two. Then two numbers of log blocks
    # may take the same times.
    alike = [each for each in times if times[each] == pytest.approx(times[logs], rel=0.05)]
    found = log_blocks(layout, capacity, times[logs])
    assert found == (logs if alike == [logs] else None)
    assert units in (6, 10) or found == logs


def test_times_that_no_number_explains_give_none() -> None:
    layout = Layout(units=32, block_pages=64)
    steps = [one.write_stride + one.write_size for one in rewrites(32 * GIB)]
    for flat in (1e4, 1e5, 999_999.0, 1e6, 2e6):
        assert log_blocks(layout, 32 * GIB, dict.fromkeys(steps, flat)) is None
    ramp = {step: 1e5 * 3**place for place, step in enumerate(steps)}
    assert log_blocks(layout, 32 * GIB, ramp) is None
    assert log_blocks(layout, 32 * GIB, {}) is None
    assert log_blocks(layout, 32 * GIB, {steps[0]: 1e5}) is None


@pytest.mark.parametrize("logs", [1, 32, 64])
def test_noise_makes_no_number_of_log_blocks(logs: int) -> None:
    """The times of so many log blocks are as good as flat: every place, or none, costs a merge."""
    layout, capacity = Layout(units=32, block_pages=64), 32 * GIB
    asked = rewrites(capacity)
    times = [written(layout, capacity, logs, one) for one in asked]
    random = np.random.default_rng(1)
    for _ in range(200):
        noisy = np.array(times) * random.normal(1.0, 0.03, len(times))
        steps = [one.write_stride + one.write_size for one in asked]
        found = log_blocks(layout, capacity, dict(zip(steps, noisy, strict=True)))
        assert found in (None, logs)


@pytest.mark.parametrize(
    "given",
    [None, 3, {"x": 1.0}, {"-5": 1.0}, {"5": 1.0}, {"9" * 30: 1.0}, {"0": 1.0}]
    + [{STEP: wrong} for wrong in (True, "1", 0)],
)
def test_a_model_that_says_something_else_says_nothing(given: object) -> None:
    assert read_rewrites(given) == {}


def test_a_drive_that_maps_blocks_shows_its_log_blocks() -> None:
    plan = MeasurementPlan.of_kind("simulated", seed=1, requests=4000, half_width_ratio=None)
    with open_drive("sim:samsung-slc-32gb") as drive:
        first = list(drive.measure(list(enumerate(first_probes())), plan))
        assert may_map_blocks(first)
        asked = rewrites(drive.capacity_bytes)
        more = list(drive.measure(list(enumerate(asked, len(first))), plan))
        logs = drive.preset["mapping"]["log_blocks_per_plane"]
        capacity = drive.capacity_bytes
        fills = [
            filled
            for place, one in enumerate(FILLS)
            for filled in drive.measure(
                [(100 + place, one.workload)],
                MeasurementPlan(requests=min(one.requests, 8192), warmup_requests=0),
            )
        ]
    assert (fast_places(more, capacity), logs) == (4, 4)
    # Without the fewest places the others are as many as before.
    assert fast_places(more[1:], capacity) == 4
    assert probed(first, fills).buffer_bytes is not None
    found = probed([*first, *more], fills, capacity_bytes=capacity)
    # What the first writes found are log blocks: the preset has no buffer.
    assert found.buffer_bytes is None
    assert "only 4 places" in found.describe()
    latencies = read_rewrites(rewrites_ns(more))
    assert log_blocks(Layout(units=32, block_pages=64), capacity, latencies) == logs


def test_a_drive_that_maps_pages_is_not_asked() -> None:
    with open_drive("sim:x25m") as drive:
        first = list(drive.measure(list(enumerate(first_probes())), PLAN))
    assert not may_map_blocks(first)
    assert not may_map_blocks([])
    assert fast_places(first, 80 * GIB) is None
    assert rewrites_ns(first) == {}


def slow(index: int, one: Characteristics) -> Measurement:
    """A drive on which random writes take ten times as long as others."""
    made = answer(index, one, PLAN)
    is_slow = one.write_ratio == 1 and one.write_random == 1
    return dataclasses.replace(made, duration_ns=10**9 * (10 if is_slow else 1))


@pytest.mark.parametrize("writes", ["burst", "sustained"])
def test_a_run_asks_where_random_writes_are_slow_and_nothing_is_collected(writes: str) -> None:
    probes = every_probe(32 * GIB)
    pool = {name: [] for name in ("training", "calibration", "chosen", "sweeps", "check")}
    plan = MeasurementPlan.of_kind("simulated", writes=writes)
    rounds = AdaptiveRounds(Goal(), {**pool, "probes": probes}, plan, is_real=False)
    first = tuple(range(len(first_probes())))
    made = [slow(place, probes[place]) for place in first]
    measured = Measured([Asked("probes", first)], Parts(probes=len(first)), made, 0.0)
    asked = [one for one in rounds.next_round(measured) if one.part == "probes"]
    found = {probes[place] for one in asked for place in one.places}
    expected = {one.without_ineffective() for one in rewrites(32 * GIB)}
    assert (expected <= found) == (writes == "burst")
    assert bool(expected & found) == (writes == "burst")
