"""Designs: what they hold, how they are sampled, what they refuse."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from drivelab.errors import UsageError
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.design import design_names, parse_design
from drivelab.workloads.huang2011 import PATTERNS, QUEUE_DEPTHS, SIZES, STRIDES, WRITE_RATIOS


@pytest.fixture(scope="module")
def everything() -> list[Characteristics]:
    return parse_design("huang2011").workloads(seed=3)


def drawn_values(workloads: list[Characteristics], name: str) -> Counter[object]:
    values = Counter(workload.canonical()[name] for workload in workloads)
    del values[None]
    return values


def test_huang2011_holds_the_papers_values(everything: list[Characteristics]) -> None:
    design = parse_design("huang2011")
    # Read only and write only: 4 depths of 5 sizes of 7 patterns each. Mixed, 3 ratios: all
    # pairs of a read and a write.
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
    workloads = parse_design("huang2011:300").workloads(seed)
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
    workloads = parse_design("huang2011:60").workloads(seed=5)
    for name in FIELDS[:6]:
        counts = drawn_values(workloads, name).values()
        assert max(counts) - min(counts) <= 2, (name, counts)


def test_samples_depend_on_the_seed_alone() -> None:
    first = parse_design("huang2011:100").workloads(seed=1)
    assert parse_design("huang2011:100").workloads(seed=1) == first
    assert parse_design("huang2011:100").workloads(seed=2) != first
    assert parse_design("huang2011:250").workloads(seed=1)[:100] == first


def test_a_sample_is_pinned() -> None:
    """Guard against a change of the sampler, which would change every campaign."""
    first = parse_design("huang2011:2").workloads(seed=0)
    assert [workload.as_tuple() for workload in first] == [
        (1.0, 64, 4096, 1024, 1.0, 0.5, 0, 0),
        (0.0, 1, 1024, 4096, 0.0, 1.0, 1024, 0),
    ]


def test_what_a_drive_cannot_express_is_left_out_and_counted() -> None:
    def reads_only(workload: Characteristics) -> bool:
        return workload.write_ratio == 0

    selection = parse_design("huang2011").select(seed=0, accepts=reads_only)
    assert len(selection.workloads) == 140
    assert all(map(reads_only, selection.workloads))
    assert (selection.distinct, selection.left_out) == (14980, 14840)
    with pytest.raises(UsageError) as caught:
        parse_design("huang2011:141").select(seed=0, accepts=reads_only)
    assert str(caught.value) == (
        "huang2011:141 asks for 141; the design holds 14980 distinct workloads, "
        "and this drive cannot express 14840 of them"
    )
    with pytest.raises(UsageError, match="this drive cannot express 14980 of them"):
        parse_design("huang2011").select(seed=0, accepts=lambda _: False)


def test_a_sample_is_the_first_part_of_everything(everything: list[Characteristics]) -> None:
    assert parse_design("huang2011:500").workloads(seed=3) == everything[:500]
    assert parse_design("huang2011:14980").distinct == 14980


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown design ''; valid: huang2011, huang2011:N"),
        ("huang", "unknown design 'huang'; valid: huang2011, huang2011:N"),
        ("x" * 1000, "valid: huang2011, huang2011:N"),
        ("huang2011:", "'huang2011:' does not say how many workloads; valid: huang2011"),
        ("huang2011:0", "does not say how many"),
        ("huang2011:-3", "does not say how many"),
        ("huang2011:3.5", "does not say how many"),
        ("huang2011:3:4", "does not say how many"),
        ("huang2011: 3", "does not say how many"),
        ("huang2011:٣", "does not say how many"),
        ("huang2011:" + "9" * 10_000, "does not say how many"),
        (
            "huang2011:14981",
            "huang2011:14981 asks for 14981; the design holds 14980 distinct workloads",
        ),
    ],
)
def test_unknown_designs_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_design(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


def test_every_design_parses_by_its_name() -> None:
    for name in design_names():
        assert parse_design(name).name == name
        assert parse_design(f"{name}:2").name == f"{name}:2"
        assert len(parse_design(f"{name}:2").workloads(seed=0)) == 2


def test_the_order_is_mixed() -> None:
    """Neighbours differ, so that a drift of the drive does not look like a characteristic."""
    workloads = parse_design("huang2011:200").workloads(seed=0)
    same = sum(left.write_ratio == right.write_ratio for left, right in pairwise(workloads))
    assert same < 40
