"""Scrambled Sobol points: random, yet evenly spread in every one and two dimensions.

The direction numbers are those of Joe and Kuo 2008 (new-joe-kuo-6.21201), the order is Gray code.
Scrambling multiplies by a random matrix and adds a digital shift (Matousek 1998). Each point alone
is then uniform, and all together remain a net. SciPy is not used, because designs must be the same
bytes with every version of every library, and NumPy's generators do not guarantee that.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

DIMENSIONS: Final = 8
_BITS: Final = 30
#: Coordinates are whole numbers below this; divided by it they lie in the unit cube.
SCALE: Final = 1 << _BITS

# Degree and coefficients of the primitive polynomial, and the first direction numbers, for each
# dimension except the first.
_JOE_KUO: Final[tuple[tuple[int, int, tuple[int, ...]], ...]] = (
    (1, 0, (1,)),
    (2, 1, (1, 3)),
    (3, 1, (1, 3, 1)),
    (3, 2, (1, 1, 1)),
    (4, 1, (1, 1, 3, 3)),
    (4, 4, (1, 3, 5, 13)),
    (5, 2, (1, 1, 5, 5, 17)),
)


def sobol_points(key: str | None) -> Iterator[tuple[int, ...]]:
    """Yield the points of the sequence in `DIMENSIONS` dimensions.

    Parameters
    ----------
    key
        Key of the random numbers for scrambling; the same key gives the same points on every
        machine. ``None`` gives the unscrambled sequence.

    Yields
    ------
    tuple of int
        Coordinates, 0 to `SCALE` - 1; `SCALE` points.
    """
    numbers = [_direction_numbers(dimension) for dimension in range(DIMENSIONS)]
    point = [0] * DIMENSIONS
    if key is not None:
        # Only random() itself is promised to stay the same in later versions of Python.
        uniform = random.Random(f"sobol {key}").random  # noqa: S311
        numbers = [_scrambled(of_one, uniform) for of_one in numbers]
        point = [_random_bits(uniform, _BITS) for _ in range(DIMENSIONS)]
    for index in range(1, SCALE):
        yield tuple(point)
        changed = (index & -index).bit_length() - 1
        point = [value ^ of_one[changed] for value, of_one in zip(point, numbers, strict=True)]
    yield tuple(point)


def _direction_numbers(dimension: int) -> list[int]:
    """Return what each bit of the index flips in a coordinate (Joe and Kuo 2008, eq. 2)."""
    if dimension == 0:
        return [1 << (_BITS - 1 - bit) for bit in range(_BITS)]
    degree, coefficients, first = _JOE_KUO[dimension - 1]
    numbers = list(first)
    for place in range(degree, _BITS):
        number = numbers[place - degree] ^ (numbers[place - degree] << degree)
        for back in range(1, degree):
            if coefficients >> (degree - 1 - back) & 1:
                number ^= numbers[place - back] << back
        numbers.append(number)
    return [number << (_BITS - 1 - place) for place, number in enumerate(numbers)]


def _scrambled(numbers: list[int], uniform: Callable[[], float]) -> list[int]:
    """Multiply each number, as a vector of bits, by a random triangular matrix.

    A bit flips itself and, at random, less significant bits. This only permutes the half, the
    quarter and so on that a point falls into.
    """
    columns = [(1 << bit) | _random_bits(uniform, bit) for bit in range(_BITS)]
    scrambled = []
    for number in numbers:
        product = 0
        for bit, column in enumerate(columns):
            if number >> bit & 1:
                product ^= column
        scrambled.append(product)
    return scrambled


def _random_bits(uniform: Callable[[], float], count: int) -> int:
    return int(uniform() * (1 << count))
