"""What probes say about how a drive is built: on known drives, and by arithmetic."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import pytest
from fake_drive import answer

from drivelab.campaign.rounds import Asked
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.measurement import Measurement
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.models.goal import Goal
from drivelab.models.probed import Probed, probed, probes_of, unprobed
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from drivelab.workloads.probes import (
    DEPTH,
    FILLS,
    every_probe,
    first_probes,
    page_probes,
)

GIB = 1 << 30
PLAN = MeasurementPlan(requests=2000)


def found_on(name: str) -> Probed:
    with open_drive(name) as drive:
        first = first_probes()
        measured = list(drive.measure(list(enumerate(first)), PLAN))
        page = probed(measured).page_bytes
        if page is not None:
            measured += drive.measure(list(enumerate(page_probes(page), len(first))), PLAN)
    return probed(measured)


def fills_on(name: str) -> list[Measurement]:
    with open_drive(name) as drive:
        return [
            one
            for place, fill in enumerate(FILLS)
            for one in drive.measure(
                [(place, fill.workload)], Asked("fills", (place,), fill.requests).plan(PLAN)
            )
        ]


@pytest.mark.parametrize(
    ("name", "page_bytes", "units"),
    [
        # Ten channels of two ways; eight of four with two dies; as the presets say.
        ("sim:x25m", 4096, 20),
        ("sim:enterprise-tlc-pcie4", 16384, 64),
    ],
)
def test_pages_and_units_are_those_of_the_preset(name: str, page_bytes: int, units: int) -> None:
    found = found_on(name)
    assert (found.page_bytes, found.parallel_units) == (page_bytes, units)
    assert found.unaligned_ratio is not None
    assert found.unaligned_ratio > 1.2
    assert (found.has_arm, found.is_buffered) == (False, True)
    assert f"{page_bytes // 1024} KiB pages, {units} in parallel; unaligned" in found.describe()
    assert found.describe().endswith("(unknown: how much it takes before it slows down)")


def test_a_disk_has_one_arm_and_no_pages() -> None:
    found = found_on("sim:spinpoint-m7")
    assert found.has_arm
    assert (found.page_bytes, found.parallel_units) == (None, None)
    assert found.describe().startswith("one arm; a random read takes 17")
    assert "pages" not in found.describe()


def dealt(units: int, page: int, workload: Characteristics, index: int) -> Measurement:
    """A drive that deals out pages in turn, each unit a thousand a second, 30,000 at most."""
    rate = 30_000.0
    if workload.write_ratio:
        pages = math.ceil(workload.write_size / page)
        step = (workload.write_size + workload.write_stride) / page
        reached = units if step != int(step) else units / math.gcd(int(step), units)
        reached = units if workload.write_random else reached
        rate = min(rate, 1000 * reached / pages / (2 if step != int(step) and step > 1 else 1))
    made = answer(index, workload, PLAN)
    side = {"read": None, "write": made.read} if workload.write_ratio else {}
    return dataclasses.replace(made, duration_ns=round(made.requests / rate * 1e9), **side)


@pytest.mark.parametrize("units", [6, 10, 16, 24])
@pytest.mark.parametrize("page", [4096, 8192])
def test_any_number_of_units_is_found_by_arithmetic(units: int, page: int) -> None:
    asked = [*first_probes(), *page_probes(page)]
    found = probed([dealt(units, page, one, index) for index, one in enumerate(asked)])
    assert (found.page_bytes, found.parallel_units) == (page, units)


def test_where_the_host_is_slower_than_the_units_there_is_no_page() -> None:
    # A hundred units: 30,000 requests a second of 4 to 12 KiB alike are what the host sends.
    asked = [*first_probes(), *page_probes(16384)]
    found = probed([dealt(100, 4096, one, index) for index, one in enumerate(asked)])
    assert (found.page_bytes, found.parallel_units, found.unaligned_ratio) == (None, None, None)


def test_what_the_rates_do_not_say_is_unknown() -> None:
    alike = [answer(index, one, PLAN) for index, one in enumerate(every_probe(32 << 30))]
    alike = [dataclasses.replace(one, duration_ns=10**9) for one in alike]
    found = probed(alike)
    assert (found.page_bytes, found.parallel_units, found.merges) == (None, None, None)
    assert "unknown: pages, parallel units, buffer, how much" in found.describe()
    assert probed([]).describe().startswith("nothing clear (unknown: pages, ")


def test_a_run_without_probes_says_nothing() -> None:
    measured = [answer(index, Characteristics(), PLAN) for index in range(3)]
    assert probes_of(measured, Parts(3), GIB) is None
    assert probes_of(measured, Parts(1, probes=2), GIB) == probed(measured[1:])


def test_there_are_two_dozen_at_most_and_each_is_asked_once() -> None:
    assert len(first_probes()) == 13
    assert all(len(page_probes(page)) <= 11 for page in (1024, 4096, 16384))
    keys = [one.key() for one in every_probe(32 << 30)]
    assert len(set(keys)) == len(keys)
    assert all(one.queue_depth in (1, DEPTH, 64) for one in every_probe(32 << 30))


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        # The preset's buffer is 256 KiB; the four requests in flight are a quarter of that.
        ("sim:x25m", 180e3, 270e3),
        # 8 MiB each: what is written while it fills leaves by programs that do not end at once.
        ("sim:spinpoint-m7", 4.0e6, 4.3e6),
    ],
)
def test_buffer_is_found_by_what_it_takes(name: str, least: float, most: float) -> None:
    found = probed([], fills_on(name))
    assert found.buffer_bytes is not None
    assert least <= found.buffer_bytes <= most


def test_drive_that_runs_out_of_erased_blocks_slows_down() -> None:
    found = probed([], fills_on("sim:x25m"))
    assert found.slows_after_bytes is not None
    assert found.slows_to_ratio is not None
    assert 2.0e9 < found.slows_after_bytes < 3.5e9
    assert 0.05 < found.slows_to_ratio < 0.3
    assert found.fast_bytes is None
    assert "random writes slow down to 14 % of their speed after about 2.8 GB" in found.describe()


def filled(place: int, rates: Sequence[float], batch: int) -> Measurement:
    """Return a fill of batches of so many requests, each with so many requests a second."""
    fill = FILLS[place]
    ends, now = [], 0.0
    for rate in rates:
        now += batch / rate * 1e9
        ends.append(round(now))
    batches = LatencyBatches(batch, (1e6,) * len(ends), tuple(ends), 0.0, 1e3)
    return dataclasses.replace(
        answer(place, fill.workload, MeasurementPlan(requests=batch * len(ends))),
        duration_ns=ends[-1],
        batches=batches,
    )


def test_buffer_of_a_course_by_hand() -> None:
    # Three batches of 100 requests of 16 KiB at four times the rate that lasts: three quarters of
    # them stay in the buffer.
    course = [4000.0] * 3 + [1000.0] * 13
    found = probed([], [filled(0, course, 100)])
    assert found.buffer_bytes == round(3 * 0.75 * 100 * 16384)
    assert found.fast_bytes is None
    assert "a buffer takes about 3.7 MB of writes" in found.describe()
    assert "(unknown: pages, parallel units, how much it takes before" in found.describe()


def test_fill_that_ends_before_the_buffer_is_full_says_nothing_of_its_size() -> None:
    short, long = filled(0, [4000.0] * 16, 32), filled(1, [4000.0] * 4 + [1000.0] * 12, 512)
    assert probed([], [short, long]).buffer_bytes == round(4 * 0.75 * 512 * 16384)
    assert probed([], [short]).buffer_bytes is None


def test_slow_down_by_hand() -> None:
    course = [800.0] * 10 + [200.0] * 6
    found = probed([], [filled(2, course, 1024)])
    assert found.slows_after_bytes == 10 * 1024 * 65536
    assert found.slows_to_ratio == pytest.approx(0.25)
    steady = probed([], [filled(2, [800.0] * 16, 1024)])
    assert (steady.slows_after_bytes, steady.fast_bytes) == (None, 16 * 1024 * 65536)
    assert "1.1 GB of random writes do not slow it down" in steady.describe()


def test_slow_down_when_a_buffer_is_full_is_that_of_the_buffer() -> None:
    shallow = filled(1, [4000.0] * 4 + [1000.0] * 12, 512)
    deep = filled(2, [800.0] + [200.0] * 15, 1024)
    found = probed([], [shallow, deep])
    assert found.buffer_bytes is not None
    assert (found.slows_after_bytes, found.fast_bytes) == (None, 16 * 1024 * 65536)


def header_of(goal: Goal | None, probes: int = 0, pool: int | None = 65) -> dict[str, Any]:
    ended = {} if goal is None else {"ended": {"goal": goal.to_json()}}
    parts = Parts(48, 12, probes=probes).to_json()
    may_be = {"training": 5120} if pool is None else {"training": 5120, "probes": pool}
    return {"design": {"parts": parts, "pool": may_be}, **ended}


def test_a_run_without_probes_says_why_and_how_to_have_them() -> None:
    few = unprobed(header_of(Goal(99)))
    assert few is not None
    assert few.reason == "the limit was 99 measurements, and probes come from 100 on"
    assert "--measurements 100 or more adds them" in few.remedy
    short = unprobed(header_of(Goal(budget_seconds=60.0)))
    assert short is not None
    assert (short.reason, "longer --budget" in short.remedy) == (
        "the budget had no room for them",
        True,
    )
    refused = unprobed(header_of(Goal(300), pool=0))
    assert refused is not None
    assert refused.remedy == ""


def test_nothing_is_said_of_runs_with_probes_or_of_other_designs() -> None:
    assert unprobed(header_of(Goal(300), probes=13)) is None
    # It had probes before it was asked for fewer.
    assert unprobed(header_of(Goal(20), probes=13)) is None
    # Stopped before its end, or its design says what to measure.
    assert unprobed(header_of(None)) is None
    assert unprobed(header_of(Goal(300), pool=None)) is None
