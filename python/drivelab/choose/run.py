"""Measuring one drive of a choice: repetitions of a workload, each with its own random numbers."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from drivelab.choose.kind import CHOICE, REPETITIONS, entry_of, stored_repetitions
from drivelab.drives.measurement import Measurement
from drivelab.runs.executor import DriveExecutor
from drivelab.runs.header import drive_header, this_start
from drivelab.runs.progress import Progress
from drivelab.runs.run import Run
from drivelab.workloads.workload import workload_json

if TYPE_CHECKING:
    from pathlib import Path

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import Drive
    from drivelab.runs.executor import Executor
    from drivelab.workloads.workload import Workload


def measured_repetitions(
    drive: Drive,
    workload: Workload,
    plan: MeasurementPlan,
    repetitions: int,
    path: Path | None,
    *,
    name: str,
    command: str | None = None,
    executor: Executor | None = None,
    progress: bool = True,
) -> list[Measurement]:
    """Measure the repetitions that `path` does not hold yet; return all of them, in order.

    Parameters
    ----------
    drive
        The drive to measure.
    workload
        The workload.
    plan
        Length of each repetition, and the seed. Seed and index together key all random numbers, so
        repetition n is the same on every drive.
    repetitions
        Number of repetitions.
    path
        Folder of the run, created if it does not exist; ``None`` stores nothing.
    name
        Name of the workload for people.
    command
        The command line that resumes it, printed when it stops.
    executor
        Runs the measurements; a `DriveExecutor` by default. Results do not depend on it.
    progress
        Whether to show progress on standard error.

    Raises
    ------
    UsageError
        When the drive cannot run the workload, or `path` holds something else.
    RunError
        When a measurement fails; earlier ones are kept.
    KeyboardInterrupt, TerminatedError
        When the run is stopped; the message says how to resume.
    """
    drive.check(workload)
    origin = this_start(command)
    asked = {"name": name, "workload": workload_json(workload), REPETITIONS: repetitions}
    header = {
        "kind": CHOICE.command,
        "drive": drive_header(drive),
        "asked": asked,
        "plan": plan.to_json(),
        "origin": origin,
    }
    with Run(
        CHOICE,
        path,
        header,
        is_real=drive.kind == "real",
        start=origin,
        command=command,
        total=repetitions,
        leave=drive.leave,
    ) as run:
        found = stored_repetitions(run.store, workload) if run.is_kept else {}

        def every_repetition(run: Run) -> None:
            missing = [(index, workload) for index in range(repetitions) if index not in found]
            if not missing:
                return
            bar = Progress(
                repetitions,
                repetitions - len(missing),
                f"repetitions on {drive.name}",
                shown=progress,
                paused_seconds=lambda: run.paused_seconds,
            )
            answers = run.measure(
                missing, plan, executor or DriveExecutor(drive), entry_of=entry_of
            )
            with closing(answers), bar:
                for answer in answers:
                    if isinstance(answer, Measurement):
                        found[answer.index] = answer
                        bar.advance()

        drive.take_up()
        run.carry_out(every_repetition)
    return [found[index] for index in range(repetitions)]
