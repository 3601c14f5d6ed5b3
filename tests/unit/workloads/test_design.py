"""Designs: what they contain, how they are sampled, what they refuse."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from scipy import stats

from drivelab.errors import UsageError
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.design import DESIGNS, design_spellings, parse_design
from drivelab.workloads.huang2011 import PATTERNS, QUEUE_DEPTHS, SIZES, STRIDES, WRITE_RATIOS
from drivelab.workloads.parts import Parts
from drivelab.workloads.selection import Selection


@pytest.fixture(scope="module")
def everything() -> list[Characteristics]:
    return selected("huang2011", 1).workloads


@cache
def selected(design: str, seed: int) -> Selection:
    """Select once for all tests: the whole design takes seconds."""
    return parse_design(design).select(seed)


def training(design: str, seed: int) -> list[Characteristics]:
    selection = selected(design, seed)
    return [selection.workloads[index] for index in selection.parts.range("training")]


def calibration(design: str, seed: int) -> list[Characteristics]:
    selection = selected(design, seed)
    return [selection.workloads[index] for index in selection.parts.range("calibration")]


def drawn_values(workloads: list[Characteristics], name: str) -> Counter[object]:
    values = Counter(workload.canonical()[name] for workload in workloads)
    del values[None]
    return values


def test_huang2011_holds_the_papers_values(everything: list[Characteristics]) -> None:
    design = parse_design("huang2011")
    # Read only and write only: 4 depths of 5 sizes of 7 patterns each. Mixed, 3 ratios: all
    # pairs of a read and a write.
    assert design.population.startswith("the 14,980 distinct workloads of Huang et al. 2011's")
    assert design.distinct == 2 * 4 * 5 * 7 + 3 * 4 * (5 * 7) ** 2 == 14980
    assert len({workload.key() for workload in everything}) == len(everything) == 14980
    expected = {
        "write_ratio": WRITE_RATIOS,
        "queue_depth": QUEUE_DEPTHS,
        "read_size": SIZES,
        "write_size": SIZES,
        "read_random": (0.0, 0.5, 1.0),
        "write_random": (0.0, 0.5, 1.0),
        "read_stride": (0, *STRIDES),
        "write_stride": (0, *STRIDES),
    }
    assert tuple(expected) == FIELDS
    for name, values in expected.items():
        assert set(drawn_values(everything, name)) == set(values)


def test_huang2011_has_one_pattern_a_direction(everything: list[Characteristics]) -> None:
    for workload in everything:
        workload.validate(capacity_bytes=1 << 30)
        assert (workload.read_random, workload.read_stride) in PATTERNS
        assert (workload.write_random, workload.write_stride) in PATTERNS
        assert workload == workload.without_ineffective()


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_a_sample_is_balanced(seed: int) -> None:
    workloads = training("huang2011:375", seed)
    assert len({workload.key() for workload in workloads}) == 300
    assert set(drawn_values(workloads, "write_ratio").values()) == {60}
    # Evenly within three draws: the sampler weighs all characteristics at once and so cannot
    # be exact in each.
    for name in ("queue_depth", "read_size", "write_size", "read_random", "write_random"):
        counts = drawn_values(workloads, name).values()
        assert max(counts) - min(counts) <= 3, (name, counts)
    for random, stride in (("read_random", "read_stride"), ("write_random", "write_stride")):
        fixed = [workload for workload in workloads if workload.canonical()[random] == 0]
        counts = drawn_values(fixed, stride).values()
        assert len(counts) == 5
        assert max(counts) - min(counts) <= 3, (stride, counts)


def test_a_small_sample_is_spread_too() -> None:
    workloads = training("huang2011:75", seed=5)
    assert len(workloads) == 60
    for name in FIELDS[:6]:
        counts = drawn_values(workloads, name).values()
        assert max(counts) - min(counts) <= 2, (name, counts)


def test_samples_depend_on_the_seed_alone() -> None:
    first = parse_design("huang2011:100").select(seed=1)
    assert parse_design("huang2011:100").select(seed=1) == first
    assert parse_design("huang2011:100").select(seed=2).workloads != first.workloads


@pytest.mark.parametrize("part", [training, calibration])
def test_a_sample_is_the_first_part_of_a_larger_one(part) -> None:
    first = part("huang2011:100", 1)
    assert first == part("huang2011:253", 1)[: len(first)]
    assert first == part("huang2011", 1)[: len(first)]


def test_a_sample_is_pinned() -> None:
    """Guard against a change of the sampler, which would change every campaign."""
    first = parse_design("huang2011:5").select(seed=0)
    assert first.parts == Parts(training=4, calibration=1)
    assert [workload.as_tuple() for workload in first.workloads] == [
        (1.0, 16, 4096, 262144, 1.0, 0.0, 0, 131072),
        (0.0, 4, 16384, 4096, 0.0, 1.0, 262144, 0),
        (0.5, 1, 262144, 16384, 1.0, 0.5, 0, 0),
        (0.25, 64, 1024, 65536, 0.0, 1.0, 131072, 0),
        (0.5, 64, 262144, 4096, 1.0, 1.0, 0, 0),
    ]


@pytest.mark.parametrize("count", [1, 4, 5, 9, 300, 14980])
def test_a_fifth_calibrates(count: int) -> None:
    selection = parse_design(f"huang2011:{count}").select(seed=4)
    assert selection.parts == Parts(training=count - count // 5, calibration=count // 5)
    assert len({workload.key() for workload in selection.workloads}) == count
    assert selection.parts.total == len(selection.workloads) == count


def test_calibration_is_drawn_uniformly_from_the_distinct_workloads() -> None:
    """Over many seeds each workload is drawn about equally often.

    The counts of one seed are hypergeometric; their squared deviations over the variance are
    chi-squared with one degree of freedom less than there are workloads, to the first order. A
    share that was balanced as the training part is would draw each of the 5 pure reads 8 times
    as often as each of the 40 mixes.
    """

    def few(workload: Characteristics) -> bool:
        if workload.queue_depth != 4 or (workload.read_random, workload.read_stride) != (1, 0):
            return False
        mixed = workload.write_size <= 65536 and (
            (workload.write_random, workload.write_stride) in PATTERNS[:2]
        )
        return workload.write_ratio == 0 or (workload.write_ratio == 0.5 and mixed)

    seeds, population, each = 500, 5 + 5 * 4 * 2, 9
    design = parse_design(f"huang2011:{population}")
    drawn: Counter[object] = Counter()
    for seed in range(seeds):
        selection = design.select(seed, few)
        chosen = [selection.workloads[index] for index in selection.parts.range("calibration")]
        assert len({workload.key() for workload in chosen}) == len(chosen) == each
        drawn.update(workload.key() for workload in chosen)
    assert len(drawn) == population
    expected = seeds * each / population
    variance = expected * (1 - each / population) * population / (population - 1)
    statistic = sum((count - expected) ** 2 for count in drawn.values()) / variance
    # 99.99 % of the distribution; the seeds are fixed.
    low, high = stats.chi2.ppf([0.00005, 0.99995], population - 1)
    assert low < statistic < high


def test_what_a_drive_cannot_express_is_left_out_and_counted() -> None:
    def reads_only(workload: Characteristics) -> bool:
        return workload.write_ratio == 0

    selection = parse_design("huang2011").select(seed=0, accepts=reads_only)
    assert len(selection.workloads) == 140
    assert all(map(reads_only, selection.workloads))
    assert (selection.distinct, selection.left_out) == (14980, 14840)
    assert selection.population.endswith("KiB; of these, what this drive can run")
    with pytest.raises(UsageError) as caught:
        parse_design("huang2011:141").select(seed=0, accepts=reads_only)
    assert str(caught.value) == (
        "huang2011:141 asks for 141; the design has 14980 distinct workloads, "
        "and this drive cannot express 14840 of them; at most huang2011:140"
    )
    with pytest.raises(UsageError, match="this drive cannot express 14980 of them"):
        parse_design("huang2011").select(seed=0, accepts=lambda _: False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown design ''; valid: adaptive, huang2011, huang2011:N"),
        ("huang", "unknown design 'huang'; did you mean huang2011? valid: adaptive, huang2011"),
        ("x" * 1000, "valid: adaptive, huang2011, huang2011:N"),
        ("huang2011-sweeps:5", "huang2011-sweeps is measured whole: leave :N out"),
        ("huang2011:", "'huang2011:' does not say how many workloads; valid: adaptive"),
        ("huang2011:0", "does not say how many"),
        ("huang2011:-3", "does not say how many"),
        ("huang2011:3.5", "does not say how many"),
        ("huang2011:3:4", "does not say how many"),
        ("huang2011: 3", "does not say how many"),
        ("huang2011:٣", "does not say how many"),
        ("huang2011:" + "9" * 10_000, "does not say how many"),
        (
            "huang2011:14981",
            "huang2011:14981 asks for 14981; the design has 14980 distinct workloads",
        ),
    ],
)
def test_unknown_designs_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_design(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


def test_every_design_parses_as_it_is_spelt() -> None:
    *spellings, file = design_spellings()
    assert file == "FILE.csv"
    assert {spelling.partition(":")[0] for spelling in spellings} == set(DESIGNS)
    for spelling in spellings:
        written = spelling.replace(":N", ":10")
        assert parse_design(written).name == written
        selection = selected(written, 1)
        assert selection.parts.total == len(selection.workloads)
        assert selection.population
        if written != spelling:
            assert len(selection.workloads) == 10


def test_the_order_is_mixed() -> None:
    """Neighbours differ, so that a drift of the drive does not look like a characteristic."""
    workloads = training("huang2011:250", seed=0)
    same = sum(left.write_ratio == right.write_ratio for left, right in pairwise(workloads))
    assert same < 40
