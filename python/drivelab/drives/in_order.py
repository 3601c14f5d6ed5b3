"""Several workloads on one drive without a run: their measurements in order."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from drivelab.errors import RunError

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import Drive
    from drivelab.workloads.workload import Workload


def measured_in_order(
    drive: Drive, workloads: Sequence[Workload], plan: MeasurementPlan
) -> Generator[Measurement]:
    """Measure workloads as `Drive.measure` does, one measurement each.

    Raises
    ------
    UsageError
        Before the first, when the drive cannot run one of them.
    If the drive fails, or returns fewer measurements than there are workloads.
        When the drive fails, or gives fewer measurements than there are workloads.
    """
    for workload in workloads:
        drive.check(workload)
    answers: Any = drive.measure(list(enumerate(workloads)), plan)
    with closing(answers):
        for place in range(len(workloads)):
            answer = next(answers, None)
            if answer is None:
                raise RunError(f"{drive.name} answered {place} of {len(workloads)} measurements")
            yield answer
