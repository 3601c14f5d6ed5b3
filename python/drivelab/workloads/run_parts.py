"""The parts that a campaign adds to its design: the check part and the sweeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from drivelab._core import SECTOR_BYTES
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.huang2011_sweeps import sweep_workloads
from drivelab.workloads.ranges import workload_at
from drivelab.workloads.selection import Accepts, Selection
from drivelab.workloads.sobol_points import sobol_points

# No run's seed can have this form, so a run's training points never equal these.
_CHECK_KEY: Final = "check"
# Limits the search for a drive that can run few workloads; it then gets fewer than requested.
_TRIES: Final = 4
# On a simulated drive they take seconds; on a real one they take an hour and wear it.
_CHECKED: Final = 1000


def default_check(kind: str) -> int:
    """Return the default number of off-grid workloads that check the models of a kind of drive."""
    return 0 if kind == "real" else _CHECKED


def with_check_and_sweeps(
    selection: Selection,
    *,
    check: int,
    sweeps: bool,
    accepts: Accepts | None = None,
    block_bytes: int = SECTOR_BYTES,
) -> Selection:
    """Add the check part and the sweeps after a design's workloads.

    Parameters
    ----------
    selection
        The design's workloads.
    check
        Number of off-grid workloads: the first points of a scrambled Sobol sequence that is the
        same for every run and drive. Workloads that the design already has, or that the drive
        cannot run, are skipped; a drive that can run only a few gets fewer.
    sweeps
        Whether to add the sweeps of Huang et al. 2011. Workloads of the sweeps that another part
        already has are used from there.
    accepts
        Returns whether the drive can run a workload; by default every one.
    block_bytes
        Sizes and strides of the check part are multiples of this.
    """
    taken = {workload.key() for workload in selection.workloads}
    possible = _possible(check, accepts, block_bytes)
    checked = list(islice((each for each in possible if _new(each, taken)), check))
    every = sweep_workloads() if sweeps else ()
    runnable = [each for each in every if accepts is None or accepts(each)]
    swept = [each for each in runnable if _new(each, taken)]
    return replace(
        selection,
        workloads=[*selection.workloads, *checked, *swept],
        parts=replace(selection.parts, check=len(checked), sweeps=len(swept)),
        left_out_sweeps=len(every) - len(runnable),
    )


def _possible(check: int, accepts: Accepts | None, block_bytes: int) -> Iterator[Characteristics]:
    for point in islice(sobol_points(_CHECK_KEY), _TRIES * check):
        workload = workload_at(point, block_bytes)
        if accepts is None or accepts(workload):
            yield workload


def _new(workload: Characteristics, taken: set[tuple[float | int | None, ...]]) -> bool:
    known = workload.key() in taken
    taken.add(workload.key())
    return not known
