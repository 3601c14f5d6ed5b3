"""The generator's streams have the characteristics that were asked for."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_summary import DirectionSummary, StreamSummary, summarise

from drivelab.errors import UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.huang2011 import PATTERNS

REQUESTS = 1500

ratios = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
sizes = st.integers(1, 256).map(lambda sectors: sectors * 512)
strides = st.one_of(st.just(0), st.integers(1, 512).map(lambda sectors: sectors * 512))
workloads = st.builds(
    Characteristics,
    write_ratio=ratios,
    queue_depth=st.integers(1, 64),
    read_size=sizes,
    write_size=sizes,
    read_random=ratios,
    write_random=ratios,
    read_stride=strides,
    write_stride=strides,
)
# At least 1 GiB: a random request hardly ever lands where a sequential one would.
ranges = st.tuples(
    st.integers(0, 1000).map(lambda sectors: sectors * 512),
    st.integers(2**21, 2**22).map(lambda sectors: sectors * 512),
)
seeds = st.integers(0, 2**64 - 1)


def stream_of(
    workload: Characteristics, within: tuple[int, int], seed: int, index: int = 0
) -> StreamSummary:
    [one] = workload.streams()
    start, length = within
    [(directions, offsets, lengths)] = one.within(length, start).generate(seed, index, REQUESTS)
    stream = zip((bool(each) for each in directions), offsets, lengths, strict=True)
    return summarise(stream, *within)


def plausible(events: int, trials: int, probability: float, missed: int = 0) -> bool:
    """Within six standard deviations of a binomial count, and three events for rare ones.

    As many as `missed` events may have happened unseen. What is impossible or certain is so
    exactly.
    """
    expected = trials * probability
    spread = 6 * math.sqrt(expected * (1 - probability)) + (3 if 0 < probability < 1 else 0)
    return expected - spread - missed <= events <= expected + spread


def random_as_asked(direction: DirectionSummary, random: float, stride: int) -> bool:
    # In a range of 1 GiB, chance puts one random request of 128 KiB in 8192 where it would
    # have gone anyway; more than six of 1500 once in 10^9 streams.
    jumps = len(direction.jumps(stride))
    return plausible(jumps, max(direction.requests - 1, 0), random, missed=6)


@settings(max_examples=60, deadline=None)
@given(workload=workloads, within=ranges, seed=seeds)
def test_a_stream_has_its_characteristics(
    workload: Characteristics, within: tuple[int, int], seed: int
) -> None:
    summary = stream_of(workload, within, seed)
    assert plausible(summary.write.requests, REQUESTS, workload.write_ratio)
    for direction, size, random, stride in (
        (summary.read, workload.read_size, workload.read_random, workload.read_stride),
        (summary.write, workload.write_size, workload.write_random, workload.write_stride),
    ):
        assert set(direction.sizes) <= {size}
        assert direction.outside == 0
        assert random_as_asked(direction, random, stride)
        for place in direction.jumps(stride):
            assert (direction.offsets[place] - within[0]) % size == 0


@settings(max_examples=20, deadline=None)
@given(seed=seeds, size=sizes)
def test_equal_workloads_have_equal_streams(seed: int, size: int) -> None:
    reads = Characteristics(write_ratio=0.0, write_size=size, write_random=0.3)
    assert reads.key() == Characteristics().key()
    within = (0, 2**30)
    assert stream_of(reads, within, seed) == stream_of(Characteristics(), within, seed)


@pytest.mark.parametrize(("random", "stride"), PATTERNS)
def test_patterns_of_huang2011(random: float, stride: int) -> None:
    workload = Characteristics(
        write_ratio=0.5,
        read_random=random,
        read_stride=stride,
        write_random=random,
        write_stride=stride,
    )
    summary = stream_of(workload, (0, 2**30), seed=1)
    for direction in (summary.read, summary.write):
        assert random_as_asked(direction, random, stride)
        if random == 0:
            assert set(direction.gaps) <= {stride} | {gap for gap in direction.gaps if gap < 0}
            assert sum(count for gap, count in direction.gaps.items() if gap < 0) <= 1
        if stride == 0:
            assert direction.unaligned == 0


def test_indices_and_seeds_give_other_streams() -> None:
    within = (0, 2**30)
    base = stream_of(Characteristics(), within, seed=1, index=1)
    assert base != stream_of(Characteristics(), within, seed=1, index=2)
    assert base != stream_of(Characteristics(), within, seed=2, index=1)


def test_a_range_too_small_is_refused() -> None:
    with pytest.raises(UsageError, match="read_size is 4096 bytes; allowed here: at most 512"):
        stream_of(replace(Characteristics(), write_size=512), (0, 512), seed=0)


class TestSummary:
    """The summary itself, on a stream counted by hand."""

    # 0..1 KiB, then 1 KiB further, a jump, a wrap to the start of the range.
    direction = DirectionSummary(4096, 8192, [4096, 6144, 11264, 4096], [1024] * 4)

    def test_gaps(self) -> None:
        assert self.direction.gaps == {1024: 1, 4096: 1, -8192: 1}

    def test_jumps(self) -> None:
        assert self.direction.jumps(1024) == [2]
        assert self.direction.random_share(1024) == pytest.approx(1 / 3)
        assert self.direction.jumps(0) == [1, 2]

    def test_alignment_and_range(self) -> None:
        assert self.direction.unaligned == 0
        assert self.direction.outside == 0
        moved = DirectionSummary(4096, 8192, [4096, 4608, 11776, 0], [1024] * 4)
        assert moved.unaligned == 2
        assert moved.outside == 2
