"""A campaign: every workload of a design on one drive, in random order, stored one by one.

The journal is the run folder. A campaign that was stopped, by whatever, is started again
with the same words and goes on with what is missing. What failed on a real drive is kept
beside the measurements and tried again then, after everything else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from drivelab.campaign.comparison import refuse_other_campaign
from drivelab.campaign.export import write_measurements
from drivelab.campaign.header import campaign_header, this_start
from drivelab.campaign.order import measuring_order
from drivelab.campaign.pause import Pause
from drivelab.campaign.progress import Progress
from drivelab.campaign.stored import stored_indices, stored_measurements
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive, DriveLimits
from drivelab.errors import DrivelabError, RunError, TerminatedError, UsageError
from drivelab.store import RunStore
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from drivelab.workloads.selection import Accepts

OnFailure = Literal["stop", "continue"]
Work = tuple[int, Characteristics]

# So many in a row, and it is the drive that failed, not a measurement on it.
MOST_FAILURES_IN_A_ROW: Final = 10


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
        The command line that starts the same campaign again, told when it stops.

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
        On Ctrl-C, with a text that says how to go on.
    TerminatedError
        On SIGTERM and SIGHUP, likewise.
    """
    for workload in workloads:
        drive.check(workload)
    start = this_start(command)
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
    with RunStore.open_to_append(path, header, durable=drive.kind == "real") as store:
        refuse_other_campaign(path, store.header, header)
        work = missing_work(store, workloads, plan.seed)
        if work:
            store.record_start(start)
            total, known = len(workloads), {failure.index for failure in store.failures()}
            runner = _Runner(store, total, total - len(work), on_failure, command, known)
            runner.run(drive, work, plan, shown=progress)
        write_measurements(stored_measurements(store), path, store.header)
    return RunStore.open(path)


def accepted_by(drive: DriveLimits) -> Accepts:
    """Return what tells of a workload whether `drive` can run it."""

    def accepts(workload: Characteristics) -> bool:
        try:
            drive.check(workload)
        except UsageError:
            return False
        return True

    return accepts


def missing_work(store: RunStore, workloads: Sequence[Characteristics], seed: int) -> list[Work]:
    """Give what a run lacks in the order of measuring, what failed before at the end.

    A measurement that always fails would otherwise stop the campaign at the same place again.
    """
    missing = set(range(len(workloads))) - stored_indices(store)
    failed = {failure.index for failure in store.failures()} & missing
    order = measuring_order(missing - failed, seed) + measuring_order(failed, seed)
    return [(index, workloads[index]) for index in order]


@dataclass(frozen=True)
class _Failed:
    """A measurement that gave no result."""

    index: int
    workload: Characteristics
    reason: RunError


@dataclass
class _Runner:
    """Stores one outcome after the other.

    Attributes
    ----------
    store
        Holds the lock.
    total, stored
        Measurements of the whole run, and those that it holds.
    rule
        What to do about a failure.
    command
        What starts the campaign again, if known.
    known
        Indices that failed in an earlier start.
    in_a_row
        Others that failed since the last measurement.
    """

    store: RunStore
    total: int
    stored: int
    rule: OnFailure
    command: str | None
    known: set[int]
    in_a_row: int = 0

    def run(self, drive: Drive, work: Sequence[Work], plan: MeasurementPlan, shown: bool) -> None:
        pause = Pause(at_once=drive.kind != "real")
        bar = Progress(
            self.total,
            self.stored,
            "measurements",
            shown=shown,
            paused_seconds=lambda: pause.seconds,
        )
        try:
            with bar as progress, pause:
                for outcome in _outcomes(drive, work, plan):
                    self._keep(outcome)
                    progress.advance(failed=isinstance(outcome, _Failed))
                    pause.here()
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(f"stopped; {self._kept()}") from interrupt
        except TerminatedError as terminated:
            message = f"{terminated}; {self._kept()}"
            raise TerminatedError(terminated.number, message) from terminated
        except DrivelabError as error:
            raise type(error)(f"{error}; {self._kept()}") from error

    def _keep(self, outcome: Measurement | _Failed) -> None:
        if isinstance(outcome, Measurement):
            self.store.append(outcome.to_json(), outcome.index)
            self.stored += 1
            self.in_a_row = 0
            return
        self.store.add_failure(outcome.index, str(outcome.reason), outcome.workload.to_json())
        if self.rule == "stop":
            raise RunError(f"measurement {outcome.index} failed: {outcome.reason}")
        # What failed before says nothing about the drive today.
        self.in_a_row += outcome.index not in self.known
        if self.in_a_row >= MOST_FAILURES_IN_A_ROW:
            raise RunError(
                f"{self.in_a_row} measurements in a row failed, the last: {outcome.reason}"
            )

    def _kept(self) -> str:
        again = "run the same command again to go on"
        if self.command is not None:
            again = f"go on with: {self.command}"
        return f"{self.stored} of {self.total} measurements are kept in {self.store.path}; {again}"


def _outcomes(
    drive: Drive, work: Sequence[Work], plan: MeasurementPlan
) -> Iterator[Measurement | _Failed]:
    """Give what came of each measurement; after a failure the drive is asked for the rest."""
    left = deque(work)
    while left:
        answers = drive.measure(list(left), plan)
        try:
            while left:
                index, workload = left[0]
                try:
                    answer = next(answers, None)
                except RunError as error:
                    # What a simulated drive cannot do today it cannot do tomorrow.
                    if drive.kind != "real":
                        raise
                    left.popleft()
                    yield _Failed(index, workload, error)
                    break
                if answer is None or (answer.index, answer.characteristics) != (index, workload):
                    found = "nothing" if answer is None else f"measurement {answer.index}"
                    raise RunError(f"{drive.name} answered {found} when asked for {index}")
                left.popleft()
                yield answer
        finally:
            # A generator ends its tools (fio) when it is closed, not when it is forgotten.
            close = getattr(answers, "close", None)
            if close is not None:
                close()
