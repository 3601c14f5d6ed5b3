"""What a test works on: one drive, step after step, in a journal, so that a stopped test resumes.

A test is a program over a `Bench`. Its steps are numbered from 0; the number is the key of a step's
random numbers and its position in the journal. A step in the journal is answered from there. So a
resumed test runs its program again from the beginning, and the drive is asked only from the first
missing step on. By then it must be in the state that the last step left. A real drive is. A
simulated drive loads the last saved state and repeats the steps after it, whose results must equal
the stored ones.

::

    journal   0 purge   1 preconditioning   2 ... 57 (round 1)   58 ... stopped at 80
    state                                            saved after 58
        resuming                                         58 ... 79 repeated, 80 is the next
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from drivelab.drives.measurement import Measurement
from drivelab.drives.session import DriveSession, Purge, StepPlan
from drivelab.errors import RunError, UsageError
from drivelab.pts.applied_settings import (
    PRECONDITIONING_BYTES,
    PRECONDITIONING_FILLS,
    AppliedSettings,
)
from drivelab.pts.journal import Action, Step
from drivelab.pts.progress import TestProgress
from drivelab.pts.settings import Settings
from drivelab.pts.shared_states import SharedStates
from drivelab.pts.states import States
from drivelab.pts.words import words_of
from drivelab.runs.run import Run
from drivelab.store import damaged
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus

#: Preconditioning consists of a purge, and writes.
PRECONDITIONING_STEPS: Final = 2
# Result of a step in which nothing completed.
_NONE: Final = {"bytes": 0}


class Bench:
    """A drive under test.

    A step of sequential accesses continues where the last step of the same kind ended, like hours
    of one stimulus.

    Parameters
    ----------
    session
        The drive.
    run
        Stores every step.
    settings
        Settings of the test.
    states
        Folder for states of simulated drives.
    shared
        Preconditioned states that other tests and runs share.
    progress
        Shows what is done.
    """

    def __init__(
        self,
        session: DriveSession,
        run: Run,
        settings: Settings,
        states: States,
        shared: SharedStates,
        *,
        progress: TestProgress,
    ) -> None:
        self.applied = AppliedSettings.of(session, settings)
        self._session = session
        self._run = run
        self._states = states
        self._shared = shared
        self._progress = progress
        if set(run.entries) != set(range(run.stored)):
            raise damaged(run.store.path, "a step is missing between others")
        self._next = 0
        # Where sequential accesses ended, by their properties.
        self._reached: dict[Stimulus, int] = {}
        self._most: int | None = None
        # The key of the last preconditioned state, and the number of steps before it.
        self._preconditioned: tuple[dict[str, Any], int] | None = None
        # Steps that the drive itself has done; None if it was not asked yet.
        self._drive_at: int | None = None

    @property
    def done(self) -> int:
        """Return the number of stored steps."""
        return self._run.stored

    @property
    def is_simulated(self) -> bool:
        """Return whether the drive is simulated, so that its state must be saved."""
        return self._session.kind == "simulated"

    def expect(self, steps: int) -> None:
        """Set the largest number of steps left, for the remaining time."""
        self._most = self._next + steps

    def purge(self, phase: str = "preconditioning", section: str = "") -> Purge:
        """Purge the drive, or learn why that is not possible."""
        entry = self._take(Action("purge", phase, section))
        return Purge(**entry["result"])

    def precondition(self, size_bytes: int = PRECONDITIONING_BYTES, section: str = "") -> None:
        """Purge; then write twice the user capacity sequentially, over the active range.

        A simulated drive loads the same state if another test or run left it.
        """
        stimulus = self.applied.preconditioning(size_bytes)
        total = PRECONDITIONING_FILLS * self.applied.extent.capacity_bytes
        written = Action("run", "preconditioning", section, stimulus=stimulus, total_bytes=total)
        purged = Action("purge", "preconditioning", section)
        drive = lasting_identity(self._session.identity())
        # The drive is the same under another name.
        drive.pop("name", None)
        key = {
            "drive": drive,
            "first_step": self._next,
            "seed": self.applied.settings.seed,
            # A purge removes everything from before.
            "actions": [replace(each, section="").to_json() for each in (purged, written)],
        }
        is_ahead = self.is_simulated and self._next == self.done
        found = self._shared.get(key) if is_ahead else None
        if found is not None:
            self._take_up(found, (purged, written))
        was = self.done
        self._take(purged)
        self._take(written)
        self._preconditioned = (key, self._next)
        if self.is_simulated and self.done == was + 2:
            state = self._session.save_state()
            if state is not None:
                entries = [self._run.entries[each] for each in (was, was + 1)]
                self._shared.put(key, self._session.name, entries, state)

    def run(self, action: Action) -> Step:
        """Send one stimulus, or several at the same time."""
        if action.stimulus is None:
            raise ValueError(f"{action} sends nothing")
        position = self._next
        stimulus = self._going_on(action.stimulus)
        beside = tuple(self._going_on(each) for each in action.beside)
        action = replace(action, stimulus=stimulus, beside=beside)
        entry = self._take(action)
        return Step(
            position,
            action,
            stimulus,
            Measurement.of_results(position, action.work, entry["result"]),
        )

    def _going_on(self, stimulus: Stimulus) -> Stimulus:
        """Start sequential accesses where the last step of the same kind ended."""
        if stimulus.is_random:
            return stimulus
        return replace(stimulus, begin_bytes=self._reached.get(_course(stimulus), 0))

    def _note_end(self, action: Action, result: dict[str, Any]) -> None:
        """Note where sequential accesses ended; after a purge they start again."""
        if action.kind == "purge":
            self._reached.clear()
        results = result["streams"] if action.beside else [result]
        for stimulus, done in zip(action.stimuli, results, strict=False):
            if stimulus.is_random:
                continue
            moved = max(each["bytes"] for each in (done["read"], done["write"], _NONE) if each)
            whole = moved // stimulus.threads // stimulus.largest_bytes * stimulus.largest_bytes
            end = (stimulus.begin_bytes + whole) % stimulus.part_bytes
            self._reached[_course(stimulus)] = end

    def idle(self, action: Action) -> None:
        """Leave the drive idle for this time."""
        self._take(action)

    def end(self) -> None:
        """Note that the test is complete."""
        self._take(Action("end", "end"))
        self._states.forget()

    def save_if_due(self) -> None:
        """Save the state of a simulated drive if the last one is old."""
        if self.is_simulated and self._drive_at == self._next and self._states.is_due():
            state = self._session.save_state()
            if state is not None:
                self._states.save(self._next, state)

    def _take(self, action: Action) -> dict[str, Any]:
        """Answer a step from the journal, or carry it out and store it."""
        position = self._next
        asked = action.to_json()

        def is_same(entry: dict[str, Any]) -> bool:
            # What an older version did not store has its default.
            return Action.from_json(entry["action"]).to_json() == asked

        def do() -> dict[str, Any]:
            self._bring_up(position)
            self._progress.begin(words_of(action), position, self._most)
            result = self._done_by_drive(action, position)
            self._drive_at = position + 1
            self._progress.advance()
            return {"action": asked, "result": result}

        entry = self._run.step(position, is_same, do)
        self._note_end(action, entry["result"])
        self._next += 1
        return entry

    def _take_up(
        self, found: tuple[list[dict[str, Any]], bytes], actions: tuple[Action, Action]
    ) -> None:
        """Load a preconditioned state, and store its steps as if they were done here."""
        entries, state = found
        self._progress.begin_again("loading the preconditioned state", self._next)
        if len(entries) != len(actions) or not self._loads(state):
            # It is computed from a purge on, and replaces this one.
            return
        for entry, action in zip(entries, actions, strict=True):
            kept = {"action": action.to_json(), "result": entry["result"]}
            self._run.keep(self.done, kept)
        self._drive_at = self.done

    def _bring_up(self, position: int) -> None:
        """Bring the drive into the state that the steps before `position` left."""
        if self._drive_at is not None or not self.is_simulated:
            return
        kept = self._kept_states(position)
        begin = next((place for place, state in kept if self._loads(state)), 0)
        for place in range(begin, position):
            entry = self._run.entries[place]
            action = Action.from_json(entry["action"])
            self._progress.begin_again(f"again: {words_of(action)}", place)
            if self._done_by_drive(action, place) != entry["result"]:
                raise RunError(
                    f"{self._session.name} does not answer step {place} as it did when "
                    f"{self._run.store.path} was started: choose another --out and start again"
                )

    def _kept_states(self, most: int) -> Iterator[tuple[int, bytes]]:
        """Yield states after at most `most` steps, and the number of these steps; last first."""
        latest = self._states.latest(most)
        if latest is not None:
            yield latest
        if self._preconditioned is not None:
            key, position = self._preconditioned
            found = self._shared.get(key)
            if found is not None:
                yield position, found[1]

    def _loads(self, state: bytes) -> bool:
        """Load a saved state; return False if the drive refuses it, as if there was none.

        The next purge or earlier state removes all traces of the attempt.
        """
        try:
            self._session.load_state(state)
        except UsageError:
            return False
        return True

    def _done_by_drive(self, action: Action, position: int) -> dict[str, Any] | None:
        try:
            if action.kind == "purge":
                purge = self._session.purge()
                return {
                    "outcome": purge.outcome,
                    "method": purge.method,
                    "reason": purge.reason,
                }
            if action.kind == "idle":
                self._session.idle(action.seconds or 0.0)
            if action.kind == "run" and action.stimulus is not None:
                work = Stimuli(tuple(action.stimuli), tuple(action.shares))
                plan = StepPlan(action.seconds, action.total_bytes)
                result = self._session.run(work, plan, position)
                return result.results_json()
        except (RunError, UsageError) as error:
            if isinstance(error, UsageError) and not self._has_run():
                # The drive cannot do this at all, so nothing was done to it.
                raise
            message = f"{words_of(action)}: {error}"
            raise self._run.fail(position, message, action.to_json()) from error
        return None

    def _has_run(self) -> bool:
        """Return whether the drive has served a stimulus of this test."""
        return any(entry["action"]["kind"] == "run" for entry in self._run.entries.values())


def lasting_identity(identity: dict[str, Any]) -> dict[str, Any]:
    """Return a drive's identity without what may change between two starts."""
    return {name: value for name, value in identity.items() if name != "volatile"}


def _course(stimulus: Stimulus) -> Stimulus:
    """Return what distinguishes sequential accesses: everything except where they begin."""
    return replace(stimulus, begin_bytes=0)
