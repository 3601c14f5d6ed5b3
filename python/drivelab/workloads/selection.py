"""The workloads that a design selects for one drive, their purpose and their population."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts

Accepts = Callable[[Characteristics], bool]


@dataclass(frozen=True)
class Selection:
    """The workloads that a campaign measures.

    Attributes
    ----------
    workloads
        Workloads of all parts, in the order of the parts; a measurement's index is its position
        here.
    parts
        Purpose of each: training, calibration, check or curves.
    distinct
        Number of distinct workloads in the whole design; `None` for a continuous range.
    left_out
        Number of the design's workloads that the drive cannot run.
    population
        Population of the design in words, narrowed to what the drive can run. Intervals hold for
        workloads from this population.
    left_out_sweeps
        Number of the sweeps' workloads that the drive cannot run.
    """

    workloads: list[Characteristics]
    parts: Parts
    distinct: int | None
    left_out: int
    population: str
    left_out_sweeps: int = 0


def narrowed(population: str, left_out: int) -> str:
    """Return the part of a population that the drive can run, in words."""
    return f"{population}; of these, what this drive can run" if left_out else population
