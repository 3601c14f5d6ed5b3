"""SeRRa compared with lines and ratios known beforehand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from line_drives import LINES, LineDrive, NoisyDrive

from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.simulated.passes import ratios_by_size
from drivelab.errors import RunError, UsageError
from drivelab.profile.budget import affordable
from drivelab.profile.estimate import Ratios, Test, estimated, weights
from drivelab.profile.measured import from_passes, profile
from drivelab.profile.measured_pass import MeasuredPass
from drivelab.profile.settings import ProfileSettings
from drivelab.profile.sizes import Interval, chosen
from drivelab.profile.spread import centres, gathered, is_known, known_after, student, undecided
from drivelab.workloads.whole_pass import BOITO2015_SIZES, KIB, MIB, WholePass

SMALL = Interval(8 * KIB, 64 * KIB, 8 * KIB)
LARGE = Interval(64 * KIB, 4 * MIB, 32 * KIB)


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
        (ProfileSettings(points=1), "points is 1; allowed: from 2 to the interval's 8 sizes"),
        (ProfileSettings(points=9), "points is 9; allowed: from 2 to the interval's 8 sizes"),
        (ProfileSettings(repetitions=0), "repetitions is 0; allowed: at least 1"),
        (ProfileSettings(intervals=()), "at least one interval"),
    ],
)
def test_impossible_plans_are_usage_errors(plan: ProfileSettings, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan.passes()


def test_a_plan_measures_the_sizes_of_the_paper() -> None:
    passes = ProfileSettings().passes()
    assert {each.request_bytes for each in passes} == {8 * KIB, 64 * KIB, 4 * MIB}
    assert len(passes) == 4 * 4 * 3
    assert {each.file_bytes for each in passes} == {1200 * MIB}


@pytest.mark.parametrize("points", [2, 5])
def test_exact_lines_give_exact_ratios_at_every_size(points: int) -> None:
    found = profile(LineDrive(LINES), ProfileSettings(points=points, repetitions=2))
    assert tuple(found.ratios["read"].by_size) == BOITO2015_SIZES
    for size in BOITO2015_SIZES:
        truth = (4_000_000 + 2 * size) / (10_000 + 2 * size)
        assert found.ratios["read"].by_size[size] == pytest.approx(truth, rel=1e-9)
        assert found.curves["write", True].times_ns[size] == pytest.approx(20_000 + 6 * size)
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
    for size, time in estimated([LARGE], times).times_ns.items():
        assert time == pytest.approx(base + slope * size)


def test_each_interval_has_a_line_of_its_own() -> None:
    # 1 ns a byte to 64 KiB, 3 ns behind that; where both meet the first line counts.
    times = {8 * KIB: 8192.0, 64 * KIB: 65_536.0, 4 * MIB: 65_536.0 + 3 * (4 * MIB - 64 * KIB)}
    curve = estimated([SMALL, LARGE], times).times_ns
    assert list(curve) == sorted(curve) == list(BOITO2015_SIZES)
    assert curve[40 * KIB] == pytest.approx(40 * KIB)
    assert curve[64 * KIB] == pytest.approx(64 * KIB)
    assert curve[MIB] == pytest.approx(65_536 + 3 * (MIB - 64 * KIB))


def test_repetitions_count_by_their_mean() -> None:
    each = WholePass("read", False, 8 * KIB, 80 * KIB)
    passes = [MeasuredPass(0, each, 1000, None), MeasuredPass(1, each, 3000, None)]
    repeated = gathered(passes)
    assert repeated == {("read", False): {8 * KIB: [100.0, 300.0]}}
    assert centres(repeated).times_ns == {("read", False): {8 * KIB: 200.0}}


def test_times_that_give_no_ratio_are_refused() -> None:
    with pytest.raises(RunError, match="two or more are needed"):
        estimated([SMALL, LARGE], {8 * KIB: 1.0, 64 * KIB: 2.0})
    # A line through a steep rise is below 0 at its beginning, which was not measured.
    steep = {48 * KIB: 10.0, 64 * KIB: 10_000.0}
    with pytest.raises(RunError, match="measure the ends of the interval"):
        estimated([SMALL], steep)


def test_a_line_that_falls_below_0_goes_through_the_ends() -> None:
    # By least squares -1,600 at 8 KiB; the other interval keeps its own line.
    steep = {8 * KIB: 10.0, 16 * KIB: 10.0, 24 * KIB: 10.0, 64 * KIB: 10_000.0}
    flat = {128 * KIB: 10_000.0, MIB: 16_000.0, 4 * MIB: 10_000.0}
    curve = estimated([SMALL, LARGE], steep | flat, variances=dict.fromkeys(steep | flat, 0.01))
    assert curve.through_ends == (SMALL,)
    assert curve.times_ns[8 * KIB] == pytest.approx(10.0)
    assert curve.times_ns[40 * KIB] == pytest.approx(10.0 + 9990.0 * 32 / 56)
    assert curve.times_ns[64 * KIB] == pytest.approx(10_000.0)
    line = np.polyfit([64 * KIB, *flat], [10_000.0, *flat.values()], 1)
    assert curve.times_ns[2 * MIB] == pytest.approx(np.polyval(line, 2 * MIB))
    # What lies between the ends counts no more for how sure it is.
    assert curve.variances[8 * KIB] == pytest.approx(0.01)
    assert estimated([LARGE], {64 * KIB: 10_000.0} | flat).through_ends == ()


def test_one_direction_alone_has_ratios() -> None:
    passes = [
        MeasuredPass(0, WholePass("read", is_random, size, MIB), 1000 * size, None)
        for is_random, size in itertools.product((False, True), (8 * KIB, 64 * KIB))
    ]
    found = from_passes(passes, [SMALL])
    assert list(found.ratios) == ["read"]
    assert isinstance(found.ratios["read"], Ratios)
    assert found.ratios["read"].mean == pytest.approx(1.0)


def test_a_disk_is_estimated_from_its_ends() -> None:
    # Lines fit a disk's access times: what is left is the curve between the ends.
    with SimulatedDrive.open("sim:graphene-hds72103", varies=False) as drive:
        found = profile(drive, ProfileSettings(repetitions=1, file_bytes=200 * MIB))
        sizes = BOITO2015_SIZES[::8]
        truth = ratios_by_size(drive, "read", 200 * MIB, sizes=sizes)
    for size, ratio in zip(sizes, truth, strict=True):
        assert found.ratios["read"].by_size[size] == pytest.approx(ratio, rel=0.06)


def test_intervals_are_students() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    for degrees in (1, 5, 40):
        assert student(0.90, degrees) == pytest.approx(scipy_stats.t.ppf(0.95, degrees))
    # Mean 10, standard error 0.5: 2.015 of them at 5 degrees of freedom are 10.1 %.
    just_not = [10 + 0.5 * 6**0.5 * step for step in (-1, -1, 0, 0, 1, 1)]
    scale = np.std(just_not, ddof=1) / (0.5 * 6**0.5)
    known = [10 + (each - 10) / scale for each in just_not]
    assert student(0.90, 5) * 0.5 == pytest.approx(1.0075, abs=1e-4)
    assert not is_known(known)
    assert is_known([10 + (each - 10) * 0.98 for each in known])
    assert not is_known([5.0])
    assert known_after([5.0] * 9) == 6
    # Of n ones and twos half each the standard error is 0.5 / sqrt(n - 1): 0.15 over Student's
    # 1.69 after 33 values and more; at 33 the mean is a little less than 1.5.
    assert known_after([1, 2] * 40) == 34


def test_knots_go_straight_from_one_size_to_the_next() -> None:
    times = {8 * KIB: 10.0, 16 * KIB: 30.0, 64 * KIB: 36.0}
    curve = estimated([SMALL], times, "knots").times_ns
    assert curve[8 * KIB] == 10
    assert curve[16 * KIB] == 30
    assert curve[32 * KIB] == pytest.approx(32)
    rows = weights([SMALL], list(times), "knots")
    assert rows[64 * KIB] == {64 * KIB: 1.0}
    assert rows[48 * KIB] == pytest.approx({16 * KIB: 1 / 3, 64 * KIB: 2 / 3})


def truth(direction: str, size: int) -> float:
    (base, slope), (random_base, random_slope) = LINES[direction, False], LINES[direction, True]
    return (random_base + random_slope * size) / (base + slope * size)


@pytest.mark.parametrize(
    ("repetitions", "half_width", "drive"),
    [
        (4, 0.15, (0.2, (0.02, 3))),
        ("auto", 0.15, (0.2, (0.02, 3))),
        # As the presets vary: close to each other, and rare passes far off.
        ("auto", 0.03, (0.03, (0.01, 13))),
    ],
)
def test_intervals_hold_the_true_ratio_as_often_as_they_say(repetitions, half_width, drive) -> None:
    plan = ProfileSettings(
        repetitions=repetitions, half_width_ratio=half_width, file_bytes=40 * MIB
    )
    sigma, outlier = drive
    inside, errors = [], []
    for seed in range(60):
        found = profile(NoisyDrive(sigma, seed, outlier), plan)
        for direction in ("read", "write"):
            for size in (8 * KIB, 64 * KIB, MIB, 4 * MIB):
                low, high = found.ratios[direction].bounds[size]
                inside.append(low <= truth(direction, size) <= high)
                errors.append(found.ratios[direction].by_size[size] / truth(direction, size) - 1)
    # 480 intervals, of which each profile's share their passes.
    assert 0.91 <= np.mean(inside) <= 0.99
    if repetitions == "auto":
        assert np.median(np.abs(errors)) < half_width * 0.6745 / 1.96 * 1.25


def test_repetitions_go_on_until_ratios_are_known() -> None:
    loose, tight = (
        profile(
            NoisyDrive(0.2, 1),
            ProfileSettings(repetitions="auto", half_width_ratio=target, file_bytes=40 * MIB),
        )
        for target in (0.30, 0.10)
    )
    for found, target in ((loose, 0.30), (tight, 0.10)):
        assert all(each.half_width_ratio <= target for each in found.ratios.values())
    assert len(tight.measured) >= 4 * len(loose.measured)
    stopped = profile(
        NoisyDrive(0.2, 1),
        ProfileSettings(repetitions="auto", most_repetitions=8, file_bytes=40 * MIB),
    )
    assert len(stopped.measured) == 8 * 4 * 3
    still = profile(LineDrive(LINES), ProfileSettings(repetitions="auto"))
    # Six tests and sizes a direction: three times for twelve degrees of freedom.
    assert len(still.measured) == 3 * 4 * 3


def test_a_full_profile_measures_every_size_until_its_mean_is_known() -> None:
    plan = ProfileSettings((SMALL,), is_full=True, file_bytes=MIB)
    found = profile(NoisyDrive(0.2, 3), plan)
    repeated = gathered(found.measured)
    assert {len(by_size) for by_size in repeated.values()} == {8}
    for by_size in repeated.values():
        for times in by_size.values():
            assert is_known(times)
            assert len(times) == 6 or not is_known(times[:-1])
    means = found.centres["read"].times_ns["read", True]
    assert found.curves["read", True].times_ns == pytest.approx(means)


def test_a_pass_whose_times_disagree_is_named_until_most_agree() -> None:
    read: Test = ("read", False)
    pairs = {size * KIB: [100.0, 101.0] for size in range(1, 9)}
    assert undecided({read: pairs}) == []
    # Nobody knows which of the two is right, one of three is known to be wrong.
    assert undecided({read: {**pairs, KIB: [100.0, 900.0]}}) == [(read, KIB)]
    assert undecided({read: {**pairs, KIB: [100.0, 900.0, 101.0]}}) == []
    assert undecided({read: {**pairs, KIB: [100.0, 900.0, 101.0, 950.0]}}) == [(read, KIB)]
    # Directions have spreads of their own.
    wide = {size: [100.0, 120.0] for size in pairs}
    assert undecided({read: pairs, ("write", False): wide}) == []
    assert undecided({read: {KIB: [5.0]}}) == []


def test_a_repetition_far_off_counts_nothing_once_it_is_outvoted() -> None:
    read: Test = ("read", False)
    pairs = {size * KIB: [100.0, 101.0] for size in range(2, 9)}
    with_it, without = (
        centres({read: {**pairs, KIB: values}}, "robust").times_ns[read]
        for values in ([100.0, 900.0, 101.0], [100.0, 101.0])
    )
    assert with_it[KIB] == pytest.approx(without[KIB], rel=1e-6)
    # Of two symmetric logarithms the location is their mean.
    assert without[KIB] == pytest.approx((100 * 101) ** 0.5)


def test_one_repetition_that_nothing_confirms_counts_for_little() -> None:
    read: Test = ("read", False)
    repeated = {read: {KIB: [100.0], 2 * KIB: [100.0, 102.0], 4 * KIB: [100.0, 99.0]}}
    robust = centres(repeated, "robust")
    for variances in (robust.variances(read), robust.near_variances(read)):
        # It may be one of fifty that take five times as long: a spread of 23 %.
        assert variances[KIB] ** 0.5 == pytest.approx(0.23, abs=0.01)
        assert variances[2 * KIB] ** 0.5 < 0.02
    # By the mean nothing is outvoted, and nothing counts less.
    assert centres(repeated, "mean").variances(read)[KIB] ** 0.5 < 0.02


def test_near_sizes_of_a_test_spread_alike_and_far_ones_need_not() -> None:
    # A tenth at 8 to 32 KiB in random order, a hundredth elsewhere.
    rng = np.random.default_rng(4)
    sizes = [KIB << power for power in range(3, 13)]

    def sigma(is_random: bool, size: int) -> float:
        return 0.1 if is_random and size <= 32 * KIB else 0.01

    repeated = {
        ("read", is_random): {
            size: list(100 * np.exp(rng.normal(0, sigma(is_random, size), 8))) for size in sizes
        }
        for is_random in (False, True)
    }
    for how in ("mean", "robust"):
        summed = centres(repeated, how)
        for test in repeated:
            near = summed.near_variances(test)
            pooled = summed.variances(test)
            assert list(near) == list(pooled) == sizes
            for size in (8 * KIB, 16 * KIB, MIB, 4 * MIB):
                exact = sigma(test[1], size) ** 2 / 8
                assert abs(near[size] - exact) < abs(pooled[size] - exact)
    # By hand: two sizes an octave apart with 3 and 1 degrees, and all of them as two more.
    summed = centres({("read", False): {KIB: [1.0, 1.1, 0.9, 1.0], 2 * KIB: [1.0, 1.0]}})
    variance, near = 0.02 / 4, np.exp(-0.5 * (np.log(2) / 0.7) ** 2)
    expected = (0.02 + 2 * variance) / (3 + near + 2)
    assert summed.spread_at(("read", False), [KIB])[0] == pytest.approx(expected)


def test_what_reveals_most_for_its_time_is_chosen_first() -> None:
    plan = ProfileSettings((SMALL,), repetitions="auto", file_bytes=MIB)
    # 10 us a request whatever its size, one test: 1280 us at 8 KiB, 320 at 32, 160 at 64.
    times: dict[Test, dict[int, float]] = {("read", False): dict.fromkeys(SMALL.sizes, 10_000.0)}
    ends = (8 * KIB, 64 * KIB)
    words = {"measured": ends, "times_ns": times}
    sizes = [8 * KIB, 32 * KIB, 64 * KIB]
    # In lines through 8, 32 and 64 these count 2.9, 2.6 and 3.2 of eight sizes, 64 KiB most a us.
    assert affordable(plan, sizes, 1, **words, left_ns=170_000) == [64 * KIB]
    assert affordable(plan, sizes, 1, **words, left_ns=480_000) == [32 * KIB, 64 * KIB]
    assert affordable(plan, sizes, 2, **words, left_ns=480_000) == [64 * KIB]
    assert affordable(plan, sizes, 1, **words, left_ns=1_760_000) == sizes
    assert affordable(plan, sizes, 1, **words, left_ns=-1.0) == []


def test_what_auto_adds_keeps_to_the_time() -> None:
    def measured(limit_ns: float | None):
        plan = ProfileSettings(
            points="auto",
            repetitions="auto",
            half_width_ratio=0.03,
            file_bytes=40 * MIB,
            most_measuring_ns=limit_ns,
        )
        return profile(NoisyDrive(0.06, 5, (0.0, 1)), plan)

    least, free = measured(0.0), measured(None)
    # Both ends of both intervals, once.
    assert len(least.measured) == 4 * 3
    assert not least.ratios["read"].bounds
    # Not again the smallest, of which a pass takes seven times as long as of the others.
    more = measured(1.6 * least.measuring_ns).centres["read"].repetitions["read", True]
    assert more[8 * KIB] == 1
    assert len(more) > 3
    limit = 2.5 * least.measuring_ns
    limited = measured(limit)
    assert len(least.measured) < len(limited.measured)
    # Single passes are some per cent longer or shorter than they should be.
    assert least.measuring_ns < limited.measuring_ns < 1.1 * limit < free.measuring_ns
    counts = limited.centres["read"].repetitions["read", True]
    assert counts[4 * MIB] > counts[8 * KIB]


def test_partial_writes_settle_longer_with_large_requests() -> None:
    plan = ProfileSettings(share=0.001, settling_bytes={True: (32 * MIB, 128 * MIB)})
    # Half of the way at a quarter of the largest size.
    sent = {size: plan.one_pass("write", True, size).requests for size in (4 * MIB, MIB)}
    assert sent == {4 * MIB: 32, MIB: 80}
    assert plan.one_pass("write", False, 4 * MIB).requests == 4

    def pilot(is_random: bool, marks: tuple[int, ...]) -> MeasuredPass:
        each = WholePass("write", is_random, 4 * MIB, 400 * MIB)
        return MeasuredPass(0, each, marks[-1], None, 10, marks)

    # 120 MiB in a tenth of the time that they usually take: 108 of them were absorbed.
    steady = pilot(True, tuple(range(1000, 11_000, 1000)))
    absorbs = pilot(False, (100, 200, 300, *range(1300, 8300, 1000)))
    assert plan.after([absorbs, steady]).settling_bytes == {False: (432 * MIB, 432 * MIB)}
    # Half a MiB of a request of 4: a small buffer, where the order is no chance.
    half = (9875, *range(19_875, 109_875, 10_000))
    small = {is_random: pilot(is_random, half) for is_random in (False, True)}
    found = plan.after([small[False], small[True]]).settling_bytes
    assert found == {False: (120 * MIB, 120 * MIB), True: (32 * MIB, 120 * MIB)}
    assert not plan.after([pilot(False, steady.marks_ns), small[True]]).settling_bytes


def test_partial_passes_send_a_share_of_the_file() -> None:
    plan = ProfileSettings(share=0.01, repetitions=1)
    sent = {
        is_random: {
            one.request_bytes: (one.requests, one.whole_requests)
            for one in plan.passes()
            if one.is_random is is_random
        }
        for is_random in (False, True)
    }
    small = {8 * KIB: (1536, 153_600), 64 * KIB: (192, 19_200)}
    # At least 16 of the random ones; in order four, and 8 MiB.
    assert sent == {False: small | {4 * MIB: (4, 300)}, True: small | {4 * MIB: (16, 300)}}
    assert ProfileSettings(share=1e-6).one_pass("read", False, MIB).requests == 8
    found = profile(LineDrive(LINES), ProfileSettings(share=0.01, repetitions=1))
    assert found.ratios["read"].by_size[MIB] == pytest.approx(truth("read", MIB))


@pytest.mark.parametrize(("most", "is_full"), [(5, True), (1, False)])
def test_too_few_repetitions_to_know_how_sure_are_refused(most: int, is_full: bool) -> None:
    plan = ProfileSettings(repetitions="auto", most_repetitions=most, is_full=is_full)
    with pytest.raises(UsageError, match=f"at least {most + 1}$"):
        plan.check()
