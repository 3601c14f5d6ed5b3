"""The composite workload under rising demand, and response times at three operating points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.pts import demand
from drivelab.pts.composite import READ_RATIO, composite
from drivelab.pts.test import PtsTest

if TYPE_CHECKING:
    from drivelab.pts.plan import Plan
    from drivelab.workloads.stimulus import Stimulus


def _mixed(plan: Plan, threads: int, queue_depth: int) -> Stimulus:
    return composite(plan, READ_RATIO, threads=threads, queue_depth=queue_depth)


def _writes(plan: Plan, threads: int, queue_depth: int) -> Stimulus:
    return composite(plan, 0.0, threads=threads, queue_depth=queue_depth)


_WORKLOAD: Final = demand.Workload(_mixed, _writes)

TEST: Final = PtsTest(
    name="ecw",
    title="Composite workload test",
    summary="the composite workload at 49 demands",
    known="implementations",
    check=_WORKLOAD.check,
    carry_out=lambda bench: demand.carry_out(bench, _WORKLOAD),
    sections=demand.sections,
    pages=lambda record: demand.pages(record, "ecw", "ECW"),
)
