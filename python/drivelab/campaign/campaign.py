"""A campaign: every workload of a design on one drive, in random order, stored one by one.

The journal is the run folder. A campaign that was stopped, by whatever, is started again
with the same words and measures what is missing. What failed on a real drive is stored
next to the measurements and tried again then, after everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from drivelab.campaign.header import campaign_header
from drivelab.campaign.kind import CAMPAIGN
from drivelab.campaign.order import planned_order
from drivelab.campaign.stored import stored_indices
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive, DriveLimits
from drivelab.drives.write_pattern import WritePattern
from drivelab.errors import UsageError
from drivelab.notes import print_note
from drivelab.runs.executor import DriveExecutor, Executor, Failed, Work
from drivelab.runs.export import write_measurements
from drivelab.runs.failures import FailureRule, OnFailure
from drivelab.runs.header import this_start
from drivelab.runs.progress import Progress
from drivelab.runs.run import Run
from drivelab.runs.stopping import stays_until_complete
from drivelab.store import RunStore
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from drivelab.workloads.selection import Accepts


def run_campaign(
    drive: Drive,
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    path: Path,
    *,
    design_name: str,
    parts: Parts | None = None,
    population: str = "",
    left_out: int = 0,
    progress: bool = True,
    on_failure: OnFailure = "stop",
    command: str | None = None,
    executor: Executor | None = None,
) -> RunStore:
    """Measure what `path` does not hold yet, and export all of it.

    Parameters
    ----------
    drive
        Where to measure.
    workloads
        The design's workloads; a measurement's index is its place in this sequence.
    plan
        How long each is measured, and the seed.
    path
        The run folder, made when it does not exist.
    design_name
        As the user named it, ``huang2011:300``.
    parts
        What the workloads are for; all train unless given.
    population
        What the design draws from, in words.
    left_out
        Workloads of the design that this drive cannot run.
    progress
        Show progress on standard error.
    on_failure
        What to do when a measurement on a real drive fails: ``stop`` there, or ``continue``
        with the others (until `MOST_FAILURES_IN_A_ROW` fail in a row).
    command
        The command line that resumes the campaign, printed when it stops.
    executor
        Who measures; `DriveExecutor` unless given. Results do not depend on it.

    Returns
    -------
    RunStore
        The run, open for reading. It is complete but for its `RunStore.failures`.

    Raises
    ------
    UsageError
        When the drive cannot run a workload, or `path` holds another campaign.
    RunError
        When a measurement fails and the campaign stops; those before it are kept.
    KeyboardInterrupt
        On Ctrl-C, with a text that says how to resume.
    TerminatedError
        On SIGTERM and SIGHUP, with the same text.
    """
    plan = plan.holding(ends_by_itself=False)
    for workload in workloads:
        drive.check(workload)
    start = this_start(command, drive)
    header = campaign_header(
        drive,
        workloads,
        plan,
        design_name=design_name,
        parts=Parts(len(workloads)) if parts is None else parts,
        population=population,
        left_out=left_out,
        origin=start,
    )
    run = Run(
        CAMPAIGN,
        path,
        header,
        is_real=drive.kind == "real",
        start=start,
        command=command,
        total=len(workloads),
        leave=drive.leave,
    )

    def everything(run: Run) -> None:
        work = missing_work(run.store, workloads, plan)
        if not work:
            return
        rule = FailureRule(on_failure, frozenset(failure.index for failure in run.store.failures()))
        answers = run.measure(work, plan, executor or DriveExecutor(drive), rule=rule)
        bar = Progress(
            len(workloads),
            run.stored,
            "measurements",
            shown=progress,
            paused_seconds=lambda: run.paused_seconds,
        )
        with closing(answers), bar:
            for answer in answers:
                bar.advance(failed=isinstance(answer, Failed))

    with run:
        # Whoever stopped before may have left this drive's file.
        drive.take_up()
        run.carry_out(everything)
        export(run, drive, path)
    return RunStore.open(path)


def export(run: Run, drive: Drive, path: Path) -> None:
    """Write the table of a campaign that asks for nothing more; keep its file where some failed."""
    write_measurements(CAMPAIGN.rows(run.store), path, run.store.header)
    # What failed is tried again, on the same file.
    file = drive.leave() if run.store.failures() else None
    if file is not None:
        print_note(stays_until_complete(file, CAMPAIGN.what))


def accepted_by(drive: DriveLimits) -> Accepts:
    """Return a function that says whether `drive` can run a workload."""

    def accepts(workload: Characteristics) -> bool:
        try:
            drive.check(workload)
        except UsageError:
            return False
        return True

    return accepts


def missing_work(
    store: RunStore,
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    left: WritePattern | None = None,
) -> list[Work]:
    """Return what a run lacks in the order of measuring, what failed before at the end.

    A measurement that always fails would otherwise stop the campaign at the same place again.
    `left` is the kind of writing that the drive has settled to already.
    """
    missing = set(range(len(workloads))) - stored_indices(store)
    failed = {failure.index for failure in store.failures()} & missing
    order = [
        *planned_order(missing - failed, workloads, plan, left),
        *planned_order(failed, workloads, plan),
    ]
    return [(index, workloads[index]) for index in order]
