"""Who does independent work: measurements that do not depend on each other.

Each begins from the drive's stated condition and has its own random numbers, so they may be made
anywhere and in any order. Whoever makes them, the journal is the only truth: results and exports
are the same, and what an executor never answered is asked again when the run resumes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.drives.simulated.alike import Family
from drivelab.errors import RunError
from drivelab.workloads.workload import Workload

#: An index, the key of random numbers and the place in the journal, and what to measure there.
Work = tuple[int, Workload]


#: Gives who measures on a drive that is open, for as long as that is; ``None`` is the drive itself.
Executors = Callable[[Drive], "AbstractContextManager[Executor | None]"]


def nobody_else(_: Drive) -> AbstractContextManager[None]:
    """Have the drive itself measure."""
    return nullcontext()


@dataclass(frozen=True)
class Failed:
    """A measurement that gave no result."""

    index: int
    workload: Workload
    reason: RunError


class Executor(Protocol):
    """Measures what it is asked for, wherever that is."""

    def measure(
        self, work: Sequence[Work], plan: MeasurementPlan
    ) -> Generator[Measurement | Failed, None, None]:
        """Return each measurement's result as it arrives, in any order.

        Nothing of the next measurement on a real drive starts before the caller asks for it.
        Closing ends every tool and process that was started for it.

        Parameters
        ----------
        work
            Work to measure; each index once.
        plan
            How long each is measured, and the seed.

        Raises
        ------
        DrivelabError
            When it cannot continue; results that were given before count.
        """
        ...


class TurningExecutor(Executor, Protocol):
    """An executor whose workers measure on one simulated drive after the other."""

    @property
    def is_over(self) -> bool:
        """Whether no worker is left, and none will start."""
        ...

    def turn_to(self, drive: Drive, family: Family) -> None:
        """Measure on another drive from now on.

        Parameters
        ----------
        drive
            A simulated one.
        family
            Where it belongs: workers begin in the state of one before.
        """
        ...


class InTurn:
    """One drive's share of workers that measure on several drives, one after the other.

    Parameters
    ----------
    drive
        A simulated drive.
    workers
        Turn to this drive before each batch. They keep the states of two drives.
    """

    def __init__(self, drive: Drive, workers: TurningExecutor) -> None:
        self._drive = drive
        self._workers = workers

    def measure(
        self, work: Sequence[Work], plan: MeasurementPlan
    ) -> Generator[Measurement | Failed, None, None]:
        """See `Executor`."""
        self._workers.turn_to(self._drive, (0, self._drive.name))
        return self._workers.measure(work, plan)


#: As `Executors`, for whoever measures on many drives; it is asked once, for the first of them.
TurningExecutors = Callable[[Drive], "AbstractContextManager[TurningExecutor | None]"]


class DriveExecutor:
    """Asks a drive that is open here: threads of the core on simulated ones, else one by one.

    What fails on a real drive is a `Failed`, and the drive is asked for the rest. What a simulated
    drive cannot do today it cannot do tomorrow: that is raised.

    Parameters
    ----------
    drive
        Where to measure; answers in the order in which it is asked.
    """

    def __init__(self, drive: Drive) -> None:
        self._drive = drive

    def measure(
        self, work: Sequence[Work], plan: MeasurementPlan
    ) -> Generator[Measurement | Failed, None, None]:
        """See `Executor`."""
        left = deque(work)
        while left:
            answers: Any = self._drive.measure(list(left), plan)
            # A generator ends its tools (fio) when it is closed, not when it is forgotten.
            with closing(answers):
                yield from self._until_failure(answers, left)

    def _until_failure(
        self, answers: Any, left: deque[Work]
    ) -> Generator[Measurement | Failed, None, None]:
        while left:
            index, workload = left[0]
            try:
                answer = next(answers, None)
            except RunError as error:
                if self._drive.kind != "real":
                    raise
                left.popleft()
                yield Failed(index, workload, error)
                return
            if answer is None or (answer.index, answer.workload) != (index, workload):
                found = "nothing" if answer is None else f"measurement {answer.index}"
                raise RunError(f"{self._drive.name} answered {found} when asked for {index}")
            left.popleft()
            yield answer
