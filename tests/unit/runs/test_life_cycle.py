"""One life cycle for every program: stopped anywhere, it resumes and ends with the same journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_drive import FakeDrive, workloads
from fake_session import FakeSession
from fake_test_run import ORIGIN
from line_drives import LINES

from drivelab.campaign.campaign import run_campaign
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import RunError, TerminatedError, UsageError
from drivelab.profile.measured_pass import evenly
from drivelab.profile.run import run_profile
from drivelab.profile.settings import ProfileSettings
from drivelab.profile.sizes import Interval
from drivelab.pts.every_test import TESTS
from drivelab.pts.run import run_test
from drivelab.pts.settings import Settings
from drivelab.store import RunStore
from drivelab.workloads.whole_pass import KIB, MIB, WholePass

COMMAND = "drivelab do it"
PROFILE_PLAN = ProfileSettings(
    intervals=(Interval(8 * KIB, 64 * KIB, 8 * KIB),),
    file_bytes=MIB,
    # What is asked for depends on what came.
    points="auto",
    repetitions="auto",
    half_width_ratio=0.2,
)


class PassDrive(FakeDrive):
    """Passes take times on lines, a tenth of them a little longer."""

    def measure(
        self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        self.batches.append(len(work))
        for index, each in work:
            if index in self._fail_at:
                raise self._fail_at[index]
            self.measured.append(index)
            base, slope = LINES[each.direction, each.is_random]
            time_ns = each.requests * (base + slope * each.request_bytes)
            yield evenly(index, each, time_ns + time_ns // 50 * (index % 10 == 0))


def campaign(path: Path, stops: dict[int, BaseException], seed: int = 0) -> None:
    drive = FakeDrive("real", fail_at=stops)
    plan = MeasurementPlan(requests=10, seed=seed)
    run_campaign(
        drive, workloads(20), plan, path, design_name="fake", progress=False, command=COMMAND
    ).close()


def profile(path: Path, stops: dict[int, BaseException], seed: int = 0) -> None:
    plan = ProfileSettings(**{**vars(PROFILE_PLAN), "seed": seed})
    run_profile(PassDrive("real", fail_at=stops), plan, path, command=COMMAND)


def performance_test(path: Path, stops: dict[int, BaseException], seed: int = 0) -> None:
    outcome = run_test(
        TESTS["throughput"],
        FakeSession(fails=stops.get),
        Settings.of_edition("client", seed=seed),
        path,
        origin=ORIGIN,
        command=COMMAND,
        shown=False,
    )
    if outcome.problem is not None:
        raise outcome.problem


PROGRAMS = [campaign, profile, performance_test]
Program = Callable[..., None]


def journal(path: Path) -> dict[int, dict[str, Any]]:
    with RunStore.open(path) as store:
        return dict(zip(sorted(store.done()), store.measurements(), strict=True))


def starts(path: Path) -> list[dict[str, Any]]:
    with RunStore.open(path) as store:
        return store.starts()


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("at", [1, 5, 13])
@pytest.mark.parametrize("stop", [KeyboardInterrupt(), TerminatedError(15), RunError("fio died")])
def test_a_run_that_was_stopped_goes_on_to_the_same_journal(
    tmp_path: Path, program: Program, at: int, stop: BaseException
) -> None:
    program(tmp_path / "whole", {})
    with pytest.raises(type(stop)) as caught:
        program(tmp_path / "run", {at: stop})
    kept = journal(tmp_path / "run")
    assert at not in kept
    said = str(caught.value)
    assert "are saved in " in said
    assert f"{len(kept)} " in said
    assert said.endswith(f"{tmp_path / 'run'}; resume with: {COMMAND}")
    program(tmp_path / "run", {})
    assert journal(tmp_path / "run") == journal(tmp_path / "whole")
    assert len(starts(tmp_path / "run")) == 2


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_complete_run_asks_its_drive_for_nothing(tmp_path: Path, program: Program) -> None:
    program(tmp_path / "run", {})
    whole = journal(tmp_path / "run")
    program(tmp_path / "run", {at: RunError("asked again") for at in whole})
    assert journal(tmp_path / "run") == whole
    assert len(starts(tmp_path / "run")) == 1


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_failed_is_kept_until_it_is_measured(tmp_path: Path, program: Program) -> None:
    with pytest.raises(RunError):
        program(tmp_path / "run", {5: RunError("fio died")})
    with RunStore.open(tmp_path / "run") as store:
        (failure,) = store.failures()
    assert failure.index == 5
    assert "fio died" in failure.message
    program(tmp_path / "run", {})
    with RunStore.open(tmp_path / "run") as store:
        assert store.failures() == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_two_at_once_are_refused(tmp_path: Path, program: Program) -> None:
    with pytest.raises(KeyboardInterrupt):
        program(tmp_path / "run", {5: KeyboardInterrupt()})
    before = journal(tmp_path / "run")
    with (
        RunStore.open_to_append(tmp_path / "run", {}),
        pytest.raises(RunError, match=f"another process is measuring.*resume with: {COMMAND}"),
    ):
        program(tmp_path / "run", {})
    assert journal(tmp_path / "run") == before


@pytest.mark.parametrize("program", PROGRAMS)
def test_another_run_is_refused_in_the_same_folder(tmp_path: Path, program: Program) -> None:
    with pytest.raises(KeyboardInterrupt):
        program(tmp_path / "run", {5: KeyboardInterrupt()})
    with pytest.raises(UsageError, match=r"contains another .*seed: 0 before, 1 now"):
        program(tmp_path / "run", {}, seed=1)
    others = [other for other in PROGRAMS if other is not program]
    for other in others:
        with pytest.raises(UsageError, match="is a run of `drivelab "):
            other(tmp_path / "run", {})
