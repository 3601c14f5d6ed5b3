"""Demand intensity and response-time histogram: one block size and mix of your choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.pts import demand
from drivelab.pts.test import PtsTest

if TYPE_CHECKING:
    from drivelab.pts.applied_settings import AppliedSettings
    from drivelab.workloads.stimulus import Stimulus


def _mixed(applied: AppliedSettings, threads: int, queue_depth: int) -> Stimulus:
    settings = applied.settings
    return applied.stimulus(
        settings.block_bytes, 1 - settings.write_ratio, threads=threads, queue_depth=queue_depth
    )


def _writes(applied: AppliedSettings, threads: int, queue_depth: int) -> Stimulus:
    return applied.stimulus(
        applied.settings.block_bytes, 0.0, threads=threads, queue_depth=queue_depth
    )


_WORKLOAD: Final = demand.Workload(_mixed, _writes)

TEST: Final = PtsTest(
    name="dirth",
    title="Demand intensity and response-time histogram test",
    summary="one block size and mix at 49 demands",
    known="implementations",
    check=_WORKLOAD.check,
    carry_out=lambda bench: demand.carry_out(bench, _WORKLOAD),
    most_steps=demand.most_steps,
    sections=demand.sections,
    pages=lambda record: demand.pages(record, "dirth", "DIRTH"),
)
