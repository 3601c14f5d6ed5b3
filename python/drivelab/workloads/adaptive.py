"""The design ``adaptive``: a run starts with a few workloads and chooses the others as it goes.

The run may choose from a pool of scrambled Sobol points, whose first part is spread evenly over the
ranges, and from independent draws from the same ranges. A model of the measurements so far
(`drivelab.models.adaptive`) decides which points of the pool come next. Always a fifth of the
measurements are draws, because intervals need workloads drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from drivelab._core import SECTOR_BYTES
from drivelab.errors import UsageError
from drivelab.workloads.calibration import calibration_count
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from drivelab.workloads.ranges import population, workload_at
from drivelab.workloads.selection import Accepts, Selection, narrowed
from drivelab.workloads.sobol import independent_draws
from drivelab.workloads.sobol_points import sobol_points

#: Workloads in each pool.
CANDIDATES: Final = 5_120
#: Measurements in the first round.
START: Final = 60
# A fifth of the most that a run measures.
_DRAWS: Final = 1_280


@dataclass(frozen=True)
class Pools:
    """The workloads that a run may choose from.

    Attributes
    ----------
    spread
        Scrambled Sobol points; any first part of them is spread evenly.
    drawn
        Independent draws from the same ranges.
    left_out
        Number of workloads in both that the drive cannot run.
    population
        Population of both, in words.
    """

    spread: Sequence[Characteristics]
    drawn: Sequence[Characteristics]
    left_out: int
    population: str


@dataclass(frozen=True)
class AdaptiveDesign:
    """A design that chooses workloads by earlier results.

    Attributes
    ----------
    name
        Name as the user writes it.
    count
        Number of workloads that `select` returns: those of the first round.
    """

    name: str
    count: int = START
    distinct: None = None
    population: None = None

    def pools(
        self, seed: int, accepts: Accepts | None = None, block_bytes: int = SECTOR_BYTES
    ) -> Pools:
        """Return the pools for a run on a drive; parameters as in `select`.

        Raises
        ------
        UsageError
            When the drive can run too few of them to start with.
        """
        points = islice(sobol_points(f"adaptive {seed}"), CANDIDATES)
        spread, drawn = (
            [each for each in workloads if accepts is None or accepts(each)]
            for workloads in (
                [workload_at(point, block_bytes) for point in points],
                independent_draws(_DRAWS, f"adaptive {seed}", block_bytes),
            )
        )
        if len(spread) < START:
            raise UsageError(
                f"this drive can express {len(spread)} of the {CANDIDATES} workloads of "
                f"{self.name}, which are too few to choose from; the design huang2011 has more "
                "workloads of one direction"
            )
        left_out = CANDIDATES + _DRAWS - len(spread) - len(drawn)
        return Pools(spread, drawn, left_out, narrowed(population(block_bytes), left_out))

    def select(
        self, seed: int, accepts: Accepts | None = None, block_bytes: int = SECTOR_BYTES
    ) -> Selection:
        """Return the first `count` workloads, without using any results.

        Parameters
        ----------
        seed
            Key of the scrambling and of the draws.
        accepts
            Returns whether the drive can run a workload; by default every one.
        block_bytes
            Sizes and strides are multiples of this.
        """
        pools = self.pools(seed, accepts, block_bytes)
        drawn = calibration_count(self.count)
        return Selection(
            workloads=[*pools.spread[: self.count - drawn], *pools.drawn[:drawn]],
            parts=Parts(self.count - drawn, drawn),
            distinct=None,
            left_out=pools.left_out,
            population=pools.population,
        )


def adaptive(name: str, count: int | None) -> AdaptiveDesign:  # noqa: ARG001
    """Return the design; a run's number of measurements is set elsewhere."""
    return AdaptiveDesign(name)
