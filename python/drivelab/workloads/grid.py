"""Designs that consist of every combination of chosen values, and balanced samples of them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from drivelab._core import SECTOR_BYTES
from drivelab.errors import UsageError
from drivelab.workloads.calibration import calibration_count, shuffled
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from drivelab.workloads.selection import Accepts, Selection, narrowed

# A draw takes the most balanced of this many random candidates. With more, balance hardly improves
# and the sample is less random; with fewer, rare combinations are missed.
_CANDIDATES: Final = 128


@dataclass(frozen=True)
class GridDesign:
    """All combinations of sets of values, or a balanced sample of them.

    Attributes
    ----------
    name
        Name as the user writes it: ``huang2011`` or ``huang2011:300``.
    combinations
        Returns the workloads; workloads with the same meaning count once.
    population
        Description of the combinations.
    count
        Size of the sample; ``None`` takes all.
    """

    name: str
    combinations: Callable[[], Iterable[Characteristics]]
    population: str
    count: int | None = None

    @property
    def _everything(self) -> tuple[Characteristics, ...]:
        return _distinct(self.combinations)

    @property
    def distinct(self) -> int:
        """Number of distinct workloads in the whole design."""
        return len(self._everything)

    def select(
        self,
        seed: int,
        accepts: Accepts | None = None,
        block_bytes: int = SECTOR_BYTES,  # noqa: ARG002
    ) -> Selection:
        """Return the workloads to measure, and the number that the drive cannot run.

        The calibration share is drawn from all workloads alike. The training share is a balanced
        sample of the others. A larger count only adds workloads to both.

        Parameters
        ----------
        seed
            Key of the random numbers; the same seed gives the same workloads in the same order.
        accepts
            Returns whether the drive can run a workload; by default every one.
        block_bytes
            Unused: the drive refuses workloads that are not multiples of it.

        Raises
        ------
        UsageError
            When there are fewer workloads than requested.
        """
        everything = self._everything
        possible = [each for each in everything if accepts is None or accepts(each)]
        left_out = len(everything) - len(possible)
        count = len(possible) if self.count is None else self.count
        if count > len(possible) or not possible:
            held = f"the design has {len(everything)} distinct workloads"
            if left_out:
                held += f", and this drive cannot express {left_out} of them"
            asked = f"{self.name} asks for {'some' if self.count is None else count}; {held}"
            if possible:
                asked += f"; at most {self.name.partition(':')[0]}:{len(possible)}"
            raise UsageError(asked)
        # Independent of the count, so that a larger count keeps the parts of a smaller one.
        order = shuffled(possible, seed)
        calibration = order[: calibration_count(count)]
        reserved = set(order[: calibration_count(len(possible))])
        pool = [each for each in possible if each not in reserved]
        training = balanced_sample(pool, count - len(calibration), seed)
        return Selection(
            workloads=training + calibration,
            parts=Parts(len(training), len(calibration)),
            distinct=len(everything),
            left_out=left_out,
            population=narrowed(self.population, left_out),
        )


@cache
def _distinct(
    combinations: Callable[[], Iterable[Characteristics]],
) -> tuple[Characteristics, ...]:
    """Expand the combinations once for all designs that use them."""
    distinct: dict[object, Characteristics] = {}
    for workload in combinations():
        distinct.setdefault(workload.key(), workload.without_ineffective())
    return tuple(distinct.values())


def balanced_sample(
    population: Sequence[Characteristics], count: int, seed: int
) -> list[Characteristics]:
    """Draw distinct workloads so that all values of a characteristic occur equally often.

    Each draw takes one of the write ratios that were drawn least and still have workloads. Of 128
    random workloads with this ratio, it takes the one whose other values were drawn least. So every
    first part of a sample is balanced too, and is also the first part of every longer sample.

    Parameters
    ----------
    population
        Distinct workloads.
    count
        Number of workloads to draw; at most all.
    seed
        Key of the random numbers.
    """
    # Only random() itself is promised to stay the same in later versions of Python.
    uniform = random.Random(seed).random  # noqa: S311
    tally = _Tally(population)
    pools: dict[float, list[int]] = {}
    for place, workload in enumerate(population):
        pools.setdefault(workload.write_ratio, []).append(place)
    drawn = dict.fromkeys(sorted(pools), 0)
    sample = []
    for _ in range(count):
        fewest = min(drawn[ratio] for ratio in drawn)
        ratios = [ratio for ratio in drawn if drawn[ratio] == fewest]
        ratio = ratios[int(uniform() * len(ratios))]
        pool = pools[ratio]
        tries = range(min(_CANDIDATES, len(pool)))
        choice = min(
            (int(uniform() * len(pool)) for _ in tries), key=lambda at: tally.excess(pool[at])
        )
        pool[choice], pool[-1] = pool[-1], pool[choice]
        place = pool.pop()
        tally.draw(place)
        sample.append(population[place])
        drawn[ratio] += 1
        if not pool:
            del drawn[ratio]
    return sample


class _Tally:
    """How much more often than the average each value of each characteristic was drawn.

    The unit is one draw over the least common multiple of the numbers of values. So all numbers are
    whole, and nothing depends on rounding.
    """

    def __init__(self, population: Sequence[Characteristics]) -> None:
        strata = [_strata(workload) for workload in population]
        values: dict[str, dict[float, int]] = {}
        cells = 0
        for stratum in strata:
            for name, value in stratum:
                cells += value not in values.setdefault(name, {})
                values[name].setdefault(value, cells - 1)
        self._excess = [0] * cells
        self._unit = math.lcm(*(len(of_name) for of_name in values.values()))
        self._siblings = {
            cell: tuple(of_name.values())
            for of_name in values.values()
            for cell in of_name.values()
        }
        self._cells = [tuple(values[name][value] for name, value in stratum) for stratum in strata]

    def excess(self, place: int) -> int:
        """Return how much more often than the average the values of a workload were drawn."""
        excess = self._excess
        return sum([excess[cell] for cell in self._cells[place]])

    def draw(self, place: int) -> None:
        """Count a workload as drawn."""
        for cell in self._cells[place]:
            siblings = self._siblings[cell]
            share = self._unit // len(siblings)
            for sibling in siblings:
                self._excess[sibling] -= share
            self._excess[cell] += self._unit


@cache
def _strata(workload: Characteristics) -> list[tuple[str, float]]:
    """Return the characteristics in effect; the stride only if nothing is random.

    If partly random workloads counted too, stride 0 would seem so frequent that hardly any purely
    sequential workload would be drawn.
    """
    values = workload.canonical()
    if values["read_random"] != 0:
        values["read_stride"] = None
    if values["write_random"] != 0:
        values["write_stride"] = None
    return [(name, value) for name, value in values.items() if value is not None]
