"""Passes over a file: their kinds, their times, and the ratios that follow."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from drivelab._core import preset_names, preset_text
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import read_preset
from drivelab.drives.presets.values import fitted_figures
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.simulated.passes import ratios_by_size
from drivelab.drives.simulated.published import compare, figure_text
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.profile.measured_pass import MeasuredPass, measured_passes
from drivelab.reproduce.boito2015_drives import MACHINES
from drivelab.workloads.whole_pass import (
    BOITO2015_FILES,
    BOITO2015_SIZES,
    KIB,
    MIB,
    Direction,
    WholePass,
)

SMALL = (Path(__file__).parents[3] / "small_drive.toml").read_text()
BOITO2015 = {
    "pastel-hds7225sc": (2.24, 2.02),
    "graphene-hds72103": (2.67, 1.89),
    "bali-st91000640ns": (2.61, 1.74),
    "chimint-st3300657ss-h": (3.48, 1.95),
    "suno-st9300653ss": (2.76, 1.71),
    "taurus-st3300657ss": (3.36, 1.62),
    "micron-c400": (1.08, 0.99),
    "intel-s3500": (1.04, 1.01),
    "samsung-840": (1.10, 1.38),
}


def generated(one: WholePass, seed: int, index: int) -> tuple[bytes, list[int], list[int]]:
    [stream] = one.streams()
    [columns] = stream.generate(seed, index, one.requests)
    return columns


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> SimulatedDrive:
    path = tmp_path_factory.mktemp("drive") / "small.toml"
    path.write_text(SMALL)
    return SimulatedDrive.open(f"sim:{path}")


def measured(drive: SimulatedDrive, passes: list[WholePass], **how) -> list[MeasuredPass]:
    plan = MeasurementPlan(seed=3, **how)
    return [MeasuredPass.of(one) for one in drive.measure(list(enumerate(passes)), plan)]


def test_the_sizes_of_the_paper() -> None:
    first = [size * KIB for size in (8, 16, 24, 32, 40, 48, 56, 64, 96, 128)]
    assert BOITO2015_SIZES[:10] == tuple(first)
    assert BOITO2015_SIZES[-2:] == (4064 * KIB, 4 * MIB)
    assert len(BOITO2015_SIZES) == 134
    assert BOITO2015_FILES == (40 * MIB, 200 * MIB, 400 * MIB, 800 * MIB, 1200 * MIB)


def test_a_pass_is_what_the_generator_makes_of_it() -> None:
    each = WholePass("write", is_random=True, request_bytes=24 * KIB, file_bytes=MIB)
    directions, offsets, sizes = generated(each, 1, 2)
    assert (each.requests, each.transferred_bytes) == (42, 42 * 24 * KIB)
    assert set(directions) == {1}
    assert set(sizes) == {24 * KIB}
    assert sorted(offsets) == [24 * KIB * place for place in range(42)]
    assert offsets != sorted(offsets)


def test_a_partial_pass_stops_in_the_order_of_the_whole_file() -> None:
    whole = WholePass("write", is_random=True, request_bytes=24 * KIB, file_bytes=MIB)
    part = WholePass("write", True, 24 * KIB, MIB, first_requests=10)
    assert (part.requests, part.whole_requests, part.is_partial) == (10, 42, True)
    assert part.transferred_bytes == 10 * 24 * KIB
    offsets = generated(whole, 1, 2)[1]
    assert generated(part, 1, 2)[1] == offsets[:10]
    # More than there are, and none at all.
    more, none = (WholePass("read", False, 24 * KIB, MIB, first_requests=n) for n in (99, 0))
    assert (more.requests, more.is_partial, none.requests) == (42, False, 1)


def test_what_a_partial_pass_did_not_send_goes_on_like_its_later_half(small) -> None:
    part = WholePass("read", False, 512, 512_000, first_requests=100)
    # 60 requests took 6000 ns, the 40 behind them 8000: the 900 others take 200 ns each.
    result = MeasuredPass(0, replace(part, first_requests=100), 14_000, None, 60, (6_000, 13_000))
    assert result.access_time_ns == (14_000 + 900 * 200) / 1000
    assert MeasuredPass(0, part, 14_000, None).access_time_ns == 140
    (measured_part,) = measured(small, [WholePass("read", True, 8 * KIB, MIB, first_requests=64)])
    (whole,) = measured(small, [WholePass("read", True, 8 * KIB, MIB)])
    assert measured_part.marks_ns[-1] == measured_part.duration_ns < whole.duration_ns
    assert measured_part.access_time_ns == pytest.approx(whole.access_time_ns, rel=0.15)


def test_what_a_cache_absorbed_is_the_time_that_the_beginning_did_not_take() -> None:
    each = WholePass("write", False, 512, 51_200)
    # The first 30 requests take a tenth of the others' 1000 ns for ten: 27 of them were absorbed.
    marks = (100, 200, 300, *range(1300, 8300, 1000))
    result = MeasuredPass(0, each, marks[-1], None, 10, marks)
    assert result.absorbed_bytes == pytest.approx(27 * 512)
    # Nine tenths of it after the third mark.
    assert result.filling_bytes == 30 * 512
    steady = tuple(range(1000, 11_000, 1000))
    assert MeasuredPass(0, each, 10_000, None, 10, steady).absorbed_bytes == 0
    assert MeasuredPass(0, each, 10_000, None, 10, steady).filling_bytes == 0
    assert MeasuredPass(0, each, 10_000, None).absorbed_bytes == 0


def test_times_depend_neither_on_workers_nor_on_other_passes(small) -> None:
    passes = [
        WholePass(direction, is_random, size, MIB)
        for direction in ("write", "read")
        for is_random in (False, True)
        for size in (8 * KIB, 24 * KIB)
    ]
    one, two = (measured(small, passes, workers=workers) for workers in (1, 2))
    assert one == two
    assert [each.whole_pass for each in one] == passes
    (alone,) = measured_passes(small, [(7, passes[7])], seed=3)
    assert alone == one[7]
    assert alone.bandwidth_bytes_per_second == pytest.approx(
        42 * 24 * KIB * 1e9 / alone.duration_ns
    )
    assert alone.access_time_ns == alone.duration_ns / 42


def test_ratios_are_times_of_a_random_pass_over_one_in_order(small) -> None:
    sizes = (8 * KIB, 64 * KIB)
    directions: tuple[Direction, ...] = ("read", "write")
    for direction in directions:
        passes = [WholePass(direction, r, s, MIB) for r in (False, True) for s in sizes]
        times = [each.duration_ns for each in measured(small, passes)]
        expected = [times[2] / times[0], times[3] / times[1]]
        assert ratios_by_size(small, direction, MIB, sizes=sizes, seed=3) == expected


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"request_bytes": 1000}, "request_bytes is 1000; allowed: a multiple of 512"),
        ({"request_bytes": 2 * MIB}, "allowed: at most file_bytes, 1048576"),
        ({"file_bytes": MIB + 1}, "allowed: multiples of 512"),
        ({"direction": "sideways"}, "sideways"),
    ],
)
def test_impossible_passes_are_usage_errors(small, changes, said) -> None:
    values = {"direction": "read", "is_random": False, "request_bytes": 512, "file_bytes": MIB}
    with pytest.raises(UsageError, match=said):
        measured(small, [WholePass(**{**values, **changes})])


def test_a_file_that_the_drive_cannot_hold_or_read_is_refused(small, tmp_path) -> None:
    beyond = WholePass("read", False, 512, MIB, start_bytes=small.capacity_bytes)
    with pytest.raises(UsageError, match="allowed: at most the drive's"):
        measured(small, [beyond])
    path = tmp_path / "fresh.toml"
    path.write_text(SMALL.replace('name = "small"', 'name = "small"\ncondition = "fresh"'))
    with SimulatedDrive.open(f"sim:{path}") as fresh:
        assert fresh.condition == "fresh"
        with pytest.raises(CannotAnswerError, match="has no data to read"):
            measured(fresh, [WholePass("read", False, 512, MIB)])


@pytest.mark.parametrize("name", BOITO2015)
def test_presets_carry_table_6_and_vary(name: str) -> None:
    resolved, _ = read_preset(name).resolved()
    figures = resolved["published"]
    result = [figures[f"sequential_to_random_{which}"] for which in ("read", "write")]
    assert tuple(figure["sequential_to_random_ratio"] for figure in result) == BOITO2015[name]
    assert {figure["tolerance_ratio"] for figure in result} == {0.15}
    assert {figure["range_bytes"] for figure in result} == {1200 * MIB}
    assert resolved["variability"]["sigma"] > 0


def test_presets_vary_as_their_machines_did() -> None:
    variability = {
        each.preset: read_preset(each.preset).resolved()[0]["variability"] for each in MACHINES
    }
    factors = {name: settings.pop("outlier_factor") for name, settings in variability.items()}
    # The assumed shape is the same; only the size of outliers differs between machines.
    assert len({tuple(sorted(settings.items())) for settings in variability.values()}) == 1
    for one, other in itertools.permutations(MACHINES, 2):
        if one.kind == other.kind and one.repetitions > other.repetitions:
            assert factors[one.preset] > factors[other.preset]


# All nine drives stand in VALIDATION.md.
@pytest.mark.parametrize("name", ["pastel-hds7225sc", "chimint-st3300657ss-h"])
def test_disks_and_arrays_give_the_published_ratios(name: str) -> None:
    with SimulatedDrive.open(f"sim:{name}", varies=False) as drive:
        for figure in drive.preset["published"].values():
            compared = compare(drive, figure)
            assert compared.holds, (name, compared)
            text = figure_text(compared.quantity, compared.published)
            assert text == f"{compared.published:.2f}"


def test_what_was_fitted_of_an_array_stands_in_its_member() -> None:
    # One window of the member to the writes, its command to the reads.
    both = {"sequential_to_random_read", "sequential_to_random_write"}
    assert fitted_figures(preset_text("taurus-st3300657ss")) == both
    assert fitted_figures(preset_text("pastel-hds7225sc")) == {"sequential_to_random_write"}
    assert fitted_figures(preset_text("micron-c400")) == set()
    assert set(BOITO2015) <= set(preset_names())


def test_reads_of_flash_are_much_alike_in_any_order() -> None:
    # At sizes between the paper's ends; the means over all 134 stand in VALIDATION.md.
    with SimulatedDrive.open("sim:micron-c400", varies=False) as drive:
        sizes = (256 * KIB, MIB, 4 * MIB)
        ratios = ratios_by_size(drive, "read", 40 * MIB, sizes=sizes)
        assert all(0.9 <= ratio <= 1.15 for ratio in ratios)


def test_a_switched_off_drive_takes_its_own_time_in_every_pass() -> None:
    each = WholePass("read", False, MIB, 40 * MIB)
    with SimulatedDrive.open("sim:pastel-hds7225sc", varies=False) as drive:
        truths = {one.duration_ns for one in measured(drive, [each] * 5)}
    assert len(truths) == 1
    with SimulatedDrive.open("sim:pastel-hds7225sc") as drive:
        varied = measured(drive, [each] * 5)
    assert len({one.duration_ns for one in varied}) == 5
    for one, truth in zip(varied, itertools.repeat(truths.pop())):
        assert one.duration_ns == pytest.approx(truth * one.variability_factor, rel=1e-3)
