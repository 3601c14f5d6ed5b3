"""The workloads behind the eight workload-specific models of Huang et al. 2011.

Section III.C: read only, write only, random, sequential, random read, random write, sequential read
and sequential write. Section IV.A gives their values: each workload only reads or only writes,
sizes from 1 to 256 KiB, randomness from 0 to 100 %, strides from 1 to 256 KiB, queue depth from 1.
These values are finer than those of `drivelab.workloads.huang2011`. The paper gives the ends of the
ranges but not the steps. Here sizes, strides and queue depths (up to 64, as there) are powers of
two, and randomness has steps of 10 %.

A workload has one access pattern: sequential (nothing random, no stride), random (10 to 100 % of
the requests, no stride) or stride (nothing random). Read-only and write-only workloads have any of
the three; the other six models have the pattern in their name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Final, Literal

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.grid import GridDesign
from drivelab.workloads.huang2011_sweeps import QUEUE_DEPTHS, SIZES

Access = Literal["sequential", "random", "stride"]

STRIDES: Final = SIZES
RANDOM_RATIOS: Final = tuple(tenth / 10 for tenth in range(1, 11))
# (randomness, stride) of each access pattern.
_PATTERNS: Final[dict[Access, tuple[tuple[float, int], ...]]] = {
    "sequential": ((0.0, 0),),
    "random": tuple((ratio, 0) for ratio in RANDOM_RATIOS),
    "stride": tuple((0.0, stride) for stride in STRIDES),
}
_EVERY_ACCESS: Final[tuple[Access, ...]] = ("sequential", "random", "stride")


@dataclass(frozen=True)
class SpecificModel:
    """One of the paper's workload-specific models.

    Attributes
    ----------
    name
        Name in table IV.
    write_ratios
        0 for reads, 1 for writes.
    accesses
        Its access patterns.
    """

    name: str
    write_ratios: tuple[float, ...]
    accesses: tuple[Access, ...]

    def design(self, count: int | None = None) -> GridDesign:
        """Return its workloads, or a balanced sample of this size; all of them if there are fewer.

        Parameters
        ----------
        count
            At least 1; None takes all.
        """
        combinations = _source(self.write_ratios, self.accesses)
        everything = GridDesign(self.name, combinations, self._population)
        if count is None or count >= everything.distinct:
            return everything
        return GridDesign(f"{self.name}:{count}", combinations, self._population, count)

    @property
    def _population(self) -> str:
        return (
            f"the workloads of Huang et al. 2011's workload-specific model {self.name}, each "
            "equally likely"
        )


@cache
def _source(
    write_ratios: tuple[float, ...], accesses: tuple[Access, ...]
) -> Callable[[], Iterator[Characteristics]]:
    """Return one function per model, so that a grid's combinations are expanded only once."""
    return partial(_combinations, write_ratios, accesses)


def _combinations(
    write_ratios: tuple[float, ...], accesses: tuple[Access, ...]
) -> Iterator[Characteristics]:
    patterns = [pattern for access in accesses for pattern in _PATTERNS[access]]
    for write_ratio, depth, size, (random, stride) in product(
        write_ratios, QUEUE_DEPTHS, SIZES, patterns
    ):
        yield Characteristics(
            write_ratio=write_ratio,
            queue_depth=depth,
            read_size=size,
            write_size=size,
            read_random=random,
            write_random=random,
            read_stride=stride,
            write_stride=stride,
        ).without_ineffective()


#: In the order of table IV.
SPECIFIC_MODELS: Final = (
    SpecificModel("rd_only", (0.0,), _EVERY_ACCESS),
    SpecificModel("wr_only", (1.0,), _EVERY_ACCESS),
    SpecificModel("rand_only", (0.0, 1.0), ("random",)),
    SpecificModel("seq_only", (0.0, 1.0), ("sequential",)),
    SpecificModel("rand_rd", (0.0,), ("random",)),
    SpecificModel("rand_wr", (1.0,), ("random",)),
    SpecificModel("seq_read", (0.0,), ("sequential",)),
    SpecificModel("seq_wr", (1.0,), ("sequential",)),
)
