"""The composite workload at rising demand, and response times at three operating points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.pts import demand
from drivelab.pts.composite import READ_RATIO, composite
from drivelab.pts.test import PtsTest

if TYPE_CHECKING:
    from drivelab.pts.applied_settings import AppliedSettings
    from drivelab.workloads.stimulus import Stimulus


def _mixed(applied: AppliedSettings, threads: int, queue_depth: int) -> Stimulus:
    return composite(applied, READ_RATIO, threads=threads, queue_depth=queue_depth)


def _writes(applied: AppliedSettings, threads: int, queue_depth: int) -> Stimulus:
    return composite(applied, 0.0, threads=threads, queue_depth=queue_depth)


_WORKLOAD: Final = demand.Workload(_mixed, _writes)

TEST: Final = PtsTest(
    name="ecw",
    title="Composite workload test",
    summary="the composite workload at 49 demands",
    known="implementations",
    check=_WORKLOAD.check,
    carry_out=lambda bench: demand.carry_out(bench, _WORKLOAD),
    most_steps=demand.most_steps,
    sections=demand.sections,
    pages=lambda record: demand.pages(record, "ecw", "ECW"),
)
