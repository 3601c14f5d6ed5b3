"""What a test drives: one drive, step after step, journalled, so that a stopped test resumes.

A test is a program over a `Bench`. Its steps are numbered from 0; the number is the key of a
step's random numbers and its place in the journal. A step that the journal holds is answered
from there. So a test that resumes runs its program again from the beginning, and the drive is
asked from the first step on that is missing. By then it must be in the state that the last
step left: a real drive is; a simulated one takes up the last state that was saved, and what
followed it is done again, with the results that are stored.

::

    journal   0 purge   1 preconditioning   2 ... 57 (round 1)   58 ... stopped at 80
    state                                            saved after 58
    going on                                         58 ... 79 done again, 80 is the next
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

#: Preconditioning is a purge, and writes.
PRECONDITIONING_STEPS: Final = 2
# Of a step in which nothing completed.
_NONE: Final = {"bytes": 0}


class Bench:
    """A drive under test.

    Steps of accesses in order go on where the last of the same ended, as hours of one stimulus
    would.

    Parameters
    ----------
    session
        The drive.
    run
        Keeps every step.
    settings
        Of the test.
    states
        Where states of simulated drives are kept.
    shared
        Where preconditioned ones are, for other tests and runs.
    progress
        Gets what is done.
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
        # Where accesses in order ended, by what they are.
        self._reached: dict[Stimulus, int] = {}
        self._most: int | None = None
        # What the last preconditioned state is kept under, and how many steps it follows.
        self._preconditioned: tuple[dict[str, Any], int] | None = None
        # Steps that the drive itself has gone through; nothing for one that was not asked yet.
        self._drive_at: int | None = None

    @property
    def done(self) -> int:
        """Steps that are stored."""
        return self._run.stored

    @property
    def is_simulated(self) -> bool:
        """Whether the drive's state is ours to keep."""
        return self._session.kind == "simulated"

    def expect(self, steps: int) -> None:
        """Say how many steps are left at most, for the time left that is shown."""
        self._most = self._next + steps

    def purge(self, phase: str = "preconditioning", section: str = "") -> Purge:
        """Bring the drive back to how it left the factory, or learn why not."""
        entry = self._take(Action("purge", phase, section))
        return Purge(**entry["result"])

    def precondition(self, size_bytes: int = PRECONDITIONING_BYTES, section: str = "") -> None:
        """Purge; then write twice the user capacity in order, over the active range.

        On a simulated drive a state that another test or run left of the same is taken up.
        """
        stimulus = self.applied.preconditioning(size_bytes)
        total = PRECONDITIONING_FILLS * self.applied.extent.capacity_bytes
        written = Action("run", "preconditioning", section, stimulus=stimulus, total_bytes=total)
        purged = Action("purge", "preconditioning", section)
        drive = lasting_identity(self._session.identity())
        # Under another name it is the same drive.
        drive.pop("name", None)
        key = {
            "drive": drive,
            "first_step": self._next,
            "seed": self.applied.settings.seed,
            # Purging leaves nothing of what was before.
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
        """Send a stimulus, or several at the same time."""
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
        """Begin accesses in order where the last step of the same ended."""
        if stimulus.is_random:
            return stimulus
        return replace(stimulus, begin_bytes=self._reached.get(_course(stimulus), 0))

    def _note_end(self, action: Action, result: dict[str, Any]) -> None:
        """Remember where sequential accesses ended; after a purge they start again."""
        if action.kind == "purge":
            self._reached.clear()
        results = result["streams"] if action.beside else [result]
        for stimulus, told in zip(action.stimuli, results, strict=False):
            if stimulus.is_random:
                continue
            moved = max(each["bytes"] for each in (told["read"], told["write"], _NONE) if each)
            whole = moved // stimulus.threads // stimulus.largest_bytes * stimulus.largest_bytes
            end = (stimulus.begin_bytes + whole) % stimulus.part_bytes
            self._reached[_course(stimulus)] = end

    def idle(self, action: Action) -> None:
        """Leave the drive alone for this time."""
        self._take(action)

    def end(self) -> None:
        """Note that the test is complete."""
        self._take(Action("end", "end"))
        self._states.forget()

    def save_if_due(self) -> None:
        """Keep the state of a simulated drive, where the last one is long ago."""
        if self.is_simulated and self._drive_at == self._next and self._states.is_due():
            state = self._session.save_state()
            if state is not None:
                self._states.save(self._next, state)

    def _take(self, action: Action) -> dict[str, Any]:
        """Answer a step from the journal, or take it and store it."""
        position = self._next
        asked = action.to_json()

        def is_same(entry: dict[str, Any]) -> bool:
            # What an older version did not say is the usual.
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
        """Take up a preconditioned state, and journal what led to it as if it was done here."""
        entries, state = found
        self._progress.begin_again("taking up the preconditioned state", self._next)
        if len(entries) != len(actions) or not self._loads(state):
            # It is computed, from a purge on, and kept in place of this one.
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
                    f"{self._run.store.path} was begun: choose another --out and begin again"
                )

    def _kept_states(self, most: int) -> Iterator[tuple[int, bytes]]:
        """Give states that follow at most `most` steps, and how many each follows; last first."""
        latest = self._states.latest(most)
        if latest is not None:
            yield latest
        if self._preconditioned is not None:
            key, position = self._preconditioned
            found = self._shared.get(key)
            if found is not None:
                yield position, found[1]

    def _loads(self, state: bytes) -> bool:
        """Bring the drive into a kept state; false for one that it refuses, as if there was none.

        What is done next, a purge or a state before, leaves nothing of the attempt.
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
                # It cannot do such things at all: nothing was done to it.
                raise
            message = f"{words_of(action)}: {error}"
            raise self._run.fail(position, message, action.to_json()) from error
        return None

    def _has_run(self) -> bool:
        """Whether the drive has served a stimulus of this test."""
        return any(entry["action"]["kind"] == "run" for entry in self._run.entries.values())


def lasting_identity(identity: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a drive's identity what may change between two starts."""
    return {name: value for name, value in identity.items() if name != "volatile"}


def _course(stimulus: Stimulus) -> Stimulus:
    """Give what distinguishes sequential accesses: everything but where they begin."""
    return replace(stimulus, begin_bytes=0)
