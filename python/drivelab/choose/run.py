"""Measuring one drive of a choice: the same workload some times, random numbers of their own."""

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
    """Measure what `path` does not hold yet of a workload's repetitions; give all, in order.

    Parameters
    ----------
    drive
        Where to measure.
    workload
        What to ask.
    plan
        How long each repetition is, and the seed; with a repetition's index it keys all random
        numbers, so repetition n is the same on every drive.
    repetitions
        How many.
    path
        The run's folder, made when it does not exist; ``None`` keeps nothing.
    name
        What people call the workload.
    command
        The command line that resumes it, printed when it stops.
    executor
        Who measures; `DriveExecutor` unless given. Results do not depend on it.
    progress
        Show progress on standard error.

    Raises
    ------
    UsageError
        When the drive cannot run the workload, or `path` holds something else.
    RunError
        When a measurement fails; those before it are kept.
    KeyboardInterrupt, TerminatedError
        When it is stopped, with a text that says how to resume.
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
