"""The workloads of Huang et al. 2011, section IV.A.

The paper's values: write ratio 0, 25, 50, 75, 100 %; sizes 1, 4, 16, 64, 256 KiB in each
direction; queue depth 1, 4, 16, 64; randomness 0, 50, 100 %; strides 1, 64, 128, 256 KiB.
Each direction of a workload has one access pattern: sequential (randomness 0, stride 0; the paper
names the pattern but gives no stride for it), random (randomness 50 or 100 %, without a stride) or
stride (randomness 0 with a stride).

The patterns of the two directions vary independently. The paper ran 12,000 workloads and does not
say which; these values give 14,980 distinct ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.grid import GridDesign

WRITE_RATIOS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
QUEUE_DEPTHS: Final = (1, 4, 16, 64)
SIZES: Final = tuple(kibibytes * 1024 for kibibytes in (1, 4, 16, 64, 256))
STRIDES: Final = tuple(kibibytes * 1024 for kibibytes in (1, 64, 128, 256))
# (randomness, stride) of one direction.
PATTERNS: Final = ((0.0, 0), (0.5, 0), (1.0, 0), *((0.0, stride) for stride in STRIDES))
DISTINCT: Final = 14_980
_POPULATION: Final = (
    f"the {DISTINCT:,} distinct workloads of Huang et al. 2011's value sets, each equally likely: "
    "write ratio 0, 25, 50, 75, 100 %; queue depth 1, 4, 16, 64; sizes 1, 4, 16, 64, 256 KiB; in "
    "each direction sequential, 50 % or 100 % random, or a stride of 1, 64, 128, 256 KiB"
)


def huang2011(name: str, count: int | None) -> GridDesign:
    """Return the paper's workloads, or a balanced sample of `count` of them."""
    return GridDesign(name, _combinations, _POPULATION, count)


def _combinations() -> Iterator[Characteristics]:
    """Yield every combination; characteristics without effect take only one value."""
    direction = tuple(product(SIZES, PATTERNS))
    for write_ratio, queue_depth in product(WRITE_RATIOS, QUEUE_DEPTHS):
        reads = direction if write_ratio < 1 else direction[:1]
        writes = direction if write_ratio > 0 else direction[:1]
        for read, write in product(reads, writes):
            read_size, (read_random, read_stride) = read
            write_size, (write_random, write_stride) = write
            yield Characteristics(
                write_ratio=write_ratio,
                queue_depth=queue_depth,
                read_size=read_size,
                write_size=write_size,
                read_random=read_random,
                write_random=write_random,
                read_stride=read_stride,
                write_stride=write_stride,
            )
