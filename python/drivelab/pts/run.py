"""Running one test on one drive into a run folder, from the beginning or from where it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.drives.session import Askable, DriveSession
from drivelab.drives.sessions import known_of
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.outputs import OutputFolder
from drivelab.pts.applied_settings import AppliedSettings
from drivelab.pts.bench import Bench
from drivelab.pts.journal import Record, read_record
from drivelab.pts.kind import TEST
from drivelab.pts.progress import TestProgress
from drivelab.pts.report import RESULT, result_of
from drivelab.pts.settings import Settings
from drivelab.pts.shared_states import SharedStates
from drivelab.pts.states import FOLDER, States
from drivelab.pts.test import PtsTest
from drivelab.runs.header import drive_header, run_of, this_start
from drivelab.runs.run import Run
from drivelab.runs.same_run import refuse_other_run
from drivelab.sealed_json import sealed_json
from drivelab.store import RunStore, is_run


@dataclass(frozen=True)
class Outcome:
    """What became of a test.

    Attributes
    ----------
    path
        The run's folder.
    result
        As it is saved next to the journal; docs/json-pts.md describes it.
    problem
        Why the test did not come to its end; ``None`` when it did.
    was_complete
        Whether everything was there before, and the drive was asked for nothing.
    """

    path: Path
    result: dict[str, Any]
    problem: RunError | None = None
    was_complete: bool = False


def run_test(
    test: PtsTest,
    session: DriveSession,
    settings: Settings,
    path: Path,
    *,
    shared_states: SharedStates | None = None,
    origin: dict[str, Any] | None = None,
    command: str | None = None,
    shown: bool = True,
) -> Outcome:
    """Run what `path` lacks of a test, and save the result.

    Parameters
    ----------
    test
        Which.
    session
        The drive.
    settings
        How.
    path
        The run folder, made when it does not exist.
    shared_states
        Where preconditioned states of simulated drives are kept for other tests and runs; in
        the run, until it is complete, unless given.
    origin
        What is kept of who started it, `this_start` unless given.
    command
        The command line that resumes the test, printed when it stops.
    shown
        Whether progress is shown on standard error.

    Raises
    ------
    CannotAnswerError
        When the drive cannot do it with these settings; nothing was done to it.
    UsageError
        When `path` holds something else.
    KeyboardInterrupt, TerminatedError
        When it is stopped, with a text that says how to resume.
    """
    start = this_start(command) if origin is None else origin
    header = run_header(test, session, settings, start)
    file = header["drive"]["identity"].get("volatile", {}).get("file")
    if file is not None:
        start = {**start, "file": file}
    progress = TestProgress(test.name, shown=shown)
    refuse_impossible(test, session, settings)
    run = Run(
        TEST,
        path,
        header,
        is_real=session.kind == "real",
        start=start,
        command=command,
        leave=session.leave,
    )
    with run:
        # Refuses what another version wrote, and a result that could not be written in the end.
        _folder(path, read_record(run.store)).check({RESULT: "result"})
        shared = shared_states or SharedStates(path / FOLDER)
        bench = Bench(session, run, settings, States(path), shared, progress=progress)

        def every_step(_run: Run) -> UsageError | None:
            try:
                test.carry_out(bench)
            except UsageError as error:
                # Of the first stimulus: a purge alone is nothing to go on from.
                return error
            bench.end()
            if shared_states is None:
                shared.clear()
            return None

        problem = None
        try:
            refusal = run.carry_out(every_step)
            if refusal is not None:
                raise refusal
        except RunError as error:
            problem = error
        finally:
            progress.end()
        try:
            return Outcome(path, save_result(path, read_record(run.store)), problem)
        except RunError as error:
            # What came first is what to mend.
            raise problem or error from error


def finished(
    test: PtsTest,
    drive_name: str,
    settings: Settings,
    path: Path,
    *,
    varies: bool = True,
    size_bytes: int | None = None,
) -> Outcome | None:
    """Return the outcome of a complete run of the same test, without asking the drive.

    Parameters
    ----------
    test, drive_name, settings, path
        As `run_test` would be asked.
    varies, size_bytes
        As `open_session` would be.

    Returns
    -------
    Outcome or None
        ``None`` where the drive has to be asked for anything.

    Raises
    ------
    UsageError
        When the drive of that name is not the one of the run any more.
    """
    if not is_run(path):
        return None
    try:
        with RunStore.open(path) as store:
            record = read_record(store)
    except UsageError:
        return None
    drive = record.header["drive"]
    same = (record.test, record.settings, drive["name"]) == (test.name, settings, drive_name)
    if not (record.is_complete and same):
        return None
    try:
        now = known_of(drive_name, varies=varies, size_bytes=size_bytes)
    except UsageError as error:
        raise UsageError(
            f"{path} is complete, and `drivelab pts report {path}` shows it; to run it: {error}"
        ) from error
    is_real = drive["kind"] == "real"
    # All is known of a simulated drive, and what it does not have now differs too.
    before = _of_keys(drive, now) if is_real else {key: drive.get(key) for key in now}
    refuse_other_run(
        TEST, path, {**record.header, "drive": before}, {**record.header, "drive": now}
    )
    return Outcome(path, save_result(path, record), was_complete=True)


def _of_keys(values: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """Take of nested values those that are wanted."""
    values = values if isinstance(values, dict) else {}
    return {
        key: _of_keys(values.get(key), each) if isinstance(each, dict) else values.get(key)
        for key, each in wanted.items()
    }


def save_result(path: Path, record: Record) -> dict[str, Any]:
    """Write a record's result next to its journal, and give it."""
    result = result_of(record)
    try:
        _folder(path, record).write(RESULT, "result", sealed_json(result, indent=1))
    except OSError as error:
        raise RunError(
            f"{path / RESULT} cannot be written: {error.strerror or error}; everything measured "
            "is saved: free some space and run the same command again"
        ) from error
    return result


def _folder(path: Path, record: Record) -> OutputFolder:
    return OutputFolder.of_run(path, run_of(record.header))


def run_header(
    test: PtsTest, session: DriveSession, settings: Settings, origin: dict[str, Any]
) -> dict[str, Any]:
    """Return what a run keeps about itself: ``drive`` and ``pts`` have to agree to resume."""
    return {
        "kind": TEST.command,
        "drive": drive_header(
            session, block_bytes=session.block_bytes, is_whole_device=session.is_whole_device
        ),
        "pts": {"test": test.name, "settings": settings.to_json()},
        "session": session.header(),
        "origin": origin,
    }


def refuse_impossible(test: PtsTest, drive: Askable, settings: Settings) -> None:
    """Raise `CannotAnswerError` when a drive, or a file not made yet, cannot run a test."""
    try:
        test.check(AppliedSettings.of(drive, settings))
    except UsageError as error:
        raise CannotAnswerError(f"{drive.name} cannot run {test.name}: {error}") from error
