"""The passes of a stopped profile, given again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from line_drives import LINES, LineDrive

from drivelab.errors import RunError
from drivelab.profile.journal import Passes, pass_json
from drivelab.profile.measured_pass import measured_passes
from drivelab.profile.plan import ProfilePlan
from drivelab.workloads.whole_pass import KIB, MIB

PLAN = ProfilePlan(file_bytes=4 * MIB)
STORED = [
    PLAN.one_pass("read", is_random, size)
    for size in (8 * KIB, 64 * KIB)
    for is_random in (False, True)
]


class Store:
    """Holds four passes, and what is appended."""

    path = Path("p")

    def __init__(self) -> None:
        work = list(enumerate(STORED))
        self.rows = [pass_json(one) for one in measured_passes(LineDrive(LINES), work, seed=0)]

    def measurements(self) -> list[dict]:
        return list(self.rows)

    def append(self, row: dict, index: int) -> None:
        assert index == len(self.rows)
        self.rows.append(row)


def test_all_that_is_stored_is_given_where_others_are_asked_for() -> None:
    store = Store()
    measure = Passes(LineDrive(LINES), PLAN, store)
    assert [one.whole_pass for one in measure(STORED[:2])] == STORED[:2]
    other = PLAN.one_pass("write", False, 8 * KIB)
    assert [one.whole_pass for one in measure([other])] == STORED[2:]
    assert measure.measured == 0
    (one,) = measure([other])
    assert (one.index, one.whole_pass, measure.measured) == (4, other, 1)
    assert len(store.rows) == 5


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, file_bytes=8 * MIB),
        replace(PLAN, directions=("write",)),
        # Its sizes begin at 64 KiB.
        replace(PLAN, intervals=PLAN.intervals[1:]),
    ],
)
def test_passes_that_the_plan_never_sends_are_told(plan: ProfilePlan) -> None:
    measure = Passes(LineDrive(LINES), plan, Store())
    with pytest.raises(RunError, match="pass 0 of the stored profile is none of this plan"):
        measure([plan.one_pass("write", False, 64 * KIB)])
