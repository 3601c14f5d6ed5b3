"""Passes over a file on a simulated drive: one of each size and order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.drives.plan import MeasurementPlan
from drivelab.workloads.whole_pass import BOITO2015_SIZES, Direction, WholePass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.simulated.drive import SimulatedDrive


def one_of_each(
    drive: SimulatedDrive,
    direction: Direction,
    file_bytes: int,
    *,
    sizes: Sequence[int] = BOITO2015_SIZES,
    seed: int = 0,
) -> tuple[list[Measurement], list[Measurement]]:
    """Measure a sequential and a random pass at every size; return both lists.

    Parameters
    ----------
    drive
        The drive; without its variability for its truth.
    direction
        Direction of all passes.
    file_bytes
        Size of the file, which is at the drive's beginning.
    sizes
        Request sizes in bytes.
    seed
        Key of the random orders.
    """
    passes = [
        WholePass(direction, is_random, size, file_bytes)
        for is_random in (False, True)
        for size in sizes
    ]
    measured = list(drive.measure(list(enumerate(passes)), MeasurementPlan(seed=seed)))
    return measured[: len(sizes)], measured[len(sizes) :]


def ratios_by_size(
    drive: SimulatedDrive,
    direction: Direction,
    file_bytes: int,
    *,
    sizes: Sequence[int] = BOITO2015_SIZES,
    seed: int = 0,
) -> list[float]:
    """Return sequential over random throughput at every size, from one pass each.

    Parameters are those of `one_of_each`.
    """
    in_order, random = one_of_each(drive, direction, file_bytes, sizes=sizes, seed=seed)
    return [b.duration_ns / a.duration_ns for a, b in zip(in_order, random, strict=True)]
