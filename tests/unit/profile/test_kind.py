"""The progress of a profile: its number of passes, and when it is complete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drivelab.drives.naming import open_drive
from drivelab.profile.kind import ANSWER, PROFILE
from drivelab.profile.run import run_profile
from drivelab.profile.settings import ProfileSettings
from drivelab.profile.sizes import Interval
from drivelab.runs.kind import Standing
from drivelab.store import RunStore

MIB = 1 << 20
PLAN = ProfileSettings(
    intervals=(Interval(8192, 65536, 8192),), file_bytes=MIB, points=3, repetitions=2
)


def profiled(path: Path, **asked: Any) -> Standing:
    with open_drive("sim:x25m") as drive:
        run_profile(drive, replace(PLAN, **asked), path)
    return standing(path)


def standing(path: Path) -> Standing:
    with RunStore.open(path) as store:
        return PROFILE.standing(store)


def begun(path: Path, **asked: Any) -> Standing:
    """Say how a profile stands that was stopped before its first pass."""
    drive = {"name": "sim:x25m", "kind": "simulated"}
    header = {"kind": "profile", "drive": drive, "plan": replace(PLAN, **asked).to_json()}
    RunStore.open_to_append(path, header, durable=False).close()
    return standing(path)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_fixed_numbers_say_how_many_passes_and_when_all_are_there(
    tmp_path: Path, share: float
) -> None:
    # Three sizes in two orders, each read and written twice, and what partial writes begin with.
    passes = 3 * 2 * 2 * 2 + (2 if share < 1 else 0)
    assert begun(tmp_path / "begun", share=share) == Standing(
        "profile", 0, is_complete=False, planned=passes
    )
    done = profiled(tmp_path / "done", share=share)
    assert done == Standing("profile", 0, is_complete=True, planned=passes)


def test_a_full_profile_says_the_most(tmp_path: Path) -> None:
    # Eight sizes in two orders, read and written, at most nine times.
    result = begun(tmp_path, is_full=True, most_repetitions=9)
    assert (result.planned, result.may_end_sooner) == (8 * 2 * 2 * 9, True)


@pytest.mark.parametrize("asked", [{"points": "auto"}, {"repetitions": "auto"}])
def test_nobody_knows_how_many_passes_make_ratios_known(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    result = begun(tmp_path / "begun", **asked)
    assert (result.planned, result.may_end_sooner, result.is_complete) == (None, False, False)
    # Its passes alone do not say whether more are wanted; its answer does.
    out = tmp_path / "out"
    assert not profiled(out, **asked).is_complete
    (out / ANSWER).write_text("{}")
    with RunStore.open(out) as store:
        passes = len(store.done())
    assert standing(out) == Standing("profile", 0, is_complete=True, planned=passes)
