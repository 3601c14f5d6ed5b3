"""Continuous ranges of workloads, as a population to draw from.

Eight uniform numbers determine a workload. The ends of the ranges have extra probability; otherwise
pure reads, sequential and fully random workloads would never be drawn. Coordinates are whole
numbers in units of 2**-30, and so is all arithmetic, so that a workload is the same on every
machine.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from drivelab.errors import UsageError
from drivelab.units import format_size
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.sobol_points import SCALE

MAX_QUEUE_DEPTH: Final = 64
MIN_SIZE_BYTES: Final = 1024
MAX_SIZE_BYTES: Final = 256 * 1024
MAX_STRIDE_BYTES: Final = 256 * 1024

# A ratio is 0 in one of this many workloads, and 1 in as many; a stride is 0 in one of this many.
_RATIO_END: Final = 10
_STRIDE_ZERO: Final = 4
# Between the ends, ratios have steps of one over this.
_RATIO_STEPS: Final = 10_000


def population(block_bytes: int) -> str:
    """Describe the population in words."""
    return (
        "write ratio and randomness 0 in a tenth and 1 in a tenth of the workloads, otherwise even "
        "between; queue depth 1 to 64 and sizes 1 to 256 KiB even in the logarithm, rounded down; "
        "strides 0 in a quarter, otherwise even up to 256 KiB; sizes and strides are multiples of "
        f"{block_bytes} bytes; characteristics independent of one another"
    )


def workload_at(point: Sequence[int], block_bytes: int) -> Characteristics:
    """Return the workload at a point of the unit cube.

    Parameters
    ----------
    point
        Eight coordinates in the order of the characteristics, 0 to `SCALE` - 1.
    block_bytes
        Sizes and strides are multiples of this.

    Raises
    ------
    UsageError
        When the blocks are larger than the largest size.
    """
    if block_bytes > MAX_SIZE_BYTES:
        raise UsageError(
            f"sizes end at {format_size(MAX_SIZE_BYTES)}, and this drive's blocks have "
            f"{format_size(block_bytes)}; give a CSV of workloads"
        )
    write, depth, read_size, write_size, read_random, write_random, *strides = point
    read_stride, write_stride = (_stride(each, block_bytes) for each in strides)
    return Characteristics(
        write_ratio=_ratio(write),
        queue_depth=_even_in_logarithm(depth, 1, MAX_QUEUE_DEPTH),
        read_size=_size(read_size, block_bytes),
        write_size=_size(write_size, block_bytes),
        read_random=_ratio(read_random),
        write_random=_ratio(write_random),
        read_stride=read_stride,
        write_stride=write_stride,
    ).without_ineffective()


def _ratio(coordinate: int) -> float:
    if coordinate * _RATIO_END < SCALE:
        return 0.0
    if (SCALE - coordinate) * _RATIO_END <= SCALE:
        return 1.0
    inner = coordinate * _RATIO_END - SCALE
    steps = _RATIO_STEPS - 1
    return (1 + inner * steps // ((_RATIO_END - 2) * SCALE)) / _RATIO_STEPS


def _size(coordinate: int, block_bytes: int) -> int:
    least = -(-MIN_SIZE_BYTES // block_bytes)
    blocks = _even_in_logarithm(coordinate, least, MAX_SIZE_BYTES // block_bytes)
    return blocks * block_bytes


def _stride(coordinate: int, block_bytes: int) -> int:
    inner = coordinate * _STRIDE_ZERO - SCALE
    if inner < 0:
        return 0
    blocks = MAX_STRIDE_BYTES // block_bytes
    return (1 + inner * blocks // ((_STRIDE_ZERO - 1) * SCALE)) * block_bytes


def _even_in_logarithm(coordinate: int, least: int, most: int) -> int:
    """Return the whole number below ``least * ((most + 1) / least) ** u``.

    So each number n has the weight log((n + 1) / n), including the largest one.
    """
    return least + bisect_right(thresholds(least, most), coordinate)


@lru_cache(maxsize=16)
def thresholds(least: int, most: int) -> tuple[int, ...]:
    """Return the coordinate from which each number above `least` is chosen.

    The logarithms of two machines may differ in the last bit. That changes no threshold: tests show
    that each is at least a thousand such bits away from a whole number.
    """
    span = math.log((most + 1) / least)
    return tuple(
        math.ceil(SCALE * (math.log(number / least) / span))
        for number in range(least + 1, most + 1)
    )
