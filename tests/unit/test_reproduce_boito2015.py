"""Boito et al. 2015 reproduced: what its numbers are made of."""

from __future__ import annotations

import statistics

import pytest

from drivelab.drives.simulated import SimulatedDrive
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
from drivelab.serra.plan import ProfilePlan
from drivelab.serra.profile import profile
from drivelab.serra.spread import is_known
from drivelab.workloads.whole_pass import KIB, MIB, WholePass

FILE = 40 * MIB


@pytest.fixture(scope="module")
def graphene() -> KnownDrive:
    return KnownDrive.simulate(MACHINES[1], [FILE])


def test_a_known_pass_takes_what_the_simulator_takes(graphene) -> None:
    # In order nothing but the factor varies.
    work = [(7, WholePass("read", False, 512 * KIB, FILE))]
    (known,) = graphene.measure_passes(work, seed=3)
    with SimulatedDrive.open("sim:graphene-hds72103") as drive:
        (simulated,) = drive.measure_passes(work, seed=3)
    assert known.duration_ns == pytest.approx(simulated.duration_ns, rel=1e-3)
    truth = graphene.truth(("read", False), FILE)[512 * KIB]
    assert known.access_time_ns == pytest.approx(truth * known.variability_factor, rel=1e-6)


def test_a_full_profile_repeats_each_test_until_its_mean_is_known(graphene) -> None:
    full = graphene.full_profile(FILE, seed=5)
    assert len(full.repetitions) == 4 * 134
    assert min(full.repetitions) == 6
    # Fitted to 17 by class; of 536 tests the mean has a standard error of 2.
    assert 11 <= statistics.fmean(full.repetitions) <= 23
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


def test_errors_are_of_the_truth_by_hand(graphene) -> None:
    found = profile(graphene, ProfilePlan(repetitions=2, file_bytes=FILE, seed=1))
    read = next(one for one in ratio_errors(graphene, "2", found, FILE) if one.direction == "read")
    truth = graphene.true_ratios("read", FILE)
    errors = sorted(abs(found.ratios["read"].by_size[size] / truth[size] - 1) for size in truth)
    assert read.error == pytest.approx((errors[66] + errors[67]) / 2)
    assert read.passes == 3 * 2
    # Graphene's preset: sigma 0.02, correlated 0.02; the median of a normal number is 0.6745.
    assert read.bound == pytest.approx(0.67449 * (2 * 0.02**2) ** 0.5 * (2 / 6) ** 0.5, 1e-4)


def test_medians_and_shares_are_of_the_cases_named() -> None:
    errors = [
        EstimationError("A", kind, direction, False, 1, 2, FILE, error)
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


def test_whole_passes_keep_to_their_time(graphene) -> None:
    full = {FILE: graphene.full_profile(FILE, seed=5)}
    for one in whole_errors(graphene, 2, full):
        assert full[FILE].measuring_ns / one.measuring_ns >= 20 * 0.8
    one, _, four = (
        {each.measuring_ns for each in paper_errors(graphene, 1) if each.setting == setting}
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
