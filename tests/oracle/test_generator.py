"""The generator against its definition, written again in plain Python.

SplitMix64 (Steele et al. 2014) and xoshiro256++ (Blackman and Vigna 2021) from their
definitions, in unbounded integers cut to 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from drivelab.workloads.characteristics import Characteristics

MASK = 2**64 - 1


def splitmix64(state: int) -> tuple[int, int]:
    """Return the next state and the output."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
    return state, mixed ^ (mixed >> 31)


def rotated(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & MASK


def random_numbers(seed: int, index: int, stream: int) -> Iterator[int]:
    state = 0
    for part in (seed, index, stream):
        _, state = splitmix64(state ^ part)
    words = []
    for _ in range(4):
        state, word = splitmix64(state)
        words.append(word)
    while True:
        first, second, third, fourth = words
        yield (rotated((first + fourth) & MASK, 23) + first) & MASK
        third ^= first
        fourth ^= second
        words = [first ^ fourth, second ^ third, third ^ (second << 17) & MASK, rotated(fourth, 45)]


def happens(numbers: Iterator[int], probability: float) -> bool:
    return (next(numbers) >> 11) < round(probability * 2**53)


def uniform_below(numbers: Iterator[int], bound: int) -> int:
    while True:
        product = next(numbers) * bound
        if product & MASK >= 2**64 % bound:
            return product >> 64


def in_fixed_share(numbers: Iterator[int], probability: float) -> Iterator[bool]:
    """Say in rounds of 64 whether it happens; fractions of an event go on to the next round."""
    carried = Fraction(next(numbers) >> 11, 2**53)
    while True:
        carried += 64 * Fraction(round(probability * 2**53), 2**53)
        events = int(carried)
        carried -= events
        for draws in range(64, 0, -1):
            happens_now = uniform_below(numbers, draws) < events
            events -= happens_now
            yield happens_now


def requests(
    workload: Characteristics, within: tuple[int, int], seed: int, index: int
) -> Iterator[tuple[int, int, int]]:
    start, length = within
    numbers = random_numbers(seed, index, stream=0)
    sizes = (workload.read_size, workload.write_size)
    randoms = (workload.read_random, workload.write_random)
    strides = (workload.read_stride, workload.write_stride)
    places = [uniform_below(numbers, length // size) * size for size in sizes]
    writes = in_fixed_share(numbers, workload.write_ratio)
    while True:
        way = int(next(writes))
        size = sizes[way]
        if happens(numbers, randoms[way]):
            places[way] = uniform_below(numbers, length // size) * size
        yield way, start + places[way], size
        following = places[way] + size + strides[way]
        places[way] = following if following + size <= length else 0


sectors = st.integers(1, 64).map(lambda count: count * 512)


@settings(deadline=None, max_examples=50)
@given(
    workload=st.builds(
        Characteristics,
        write_ratio=st.floats(0, 1),
        read_size=sectors,
        write_size=sectors,
        read_random=st.floats(0, 1),
        write_random=st.floats(0, 1),
        read_stride=st.just(0) | sectors,
        write_stride=st.just(0) | sectors,
    ),
    within=st.tuples(
        st.integers(0, 100).map(lambda count: count * 512),
        st.integers(128, 2**40).map(lambda count: count * 512),
    ),
    seed=st.integers(0, MASK),
    index=st.integers(0, MASK),
)
def test_the_stream_is_its_definition(
    workload: Characteristics, within: tuple[int, int], seed: int, index: int
) -> None:
    [one] = workload.streams()
    start, length = within
    [(directions, offsets, sizes)] = one.within(length, start).generate(seed, index, 200)
    stream = list(zip(directions, offsets, sizes, strict=True))
    assert len(stream) == 200
    expected = requests(workload, within, seed, index)
    for ours, defined in zip(stream, expected, strict=False):
        assert ours == defined
