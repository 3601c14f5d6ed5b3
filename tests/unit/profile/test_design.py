"""What is measured next: what lowers the variance of the ratios most for its time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from line_drives import LINES, LineDrive, NoisyDrive

from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.profile import design, kriging
from drivelab.profile.decision import decisions, open_half_width_ratio
from drivelab.profile.design import next_passes
from drivelab.profile.measured import profile
from drivelab.profile.measured_pass import MeasuredPass, evenly, measured_passes
from drivelab.profile.optimisation import Cost
from drivelab.profile.pair_kriging import PairKriging
from drivelab.profile.profile import Profile
from drivelab.profile.settings import ProfileSettings
from drivelab.profile.sizes import Interval
from drivelab.profile.spread import centres, gathered
from drivelab.workloads.whole_pass import KIB, MIB, WholePass

SMALL = Interval(8 * KIB, 64 * KIB, 8 * KIB)


class BentDrive(LineDrive):
    """Requests above 1 MiB take 8 ns a byte more in random order."""

    def measure(
        self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        for one in super().measure(work, plan):
            what = one.workload
            more = what.requests * max(0, what.request_bytes - MIB) * what.is_random
            yield evenly(one.index, what, one.duration_ns + 8 * more)


def measured(drive: LineDrive, plan: ProfileSettings, sizes: Sequence[int]) -> list[MeasuredPass]:
    passes = [
        plan.one_pass(direction, is_random, size)
        for direction, is_random, size, _ in itertools.product(
            plan.directions, (False, True), sizes, range(2)
        )
    ]
    return list(measured_passes(drive, list(enumerate(passes)), seed=0))


def sizes_of(found: Profile) -> list[int]:
    return sorted({one.whole_pass.request_bytes for one in found.measured})


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_each_choice_is_the_best_of_all_tried(monkeypatch, share: float) -> None:
    # With one model variances do not depend on what is measured, so each choice can be tried.
    monkeypatch.setattr(kriging, "_PARAMETERS", ((0.1, 0.6, 0.01),))
    monkeypatch.setattr(kriging, "_TWO_CURVES", ((0.9, 0.05),))
    monkeypatch.setattr(design, "_SHARE", 2.0)

    class OneModel(PairKriging):
        def __init__(self, *known) -> None:
            super().__init__(*known)
            self.share = share

    monkeypatch.setattr(design, "PairKriging", OneModel)
    plan = ProfileSettings(
        (SMALL,), "auto", "auto", MIB, half_width_ratio=1e-4, directions=("read",)
    )
    found = measured(NoisyDrive(0.05, 1, (0.0, 1)), plan, (8 * KIB, 64 * KIB))
    tests = [("read", False), ("read", True)]
    summed = centres({test: gathered(found)[test] for test in tests}, "robust")
    times = tuple(summed.times_ns[test] for test in tests)
    noise = tuple(summed.near_variances(test) for test in tests)
    pair = OneModel(times, noise)
    counts = {test: dict(summed.repetitions[test]) for test in tests}
    lines = iter([*(each._lines[0] for each in pair._apart), *pair._together._lines] * 1000)
    # The lines are those through what was measured, and times count for nothing.
    monkeypatch.setattr(kriging, "_line", lambda *_: next(lines))

    def variance(counts) -> float:
        sizes = [sorted(counts[test]) for test in tests]
        each = tuple(
            {
                size: float(one) / counts[test][size]
                for size, one in zip(its, summed.spread_at(test, its), strict=True)
            }
            for test, its in zip(tests, sizes, strict=True)
        )
        tried = OneModel(tuple(dict.fromkeys(its, 1e5) for its in sizes), each)
        both = tried.covariance(SMALL.sizes)
        half = len(SMALL.sizes)
        of_ratios = both[half:] - both[:half]
        return float(np.trace(of_ratios[:, half:] - of_ratios[:, :half]))

    expected = dict(zip(tests, pair.at(SMALL.sizes), strict=True))

    def more(test, size) -> int:
        return 1 if size in counts[test] else 2

    def takes_ns(test, size) -> float:
        time = np.exp(expected[test][0][list(SMALL.sizes).index(size)])
        return more(test, size) * plan.one_pass(*test, size).requests * float(time)

    sent = [((one.direction, one.is_random), one.request_bytes) for one in next_passes(found, plan)]
    for _ in range(4):
        values = {}
        for some in ([tests[0]], [tests[1]], tests):
            for size in SMALL.sizes:
                choice = tuple((test, size) for test in some)
                after = {test: dict(by_size) for test, by_size in counts.items()}
                for test, its in choice:
                    after[test][its] = after[test].get(its, 0) + more(test, its)
                gain = variance(counts) - variance(after)
                values[choice] = gain / sum(takes_ns(*each) for each in choice)
        best = max(values, key=values.__getitem__)
        passes = [each for each in best for _ in range(more(*each))]
        assert sent[: len(passes)] == passes
        sent = sent[len(passes) :]
        for test, size in best:
            counts[test][size] = counts[test].get(size, 0) + more(test, size)


def test_more_sizes_are_measured_where_the_curve_bends() -> None:
    plan = ProfileSettings(points="auto", repetitions="auto", file_bytes=40 * MIB)
    bent, straight = profile(BentDrive(LINES), plan), profile(LineDrive(LINES), plan)

    def random_reads(found: Profile) -> list[int]:
        return list(found.centres["read"].times_ns["read", True])

    assert len(random_reads(bent)) > len(random_reads(straight))
    two = profile(BentDrive(LINES), ProfileSettings(repetitions=1, file_bytes=40 * MIB))
    for size in (MIB, 2 * MIB):
        base, slope = LINES["read", True]
        exact = base + slope * size + max(0, size - MIB) * 8
        near = abs(bent.curves["read", True].times_ns[size] / exact - 1)
        assert near < 0.05 < abs(two.curves["read", True].times_ns[size] / exact - 1)


def test_ratios_are_as_sure_as_was_asked_and_intervals_hold_them() -> None:
    inside = []
    for seed in range(6):
        plan = ProfileSettings(
            points="auto", repetitions="auto", half_width_ratio=0.04, file_bytes=40 * MIB
        )
        found = profile(NoisyDrive(0.05, seed, (0.01, 10)), plan)
        for direction, ratios in found.ratios.items():
            assert ratios.half_width_ratio <= 0.04
            (base, slope), (more, steep) = (LINES[direction, way] for way in (False, True))
            for size, (low, high) in ratios.bounds.items():
                inside.append(low <= (more + steep * size) / (base + slope * size) <= high)
    # 12 pairs of curves, whose errors go together: 0.95 less two standard errors. Lines are the
    # smoothest of all curves that intervals are made for: they hold more of these.
    assert np.mean(inside) >= 0.83


def test_nothing_is_chosen_that_the_plan_does_not_allow() -> None:
    plan = ProfileSettings(points="auto", repetitions="auto", file_bytes=40 * MIB)
    drive = NoisyDrive(0.1, 5, (0.0, 1))
    found = measured(drive, plan, (8 * KIB, 64 * KIB, 4 * MIB))
    spent_ns = sum(one.duration_ns for one in found)

    def takes_ns(limit_ns: float) -> float:
        limited = ProfileSettings(
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
    few = ProfileSettings(
        *((SMALL,), "auto", "auto", MIB), half_width_ratio=1e-4, most_repetitions=3
    )
    every = profile(LineDrive(LINES), few)
    for by_size in gathered(every.measured).values():
        assert {len(times) for times in by_size.values()} == {3}
        assert list(by_size) == list(SMALL.sizes)


def test_a_fixed_number_of_repetitions_is_kept() -> None:
    plan = ProfileSettings((SMALL,), "auto", 3, MIB, half_width_ratio=1e-4)
    found = profile(NoisyDrive(0.1, 5, (0.0, 1)), plan)
    for by_size in gathered(found.measured).values():
        assert {len(times) for times in by_size.values()} == {3}
        assert list(by_size) == list(SMALL.sizes)


class JumpingDrive(LineDrive):
    """Each size is off its line by a twentieth or so, in random order."""

    def measure(
        self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        for one in super().measure(work, plan):
            what = one.workload
            off = np.random.default_rng(what.request_bytes).normal(0, 0.05 * what.is_random)
            yield evenly(one.index, what, round(one.duration_ns * np.exp(off)))


def test_jumps_between_sizes_are_measured_and_not_the_same_sizes_for_ever() -> None:
    plan = ProfileSettings(points="auto", repetitions="auto", file_bytes=40 * MIB)
    found = profile(JumpingDrive(LINES), plan)
    assert all(each.half_width_ratio <= 0.05 for each in found.ratios.values())
    # No pass says anything about another size: half of them must be measured, in pairs.
    random = found.centres["read"].repetitions["read", True]
    assert 134 / 2 <= len(random) <= 134
    assert sum(random.values()) <= 3 * len(random)


def test_what_cannot_be_reached_ends_and_is_reported() -> None:
    # Of 1024 sizes a few hundred may be measured; they say nothing about the others.
    plan = ProfileSettings(
        (Interval(512, 512 * KIB, 512),), "auto", "auto", MIB, directions=("read",)
    )
    found = profile(JumpingDrive(LINES), plan)
    half_width = found.ratios["read"].half_width_ratio
    assert half_width > 0.05
    assert plan.missed(half_width)
    assert not plan.missed(0.05)
    assert len(found.measured) < 1024


def test_more_time_than_is_needed_is_not_taken() -> None:
    def measuring_ns(limit_ns: float | None) -> int:
        plan = ProfileSettings(
            points="auto", repetitions="auto", file_bytes=40 * MIB, most_measuring_ns=limit_ns
        )
        return profile(NoisyDrive(0.03, 1, (0.0, 1)), plan).measuring_ns

    # Only whether the first sizes are measured in pairs at once differs.
    assert measuring_ns(1e15) <= measuring_ns(None)


def test_what_is_known_is_not_measured_again() -> None:
    plan = ProfileSettings((SMALL,), "auto", "auto", MIB, half_width_ratio=0.05)

    class OneSided(NoisyDrive):
        """Reads do not vary."""

        def measure(
            self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
        ) -> Iterator[Measurement]:
            for one, plain in zip(
                super().measure(work, plan),
                LineDrive.measure(self, work, plan),
                strict=True,
            ):
                yield plain if one.workload.direction == "read" else one

    found = profile(OneSided(0.3, 2, (0.0, 1)), plan)
    passes = {
        way: sum(one.whole_pass.direction == way for one in found.measured)
        for way in ("read", "write")
    }
    assert passes["write"] > 4 * passes["read"]


def test_intervals_of_very_many_sizes_are_looked_at_in_part() -> None:
    plan = ProfileSettings((Interval(512, 4 * MIB, 512),), "auto", "auto", 8 * MIB)
    found = profile(LineDrive(LINES), plan)
    assert len(found.ratios["read"].by_size) == 8192
    for size in (512, 12 * KIB, 4 * MIB):
        truth = (4_000_000 + 2 * size) / (10_000 + 2 * size)
        assert found.ratios["read"].by_size[size] == pytest.approx(truth, rel=0.05)
    # Those at equal gaps and at equal factors.
    assert len(sizes_of(found)) <= 256


class TwiceJumpingDrive(LineDrive):
    """Sizes are off their lines by a tenth or so, the same in both orders; passes hardly differ."""

    spread = 0.002

    def measure(
        self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        for one in super().measure(work, plan):
            what = one.workload
            rng = np.random.default_rng(what.request_bytes)
            factor = np.exp(rng.normal(0, 0.1)) * (1 + self.spread * (one.index % 3))
            yield evenly(one.index, what, round(one.duration_ns * factor))


class SteadyDrive(TwiceJumpingDrive):
    """Passes are all alike, as on most simulated drives."""

    spread = 0.0


@pytest.mark.parametrize(
    ("points", "made"),
    [
        ("auto", lambda: TwiceJumpingDrive(LINES)),
        ("auto", lambda: SteadyDrive(LINES)),
        (8, lambda: NoisyDrive(0.08, 3, (0.0, 1))),
    ],
)
def test_answers_that_are_asked_for_are_known_or_near_what_is_needed(points, made) -> None:
    # Ratios are known soon, as both orders jump together; what larger requests gain is not.
    cost = Cost(ratio=1.25)
    plan = ProfileSettings(points=points, repetitions="auto", file_bytes=40 * MIB)
    before = profile(made(), plan)
    after = profile(made(), replace(plan, cost=cost))
    assert plan.half_width_ratio < open_half_width_ratio(decisions(before, cost))
    assert open_half_width_ratio(decisions(after, cost)) <= plan.half_width_ratio
    # Asked later, nothing was measured in vain.
    count = len(before.measured)
    assert len(after.measured) > count
    assert after.measured[:count] == before.measured

    def unsure(found: Profile) -> int:
        return sum(one.answer == "unsure" for one in decisions(found, cost))

    assert unsure(after) < unsure(before)


def test_answers_that_are_clear_take_no_more_passes() -> None:
    plan = ProfileSettings(points="auto", repetitions="auto", file_bytes=40 * MIB)
    drive = TwiceJumpingDrive(LINES)
    # No request gains so much.
    asked = profile(drive, replace(plan, cost=Cost(ratio=1e6)))
    assert asked.measured == profile(drive, plan).measured


class WavyDrive(LineDrive):
    """Access times swing about their lines by a fifth, the same in both orders."""

    def measure(
        self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        for one in super().measure(work, plan):
            factor = np.exp(0.2 * np.sin(3 * np.log(one.workload.request_bytes)))
            yield evenly(one.index, one.workload, round(one.duration_ns * factor))


def test_answers_for_very_many_sizes_are_sought_as_far_as_measuring_helps() -> None:
    plan = ProfileSettings(
        (Interval(512, 512 * KIB, 512),), "auto", "auto", MIB, directions=("write",)
    )
    cost = Cost(ratio=1.1)

    def both(drive: LineDrive) -> tuple[Profile, Profile]:
        return profile(drive, plan), profile(drive, replace(plan, cost=cost))

    before, after = both(WavyDrive(LINES))
    assert len(before.measured) < len(after.measured) < 512
    # Every fourth size is judged, and near ones are known with it: 17 of 3072 answers are left.
    few, many = (
        sum(one.answer == "unsure" for one in decisions(found, cost)) for found in (after, before)
    )
    assert 20 * few < many
    # Sizes that cannot be measured jump by more than --half-width: no pass shows them.
    before, after = both(TwiceJumpingDrive(LINES))
    assert open_half_width_ratio(decisions(after, cost)) > plan.half_width_ratio
    assert len(after.measured) < len(before.measured) + 512


def test_answers_that_nothing_can_make_sure_are_not_sought() -> None:
    plan = ProfileSettings(points="auto", repetitions=1, file_bytes=40 * MIB)
    asked = replace(plan, cost=Cost(ratio=1.25))
    assert profile(SteadyDrive(LINES), asked).measured == profile(SteadyDrive(LINES), plan).measured
