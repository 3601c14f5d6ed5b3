"""The design ``sobol:N``: workloads from the continuous ranges.

Four fifths are scrambled Sobol points, spread evenly, for training. One fifth are independent draws
from the same ranges, to calibrate intervals. A larger N only adds workloads to both.
"""

from __future__ import annotations

import random
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
from drivelab.workloads.sobol_points import DIMENSIONS, SCALE, sobol_points

# No campaign measures more, and a mistyped number would fill the memory.
_MOST: Final = 1_000_000


@dataclass(frozen=True)
class SobolDesign:
    """Workloads from the continuous ranges.

    Attributes
    ----------
    name
        Name as the user writes it: ``sobol:2000``.
    count
        Number of workloads in both parts together.
    """

    name: str
    count: int
    distinct: None = None
    population: None = None

    def select(
        self, seed: int, accepts: Accepts | None = None, block_bytes: int = SECTOR_BYTES
    ) -> Selection:
        """Return the workloads, and the number that the drive cannot run.

        Parameters
        ----------
        seed
            Key of the scrambling and of the draws.
        accepts
            Returns whether the drive can run a workload; by default every one. The population then
            consists of the workloads that it can run.
        block_bytes
            Sizes and strides are multiples of this.

        Raises
        ------
        UsageError
            When the drive can run none of them.
        """
        drawn = calibration_count(self.count)
        points = sobol_points(f"training {seed}")
        spread = [workload_at(point, block_bytes) for point in islice(points, self.count - drawn)]
        training, calibration = (
            [each for each in workloads if accepts is None or accepts(each)]
            for workloads in (spread, independent_draws(drawn, str(seed), block_bytes))
        )
        if not training:
            raise UsageError(
                f"this drive can express none of the workloads of {self.name}; the design "
                "huang2011 has more workloads of one direction"
            )
        left_out = self.count - len(training) - len(calibration)
        return Selection(
            workloads=training + calibration,
            parts=Parts(len(training), len(calibration)),
            distinct=None,
            left_out=left_out,
            population=narrowed(population(block_bytes), left_out),
        )


def sobol(name: str, count: int | None) -> SobolDesign:
    """Return the design of `count` workloads.

    Raises
    ------
    UsageError
        When `count` is more than a million.
    """
    if count is None or count > _MOST:
        raise UsageError(f"{name} is too many; allowed: sobol:1 to sobol:{_MOST}")
    return SobolDesign(name, count)


def independent_draws(count: int, key: str, block_bytes: int) -> list[Characteristics]:
    """Draw independent workloads from the ranges; `key` is the key of the random numbers."""
    # Only random() itself is promised to stay the same in later versions of Python.
    uniform = random.Random(f"calibration {key}").random  # noqa: S311
    return [
        workload_at([int(uniform() * SCALE) for _ in range(DIMENSIONS)], block_bytes)
        for _ in range(count)
    ]
