"""Profile a drive into a run folder, from the beginning or from where it stopped."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import RunError
from drivelab.outputs import OutputFolder
from drivelab.profile.journal import entry_of, stored_passes
from drivelab.profile.kind import PROFILE
from drivelab.profile.measured import measured_profile
from drivelab.profile.measured_pass import MeasuredPass
from drivelab.profile.stored import cost_of_start
from drivelab.runs.executor import DriveExecutor
from drivelab.runs.header import drive_header, run_of, this_start
from drivelab.runs.progress import Progress
from drivelab.runs.run import Run
from drivelab.runs.starts import drives_beside, has_new_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from drivelab.drives.protocol import Drive
    from drivelab.profile.profile import Profile
    from drivelab.profile.settings import ProfileSettings
    from drivelab.runs.executor import Executor
    from drivelab.workloads.whole_pass import WholePass


@dataclass(frozen=True)
class Profiled:
    """What came of profiling a drive.

    Attributes
    ----------
    found
        The profile.
    folder
        Of its run; ``None`` where nothing is kept.
    has_new_file
        Whether a real drive's profile resumed with another file than it began with.
    beside
        Real drives that the same command measured at the same time, at any start; as
        `has_new_file` ``None`` of other drives, and where nothing is kept.
    """

    found: Profile
    folder: OutputFolder | None
    has_new_file: bool | None
    beside: list[str] | None


def run_profile(
    drive: Drive,
    plan: ProfileSettings,
    path: Path | None,
    *,
    beside: Sequence[str] = (),
    command: str | None = None,
    before: Callable[[OutputFolder], None] = lambda _folder: None,
    executor: Executor | None = None,
    workers: int | None = None,
) -> Profiled:
    """Measure what `path` lacks of a profile.

    Parameters
    ----------
    drive
        That transfers files.
    plan
        What is measured.
    path
        The run folder, made when it does not exist; ``None`` keeps nothing.
    beside
        Real drives that the same command measures at the same time.
    command
        The command line that resumes it, printed when it stops.
    before
        Called with the run's folder before anything is measured; what it raises prevents that.
    executor
        Runs the passes; a `DriveExecutor` by default. Results do not depend on it.
    workers
        Number of threads for passes on a simulated drive; by default one per core.

    Raises
    ------
    UsageError
        If `path` contains something else, or the plan is impossible on this drive.
    RunError
        When the drive fails, or its times give no ratio; what was measured is kept.
    KeyboardInterrupt, TerminatedError
        When it is stopped, with a text that says how to resume.
    """
    origin = this_start(command)
    header = {
        "kind": PROFILE.command,
        "drive": drive_header(drive),
        "plan": plan.to_json(),
        "origin": origin,
    }
    file = {"file": drive.file} if drive.kind == "real" else {}
    with Run(
        PROFILE,
        path,
        header,
        is_real=drive.kind == "real",
        start={**origin, "beside": list(beside), **file, **cost_of_start(plan.cost)},
        command=command,
        leave=drive.leave,
    ) as run:
        folder = None if path is None else OutputFolder.of_run(path, run_of(run.store.header))
        if folder is not None:
            before(folder)

        def every_pass(run: Run) -> Profile:
            with Passes(run, executor or DriveExecutor(drive), plan, workers) as passes:
                return measured_profile(passes, plan)

        # As of a campaign: left when it was stopped before.
        drive.take_up()
        found = run.carry_out(every_pass)
        is_told = run.is_kept and drive.kind == "real"
        starts = run.store.starts() if is_told else []
    return Profiled(
        found,
        folder,
        has_new_file(starts) if is_told else None,
        drives_beside(starts) if is_told else None,
    )


class Passes(ClosedOnExit):
    """Gives passes as a profile asks for them: as stored, or measured and kept.

    It shows how far they are, until it is closed.

    Parameters
    ----------
    run
        Keeps them.
    executor
        Measures them.
    plan
        Whose passes they are; with a pass's place its seed is the key of random numbers.
    workers
        As `run_profile` takes it.
    """

    def __init__(
        self, run: Run, executor: Executor, plan: ProfileSettings, workers: int | None = None
    ) -> None:
        self._run = run
        self._executor = executor
        self._plan = plan
        self._measuring = MeasurementPlan(seed=plan.seed, workers=workers)
        self._progress = Progress(
            0,
            0,
            "passes",
            paused_seconds=lambda: run.paused_seconds,
            may_grow=plan.is_auto or plan.is_full,
        )
        self._asked = 0
        self._stored = stored_passes(run.store) if run.is_kept else {}

    def __call__(self, passes: Sequence[WholePass]) -> list[MeasuredPass]:
        """Return the next passes, measured or stored; if the stored ones differ, return those.

        Raises
        ------
        RunError
            When the drive fails, or the store holds passes of another plan; what was measured is
            kept.
        """
        wanted = dict(enumerate(passes, start=self._asked))
        stored = self._stored
        if any(at in stored and stored[at].whole_pass != one for at, one in wanted.items()):
            return self._rest()
        self._asked += len(passes)
        missing = [(at, one) for at, one in wanted.items() if at not in stored]
        self._progress.expect(
            [one.requests for _, one in missing], found=len(wanted) - len(missing)
        )
        self._measure(missing)
        return [stored[at] for at in wanted]

    def close(self) -> None:
        """Show nothing more."""
        self._progress.close()

    def _rest(self) -> list[MeasuredPass]:
        """Return all that are stored from a place on."""
        found = [self._stored[at] for at in sorted(self._stored) if at >= self._asked]
        for was in found:
            if not self._plan.may_send(was.whole_pass):
                raise RunError(
                    f"pass {was.index} of the stored profile is none of this plan: name a new "
                    "folder"
                )
        self._asked = max(self._stored) + 1
        self._progress.expect([], found=len(found))
        return found

    def _measure(self, work: Sequence[tuple[int, WholePass]]) -> None:
        if not work:
            return
        answering = self._run.measure(work, self._measuring, self._executor, entry_of=entry_of)
        with closing(answering) as answers:
            for one in answers:
                if isinstance(one, Measurement):
                    self._stored[one.index] = MeasuredPass.of(one)
                    # What a pass takes is the time of its requests, one after the other.
                    self._progress.advance(weight=self._stored[one.index].whole_pass.requests)
