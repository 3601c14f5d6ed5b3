"""Whether a budget has time for sustained writes: on both sides of a fifth of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from drivelab.drives.plan import MeasurementPlan
from drivelab.models import settling_time
from drivelab.models.adaptive_rounds import most_rounds
from drivelab.models.goal import Goal
from drivelab.models.settling_time import affordable_writes, settling_seconds
from drivelab.workloads.characteristics import Characteristics

MIB = 1 << 20
PLAN = MeasurementPlan.of_kind("real")
IN_ORDER = Characteristics(write_ratio=1.0, write_random=0.0)
SMALL = Characteristics(write_ratio=1.0)
POOL: Any = {"training": [IN_ORDER, SMALL, Characteristics()], "check": []}


@dataclass
class Taken:
    bytes: int
    duration_ns: int


class SlowDrive:
    """Takes 100 MiB a second in order, and 25 anywhere."""

    name = "slow.bin"
    capacity_bytes = 1000 * MIB
    block_bytes = 512

    def __init__(self) -> None:
        self.asked: list[Characteristics] = []

    def measure(self, work: Any, plan: MeasurementPlan) -> Iterator[Taken]:
        assert plan.seconds == 1
        assert plan.writes == "burst"
        for _, each in work:
            self.asked.append(each)
            yield Taken((25 if each.write_random else 100) * MIB, 1_000_000_000)


def test_each_kind_is_tried_as_the_drive_is_settled() -> None:
    drive: Any = SlowDrive()
    found = settling_seconds(drive, PLAN, ["in order", "small at random"])
    # Twice the capacity.
    assert found == {"in order": 20.0, "small at random": 80.0}
    assert [(one.write_size, one.write_random) for one in drive.asked] == [
        (128 << 10, 0.0),
        (4 << 10, 1.0),
    ]


def test_it_pays_up_to_a_fifth_of_the_budget_and_no_further(capsys) -> None:
    rounds = most_rounds(
        Goal(budget_seconds=1000.0),
        MeasurementPlan.of_kind("real", writes="sustained"),
        is_real=True,
        has_check=False,
    )
    # The first round settles to both kinds; each later one begins with what the last ended with.
    needed = 5 * (100.0 + (rounds - 1) * 80.0)
    drive: Any = SlowDrive()
    for budget, writes, said in (
        (needed, "sustained", "writes are sustained: settling slow.bin takes at least "),
        (needed - 1, "burst", "writes are a burst: settling slow.bin would take at least "),
    ):
        assert affordable_writes(Goal(budget_seconds=budget), PLAN, drive, POOL) == writes
        assert said in capsys.readouterr().err


def test_nothing_is_tried_without_a_budget_or_without_writes(monkeypatch) -> None:
    monkeypatch.setattr(settling_time, "settling_seconds", None)
    drive: Any = SlowDrive()
    assert affordable_writes(Goal(), PLAN, drive, POOL) == "burst"
    reads: Any = {"training": [Characteristics()], "check": []}
    assert affordable_writes(Goal(budget_seconds=1e6), PLAN, drive, reads) == "burst"


@pytest.mark.parametrize("budget", [None, 3600.0])
def test_a_budget_begins_small_and_so_has_more_rounds(budget: float | None) -> None:
    plan = MeasurementPlan.of_kind("real", writes="sustained")
    goal = Goal(300, budget_seconds=budget)
    # 60, 120, 240, 300; with a budget 10, 30, 60, ... and curves by themselves. Probes are two.
    expected = 1 + 2 + 3 if budget is None else 1 + 2 + 3 + 2 + 1
    assert most_rounds(goal, plan, is_real=True, has_check=False) == expected
