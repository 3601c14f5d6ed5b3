"""Many workers as one executor: who measures what, and what becomes of the work of lost ones.

::

    work ──> left ──(a few a thread)──> a worker ──> answers ──> the run's journal
              ^                            │
              └──────── is lost ───────────┘   and starts again, some times

A measurement depends on the drive, the plan, its index and its workload alone. So it does not
matter who makes it, nor that one which was lost half way is made again. Workers stay from one
call to the next, and with them the drives that they prepared.

A real drive is in one place. Its work goes nowhere else: it waits until that machine is back, and
nothing of the next measurement is asked for before the last one was taken. `HostDrive` is such a
drive.
"""

from __future__ import annotations

import queue
import time
from collections import Counter, deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Protocol

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.drives.simulated.alike import Family
from drivelab.errors import DrivelabError, PanicError, RunError, UsageError
from drivelab.notes import print_note
from drivelab.runs.executor import DriveExecutor, Failed, Work
from drivelab.runs.workers.messages import (
    ALIVE,
    HELLO,
    SIGN_SECONDS,
    Message,
    drive_message,
    error_of,
    plan_message,
    sum_of,
)
from drivelab.runs.workers.place import Place
from drivelab.runs.workers.talk import NOTE, Heard, Talk, Talking, TalkingPlace
from drivelab.workloads.side_by_side import SideBySide
from drivelab.workloads.trace import Trace
from drivelab.workloads.workload import Workload, workload_json

# For each thread. A worker has something to do while answers travel, and little is lost with it.
_AHEAD: Final = 3
# Before a worker starts again, after each end in a row without an answer between.
_PAUSES: Final = (0.0, 1.0, 5.0, 30.0)
# Number of ends of a worker that never answered, as from a machine that is switched off.
_ENDS_AT_FIRST: Final = 3
# What was under way so often when a worker ended goes alone, and is not tried more often than this.
_SUSPECT: Final = 2
_MOST_LOSSES: Final = 4
# Waits without a sign of a worker after which it is lost. A pause of this process is one wait.
_MOST_WAITS: Final = 12
_END_SECONDS: Final = 5.0
# In which a worker gives a real drive back.
_GIVING_BACK_SECONDS: Final = 35.0
# How long the work of a real drive waits for its machine.
_PATIENCE_SECONDS: Final = 900.0


class Lone(Protocol):
    """A drive that is in one place, behind one worker."""

    @property
    def opening(self) -> Message:
        """What a worker is asked to open."""
        ...

    def meet(self, message: Message) -> None:
        """Take what a worker says of the drive that it opened; raise where it is another one."""
        ...


@dataclass(eq=False)
class _Seat:
    """A place, and the worker that is there."""

    place: Place | TalkingPlace
    talk: Talking | None = None
    #: Drives that it was asked to open and has not.
    opening: int = 0
    #: Threads that it measures with.
    threads: int = 1
    is_open: bool = False
    was_open: bool = False
    #: Asked for and not answered, in order.
    held: dict[int, Workload] = field(default_factory=dict)
    #: Its work is deliberately alone.
    holds_suspect: bool = False
    ends: int = 0
    waits: int = 0
    #: When it may start again.
    not_before: float = 0.0
    is_given_up: bool = False
    #: Since when nothing has come from it, where it was lost.
    lost_at: float | None = None
    why: DrivelabError | None = None


class WorkersExecutor(ClosedOnExit):
    """Has workers measure; see `Executor`. Closed, it ends them.

    Parameters
    ----------
    drive
        What to measure; a simulated one or a formula.
    places
        Where workers run; one each.
    lone
        The same drive, where it is a real one in one place, the only one of `places`.

    Raises
    ------
    UsageError
        When the drive is one that no other process can measure, or there is no place.
    """

    def __init__(
        self, drive: Drive, places: Sequence[Place | TalkingPlace], lone: Lone | None = None
    ) -> None:
        if not places:
            raise UsageError("there is no worker to measure with")
        self._here = drive
        self._lone = lone
        self._drive = drive_message(drive) if lone is None else lone.opening
        self._sum = None if lone is not None else sum_of(drive)
        #: Where a worker keeps what it measures next.
        self.keep: str | None = None
        self._heard: queue.SimpleQueue[tuple[Talking, Heard]] = queue.SimpleQueue()
        #: Machines whose first answer was compared with this one's.
        self._trusted: set[str] = set()
        self._seats = [_Seat(place) for place in places]
        #: Seats by their workers, those without one that may have one, and threads of those open:
        #: an answer must not cost a look at each of a thousand seats.
        self._seat_of: dict[Talking, _Seat] = {}
        self._empty = list(self._seats)
        self._threads = 0
        #: What the workers were given, and under which name they keep what they measure.
        self._plan: tuple[MeasurementPlan, str | None] | None = None
        self._left: deque[Work] = deque()
        self._suspects: deque[Work] = deque()
        self._losses: Counter[int] = Counter()
        self._unanswered = 0

    def measure(
        self, work: Sequence[Work], plan: MeasurementPlan
    ) -> Generator[Measurement | Failed, None, None]:
        """See `Executor`."""
        for _, workload in work:
            refuse_files(workload)
            self._here.check(workload)
        if (plan, self.keep) != self._plan:
            self._plan = (plan, self.keep)
            for seat in self._seats:
                self._tell_plan(seat)
        self._left.extend(work)
        self._unanswered = len(work)
        self._losses.clear()
        for seat in self._seats:
            self._give(seat)
        try:
            yield from self._answers()
        finally:
            if self._unanswered:
                # They would continue with work that nobody wants.
                self.close()

    def open(self) -> None:
        """Have the one worker of a lone drive open it; errors as of `measure`."""
        self._unanswered = 1
        try:
            while not all(seat.is_open for seat in self._seats):
                self._hear_one()
        except BaseException:
            self.close()
            raise
        self._unanswered = 0

    @property
    def is_over(self) -> bool:
        """See `drivelab.runs.executor.TurningExecutor`."""
        return all(seat.is_given_up for seat in self._seats)

    def turn_to(self, drive: Drive, family: Family) -> None:
        """Measure on another drive from now on, with the same workers.

        Parameters
        ----------
        drive
            A simulated one.
        family
            Where it belongs: workers begin in the state of one before. See `DrivesAlike`.
        """
        self._here = drive
        self._drive = drive_message(drive, family)
        self._sum = sum_of(drive)
        self._threads = 0
        for seat in self._seats:
            # One that has said nothing yet is asked when it does.
            if seat.talk is not None and (seat.is_open or seat.opening):
                seat.is_open = False
                self._open(seat)

    def give_back(self) -> None:
        """Say that nobody will go on with the drive: a file that was made for it is removed."""
        for seat in self._seats:
            if seat.talk is not None and seat.is_open:
                seat.talk.tell({"close": True})

    def close(self) -> None:
        """End every worker."""
        talks = [seat.talk for seat in self._seats if seat.talk is not None]
        for talk in talks:
            talk.end()
        until = time.monotonic() + (_END_SECONDS if self._lone is None else _GIVING_BACK_SECONDS)
        for talk in talks:
            talk.wait(until)
        for seat in self._seats:
            seat.talk, seat.is_open, seat.holds_suspect = None, False, False
            seat.held.clear()
        self._seat_of.clear()
        self._empty = [seat for seat in self._seats if not seat.is_given_up]
        self._threads = 0
        self._left.clear()
        self._suspects.clear()
        self._unanswered = 0

    def _answers(self) -> Generator[Measurement | Failed, None, None]:
        while self._unanswered:
            answer = self._hear_one()
            if answer is not None:
                self._unanswered -= 1
                yield answer
                if self._lone is not None:
                    # Nothing more of a real drive before the caller has taken this.
                    self._give(self._seats[0])

    def _hear_one(self) -> Measurement | Failed | None:
        """Wait for the next thing that is said; return an answer if it was one."""
        wait = self._start_what_may()
        try:
            talk, message = self._heard.get(timeout=wait)
        except queue.Empty:
            self._miss_signs()
            return None
        seat = self._seat_of.get(talk)
        if seat is None:
            return None
        seat.waits = 0
        return self._meet(seat, message)

    def _start_what_may(self) -> float:
        """Start workers that have something to do; return how long to wait for what is said."""
        wait = SIGN_SECONDS
        now = time.monotonic()
        if not self._seat_of and not self._empty:
            raise self._nobody_is_left()
        begun = []
        for seat in self._empty:
            # More workers than work would prepare a drive for nothing.
            if len(self._seat_of) >= self._unanswered:
                break
            if seat.not_before > now:
                wait = min(wait, seat.not_before - now)
                continue
            place = seat.place
            heard = self._heard
            if isinstance(place, TalkingPlace):
                seat.talk = place.begin(heard)
            else:
                seat.talk = Talk(place, heard)
            seat.is_open, seat.opening, seat.waits = False, 0, 0
            self._seat_of[seat.talk] = seat
            begun.append(seat)
        for seat in begun:
            self._empty.remove(seat)
        return wait

    def _miss_signs(self) -> None:
        """Count a wait in which nobody answered."""
        for seat in self._seats:
            if seat.talk is None:
                continue
            seat.waits += 1
            if seat.waits > _MOST_WAITS:
                seconds = _MOST_WAITS * SIGN_SECONDS
                self._lose(seat, RunError(f"{seat.place.name} gave no sign for {seconds:.0f} s"))

    def _meet(self, seat: _Seat, message: Heard) -> Measurement | Failed | None:
        """Take what a worker said; return an answer if it was one."""
        if message is None or isinstance(message, DrivelabError):
            self._lose(seat, message)
            return None
        if NOTE in message:
            if self._lone is not None:
                print_note(f"{seat.place.name}: {message[NOTE]}")
            return None
        if "error" in message and "failed" not in message:
            self._complain(seat, error_of(message))
            return None
        if "opened" in message and self._lone is not None:
            self._lone.meet(message)
        try:
            return self._understood(seat, message)
        except (KeyError, TypeError, ValueError, OverflowError, UsageError) as error:
            said = f"{seat.place.name} says what makes no sense: {error}"
            self._lose(seat, RunError(said))
            return None

    def _complain(self, seat: _Seat, error: DrivelabError) -> None:
        """Meet an error of a worker: raise what is so everywhere, and lose the worker else."""
        named = type(error)(f"{seat.place.name}: {error}")
        if self._lone is None:
            if isinstance(error, (UsageError, PanicError)):
                # Of the drive or the workload.
                raise error
        elif isinstance(error, PanicError) or seat.is_open or not seat.was_open:
            raise named
        # A worker that was lost a moment ago may still have the drive, until it knows.
        self._lose(seat, named if isinstance(named, RunError) else RunError(str(named)))

    def _understood(self, seat: _Seat, message: Message) -> Measurement | Failed | None:
        if HELLO in message:
            self._open(seat)
        elif "opened" in message:
            seat.opening -= 1
            if seat.opening:
                # There was another one to open meanwhile.
                return None
            if self._lone is None and message["opened"] != self._sum:
                raise UsageError("another drive of the same preset")
            seat.threads = max(int(message["threads"]), 1)
            self._threads += seat.threads
            seat.is_open = seat.was_open = True
            self._tell_plan(seat)
            self._give(seat)
        elif "measurement" in message or "failed" in message:
            return self._answered(seat, message)
        elif ALIVE not in message:
            raise UsageError(f"{', '.join(map(str, message))}, which nobody asked for")
        return None

    def _open(self, seat: _Seat) -> None:
        if seat.talk is not None:
            seat.opening += 1
            seat.talk.tell({"open": self._drive, "threads": seat.place.threads})

    def _tell_plan(self, seat: _Seat) -> None:
        if seat.talk is not None and seat.is_open and self._plan is not None:
            plan, keep = self._plan
            seat.talk.tell(plan_message(replace(plan, workers=seat.place.threads), keep))

    def _answered(self, seat: _Seat, message: Message) -> Measurement | Failed:
        answer: Measurement | Failed
        if "failed" in message:
            index = int(message["failed"])
            reason = error_of(message)
            failed = reason if isinstance(reason, RunError) else RunError(str(reason))
            answer = Failed(index, seat.held[index], failed)
        else:
            answer = Measurement.from_json(message["measurement"])
            index = answer.index
            if answer.workload != seat.held[index]:
                raise ValueError(f"measurement {index} is of another workload")
            self._compare(seat, answer)
        del seat.held[index]
        seat.holds_suspect = False
        seat.ends = 0
        seat.lost_at = None
        if self._lone is None:
            self._give(seat)
        return answer

    def _compare(self, seat: _Seat, answer: Measurement) -> None:
        """Make the first answer of another machine here too: there may be another Drivelab."""
        machine = None if seat.talk is None else seat.talk.machine
        if machine is None or machine in self._trusted or self._plan is None or self._lone:
            return
        work = [(answer.index, answer.workload)]
        here = next(iter(DriveExecutor(self._here).measure(work, self._plan[0])))
        if here != answer:
            raise RunError(
                f"{seat.place.name} measures otherwise than this machine: install the same "
                "Drivelab there"
            )
        self._trusted.add(machine)

    def _give(self, seat: _Seat) -> None:
        """Give a worker more, when it has little left to do."""
        if seat.talk is None or not seat.is_open or seat.holds_suspect:
            return
        if self._suspects and not seat.held:
            given = [self._suspects.popleft()]
            seat.holds_suspect = True
        else:
            given = self._next_for(seat)
        if not given:
            return
        seat.held.update(given)
        asked = [[index, workload_json(workload)] for index, workload in given]
        seat.talk.tell({"measure": asked})

    def _next_for(self, seat: _Seat) -> list[Work]:
        if self._lone is not None:
            return [self._left.popleft()] if self._left and not seat.held else []
        if len(seat.held) > seat.threads:
            return []
        # Less at a time towards the end, so that all end together; but no thread waits.
        fair = -(-len(self._left) * seat.threads // (2 * max(self._threads, 1)))
        count = max(min(_AHEAD * seat.threads, fair), seat.threads - len(seat.held), 1)
        return [self._left.popleft() for _ in range(min(count, len(self._left)))]

    def _lose(self, seat: _Seat, error: DrivelabError | None) -> None:
        """Take back the work of a worker that is lost."""
        if seat.talk is None:
            return
        seat.why = error or seat.talk.why_it_ended()
        seat.talk.close()
        del self._seat_of[seat.talk]
        self._threads -= seat.threads if seat.is_open else 0
        seat.talk, seat.is_open, seat.holds_suspect = None, False, False
        # The others had not been begun.
        for index in islice(seat.held, seat.threads):
            self._losses[index] += 1
            if self._losses[index] >= _MOST_LOSSES:
                raise RunError(
                    f"measurement {index} was in progress each of the {_MOST_LOSSES} times that "
                    f"a worker ended; the last: {seat.why}"
                )
        for each in reversed(seat.held.items()):
            (self._suspects if self._losses[each[0]] >= _SUSPECT else self._left).appendleft(each)
        seat.held.clear()
        now = time.monotonic()
        seat.not_before = now + _PAUSES[min(seat.ends, len(_PAUSES) - 1)]
        seat.ends += 1
        most = len(_PAUSES) if seat.was_open else _ENDS_AT_FIRST
        if self._lone is not None and seat.was_open:
            self._wait_for(seat, now)
            self._empty += [] if seat.is_given_up else [seat]
            return
        # What a machine lacks now, it will lack again.
        seat.is_given_up = seat.ends > most or isinstance(seat.why, UsageError)
        self._empty += [] if seat.is_given_up else [seat]
        for other in self._seats:
            self._give(other)
        if seat.is_given_up and any(not each.is_given_up for each in self._seats):
            print_note(f"{seat.why}; the others do its work")

    def _wait_for(self, seat: _Seat, now: float) -> None:
        """Have the work of a real drive wait for its machine, for a while."""
        if seat.lost_at is None:
            seat.lost_at = now
            print_note(f"{seat.why}; waiting for it to come back: then measuring goes on")
        waited = now - seat.lost_at
        seat.is_given_up = waited > _PATIENCE_SECONDS or isinstance(seat.why, UsageError)

    def _nobody_is_left(self) -> DrivelabError:
        if self._lone is not None and (seat := self._seats[0]).was_open:
            is_lasting = isinstance(seat.why, UsageError)
            waited = "" if is_lasting else f", and was not back in {_PATIENCE_SECONDS / 60:.0f} min"
            return RunError(f"{seat.why}{waited}")
        reasons = [seat.why for seat in self._seats if seat.why is not None]
        is_mistake = not any(seat.was_open for seat in self._seats) and all(
            isinstance(each, UsageError) for each in reasons
        )
        more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
        said = f"no worker is left: {'; '.join(map(str, reasons[:3]))}{more}"
        return UsageError(said) if is_mistake else RunError(said)


def refuse_files(workload: Workload) -> None:
    """Raise `UsageError` for a workload whose files are on this machine."""
    parts = workload.parts if isinstance(workload, SideBySide) else ()
    alone = (workload, *(each.workload for each in parts))
    if any(isinstance(each, Trace) and each.files is not None for each in alone):
        raise UsageError(
            "a recorded trace is measured where its files are: leave out --executor, or make a "
            "scenario of it (`drivelab trace fit`)"
        )
