"""Boito et al. 2015 reproduced: how its numbers are computed."""

from __future__ import annotations

import statistics

import pytest

from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.profile.measured import profile
from drivelab.profile.measured_pass import measured_passes
from drivelab.profile.settings import ProfileSettings
from drivelab.profile.spread import is_known
from drivelab.reproduce import boito2015
from drivelab.reproduce.boito2015_drives import MACHINES, TESTS, KnownDrive
from drivelab.reproduce.boito2015_errors import (
    EstimationError,
    median_of,
    paper_errors,
    ratio_errors,
    share_below,
    whole_errors,
)
from drivelab.workloads.whole_pass import KIB, MIB, WholePass

FILE = 40 * MIB


@pytest.fixture(scope="module")
def graphene() -> KnownDrive:
    return KnownDrive.simulate(MACHINES[1], [FILE])


def test_a_known_pass_takes_what_the_simulator_takes(graphene) -> None:
    # In order nothing but the factor varies.
    work = [(7, WholePass("read", False, 512 * KIB, FILE))]
    (known,) = measured_passes(graphene, work, seed=3)
    with SimulatedDrive.open("sim:graphene-hds72103") as drive:
        (simulated,) = measured_passes(drive, work, seed=3)
    assert known.duration_ns == pytest.approx(simulated.duration_ns, rel=1e-3)
    truth = graphene.truth(("read", False), FILE)[512 * KIB]
    assert known.access_time_ns == pytest.approx(truth * known.variability_factor, rel=1e-6)


def test_a_full_profile_repeats_each_test_until_its_mean_is_known(graphene) -> None:
    full = graphene.full_profile(FILE, seed=5)
    assert len(full.repetitions) == 4 * 134
    assert min(full.repetitions) == 6
    # Fitted to 13; of 536 tests the mean has a standard error of 1.3.
    assert 9 <= statistics.fmean(full.repetitions) <= 17
    truth = graphene.truth(TESTS[0], FILE)[8 * KIB]
    count = full.repetitions[0]
    factors = graphene.varying.variability_factors(
        range(count), seed=5, seconds=truth * (FILE // (8 * KIB)) / 1e9
    )
    assert is_known(factors)
    assert not is_known(factors[:-1])
    mean = full.access_times_ns[TESTS[0]][8 * KIB]
    assert mean == pytest.approx(truth * statistics.fmean(factors))
    assert full.measuring_ns > 6 * graphene.execution_ns(FILE) * 0.5


def test_errors_are_of_the_truth_and_of_the_full_profile_by_hand(graphene) -> None:
    full = graphene.full_profile(FILE, seed=5)
    found = profile(graphene, ProfileSettings(repetitions=2, file_bytes=FILE, seed=1))
    read = next(one for one in ratio_errors(graphene, "2", found, full) if one.direction == "read")
    truth = graphene.true_ratios("read", FILE)
    in_order, random = (full.access_times_ns["read", is_random] for is_random in (False, True))
    for error, known in (
        (read.error, truth),
        (read.full_error, {size: random[size] / time for size, time in in_order.items()}),
    ):
        errors = sorted(abs(found.ratios["read"].by_size[size] / known[size] - 1) for size in known)
        assert error == pytest.approx((errors[66] + errors[67]) / 2)
    assert read.passes == 3 * 2 * 2
    bounds = found.ratios["read"].bounds
    held = [size for size in truth if bounds[size][0] <= truth[size] <= bounds[size][1]]
    assert read.inside == len(held) / 134
    # A line through the ends of an interval and nothing that varies.
    times = [graphene.truth(("read", is_random), FILE) for is_random in (False, True)]
    small, large = 64 * KIB, 4 * MIB
    shares = {size: (size - small) / (large - small) for size in truth if size > small}
    lines = [
        {size: each[small] + share * (each[large] - each[small]) for size, share in shares.items()}
        for each in times
    ]
    first = [
        {
            size: each[8 * KIB] + (size - 8 * KIB) / (56 * KIB) * (each[small] - each[8 * KIB])
            for size in truth
            if size <= small
        }
        for each in times
    ]
    shape = [
        abs(curves[1][size] / curves[0][size] / truth[size] - 1)
        for curves in (first, lines)
        for size in curves[0]
    ]
    assert read.shape == pytest.approx(statistics.median(shape))


def test_the_bound_is_the_least_that_the_shortest_passes_leave(graphene) -> None:
    full = graphene.full_profile(FILE, seed=5)
    found = profile(graphene, ProfileSettings(repetitions=4, file_bytes=FILE, seed=1))
    read = next(one for one in ratio_errors(graphene, "4", found, full) if one.direction == "read")
    passes = [one for one in found.measured if one.whole_pass.direction == "read"]
    total = sum(one.duration_ns for one in passes)
    c, d = (
        min(one.duration_ns for one in passes if one.whole_pass.is_random == is_random)
        for is_random in (False, True)
    )
    # By trying: so many passes in order, the rest of the time random ones.  Graphene's preset has
    # sigma 0.02, correlated 0.02; the median of a normal number is 0.6745.
    tried = [
        0.67449 * (2 * 0.02**2 * (1 / n + d / (total - n * c))) ** 0.5
        for n in (total / c * share / 1000 for share in range(1, 1000))
    ]
    assert read.bound == pytest.approx(min(tried), rel=1e-3)
    assert read.bound < read.error


def test_the_order_of_a_small_file_is_chance_and_of_flash_none(graphene) -> None:
    truth = graphene.truth(("read", True), FILE)
    passes = [WholePass("read", True, size, FILE) for size in truth]
    times = dict.fromkeys(truth, 0.0)
    with SimulatedDrive.open("sim:graphene-hds72103", varies=False) as drive:
        for seed in range(10, 26):
            for one in measured_passes(drive, list(enumerate(passes)), seed=seed):
                times[one.whole_pass.request_bytes] += one.access_time_ns / 16
    # Of sixteen orders the mean is a quarter as far off as one.
    error = statistics.median(abs(times[size] / truth[size] - 1) for size in truth)
    assert graphene.order_error("read", FILE) == pytest.approx(error, rel=0.3)
    assert error > 0.01
    flash = next(each for each in MACHINES if each.name == "Edel")
    assert KnownDrive.simulate(flash, [4 * MIB]).order_error("write", 4 * MIB) < 1e-3


def test_medians_and_shares_are_of_the_cases_named() -> None:
    errors = [
        EstimationError("A", kind, direction, False, 1, 2, FILE, 2 * error, error)
        for kind, direction, error in (
            ("HDD", "read", 0.1),
            ("HDD", "read", 0.3),
            ("HDD", "read", 0.2),
            ("SSD", "read", 0.9),
            ("SSD", "write", 0.5),
        )
    ]
    assert median_of(errors, kind="HDD", direction="read") == 0.2
    assert median_of(errors, kind=None, direction="read") == pytest.approx(0.25)
    assert share_below(errors, 0.2, direction="read") == 0.5
    assert share_below(errors, 0.2, of="error", direction="read") == 0.25


def test_whole_passes_keep_to_their_time(graphene) -> None:
    full = {FILE: graphene.full_profile(FILE, seed=5)}
    for one in whole_errors(graphene, 2, full):
        assert full[FILE].measuring_ns / one.measuring_ns >= 20 * 0.8
    one, _, four = (
        {each.measuring_ns for each in paper_errors(graphene, 1, full) if each.setting == setting}
        for setting in ("1", "2", "4")
    )
    assert 2 < max(four) / max(one) < 8


def test_the_papers_numbers_are_its_own() -> None:
    # Sums and medians that the paper prints of its own tables.
    assert sum(one.minutes[0] for one in MACHINES) == pytest.approx(338.10, abs=0.02)
    assert sum(one.minutes[1] for one in MACHINES) == pytest.approx(1317.96, abs=0.05)
    hours = sum(one.profile_hours for one in MACHINES)
    assert hours * 60 / 338.10 == pytest.approx(168, abs=0.5)
    assert boito2015.TABLE_4[None][0][0] == 5.2
    assert {one.kind for one in MACHINES} == set(boito2015.TABLE_3) - {None}
    # Section 4.2's means of the classes, and section 4.3's "from 13 to 62".
    for kind, repetitions in boito2015.CLASS_REPETITIONS.items():
        of_class = [one.repetitions for one in MACHINES if one.kind == kind]
        assert statistics.fmean(of_class) == pytest.approx(repetitions)
    every = [one.repetitions for one in MACHINES]
    assert (min(every), max(every)) == (13, 62)
