"""Try groups of workloads on a drive of the pool; results are saved and never measured again.

A group is measured with random numbers that are keyed by its content. So a plan with changed
limits, prices or one changed workload finds all other groups unchanged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.write_pattern import WritePattern, write_pattern
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.exhibits.quantities import listed
from drivelab.place.kind import PLACEMENT, PLANNED, stored_groups
from drivelab.place.outcome import FEWEST_EXPECTED, Outcome, outcomes_of
from drivelab.place.window import MOST_REQUESTS, refuse_window, seconds_text
from drivelab.runs.executor import DriveExecutor
from drivelab.runs.header import drive_header, this_start
from drivelab.runs.progress import Progress
from drivelab.runs.run import Run
from drivelab.units import format_duration_ns
from drivelab.workloads.given import shown
from drivelab.workloads.scenario import said_by
from drivelab.workloads.side_by_side import SideBySide

if TYPE_CHECKING:
    from pathlib import Path

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import Drive
    from drivelab.place.plan import Demand
    from drivelab.place.window import Window
    from drivelab.runs.executor import Executor

#: No trace takes so long: 11 days.
_LONGEST_NS: Final = 10**15
#: How the core ends what it says of a window in which nothing was counted.
_LONGER: Final = "measure longer"


@dataclass(frozen=True)
class Group:
    """Workloads that run side by side.

    Attributes
    ----------
    places
        Workloads of the plan, in order.
    copies
        Of each of them.
    after
        A kind of writing that came before, if it leaves more behind than their own.
    """

    places: tuple[int, ...]
    copies: int = 1
    after: WritePattern | None = None


class Bench(ClosedOnExit):
    """One kind of drive, and everything that was tried on it.

    Parameters
    ----------
    drive
        Where to try.
    demands
        The workloads of the plan.
    window
        How long each group runs.
    plan
        The seed, and what writes find.
    path
        The run's folder; ``None`` keeps nothing.
    executor
        Runs the measurements; a `DriveExecutor` by default. Results do not depend on it.
    command
        The command line that resumes it.
    progress
        Whether it is shown.
    word
        Returns an option's spelling in the caller's interface.
    """

    def __init__(
        self,
        drive: Drive,
        demands: Sequence[Demand],
        window: Window,
        plan: MeasurementPlan,
        path: Path | None = None,
        *,
        executor: Executor | None = None,
        command: str | None = None,
        progress: bool = True,
        word: Callable[[str], str] = str,
    ) -> None:
        self.drive = drive
        self.tried = 0
        self._demands = tuple(demands)
        self._window = window
        self._plan = plan
        self._path = path
        self._executor = executor or DriveExecutor(drive)
        self._command = command
        self._progress = progress
        self._word = word
        self._found: dict[int, Measurement] = {}
        self._run: Run | None = None

    @property
    def capacity_bytes(self) -> int:
        """Of one such drive."""
        return self.drive.capacity_bytes

    @property
    def window(self) -> Window:
        """How long each group runs on it."""
        return self._window

    def check(self, group: Group) -> None:
        """Raise `CannotAnswerError` when the drive cannot run a group."""
        self.drive.check(self._workload(group))

    def outcomes(self, group: Group) -> dict[int, Outcome]:
        """Return what each workload of a group that was tried did, by its place in the plan."""
        workload = self._workload(group)
        demands = [self._demands[at] for at in group.places]
        measurement = self._found[_index(workload)]
        found: dict[int, Outcome] = {}
        for at, one in zip(group.places, outcomes_of(measurement, demands), strict=True):
            if one is None:
                demand = self._demands[at]
                raise CannotAnswerError(self._nothing_counted(demand, demands, measurement))
            found[at] = one
        return found

    def try_all(self, groups: Iterable[Group], what: str) -> None:
        """Try groups that were not tried yet.

        Parameters
        ----------
        groups
            Any.
        what
            They are, in the plural, for the progress.

        Raises
        ------
        RunError
            When a measurement fails; those before it are kept.
        KeyboardInterrupt, TerminatedError
            When it is stopped, with a text that says how to resume.
        """
        self._try(map(self._workload, groups), what)

    def fit_window(self) -> None:
        """Shorten the window to the traces that are sent as fast as this drive answers.

        Measured alone; next to others it takes longer.
        """
        made = [
            SideBySide((replace(each.part, start_bytes=0),), _LONGEST_NS, 0, MOST_REQUESTS)
            for each in self._demands
            if each.ends_unknown and each.size_bytes <= self.capacity_bytes
        ]
        self._try(made, "traces at their fastest")
        for each in made:
            self._window = self._window.within(self._found[_index(each)].duration_ns)
        try:
            refuse_window(self._demands, self._window, self._word)
        except UsageError as error:
            raise UsageError(f"{self.drive.name}: {error}") from error

    def _try(self, workloads: Iterable[SideBySide], what: str) -> None:
        asked = {_index(each): each for each in workloads}
        missing = [pair for pair in asked.items() if pair[0] not in self._found]
        if not missing:
            return
        run = self._opened()
        if run.is_kept:
            # Not by index: earlier releases made it of a scenario's text, with its comments.
            kept = {each.workload: each for each in stored_groups(run.store).values()}
            self._found |= {at: kept[each] for at, each in missing if each in kept}
        run.carry_out(lambda run: self._measure(run, missing, what))

    def close(self) -> None:
        """Give up the run."""
        if self._run is not None:
            self._run.close()

    def _opened(self) -> Run:
        """Return the run, which stays open: all that is tried by one command is one start of it."""
        if self._run is None:
            origin = this_start(self._command)
            header = {
                "kind": PLACEMENT.command,
                "drive": drive_header(self.drive),
                "plan": self._plan.to_json(),
                "origin": origin,
            }
            self._run = Run(
                PLACEMENT,
                self._path,
                header,
                is_real=False,
                start=origin,
                command=self._command,
                leave=self.drive.leave,
            )
        return self._run

    def _measure(self, run: Run, asked: Sequence[tuple[int, SideBySide]], what: str) -> None:
        missing = [pair for pair in asked if pair[0] not in self._found]
        if not missing:
            return
        if run.is_kept:
            run.tell({PLANNED: run.stored + len(missing)})
        bar = Progress(
            len(asked),
            len(asked) - len(missing),
            f"{what} on {self.drive.name}",
            shown=self._progress,
            paused_seconds=lambda: run.paused_seconds,
        )
        answers = run.measure(missing, self._plan, self._executor)
        try:
            with closing(answers), bar:
                for answer in answers:
                    if isinstance(answer, Measurement):
                        self._found[answer.index] = answer
                        self.tried += 1
                        bar.advance()
        except (UsageError, RunError) as error:
            text = str(error)
            if isinstance(error, RunError) and not text.endswith(_LONGER):
                raise
            seconds = self._word("seconds")
            remedy = f"; or give {seconds} a shorter time, in which less piles up"
            if text.endswith(_LONGER):
                remedy = f" by {seconds}, or name a longer trace"
            raise RunError(f"{what} on {self.drive.name}: {text}{remedy}") from error

    def _nothing_counted(
        self, demand: Demand, demands: Sequence[Demand], measurement: Measurement
    ) -> str:
        others = [each.name for each in demands if each is not demand]
        beside = f"next to {listed(others)}" if others else "alone"
        took = format_duration_ns(measurement.duration_ns)
        why = f"which is over after {took}"
        if measurement.stopped_by == "requests":
            why = f"where {self._window.requests or 0:,} requests are counted within {took}"
        longer = "name a longer trace or a higher rate"
        if not any(each.ends_unknown or each.lasting_ns is not None for each in self._demands):
            seconds = 2 * FEWEST_EXPECTED / (demand.rate_iops or 1.0)
            longer = f"give {self._word('seconds')} {seconds_text(seconds)} or more"
        return (
            f"workload {shown(demand.name)} cannot be judged: it sent no request {beside} on "
            f"{self.drive.name}, {why}; {longer}"
        )

    def _workload(self, group: Group) -> SideBySide:
        parts, start = [], 0
        for at in group.places:
            part = self._demands[at].part
            parts.append(replace(part, start_bytes=start, copies=group.copies))
            start += part.size_bytes
        window = self._window
        if group.copies > 1:
            window = window.for_copies(self._demands[group.places[0]])
        made = SideBySide(tuple(parts), window.duration_ns, window.warmup_ns, window.requests)
        # What their own writes leave is the same, whoever says it.
        return made if write_pattern(made) == group.after else replace(made, after=group.after)


def _index(workload: SideBySide) -> int:
    """Return the key of a group's random numbers, and its place in the journal."""
    text = json.dumps(said_by(workload.to_json()), sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:5], "big")
