"""Many workers as one executor: who measures what, and what becomes of the work of lost ones.

::

    work ──> left ──(a few a thread)──> a worker ──> answers ──> the run's journal
              ^                            │
              └──────── is lost ───────────┘   and starts again, some times

A measurement depends on the drive, the plan, its index and its workload alone. So it does not
matter who makes it, nor that one which was lost half way is made again.
"""

from __future__ import annotations

import queue
import time
from collections import Counter, deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.errors import DrivelabError, PanicError, RunError, UsageError
from drivelab.runs.executor import Failed, Work
from drivelab.runs.workers.messages import (
    HELLO,
    Message,
    Opening,
    drive_message,
    error_of,
    sum_of,
)
from drivelab.runs.workers.place import Place, Talk
from drivelab.told import tell
from drivelab.workloads.trace import Trace
from drivelab.workloads.workload import Workload, workload_json

# For each thread. A worker has something to do while answers travel, and little is lost with it.
_AHEAD: Final = 3
# Of a worker that answers nothing between two ends, and the pauses before it starts again.
_PAUSES: Final = (0.0, 1.0, 5.0)
# What ended workers so often is not tried again.
_MOST_LOSSES: Final = 4


@dataclass
class _Seat:
    """A place, and the worker that is there."""

    place: Place
    talk: Talk | None = None
    #: Threads that it was told to use.
    threads: int = 1
    is_open: bool = False
    was_open: bool = False
    #: Asked for and not answered.
    held: dict[int, Workload] = field(default_factory=dict)
    ends: int = 0
    #: When it may start again.
    not_before: float = 0.0
    why: DrivelabError | None = None

    @property
    def is_given_up(self) -> bool:
        return self.ends >= len(_PAUSES)


class WorkersExecutor:
    """Has workers measure; see `Executor`.

    Parameters
    ----------
    drive
        What to measure; a simulated one or a formula.
    places
        Where workers run; one each.

    Raises
    ------
    UsageError
        When the drive is one that no other process can measure, or there is no place.
    """

    def __init__(self, drive: Drive, places: Sequence[Place]) -> None:
        if not places:
            raise UsageError("there is no worker to measure with")
        self._here = drive
        self._drive = drive_message(drive)
        self._sum = sum_of(drive)
        self._places = places

    def measure(
        self, work: Sequence[Work], plan: MeasurementPlan
    ) -> Generator[Measurement | Failed, None, None]:
        """See `Executor`."""
        for _, workload in work:
            _refuse_files(workload)
            self._here.check(workload)
        under_way = _UnderWay(self._places, self._drive, self._sum, plan, work)
        try:
            yield from under_way.answers()
        finally:
            under_way.close()


class _UnderWay:
    """Workers while they measure."""

    def __init__(
        self,
        places: Sequence[Place],
        drive: Message,
        drive_sum: str,
        plan: MeasurementPlan,
        work: Sequence[Work],
    ) -> None:
        self._drive, self._sum, self._plan = drive, drive_sum, plan
        self._left = deque(work)
        self._unanswered = len(work)
        self._losses: Counter[int] = Counter()
        self._heard: queue.SimpleQueue[tuple[Talk, Message | DrivelabError | None]] = (
            queue.SimpleQueue()
        )
        # More workers than work would prepare a drive for nothing.
        self._seats = [_Seat(place) for place in places[: max(len(work), 1)]]

    def answers(self) -> Generator[Measurement | Failed, None, None]:
        while self._unanswered:
            wait = self._start_what_may()
            try:
                talk, message = self._heard.get(timeout=wait)
            except queue.Empty:
                continue
            seat = next((each for each in self._seats if each.talk is talk), None)
            if seat is None:
                continue
            answer = self._meet(seat, message)
            if answer is not None:
                self._unanswered -= 1
                yield answer

    def close(self) -> None:
        for seat in self._seats:
            if seat.talk is not None:
                seat.talk.close()

    def _start_what_may(self) -> float | None:
        """Start workers; return how long to wait for what is said, ``None`` for ever."""
        now = time.monotonic()
        wait: float | None = None
        if all(seat.is_given_up for seat in self._seats):
            raise self._nobody_is_left()
        if not self._left:
            return None
        for seat in self._seats:
            if seat.talk is not None or seat.is_given_up:
                continue
            if seat.not_before > now:
                pause = seat.not_before - now
                wait = pause if wait is None else min(wait, pause)
                continue
            seat.talk = Talk(seat.place, self._heard)
            seat.is_open = False
        return wait

    def _meet(
        self, seat: _Seat, message: Message | DrivelabError | None
    ) -> Measurement | Failed | None:
        """Take what a worker said; return an answer if it was one."""
        if message is None or isinstance(message, DrivelabError):
            self._lose(seat, message)
            return None
        if "error" in message:
            error = error_of(message)
            if isinstance(error, (UsageError, PanicError)):
                # Of the drive or the workload: it would be so everywhere.
                raise error
            self._lose(seat, RunError(f"{seat.place.name}: {error}"))
            return None
        if HELLO in message:
            self._open(seat)
        elif "opened" in message:
            if message["opened"] != self._sum:
                raise RunError(
                    f"{seat.place.name} makes another drive of the same preset: install the same "
                    "Drivelab there"
                )
            seat.is_open = seat.was_open = True
            seat.threads = max(int(message["threads"]), 1)
            self._give(seat)
        elif "measurement" in message or "failed" in message:
            return self._answered(seat, message)
        else:
            raise RunError(f"{seat.place.name} says {', '.join(message)}, which nobody asked for")
        return None

    def _open(self, seat: _Seat) -> None:
        plan = replace(self._plan, workers=seat.place.threads)
        if seat.talk is not None:
            seat.talk.tell(Opening(self._drive, plan).to_json())

    def _answered(self, seat: _Seat, message: Message) -> Measurement | Failed:
        answer: Measurement | Failed
        if "failed" in message:
            index = int(message["failed"])
        else:
            answer = Measurement.from_json(message["measurement"])
            index = answer.index
        workload = seat.held.pop(index, None)
        if workload is None:
            raise RunError(f"{seat.place.name} answered measurement {index}, and was not asked")
        if "failed" in message:
            reason = error_of(message)
            if not isinstance(reason, RunError):
                raise reason
            answer = Failed(index, workload, reason)
        seat.ends = 0
        self._give(seat)
        return answer

    def _give(self, seat: _Seat) -> None:
        """Give a worker more, when it has little left to do."""
        if seat.talk is None or not seat.is_open or len(seat.held) > seat.threads:
            return
        threads = sum(each.threads for each in self._seats if not each.is_given_up)
        # Less at a time towards the end, so that all end together.
        fair = -(-len(self._left) * seat.threads // (2 * max(threads, 1)))
        count = max(min(_AHEAD * seat.threads, fair), 1)
        given = [self._left.popleft() for _ in range(min(count, len(self._left)))]
        if not given:
            return
        # What met many ends goes alone: the next end is its own.
        if any(self._losses[index] >= 2 for index, _ in given):
            self._left.extendleft(reversed(given[1:]))
            given = given[:1]
        seat.held.update(given)
        asked = [[index, workload_json(workload)] for index, workload in given]
        seat.talk.tell({"measure": asked})

    def _lose(self, seat: _Seat, error: DrivelabError | None) -> None:
        """Take back the work of a worker that is lost."""
        if seat.talk is None:
            return
        seat.why = error or seat.talk.why_it_ended()
        seat.talk.close()
        seat.talk = None
        back = list(seat.held.items())
        seat.held.clear()
        for index, _ in back:
            self._losses[index] += 1
            if self._losses[index] >= _MOST_LOSSES:
                raise RunError(
                    f"measurement {index} was under way each of {_MOST_LOSSES} times that a worker "
                    f"ended; the last: {seat.why}"
                )
        self._left.extendleft(reversed(back))
        seat.not_before = time.monotonic() + _PAUSES[min(seat.ends, len(_PAUSES) - 1)]
        # What a machine says or lacks now, it will say again.
        is_for_good = error is not None or (isinstance(seat.why, UsageError) and not seat.was_open)
        seat.ends = len(_PAUSES) if is_for_good else seat.ends + 1
        for other in self._seats:
            self._give(other)
        if seat.is_given_up and any(not each.is_given_up for each in self._seats):
            tell(f"{seat.why}; the others do its work")

    def _nobody_is_left(self) -> DrivelabError:
        reasons = [seat.why for seat in self._seats if seat.why is not None]
        kind = UsageError if all(isinstance(each, UsageError) for each in reasons) else RunError
        more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
        return kind(f"no worker is left: {'; '.join(map(str, reasons[:3]))}{more}")


def _refuse_files(workload: Workload) -> None:
    if isinstance(workload, Trace) and workload.files is not None:
        raise UsageError(
            "a recorded trace is measured where its files are: leave out --executor, or cut it "
            "down to a scenario (`drivelab trace fit`)"
        )
