"""Running one test on one drive into a run folder, from the beginning or from where it stopped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drivelab.campaign.comparison import refuse_other_campaign
from drivelab.campaign.header import run_of, this_start
from drivelab.campaign.pause import Pause
from drivelab.drives.session import Askable, DriveSession
from drivelab.drives.sessions import known_of
from drivelab.errors import CannotAnswerError, RunError, TerminatedError, UsageError
from drivelab.outputs import OutputFolder
from drivelab.pts.bench import Bench
from drivelab.pts.journal import RUN_KIND, Record, read_record
from drivelab.pts.plan import Plan
from drivelab.pts.progress import TestProgress
from drivelab.pts.report import RESULT, result_of
from drivelab.pts.settings import Settings
from drivelab.pts.shared_states import SharedStates
from drivelab.pts.states import FOLDER, States
from drivelab.pts.test import PtsTest
from drivelab.sealed_json import sealed_json
from drivelab.store import RunStore, is_run

_COMPARED: Final = ("kind", "drive", "pts")


@dataclass(frozen=True)
class Outcome:
    """What became of a test.

    Attributes
    ----------
    path
        The run's folder.
    result
        As it is saved beside the journal; docs/json-pts.md says what stands where.
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
        The command line that starts the same again, told when it stops.
    shown
        Whether progress is shown on standard error.

    Raises
    ------
    CannotAnswerError
        When the drive cannot do it with these settings; nothing was done to it.
    UsageError
        When `path` holds something else.
    KeyboardInterrupt, TerminatedError
        When it is stopped, with a text that says how to go on.
    """
    start = this_start(command) if origin is None else origin
    header = run_header(test, session, settings, start)
    file = header["drive"]["identity"].get("volatile", {}).get("file")
    if file is not None:
        start = {**start, "file": file}
    progress = TestProgress(test.name, shown=shown)
    refuse_impossible(test, session, settings)
    with RunStore.open_to_append(path, header, durable=session.kind == "real") as store:
        stored = _as_of_today(store.header)
        refuse_other_campaign(path, stored, header, compared=_COMPARED, what="test")
        pause = Pause(at_once=session.kind != "real")
        shared = shared_states or SharedStates(path / FOLDER)
        bench = Bench(
            session,
            store,
            settings,
            States(path),
            shared,
            progress=progress,
            between=pause.here,
        )
        if not read_record(store).is_complete:
            store.record_start(start)
        problem = None

        def keep() -> str:
            return _keep(session, bench.done, path, command)

        try:
            with pause:
                test.carry_out(bench)
                bench.end()
                if shared_states is None:
                    shared.clear()
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(f"stopped; {keep()}") from interrupt
        except TerminatedError as terminated:
            raise TerminatedError(terminated.number, f"{terminated}; {keep()}") from terminated
        except RunError as error:
            problem = RunError(f"{error}; {keep()}")
        finally:
            progress.end()
        try:
            return Outcome(path, save_result(path, read_record(store)), problem)
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
    """Give the outcome of a complete run of the same test, without asking the drive.

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
    refuse_other_campaign(
        path,
        {**record.header, "drive": before},
        {**record.header, "drive": now},
        compared=("drive",),
        what="test",
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
    """Write a record's result beside its journal, and give it."""
    result = result_of(record)
    folder = OutputFolder.of_run(path, run_of(record.header))
    try:
        folder.write(RESULT, "result", sealed_json(result, indent=1))
    except OSError as error:
        raise RunError(
            f"{path / RESULT} cannot be written: {error.strerror or error}; everything measured "
            "is kept: make room and run the same command again"
        ) from error
    return result


def run_header(
    test: PtsTest, session: DriveSession, settings: Settings, origin: dict[str, Any]
) -> dict[str, Any]:
    """Give what a run keeps about itself: ``drive`` and ``pts`` have to agree to go on."""
    return {
        "kind": RUN_KIND,
        "drive": {
            "name": session.name,
            "kind": session.kind,
            "capacity_bytes": session.capacity_bytes,
            "block_bytes": session.block_bytes,
            "is_whole_device": session.is_whole_device,
            "identity": session.identity(),
        },
        "pts": {"test": test.name, "settings": settings.to_json()},
        "session": session.header(),
        "origin": origin,
    }


def _as_of_today(header: dict[str, Any]) -> dict[str, Any]:
    """Add to a header what an older version did not say of the settings: the usual."""
    told = header.get("pts")
    if not isinstance(told, dict) or not isinstance(told.get("settings"), dict):
        # Of something else: told by what differs.
        return header
    try:
        settings = Settings.from_json(told["settings"]).to_json()
    except (TypeError, UsageError):
        return header
    # What is not known here any more stays, and differs.
    settings = {**told["settings"], **settings}
    return {**header, "pts": {**told, "settings": json.loads(json.dumps(settings))}}


def refuse_impossible(test: PtsTest, drive: Askable, settings: Settings) -> None:
    """Raise `CannotAnswerError` when a drive, or a file not made yet, cannot run a test."""
    try:
        test.check(Plan.of(drive, settings))
    except UsageError as error:
        raise CannotAnswerError(f"{drive.name} cannot run {test.name}: {error}") from error


def _keep(session: DriveSession, done: int, path: Path, command: str | None) -> str:
    """Leave the drive to a run that goes on; say what is kept, and how it does."""
    again = "run the same command again to go on" if command is None else f"go on with: {command}"
    # It is in the state that those steps brought it to.
    file = session.leave(only_found=not done)
    left = "" if file is None else f", and {file} until the test is complete"
    return f"{done} steps are kept in {path}{left}; {again}"
