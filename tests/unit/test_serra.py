"""SeRRa against lines and ratios known beforehand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from drivelab.drives.simulated import SimulatedDrive
from drivelab.drives.whole_passes import PassMeasurement, ratios_by_size
from drivelab.errors import RunError, UsageError
from drivelab.serra.estimate import Ratios, estimated, fitted, mean_access_times
from drivelab.serra.profile import ProfilePlan, from_passes, profile
from drivelab.serra.sizes import Interval, chosen
from drivelab.workloads.whole_pass import BOITO2015_SIZES, KIB, MIB, WholePass

SMALL = Interval(8 * KIB, 64 * KIB, 8 * KIB)
LARGE = Interval(64 * KIB, 4 * MIB, 32 * KIB)


class LineDrive:
    """Access times of each test on a line of its own: ns at size 0, ns a byte."""

    def __init__(self, lines: dict[tuple[str, bool], tuple[int, int]]) -> None:
        self.lines = lines

    def measure_passes(
        self, work: Sequence[tuple[int, WholePass]], *, seed: int
    ) -> Iterator[PassMeasurement]:
        assert seed == 5
        for index, each in work:
            base, slope = self.lines[each.direction, each.is_random]
            time = each.requests * (base + slope * each.request_bytes)
            yield PassMeasurement(index, each, time, None)


LINES = {
    ("read", False): (10_000, 2),
    ("read", True): (4_000_000, 2),
    ("write", False): (20_000, 3),
    ("write", True): (20_000, 6),
}


def test_the_ends_are_always_chosen_and_others_at_random() -> None:
    assert chosen(SMALL, 2, seed=1) == (8 * KIB, 64 * KIB)
    assert chosen(SMALL, 8, seed=1) == tuple(SMALL.sizes)
    inner = set()
    for seed in range(40):
        sizes = chosen(SMALL, 3, seed=seed)
        assert sizes[::2] == (8 * KIB, 64 * KIB)
        assert set(sizes) < set(chosen(SMALL, 5, seed=seed)) <= set(SMALL.sizes)
        inner.add(sizes[1])
    assert inner == set(SMALL.sizes) - {8 * KIB, 64 * KIB}
    assert chosen(LARGE, 6, seed=3) == chosen(LARGE, 6, seed=3) != chosen(LARGE, 6, seed=4)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((8 * KIB, 64 * KIB, 9 * KIB), "a gap that divides 56 KiB"),
        ((64 * KIB, 8 * KIB, 8 * KIB), "allowed: more than its beginning"),
        ((64 * KIB, 128 * MIB, 64 * KIB), "at most 64 MiB"),
        ((1000, 2000, 100), "multiples of 512"),
        ((0, 512, 512), "multiples of 512"),
    ],
)
def test_impossible_intervals_say_what_is_allowed(values, said) -> None:
    with pytest.raises(UsageError, match=said):
        Interval(*values)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (ProfilePlan(points=1), "points is 1; allowed: from 2 to the interval's 8 sizes"),
        (ProfilePlan(points=9), "points is 9; allowed: from 2 to the interval's 8 sizes"),
        (ProfilePlan(repetitions=0), "repetitions is 0; allowed: at least 1"),
        (ProfilePlan(intervals=()), "at least one interval"),
    ],
)
def test_impossible_plans_are_usage_errors(plan: ProfilePlan, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan.passes()


def test_a_plan_measures_the_sizes_of_the_paper() -> None:
    passes = ProfilePlan().passes()
    assert {each.request_bytes for each in passes} == {8 * KIB, 64 * KIB, 4 * MIB}
    assert len(passes) == 4 * 4 * 3
    assert {each.file_bytes for each in passes} == {1200 * MIB}


@pytest.mark.parametrize("points", [2, 5])
def test_exact_lines_give_exact_ratios_at_every_size(points: int) -> None:
    found = profile(LineDrive(LINES), ProfilePlan(points=points, repetitions=2, seed=5))
    assert tuple(found.ratios["read"].by_size) == BOITO2015_SIZES
    for size in BOITO2015_SIZES:
        truth = (4_000_000 + 2 * size) / (10_000 + 2 * size)
        assert found.ratios["read"].by_size[size] == pytest.approx(truth, rel=1e-9)
        assert found.access_times_ns["write", True][size] == pytest.approx(20_000 + 6 * size)
    writes = found.ratios["write"]
    assert writes.least == pytest.approx((20_000 + 6 * 8192) / (20_000 + 3 * 8192))
    assert writes.most == pytest.approx((20_000 + 24 * MIB) / (20_000 + 12 * MIB))
    assert writes.mean == pytest.approx(np.mean(list(writes.by_size.values())))
    assert found.measuring_ns == sum(each.duration_ns for each in found.measured)


def test_lines_are_least_squares() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.choice(LARGE.sizes, 9, replace=False)
    times = {int(size): float(5e6 + 7 * size + rng.normal(0, 1e6)) for size in sizes}
    slope, base = np.polyfit(list(times), list(times.values()), 1)
    line = fitted(times)
    assert line.slope_ns_per_byte == pytest.approx(slope)
    assert line.base_ns == pytest.approx(base)
    assert estimated([LARGE], times)[96 * KIB] == pytest.approx(base + slope * 96 * KIB)


def test_each_interval_has_a_line_of_its_own() -> None:
    # 1 ns a byte to 64 KiB, 3 ns behind that; where both meet the first line counts.
    times = {8 * KIB: 8192.0, 64 * KIB: 65_536.0, 4 * MIB: 65_536.0 + 3 * (4 * MIB - 64 * KIB)}
    curve = estimated([SMALL, LARGE], times)
    assert list(curve) == sorted(curve) == list(BOITO2015_SIZES)
    assert curve[40 * KIB] == pytest.approx(40 * KIB)
    assert curve[64 * KIB] == pytest.approx(64 * KIB)
    assert curve[MIB] == pytest.approx(65_536 + 3 * (MIB - 64 * KIB))


def test_repetitions_count_by_their_mean() -> None:
    each = WholePass("read", False, 8 * KIB, 80 * KIB)
    passes = [PassMeasurement(0, each, 1000, None), PassMeasurement(1, each, 3000, None)]
    assert mean_access_times(passes) == {("read", False): {8 * KIB: 200.0}}


def test_times_that_give_no_ratio_are_refused() -> None:
    with pytest.raises(RunError, match="two or more are needed"):
        estimated([SMALL, LARGE], {8 * KIB: 1.0, 64 * KIB: 2.0})
    # A line through a steep rise is below 0 at its beginning.
    steep = {8 * KIB: 10.0, 16 * KIB: 10.0, 64 * KIB: 10_000.0, 24 * KIB: 10.0}
    with pytest.raises(RunError, match="measure more sizes or repetitions"):
        estimated([SMALL], steep)


def test_one_direction_alone_has_ratios() -> None:
    passes = [
        PassMeasurement(0, WholePass("read", is_random, size, MIB), 1000 * size, None)
        for is_random, size in itertools.product((False, True), (8 * KIB, 64 * KIB))
    ]
    found = from_passes(passes, [SMALL])
    assert list(found.ratios) == ["read"]
    assert isinstance(found.ratios["read"], Ratios)
    assert found.ratios["read"].mean == pytest.approx(1.0)


def test_a_disk_is_estimated_from_its_ends() -> None:
    # Lines fit a disk's access times: what is left is the curve between the ends.
    with SimulatedDrive.open("sim:graphene-hds72103", varies=False) as drive:
        found = profile(drive, ProfilePlan(repetitions=1, file_bytes=200 * MIB))
        sizes = BOITO2015_SIZES[::8]
        truth = ratios_by_size(drive, "read", 200 * MIB, sizes=sizes)
    for size, ratio in zip(sizes, truth, strict=True):
        assert found.ratios["read"].by_size[size] == pytest.approx(ratio, rel=0.06)
