"""Figures of merit: one number for a class of workloads, with its weights.

A class gives the shares of requests by block size and mix. Its figure is the rate at which a drive
serves them, one kind after the other: the harmonic mean of the IOPS test's rates, weighted by
requests. A class's file contains its shares and their sources (`drivelab.pts.class_file`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from drivelab.pts.class_file import class_names, load_class
from drivelab.pts.compared_cells import Key, at_size_and_mix
from drivelab.pts.workload_class import WorkloadClass


@cache
def merit_classes() -> dict[str, WorkloadClass]:
    """Return every class of the package by its name."""
    return {name: load_class(name) for name in class_names()}


def merits(of: WorkloadClass, cells: Sequence[Mapping[Key, list[float]]]) -> list[list[float]]:
    """Return a class's figure for each drive, round by round, in requests per second.

    Parameters
    ----------
    of
        The class.
    cells
        For each drive, the rounds of the IOPS test's cells.

    Raises
    ------
    UsageError
        If the drives have not run sizes and mixes around those of the class.
    """
    parts = [
        (share, at_size_and_mix(cells, size, read_ratio).rounds)
        for size, read_ratio, share in of.weights
    ]
    figures = []
    for drive in range(len(cells)):
        count = min(len(rounds[drive]) for _, rounds in parts)
        figures.append(
            [
                _harmonic([(share, rounds[drive][number]) for share, rounds in parts])
                for number in range(count)
            ]
        )
    return figures


def _harmonic(weighted: Sequence[tuple[float, float]]) -> float:
    if any(rate <= 0 for _, rate in weighted):
        return 0.0
    return 1 / sum(share / rate for share, rate in weighted)
