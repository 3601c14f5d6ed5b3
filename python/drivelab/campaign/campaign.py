"""A campaign: every workload of a design on one drive, in random order, stored one by one.

The run folder is the journal. A campaign that stopped for any reason is resumed by the same command
and measures what is missing. Failures on a real drive are stored too, and tried again after
everything else.
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
    """Measure the workloads that `path` does not hold yet, and export all of them.

    Parameters
    ----------
    drive
        The drive to measure.
    workloads
        Workloads of the design; a measurement's index is its position in this sequence.
    plan
        Length of each measurement, and the seed.
    path
        The run folder; created if it does not exist.
    design_name
        Name as the user gave it: ``huang2011:300``.
    parts
        Purpose of the workloads; by default all are for training.
    population
        Population of the design, in words.
    left_out
        Number of workloads in the design that this drive cannot run.
    progress
        Whether to show progress on standard error.
    on_failure
        What to do when a measurement on a real drive fails: ``stop``, or ``continue`` with the
        others (until `MOST_FAILURES_IN_A_ROW` fail in a row).
    command
        The command line that resumes the campaign, printed when it stops.
    executor
        Runs the measurements; a `DriveExecutor` by default. Results do not depend on it.

    Returns
    -------
    RunStore
        The run, open for reading. It is complete except for its `RunStore.failures`.

    Raises
    ------
    UsageError
        When the drive cannot run a workload, or `path` holds another campaign.
    RunError
        When a measurement fails and the campaign stops; earlier ones are kept.
    KeyboardInterrupt
        On Ctrl-C, with a message that says how to resume.
    TerminatedError
        On SIGTERM and SIGHUP, with the same message.
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
        # An earlier start that was killed may have left this drive's file.
        drive.take_up()
        run.carry_out(everything)
        export(run, drive, path)
    return RunStore.open(path)


def export(run: Run, drive: Drive, path: Path) -> None:
    """Export the table of a finished campaign; keep its file if measurements failed."""
    write_measurements(CAMPAIGN.rows(run.store), path, run.store.header)
    # Failed measurements will be tried again on the same file.
    file = drive.leave() if run.store.failures() else None
    if file is not None:
        print_note(stays_until_complete(file, CAMPAIGN.what))


def accepted_by(drive: DriveLimits) -> Accepts:
    """Return a function that tests whether `drive` can run a workload."""

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
    """Return a run's missing work in the order of measuring, earlier failures last.

    Otherwise a measurement that always fails would stop the campaign at the same place again.
    `left` is the kind of writing to which the drive has already settled.
    """
    missing = set(range(len(workloads))) - stored_indices(store)
    failed = {failure.index for failure in store.failures()} & missing
    order = [
        *planned_order(missing - failed, workloads, plan, left),
        *planned_order(failed, workloads, plan),
    ]
    return [(index, workloads[index]) for index in order]
