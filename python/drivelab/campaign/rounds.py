"""A campaign in rounds: what it measures next depends on the results so far.

The workloads of a round are stored in the run's header before any of them is measured. So a killed
run resumes with the same workloads, and a complete run continues if more is asked for::

    asked  ──>  measured and kept  ──>  asked  ──>  ...  ──>  nothing more: the run is complete
    (kept first)

A measurement's index is its position in the list of all workloads asked for. Within a round the
order of measuring is random, as in a campaign that knows all its workloads in advance. If writes
are sustained, a round begins with the kind of writing that ended the one before.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from drivelab.campaign.campaign import export, missing_work
from drivelab.campaign.header import ASKED, asked_header, campaign_header, workloads_digest
from drivelab.campaign.kind import CAMPAIGN
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.drives.write_pattern import BURST, WritePattern, write_pattern
from drivelab.runs.executor import DriveExecutor, Executor, Failed, Work
from drivelab.runs.failures import FailureRule, OnFailure
from drivelab.runs.header import this_start
from drivelab.runs.progress import Bound, Progress
from drivelab.runs.run import Run
from drivelab.store import RunStore, damaged
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.given import is_whole, shown
from drivelab.workloads.parts import PART_NAMES, PartName, Parts
from drivelab.workloads.probes import FILL_SECONDS, is_rewrites

#: The workloads that a run may ask for, by part.
Pool = Mapping[PartName, Sequence[Characteristics]]


@dataclass(frozen=True)
class Asked:
    """Workloads of one request.

    Attributes
    ----------
    part
        Purpose of the workloads.
    places
        Indices in the pool of that part; a repeated index is measured again.
    requests
        Count this many requests from the first one, without a warm-up, on the drive as it is; end
        after `FILL_SECONDS` at the latest. ``None`` follows the plan of the run.
    """

    part: PartName
    places: tuple[int, ...]
    requests: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the attributes as JSON values; `requests` only if it is a number."""
        requests = {} if self.requests is None else {"requests": self.requests}
        return {"part": self.part, "places": list(self.places), **requests}

    def plan(self, plan: MeasurementPlan) -> MeasurementPlan:
        """Return the plan for these workloads, in a run that follows `plan`."""
        if self.requests is None:
            return plan
        return replace(
            plan,
            warmup_requests=0,
            warmup_seconds=0.0,
            requests=self.requests,
            seconds=FILL_SECONDS,
            half_width_ratio=None,
            writes=BURST,
            is_usual=False,
        )


@dataclass(frozen=True)
class Measured:
    """The results of a run when it asks for more.

    Attributes
    ----------
    asked
        All requests so far, in the order of the indices.
    parts
        Purpose of each measurement.
    measurements
        Measurements by index; failed ones are missing.
    seconds
        Time since this start, without pauses.
    """

    asked: Sequence[Asked]
    parts: Parts
    measurements: Sequence[Measurement]
    seconds: float


class Asking(Protocol):
    """Decides what to measure next; created again for every start of a run."""

    def next_round(self, measured: Measured) -> Sequence[Asked]:
        """Return what to measure next; an empty result ends the run."""
        ...

    @property
    def expected_total(self) -> int:
        """Expected number of measurements of the whole run, as far as it is known."""
        ...

    @property
    def bound(self) -> Bound:
        """How `expected_total` is meant."""
        ...

    @property
    def seconds_left(self) -> float | None:
        """What a budget left for the rest at the last request; None where none limits it."""
        ...

    @property
    def note(self) -> str:
        """Text to show next to the progress; may be empty."""
        ...

    @property
    def ending(self) -> dict[str, Any]:
        """How the run ended, for the header."""
        ...


def run_rounds(
    drive: Drive,
    pool: Pool,
    plan: MeasurementPlan,
    path: Path,
    asking: Asking,
    *,
    design_name: str,
    population: str,
    left_out: int,
    progress: bool = True,
    on_failure: OnFailure = "stop",
    command: str | None = None,
    executor: Executor | None = None,
) -> RunStore:
    """Measure what `asking` requests until it requests nothing more, then export everything.

    Parameters
    ----------
    drive
        The drive to measure.
    pool
        All workloads that may be requested; a run resumes only with the same pool.
    plan, path, design_name, population, left_out, progress, on_failure, command, executor
        As in `drivelab.campaign.campaign.run_campaign`.
    asking
        Decides what to measure next.

    Returns
    -------
    RunStore
        The run, open for reading. It is complete except for its `RunStore.failures`.

    Raises
    ------
    UsageError, RunError, KeyboardInterrupt, TerminatedError
        As in `run_campaign`.
    """
    for workloads in pool.values():
        for workload in workloads:
            drive.check(workload)
    start = this_start(command, drive)
    header = campaign_header(
        drive,
        [],
        plan,
        design_name=design_name,
        parts=Parts(),
        population=population,
        left_out=left_out,
        origin=start,
    )
    # These follow from the drive, and runs of older versions have none.
    compared = {
        part: [each for each in workloads if part != "probes" or not is_rewrites(each)]
        for part, workloads in pool.items()
        if part != "fills"
    }
    header["design"]["pool"] = {part: len(workloads) for part, workloads in compared.items()}
    header["design"]["pool_sha256"] = workloads_digest(
        [each for workloads in compared.values() for each in workloads]
    )
    header[ASKED] = []
    run = Run(
        CAMPAIGN,
        path,
        header,
        is_real=drive.kind == "real",
        start=start,
        command=command,
        leave=drive.leave,
    )
    measuring = executor or DriveExecutor(drive)
    with run:
        # An earlier start that was killed may have left this drive's file.
        drive.take_up()
        known = frozenset(failure.index for failure in run.store.failures())
        rule = FailureRule(on_failure, known)
        rounds = _Rounds(run, pool, plan, asking, measuring=(measuring, rule), shown=progress)
        run.carry_out(lambda _: rounds.carry_out())
        export(run, drive, path)
    return RunStore.open(path)


class _Rounds:
    """The rounds of one start of a run."""

    def __init__(
        self,
        run: Run,
        pool: Pool,
        plan: MeasurementPlan,
        asking: Asking,
        *,
        measuring: tuple[Executor, FailureRule],
        shown: bool,
    ) -> None:
        self._run = run
        self._pool = pool
        self._plan = plan
        self._asking = asking
        self._executor, self._rule = measuring
        self._asked = _stored(run.store, pool)
        self._begun = time.monotonic()
        self._shown = shown
        self._bar: Progress | None = None
        # The kind of writing that ended the last round.
        self._left: WritePattern | None = None

    def carry_out(self) -> None:
        """Measure what was requested, and ask again until nothing more is requested."""
        with ExitStack() as stack:
            while True:
                self._measure_missing(stack)
                more = self._asking.next_round(self._measured())
                if not more:
                    self._run.store.tell({"ended": self._asking.ending})
                    return
                self._ask(more)

    def _workloads(self) -> list[Characteristics]:
        return [self._pool[one.part][place] for one in self._asked for place in one.places]

    def _parts(self) -> Parts:
        return Parts.of_stretches((one.part, len(one.places)) for one in self._asked)

    def _measured(self) -> Measured:
        return Measured(
            self._asked,
            self._parts(),
            stored_measurements(self._run.store),
            time.monotonic() - self._begun - self._run.paused_seconds,
        )

    def _ask(self, more: Sequence[Asked]) -> None:
        self._asked = [*self._asked, *more]
        design = {
            **self._run.store.header["design"],
            **asked_header(self._workloads(), self._parts()),
        }
        self._run.tell({ASKED: [one.to_json() for one in self._asked], "design": design})

    def _measure_missing(self, stack: ExitStack) -> None:
        missing = missing_work(self._run.store, self._workloads(), self._plan, self._left)
        # A measurement that failed in this start waits for the next start.
        work = [one for one in missing if one[0] not in self._rule.met]
        if not work:
            return
        # A resumed run has not yet asked for its next round.
        total = max(self._asking.expected_total, self._run.stored + len(work))
        if self._bar is None:
            self._bar = stack.enter_context(
                Progress(
                    total,
                    self._run.stored,
                    "measurements",
                    shown=self._shown,
                    paused_seconds=lambda: self._run.paused_seconds,
                )
            )
        self._bar.goes_on(
            total,
            self._asking.note,
            certain=self._run.stored + len(work),
            most_seconds=self._asking.seconds_left,
            bound=self._asking.bound,
        )
        written = [found for _, one in work if (found := write_pattern(one)) is not None]
        self._left = written[-1] if written else self._left
        for plan, together in self._by_plan(work):
            answers = self._run.measure(together, plan, self._executor, rule=self._rule)
            with closing(answers):
                for answer in answers:
                    self._bar.advance(failed=isinstance(answer, Failed))

    def _by_plan(self, work: Sequence[Work]) -> list[tuple[MeasurementPlan, list[Work]]]:
        """Group work by its plan; fills come last, in their own order."""
        asked = [one for one in self._asked for _ in one.places]
        usual = [one for one in work if asked[one[0]].requests is None]
        fills = sorted(one for one in work if asked[one[0]].requests is not None)
        return [
            *([(self._plan, usual)] if usual else []),
            *((asked[one[0]].plan(self._plan), [one]) for one in fills),
        ]


def _stored(store: RunStore, pool: Pool) -> list[Asked]:
    """Return the requests of a run's earlier starts."""
    found = []
    for one in store.header[ASKED]:
        part, places = one.get("part"), one.get("places")
        if part not in PART_NAMES or part not in pool or not isinstance(places, list):
            raise damaged(store.path, "it asked for no part that it has")
        if not all(isinstance(each, int) and 0 <= each < len(pool[part]) for each in places):
            raise damaged(store.path, f"it asked for what is not among its {part}")
        requests = one.get("requests")
        if requests is not None and not (is_whole(requests) and requests > 0):
            raise damaged(store.path, f"it asked for {shown(requests)} requests")
        found.append(Asked(part, tuple(places), requests))
    return found
