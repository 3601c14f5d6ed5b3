"""What a design asks of one drive: workloads, what each is for, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts

Accepts = Callable[[Characteristics], bool]


@dataclass(frozen=True)
class Selection:
    """What a campaign measures.

    Attributes
    ----------
    workloads
        Those of all parts, in the order of the parts; a measurement's index is its place here.
    parts
        Which of them train, calibrate, check and draw curves.
    distinct
        Distinct workloads that the whole design holds; `None` where it is a continuous range.
    left_out
        Workloads of the design that the drive cannot run.
    population
        What the design's workloads are drawn from, in words that end with what the drive
        leaves of it: intervals hold for questions from there.
    left_out_sweeps
        Workloads of the sweeps that the drive cannot run.
    """

    workloads: list[Characteristics]
    parts: Parts
    distinct: int | None
    left_out: int
    population: str
    left_out_sweeps: int = 0


def narrowed(population: str, left_out: int) -> str:
    """Return what is left of a population when the drive cannot run some of its workloads."""
    return f"{population}; of these, what this drive can run" if left_out else population
