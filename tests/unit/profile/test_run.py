"""The passes of a stopped profile, read from its journal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from line_drives import LINES, LineDrive

from drivelab.drives.protocol import Drive
from drivelab.errors import RunError
from drivelab.profile.journal import pass_json, stored_passes
from drivelab.profile.kind import PROFILE
from drivelab.profile.measured_pass import measured_passes
from drivelab.profile.run import Passes
from drivelab.profile.settings import ProfileSettings
from drivelab.runs.executor import DriveExecutor
from drivelab.runs.run import Run
from drivelab.workloads.whole_pass import KIB, MIB

PLAN = ProfileSettings(file_bytes=4 * MIB)
STORED = [
    PLAN.one_pass("read", is_random, size)
    for size in (8 * KIB, 64 * KIB)
    for is_random in (False, True)
]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Give a run that holds four passes."""
    header = {"kind": "profile", "drive": {"name": "lines"}, "plan": {}}
    with Run(PROFILE, tmp_path / "p", header, is_real=False, start={}) as made:
        for one in measured_passes(LineDrive(LINES), list(enumerate(STORED)), seed=0):
            made.store.append(pass_json(one), one.index)
        yield made


def passes_of(run: Run, plan: ProfileSettings = PLAN) -> Passes:
    return Passes(run, DriveExecutor(cast("Drive", LineDrive(LINES))), plan)


def test_all_that_is_stored_is_given_where_others_are_asked_for(run: Run) -> None:
    measure = passes_of(run)
    assert [one.whole_pass for one in measure(STORED[:2])] == STORED[:2]
    other = PLAN.one_pass("write", False, 8 * KIB)
    assert [one.whole_pass for one in measure([other])] == STORED[2:]
    assert len(run.store.done()) == 4
    (one,) = measure([other])
    assert (one.index, one.whole_pass) == (4, other)
    assert run.store.done() == {0, 1, 2, 3, 4}


def test_a_pass_that_is_missing_before_others_is_measured_alone(tmp_path: Path) -> None:
    header = {"kind": "profile", "drive": {"name": "lines"}, "plan": {}}
    every = list(measured_passes(LineDrive(LINES), list(enumerate(STORED)), seed=0))
    with Run(PROFILE, tmp_path / "p", header, is_real=False, start={}) as run:
        for one in every:
            if one.index != 1:
                run.store.append(pass_json(one), one.index)
        assert passes_of(run)(STORED) == every
        assert stored_passes(run.store) == dict(enumerate(every))


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, file_bytes=8 * MIB),
        replace(PLAN, directions=("write",)),
        # Its sizes begin at 64 KiB.
        replace(PLAN, intervals=PLAN.intervals[1:]),
    ],
)
def test_passes_that_the_plan_never_sends_are_reported(run: Run, plan: ProfileSettings) -> None:
    with pytest.raises(RunError, match="pass 0 of the stored profile is none of this plan"):
        passes_of(run, plan)([plan.one_pass("write", False, 64 * KIB)])
