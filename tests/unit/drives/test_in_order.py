"""Several workloads on one drive: one measurement each, and none is wasted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from drivelab.drives.in_order import measured_in_order
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import RunError, UsageError
from drivelab.workloads.characteristics import Characteristics

PLAN = MeasurementPlan(seed=0, requests=50)


def test_each_workload_is_answered_in_its_place() -> None:
    workloads = [Characteristics(queue_depth=depth) for depth in (4, 1)]
    with open_drive("sim:x25m") as drive:
        found = list(measured_in_order(drive, workloads, PLAN))
    assert [one.index for one in found] == [0, 1]
    assert [one.workload for one in found] == workloads


def test_what_cannot_be_run_is_refused_before_the_first() -> None:
    with open_drive("sim:x25m") as drive:
        answers = measured_in_order(
            drive, [Characteristics(), Characteristics(read_size=1000)], PLAN
        )
        with pytest.raises(UsageError, match="read_size is 1000 bytes"):
            next(answers)


def test_a_drive_that_stops_answering_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_drive("sim:x25m") as drive:
        whole = drive.measure

        def half(work, plan) -> Iterator:
            answers = whole(work, plan)
            yield next(answers)

        monkeypatch.setattr(drive, "measure", half)
        answers = measured_in_order(drive, [Characteristics(), Characteristics()], PLAN)
        assert next(answers).index == 0
        with pytest.raises(RunError, match="sim:x25m answered 1 of 2 measurements"):
            next(answers)
