"""The life cycle of every kind of run: opened or resumed, locked, stored, stopped.

What runs is a *program*: a function of the `Run`, which asks it for what it wants next and is given
the results so far. It asks in two ways::

    measure   independent work: a campaign asks for all of it at once, a profile for what it would
              learn most from; an executor does it, anywhere and in any order
    step      the next step of a session: what the journal holds is answered from there, so that a
              test runs its program again from the beginning and its drive goes on where it was

Every answer is in the journal before a program sees it, and on a real drive before anything else
begins. So the journal and the program are all that going on takes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import DamagedError, DrivelabError, RunError, UsageError
from drivelab.runs.executor import Executor, Failed, Work
from drivelab.runs.failures import FailureRule
from drivelab.runs.header import command_of
from drivelab.runs.kind import RunKind
from drivelab.runs.pause import Pause
from drivelab.runs.same_run import refuse_other_run
from drivelab.runs.stopping import how_to_go_on, stays_until_complete, told_when_stopped
from drivelab.store import RunStore, holds_more_than_a_journal

Answer = TypeVar("Answer")
Entry = dict[str, Any]


class Run(ClosedOnExit):
    """A run that is open: the one in `path`, or a new one there.

    Parameters
    ----------
    kind
        The kind of run.
    path
        Its folder; ``None`` keeps nothing.
    header
        What identifies it. A run that holds no result yet is taken for this one.
    is_real
        Whether its drive is: then every result reaches the medium before anything else begins,
        and Ctrl-Z waits for the measurement.
    start
        Who measures, kept when the first thing is asked for that the journal does not hold.
    command
        The command line that resumes it, printed when it stops.
    total
        Results of the whole run, where that is known.
    leave
        Lets a file that was made for the drive stay for whoever resumes, and gives its path;
        with ``only_found`` not one that is new.

    Attributes
    ----------
    kind
        As above.
    stored
        Results that are kept.

    Raises
    ------
    UsageError
        When `path` holds another run, or anything else.
    RunError
        When another process is at it, the disk is full, or the run is damaged.
    """

    def __init__(
        self,
        kind: RunKind,
        path: Path | None,
        header: dict[str, Any],
        *,
        is_real: bool,
        start: dict[str, Any],
        command: str | None = None,
        total: int | None = None,
        leave: Callable[..., Path | None] | None = None,
    ) -> None:
        self.kind = kind
        self._start = start
        self._command = command
        self._total = total
        self._leave = leave
        self._is_begun = False
        self._pause = Pause(at_once=not is_real)
        self._store = None if path is None else _opened(kind, path, header, is_real, command)
        self.stored = 0 if self._store is None else len(self._store.done())

    @property
    def is_kept(self) -> bool:
        """Whether there is a journal."""
        return self._store is not None

    @property
    def store(self) -> RunStore:
        """The journal, held by this process; a `ValueError` where nothing is kept."""
        if self._store is None:
            raise ValueError("a run without a folder has no journal")
        return self._store

    @cached_property
    def entries(self) -> dict[int, Entry]:
        """Everything that the journal holds, by place."""
        if self._store is None:
            return {}
        return dict(zip(sorted(self.store.done()), self.store.measurements(), strict=True))

    @property
    def paused_seconds(self) -> float:
        """How long Ctrl-Z held it, in all."""
        return self._pause.seconds

    def carry_out(self, program: Callable[[Run], Answer]) -> Answer:
        """Run a program until it gives its answer.

        Raises
        ------
        DrivelabError
            When it fails, or is asked for what its drive cannot do.
        KeyboardInterrupt, TerminatedError
            When it is stopped. As for failures the text says what is saved, and how to resume.
        """
        try:
            with told_when_stopped(lambda: f"; {self._kept()}"), self._pause:
                return program(self)
        except DamagedError:
            # Going on would meet it again.
            raise
        except DrivelabError as error:
            # So would a mistake that came before everything else.
            if self._store is None or (isinstance(error, UsageError) and not self.stored):
                raise
            raise type(error)(f"{error}; {self._kept()}") from error

    def measure(
        self,
        work: Sequence[Work],
        plan: MeasurementPlan,
        executor: Executor,
        *,
        entry_of: Callable[[Measurement], Entry] = Measurement.to_json,
        rule: FailureRule | None = None,
    ) -> Generator[Measurement | Failed, None, None]:
        """Have independent work done; each result is kept when it is given. Close what this gives.

        Parameters
        ----------
        work
            What to measure, none of it kept yet.
        plan
            How long each is measured, and the seed.
        executor
            Who does it.
        entry_of
            What is kept of a measurement.
        rule
            What to do about failures, which are kept too; the first one is raised unless given.

        Raises
        ------
        RunError
            When the rule says so, or the executor answers what it was not asked, or not all.
        """
        self._begin()
        left = dict(work)
        with closing(executor.measure(work, plan)) as answers:
            for answer in answers:
                if left.pop(answer.index, None) != answer.workload:
                    raise RunError(f"measurement {answer.index} was answered, and not asked for")
                if isinstance(answer, Measurement):
                    self._append(answer.index, entry_of(answer))
                    if rule is not None:
                        rule.succeeded()
                else:
                    self._add_failure(answer.index, str(answer.reason), answer.workload.to_json())
                    if rule is None:
                        raise answer.reason
                    rule.failed(answer)
                yield answer
                self._pause.here()
        if left:
            raise RunError(f"{len(left)} of {len(work)} measurements were never answered")

    def tell(self, values: dict[str, Any]) -> None:
        """Keep what the run learns about itself as it goes, such as what it asks for next."""
        self._begin()
        self.store.tell(values)

    def step(
        self, position: int, is_same: Callable[[Entry], bool], do: Callable[[], Entry]
    ) -> Entry:
        """Answer a step of a session from the journal, or take it and keep it.

        Parameters
        ----------
        position
            Its place.
        is_same
            Tells whether an entry is of this step.
        do
            Takes it.

        Raises
        ------
        RunError
            When the journal holds another step there.
        """
        entry = self.entries.get(position)
        if entry is None:
            self._begin()
            entry = do()
            self.keep(position, entry)
            self._pause.here()
        elif not is_same(entry):
            raise RunError(
                f"step {position} of {self.store.path} is another than this version of "
                "Drivelab takes: finish it with the version that began it, or use another --out"
            )
        return entry

    def keep(self, position: int, entry: Entry) -> None:
        """Keep a step that is done."""
        self._append(position, entry)
        self.entries[position] = entry

    def fail(self, position: int, message: str, asked: Mapping[str, Any]) -> RunError:
        """Keep that a step failed; give the error."""
        self._add_failure(position, message, asked)
        return RunError(message)

    def close(self) -> None:
        """Give up the lock."""
        if self._store is not None:
            self.store.close()

    def _begin(self) -> None:
        if self._store is not None and not self._is_begun:
            self.store.record_start(self._start)
        self._is_begun = True

    def _append(self, position: int, entry: Entry) -> None:
        self._begin()
        if self._store is not None:
            self.store.append(entry, position)
        self.stored += 1

    def _add_failure(self, position: int, message: str, asked: Mapping[str, Any]) -> None:
        if self._store is not None:
            self.store.add_failure(position, message, dict(asked))

    def _kept(self) -> str:
        """Say what is saved and how to resume; a file made for the drive stays until then."""
        if self._store is None:
            return f"nothing was saved; --out FOLDER saves every {self.kind.one}"
        # The drive's state is part of what is kept.
        file = None if self._leave is None else self._leave(only_found=not self.stored)
        left = "" if file is None else f", and {stays_until_complete(file, self.kind.what)}"
        of = "" if self._total is None else f" of {self._total}"
        return (
            f"{self.stored}{of} {self.kind.many} are saved in {self.store.path}{left}; "
            f"{how_to_go_on(self._command)}"
        )


def _opened(
    kind: RunKind, path: Path, header: dict[str, Any], is_real: bool, command: str | None
) -> RunStore:
    try:
        store = RunStore.open_to_append(path, header, durable=is_real)
    except DamagedError:
        raise
    except RunError as error:
        raise RunError(f"{error}; {how_to_go_on(command)}") from error
    try:
        try:
            refuse_other_run(kind, path, store.header, header)
        except UsageError:
            # What was stopped before its first result is not a run yet, unless something says so.
            is_begun = store.done() or holds_more_than_a_journal(path)
            if is_begun or command_of(store.header) != kind.command:
                raise
            store.begin_again(header)
    except BaseException:
        store.close()
        raise
    return store
