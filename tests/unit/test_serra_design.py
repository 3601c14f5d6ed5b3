"""What is measured next: what lowers the variance of the ratios most for its time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from line_drives import LINES, LineDrive, NoisyDrive

from drivelab.drives.whole_passes import PassMeasurement
from drivelab.serra import kriging
from drivelab.serra.design import next_passes
from drivelab.serra.kriging import Kriging
from drivelab.serra.plan import ProfilePlan
from drivelab.serra.profile import Profile, profile
from drivelab.serra.sizes import Interval
from drivelab.serra.spread import centres, gathered
from drivelab.workloads.whole_pass import KIB, MIB, WholePass

SMALL = Interval(8 * KIB, 64 * KIB, 8 * KIB)


class BentDrive(LineDrive):
    """Requests above 1 MiB take so many ns a byte more in random order."""

    more_ns: float = 8

    def measure_passes(
        self, work: Sequence[tuple[int, WholePass]], *, seed: int
    ) -> Iterator[PassMeasurement]:
        for one in super().measure_passes(work, seed=seed):
            what = one.whole_pass
            more = what.requests * max(0, what.request_bytes - MIB) * what.is_random
            more_ns = round(self.more_ns * more)
            yield PassMeasurement(one.index, what, one.duration_ns + more_ns, None)


def measured(drive: LineDrive, plan: ProfilePlan, sizes: Sequence[int]) -> list[PassMeasurement]:
    passes = [
        plan.one_pass(direction, is_random, size)
        for direction, is_random, size, _ in itertools.product(
            plan.directions, (False, True), sizes, range(2)
        )
    ]
    return list(drive.measure_passes(list(enumerate(passes)), seed=0))


def sizes_of(found: Profile) -> list[int]:
    return sorted({one.whole_pass.request_bytes for one in found.measured})


def test_the_first_choice_is_the_best_of_all_tried(monkeypatch) -> None:
    # With one model variances do not depend on what is measured, so each choice can be tried.
    monkeypatch.setattr(kriging, "_PARAMETERS", ((0.1, 0.6, 0.01),))
    plan = ProfilePlan((SMALL,), "auto", "auto", MIB, half_width_ratio=1e-4, directions=("read",))
    found = measured(NoisyDrive(0.05, 1, (0.0, 1)), plan, (8 * KIB, 64 * KIB))
    tests = [("read", False), ("read", True)]
    summed = centres({test: gathered(found)[test] for test in tests}, "robust")
    lines = {
        test: Kriging(list(times), list(times.values()), [1e-4, 1e-4])._line
        for test, times in summed.times_ns.items()
    }
    values = {}
    for test, size in itertools.product(tests, SMALL.sizes):
        times, counts = summed.times_ns[test], summed.repetitions[test]

        def variance(counts, times=times, test=test) -> float:
            noise = [summed.variance / count for count in counts.values()]
            at = [times.get(each, 1e5) for each in counts]
            # The line is the one through what was measured.
            monkeypatch.setattr(kriging, "_line", lambda *_: lines[test])
            curve = Kriging(list(counts), at, noise)
            return float(np.trace(curve.covariance(list(SMALL.sizes))))

        more = 1 if size in counts else 2
        after = {**counts, size: counts.get(size, 0) + more}
        one = plan.one_pass(*test, size)
        base, slope = LINES[test]
        takes = more * one.requests * (base + slope * size)
        values[(*test, size)] = (variance(counts) - variance(dict(sorted(after.items())))) / takes
    best = next_passes(found, plan)[0]
    value = values[best.direction, best.is_random, best.request_bytes]
    # Times are estimated where nothing was measured, some per cent off.
    assert value > 0.9 * max(values.values())
    assert sorted(values.values())[-4] < 0.9 * max(values.values())


def test_more_sizes_are_measured_where_the_curve_bends() -> None:
    plan = ProfilePlan(points="auto", repetitions="auto", file_bytes=40 * MIB)
    bent, straight = profile(BentDrive(LINES), plan), profile(LineDrive(LINES), plan)

    def random_reads(found: Profile) -> list[int]:
        return list(found.centres["read"].times_ns["read", True])

    assert len(random_reads(bent)) > len(random_reads(straight))
    two = profile(BentDrive(LINES), ProfilePlan(repetitions=1, file_bytes=40 * MIB))
    for size in (MIB, 2 * MIB):
        base, slope = LINES["read", True]
        exact = base + slope * size + max(0, size - MIB) * 8
        near = abs(bent.curves["read", True].times_ns[size] / exact - 1)
        assert near < 0.05 < abs(two.curves["read", True].times_ns[size] / exact - 1)


def test_ratios_are_as_sure_as_was_asked_and_intervals_hold_them() -> None:
    inside = []
    for seed in range(6):
        plan = ProfilePlan(
            points="auto", repetitions="auto", half_width_ratio=0.04, file_bytes=40 * MIB
        )
        found = profile(NoisyDrive(0.05, seed, (0.01, 10)), plan)
        for direction, ratios in found.ratios.items():
            assert ratios.half_width_ratio <= 0.04
            (base, slope), (more, steep) = (LINES[direction, way] for way in (False, True))
            for size, (low, high) in ratios.bounds.items():
                inside.append(low <= (more + steep * size) / (base + slope * size) <= high)
    # 12 pairs of curves, whose errors go together: 0.95 less two standard errors.
    assert np.mean(inside) >= 0.83


def test_nothing_is_chosen_that_the_plan_does_not_allow() -> None:
    plan = ProfilePlan(points="auto", repetitions="auto", file_bytes=40 * MIB)
    drive = NoisyDrive(0.1, 5, (0.0, 1))
    found = measured(drive, plan, (8 * KIB, 64 * KIB, 4 * MIB))
    spent_ns = sum(one.duration_ns for one in found)

    def takes_ns(limit_ns: float) -> float:
        limited = ProfilePlan(
            points="auto", repetitions="auto", file_bytes=40 * MIB, most_measuring_ns=limit_ns
        )
        return sum(
            one.requests * (base + slope * one.request_bytes)
            for one in next_passes(found, limited)
            for base, slope in [LINES[one.direction, one.is_random]]
        )

    assert takes_ns(spent_ns - 1) == 0
    # Estimated times are a tenth off.
    assert 0 < takes_ns(1.02 * spent_ns) <= 1.2 * 0.02 * spent_ns
    assert takes_ns(1.02 * spent_ns) < takes_ns(1.5 * spent_ns) <= 1.2 * 0.5 * spent_ns
    few = ProfilePlan(*((SMALL,), "auto", "auto", MIB), half_width_ratio=1e-4, most_repetitions=3)
    every = profile(LineDrive(LINES), few)
    for by_size in gathered(every.measured).values():
        assert {len(times) for times in by_size.values()} == {3}
        assert list(by_size) == list(SMALL.sizes)


def test_a_fixed_number_of_repetitions_is_kept_and_sizes_are_limited() -> None:
    plan = ProfilePlan(points="auto", repetitions=3, half_width_ratio=1e-4, file_bytes=40 * MIB)
    found = profile(NoisyDrive(0.1, 5, (0.0, 1)), plan)
    for by_size in gathered(found.measured).values():
        assert {len(times) for times in by_size.values()} == {3}
        for interval in plan.intervals:
            assert sum(size in interval.sizes for size in by_size) <= 20
        assert len(by_size) >= 20


def test_what_is_known_is_not_measured_again() -> None:
    plan = ProfilePlan((SMALL,), "auto", "auto", MIB, half_width_ratio=0.05)

    class OneSided(NoisyDrive):
        """Reads do not vary."""

        def measure_passes(
            self, work: Sequence[tuple[int, WholePass]], *, seed: int
        ) -> Iterator[PassMeasurement]:
            for one, plain in zip(
                super().measure_passes(work, seed=seed),
                LineDrive.measure_passes(self, work, seed=seed),
                strict=True,
            ):
                yield plain if one.whole_pass.direction == "read" else one

    found = profile(OneSided(0.3, 2, (0.0, 1)), plan)
    passes = {
        way: sum(one.whole_pass.direction == way for one in found.measured)
        for way in ("read", "write")
    }
    assert passes["write"] > 4 * passes["read"]


def test_intervals_of_very_many_sizes_are_looked_at_in_part() -> None:
    plan = ProfilePlan((Interval(512, 4 * MIB, 512),), "auto", "auto", 8 * MIB)
    found = profile(LineDrive(LINES), plan)
    assert len(found.ratios["read"].by_size) == 8192
    for size in (512, 12 * KIB, 4 * MIB):
        truth = (4_000_000 + 2 * size) / (10_000 + 2 * size)
        assert found.ratios["read"].by_size[size] == pytest.approx(truth, rel=0.05)
    assert len(sizes_of(found)) <= 80
