"""Stimuli that several drives have run: the result of each drive, and which is better.

A stimulus of a test is a cell: block size, mix, order, threads and queue depth. The five rounds of
its measurement window give a mean and a 95 % interval. A drive wins against another if it is better
and the two intervals do not overlap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from drivelab.errors import UsageError
from drivelab.pts.cell_exhibits import block_text, mix_text
from drivelab.pts.compared import Compared
from drivelab.student import Interval, mean_interval


@dataclass(frozen=True)
class Measure:
    """The quantity that a test is judged by.

    Attributes
    ----------
    name, unit
        Words for people.
    key
        Key in the cells' rounds of a result.
    factor
        Factor from the result's unit.
    is_time
        Whether smaller is better.
    """

    name: str
    unit: str
    key: str
    factor: float
    is_time: bool

    @property
    def label(self) -> str:
        """Return the label of an axis."""
        return f"{self.name} ({self.unit})"


IOPS: Final = Measure("throughput", "IOPS", "iops_rounds", 1.0, is_time=False)
#: By test; other tests are judged by IOPS.
MEASURES: Final[Mapping[str, Measure]] = {
    "throughput": Measure(
        "bandwidth", "MB/s", "bandwidth_bytes_per_second_rounds", 1e-6, is_time=False
    ),
    "latency": Measure("mean latency", "ms", "latency_ns_mean_rounds", 1e-6, is_time=True),
}

#: Section, sizes as text, share of reads, order; threads and queue depth if a test varies them,
#: else 0: an operator chooses them, and drives with different ones are compared.
Key = tuple[str, str, float, bool, int, int]


def measure_of(test: str) -> Measure:
    """Return the quantity that a test is judged by."""
    return MEASURES.get(test, IOPS)


def cells_of(result: Mapping[str, Any], measure: Measure) -> dict[Key, list[float]]:
    """Return the rounds of every cell of a result, in the measure's unit.

    If a quantity has no value without requests, cells with an empty round are left out.
    """
    return {
        key: [measure.factor * value for value in cell[measure.key]]
        for key, cell in _keyed(result)
        if cell[measure.key] and None not in cell[measure.key]
    }


def efficiency_of(result: Mapping[str, Any]) -> dict[Key, float]:
    """Return requests per joule (IOPS/W) of the cells in which a drive's energy is known."""
    return {
        key: float(cell["iops_per_watt"])
        for key, cell in _keyed(result)
        if cell.get("iops_per_watt") is not None
    }


def _keyed(result: Mapping[str, Any]) -> list[tuple[Key, Mapping[str, Any]]]:
    every = [(section["name"], cell) for section in result["sections"] for cell in section["cells"]]
    varies = len({(cell["threads"], cell["queue_depth"]) for _, cell in every}) > 1
    keyed = []
    for section, cell in every:
        sizes = ",".join(f"{size}:{share:g}" for size, share in cell["sizes"])
        if cell["block_bytes"] is not None:
            sizes = str(cell["block_bytes"])
        outstanding = (cell["threads"], cell["queue_depth"]) if varies else (0, 0)
        key = (section, sizes, float(cell["read_ratio"]), bool(cell["is_random"]), *outstanding)
        keyed.append((key, cell))
    return keyed


def words_of(key: Key) -> str:
    """Return a cell in words, ``4 KiB R/W 0/100``; threads and queue depth if they vary."""
    _, sizes, read_ratio, is_random, threads, depth = key
    if threads:
        return f"{threads} threads x {depth}"
    if not sizes.isdigit():
        return "composite"
    order = "" if is_random else " sequential"
    return f"{block_text(int(sizes))} {mix_text(round(100 * read_ratio))}{order}"


@dataclass(frozen=True)
class Standing:
    """A drive's position for one stimulus.

    Attributes
    ----------
    drive
        The drive.
    interval
        Its mean and interval, in the measure's unit.
    wins, losses, undecided
        Number of drives whose intervals are worse, better, or overlap its own.
    """

    drive: Compared
    interval: Interval
    wins: int
    losses: int
    undecided: int


def standings(
    drives: Sequence[Compared], rounds: Sequence[Sequence[float]], measure: Measure
) -> list[Standing]:
    """Compare each drive with every other."""
    intervals = [mean_interval(values) for values in rounds]
    found = []
    for place, (drive, interval) in enumerate(zip(drives, intervals, strict=True)):
        others = [other for at, other in enumerate(intervals) if at != place]
        results = [beats(interval, other, measure) for other in others]
        found.append(
            Standing(drive, interval, results.count(1), results.count(-1), results.count(0))
        )
    return found


def beats(one: Interval, other: Interval, measure: Measure) -> int:
    """Return who is better: 1 the first, -1 the second, 0 if the intervals overlap."""
    if one.ends is None or other.ends is None:
        return 0
    above, below = one.ends[0] > other.ends[1], one.ends[1] < other.ends[0]
    if not (above or below):
        return 0
    return 1 if above != measure.is_time else -1


@dataclass(frozen=True)
class Asked:
    """A user's block size and mix, and what was measured there.

    Attributes
    ----------
    block_bytes, read_ratio
        As the user asked.
    is_measured
        Whether it is a cell of the test; else its rounds are interpolated between cells.
    rounds
        Rounds of each drive, in the measure's unit.
    """

    block_bytes: int
    read_ratio: float
    is_measured: bool
    rounds: tuple[tuple[float, ...], ...]

    @property
    def words(self) -> str:
        """Return it as words for a heading."""
        return f"{block_text(self.block_bytes)} {mix_text(round(100 * self.read_ratio))}"


def at_size_and_mix(
    cells: Sequence[Mapping[Key, list[float]]], block_bytes: int, read_ratio: float
) -> Asked:
    """Find a size and mix on every drive, interpolated if it is not a cell.

    Between cells the logarithm of a rate or time is assumed to be linear in the share of reads and
    in the logarithm of the size, round by round.

    Parameters
    ----------
    cells
        Cells of each drive, from `cells_of`.
    block_bytes, read_ratio
        What is asked for.

    Raises
    ------
    UsageError
        If it is outside of what every drive has run; the error gives the range.
    """
    grids = [_grid(of) for of in cells]
    sizes = sorted(set.intersection(*({size for size, _ in grid} for grid in grids)))
    mixes = sorted(set.intersection(*({mix for _, mix in grid} for grid in grids)))
    if not sizes or not mixes:
        raise UsageError("the drives have no block size and mix in common")
    if not (sizes[0] <= block_bytes <= sizes[-1] and mixes[0] <= read_ratio <= mixes[-1]):
        raise UsageError(
            f"{block_text(block_bytes)} with a read ratio of {read_ratio:g} is outside of what was "
            f"measured; allowed: {block_text(sizes[0])} to {block_text(sizes[-1])}, read ratios "
            f"{mixes[0]:g} to {mixes[-1]:g}"
        )
    is_measured = block_bytes in sizes and read_ratio in mixes
    _refuse_gaps(grids, block_bytes, read_ratio, sizes, mixes)
    across, along = _between(sizes, block_bytes, math.log), _between(mixes, read_ratio, float)
    rounds = []
    for grid in grids:
        corners = [
            (weight * other, grid[size, mix])
            for size, weight in across
            for mix, other in along
            if weight * other > 0
        ]
        count = min(len(values) for _, values in corners)
        rounds.append(
            tuple(
                corners[0][1][number]
                if len(corners) == 1
                else _geometric([(weight, values[number]) for weight, values in corners])
                for number in range(count)
            )
        )
    return Asked(block_bytes, read_ratio, is_measured, tuple(rounds))


def _refuse_gaps(
    grids: Sequence[Mapping[tuple[int, float], list[float]]],
    block_bytes: int,
    read_ratio: float,
    sizes: Sequence[int],
    mixes: Sequence[float],
) -> None:
    """Refuse a point next to a cell in which a drive has no value, because it served nothing."""
    needed = [
        (size, mix)
        for size, _ in _between(sizes, block_bytes, math.log)
        for mix, _ in _between(mixes, read_ratio, float)
    ]
    for cell in needed:
        if any(cell not in grid for grid in grids):
            raise UsageError(
                f"a drive has no value at {block_text(cell[0])} {mix_text(round(100 * cell[1]))}; "
                "choose another --block-size and --read-ratio"
            )


def _grid(cells: Mapping[Key, list[float]]) -> dict[tuple[int, float], list[float]]:
    """Return cells by size and mix, for each size."""
    return {
        (int(sizes), mix): rounds
        for (_, sizes, mix, *_), rounds in cells.items()
        if sizes.isdigit()
    }


def _between(known: Sequence[Any], asked: float, scale: Any) -> list[tuple[Any, float]]:
    """Return the two known values around the one asked for, and their weights."""
    if asked in known:
        return [(next(value for value in known if value == asked), 1.0)]
    above = next(value for value in known if value > asked)
    below = max(value for value in known if value < asked)
    share = (scale(asked) - scale(below)) / (scale(above) - scale(below))
    return [(below, 1 - share), (above, share)]


def _geometric(weighted: Sequence[tuple[float, float]]) -> float:
    if any(value <= 0 for _, value in weighted):
        return 0.0
    return math.exp(sum(weight * math.log(value) for weight, value in weighted))
