"""How much work a workload is, counted by hand and by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from drivelab.drives.write_pattern import write_pattern
from drivelab.models.features import workload_table
from drivelab.models.work import (
    STRIPES,
    Direction,
    Stripes,
    kinds_of_writing,
    likely_stripes,
    work_inputs,
)
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.ranges import workload_at
from drivelab.workloads.sobol_points import sobol_points


def writes(**given: float) -> Characteristics:
    return Characteristics(write_ratio=1, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("workload", "pages", "partial", "merged", "merged_partial"),
    [
        # Whole pages at multiples of a page.
        (writes(write_size=8192, write_random=1), 2, 0, 2, 0),
        # 1 KiB anywhere lies in one page, and covers none.
        (writes(write_size=1024, write_random=1), 1, 1, 1, 1),
        # 6 KiB at multiples of 2 KiB: 0, 2, 4... end 6, 8, 10: 2, 2, 3 and 2 pages... by 4 places.
        (writes(write_size=6144, write_random=1), 2, 1, 2, 1),
        # In order without a gap: a quarter of a page each, and hardly one is left partly written.
        (writes(write_size=1024, write_random=0, write_stride=0), 1, 1, 0.2617, 0.0234),
        # Strides of a page: every page is its own.
        (writes(write_size=4096, write_random=0, write_stride=4096), 1, 0, 1, 0),
    ],
)
def test_pages_of_a_request(
    workload: Characteristics, pages: float, partial: float, merged: float, merged_partial: float
) -> None:
    found = Direction.of(workload_table([workload]), "write")
    assert found.share.tolist() == [1]
    assert found.pages == pytest.approx(pages)
    assert found.partial == pytest.approx(partial)
    assert found.merged == pytest.approx(merged, abs=1e-4)
    assert found.merged_partial == pytest.approx(merged_partial, abs=1e-4)


def test_what_is_not_there_is_no_work_and_nothing_is_missing() -> None:
    table = workload_table([Characteristics(), writes(), Characteristics(write_ratio=0.5)])
    assert np.isfinite(work_inputs(table)).all()
    assert Direction.of(table, "write").share.tolist() == [0, 1, 0.5]


def test_imbalance_by_brute_force() -> None:
    random = np.random.default_rng(0)
    for stripes in (Stripes(10, 4096), Stripes(3, 16384), Stripes(64, 8192)):
        sizes = 512.0 * random.integers(1, 400, 40)
        strides = 512.0 * random.integers(0, 400, 40)
        expected = []
        for size, stride in zip(sizes, strides, strict=True):
            load = [0] * stripes.units
            for request in range(16):
                begin = request * (size + stride)
                first, last = begin // stripes.stripe_bytes, (begin + size - 1)
                for stripe in range(int(first), int(last // stripes.stripe_bytes) + 1):
                    load[stripe % stripes.units] += 1
            expected.append(max(load) * stripes.units / sum(load))
        assert stripes.imbalance(sizes, strides) == pytest.approx(expected)


def test_the_units_that_slow_a_drive_are_found() -> None:
    random = np.random.default_rng(1)
    workloads = [
        Characteristics(
            write_ratio=1,
            write_size=4096 * int(random.integers(1, 4)),
            write_random=0,
            write_stride=4096 * int(random.integers(0, 40)),
        )
        for _ in range(200)
    ]
    table = workload_table(workloads)
    drive = Stripes(12, 4096)
    assert drive in STRIPES
    left = 0.3 * drive.inputs(table)[:, 1] + random.normal(0, 0.02, len(table))
    assert likely_stripes(table, left, 1) == [drive]


def test_what_a_drive_was_written_with_before_is_distinguished() -> None:
    def kinds(**changes: float) -> list[float]:
        one = Characteristics(write_ratio=0.5, write_size=8192, **changes)
        inputs = work_inputs(workload_table([one]))[0]
        return [inputs[place] for place in (20, 22)]

    assert kinds(write_random=0.0) == [0, 0]
    assert kinds(write_random=0.01) == [1, 0]
    assert kinds(write_random=0.01) == kinds(write_random=1.0)
    one = Characteristics(write_ratio=0.5, write_size=64 << 10, write_random=0.5)
    assert list(work_inputs(workload_table([one]))[0][[20, 22]]) == [0, 1]
    reads = work_inputs(workload_table([Characteristics()]))[0]
    assert list(reads[[20, 22]]) == [0, 0]


def test_kinds_of_writing_are_those_that_drives_settle_to() -> None:
    points = sobol_points("kinds of writing")
    asked = [workload_at(next(points), 512) for _ in range(300)]
    kinds = {None: 0, "in order": 0, "small at random": 1, "large at random": 2}
    expected = [kinds[write_pattern(one)] for one in asked]
    assert set(expected) == {0, 1, 2}
    assert kinds_of_writing(workload_table(asked)).tolist() == expected
