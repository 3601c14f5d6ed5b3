"""Run a performance test, or all of them, on a drive, and report it."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import (
    DRIVE_HELP,
    add_json,
    duration,
    ratio,
    seed,
    share,
    size,
    whole_number,
)
from drivelab.cli.drive_options import (
    add_content,
    add_no_variability,
    refuse_options_without_effect,
)
from drivelab.cli.pts_run_text import left_out, raise_what_went_wrong, tell, text_of
from drivelab.cli.several_drives import (
    add_allow_destructive,
    add_at_once,
    allowed,
    beside,
    run_drives,
    separate,
)
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.runs.stopping import how_to_go_on, told_when_stopped

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.drives.session import Askable, DriveSession
    from drivelab.pts.run import Outcome
    from drivelab.pts.settings import Settings
    from drivelab.pts.test import PtsTest

_ALL: Final = "all"
#: Options that only some tests read, and which.
_OF_SOME_TESTS: Final = {
    "workload": ("wsat",),
    "idle": ("wsat",),
    "block_size": ("dirth",),
    "write_ratio": ("dirth", "blocks"),
    "workload_class": ("class",),
}


#: Options that a test with fixed settings does not read.
_WITHOUT: Final = {"xsr": ("threads", "queue_depth", "rule")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab pts run`."""
    from drivelab.drives.real.purge import METHODS
    from drivelab.pts.every_test import TESTS
    from drivelab.pts.procedures.wsat import WORKLOADS
    from drivelab.pts.steady_state import RULES

    parser.add_argument(
        "test",
        metavar="TEST",
        choices=(*TESTS, _ALL),
        help="; ".join(f"{test.name}: {test.summary}" for test in TESTS.values()) + "; or all",
    )
    parser.add_argument(
        "drives",
        metavar="DRIVE",
        nargs="+",
        help=f"{DRIVE_HELP}; several run at the same time, each as it would alone",
    )
    edition = parser.add_mutually_exclusive_group()
    edition.add_argument(
        "--enterprise",
        dest="edition",
        action="store_const",
        const="enterprise",
        help="PTS-E (the default): the whole drive, write cache off, 4 threads x queue depth 32",
    )
    edition.add_argument(
        "--client",
        dest="edition",
        action="store_const",
        const="client",
        help="PTS-C: 75 %% of the drive, write cache on, 2 threads x queue depth 16",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="RUN",
        help="output folder; one subfolder per test or drive; an existing run resumes "
        "[runs/pts- with a name made of test, drive, edition, scale and seed]",
    )
    add_at_once(parser)
    _add_settings(parser)
    parser.add_argument(
        "--rule",
        choices=tuple(RULES),
        help="steady-state rule [pts: 5 rounds, range at most 20 %%, slope at most 10 %%]",
    )
    group = parser.add_argument_group("of single tests")
    group.add_argument(
        "--workload",
        choices=tuple(WORKLOADS),
        metavar="NAME",
        help=f"what wsat sends: {', '.join(WORKLOADS)} [4k-random: all writes]",
    )
    group.add_argument(
        "--idle",
        type=duration,
        metavar="TIME",
        help="with wsat: rest this long after every minute [0]",
    )
    group.add_argument(
        "--block-size", type=size, metavar="SIZE", help="with dirth: request size [4KiB]"
    )
    group.add_argument(
        "--write-ratio",
        type=ratio,
        metavar="RATIO",
        help="with dirth and blocks: share of writes, 0 to 1 [1]",
    )
    group.add_argument(
        "--class",
        dest="workload_class",
        metavar="NAME|FILE.toml",
        help="with class: the class to run; `drivelab pts classes` lists them",
    )
    group = parser.add_argument_group("simulated drives")
    add_no_variability(group)
    group.add_argument(
        "--keep-states",
        type=size,
        metavar="SIZE",
        help="disk space for preconditioned states that later runs use again; 0 saves none "
        "[2GiB]; `drivelab pts states` lists them",
    )
    group = parser.add_argument_group("real drives")
    group.add_argument(
        "--size",
        type=size,
        metavar="SIZE",
        help="size of the file to create, if there is none [1GiB]",
    )
    group.add_argument("--keep", action="store_true", help="keep the file that was created")
    add_allow_destructive(group)
    group.add_argument(
        "--purge",
        choices=tuple(METHODS),
        metavar="METHOD",
        help=f"purge with this command of the drive: {', '.join(METHODS)}; needs "
        "--allow-destructive [no purge]",
    )
    add_json(parser)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=seed, metavar="N", help="seed of all random numbers [0]")
    parser.add_argument(
        "--scale",
        type=share,
        metavar="F",
        help="scale all times and amounts of data by this factor, to try a test out; the result "
        "is then no PTS result [1]",
    )
    parser.add_argument(
        "--active-range",
        type=share,
        metavar="SHARE",
        help="share of the drive to use, as 75%% or 0.75 [that of the edition]",
    )
    parser.add_argument(
        "--threads",
        type=whole_number(1, 1024),
        metavar="N",
        help="number of threads [that of the edition]",
    )
    parser.add_argument(
        "--queue-depth",
        type=whole_number(1, 65536),
        metavar="N",
        help="queue depth of each thread [that of the edition]",
    )
    parser.add_argument(
        "--operator", metavar="NAME", help="who runs the test, for the header of the report"
    )
    add_content(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Run, save the results, write the reports and print the results.

    Raises
    ------
    RunError
        If a test did not finish, or a drive never settled; raised after everything that was
        measured is saved and reported.
    """
    alone = [separate(args, name) for name in args.drives]
    for each in alone:
        _refuse_without_effect(each)
    settings = _settings_of(args)
    results, failure = run_drives(args, alone, lambda one: _results_of(one, settings))
    if args.json:
        print(json.dumps({"runs": results}, indent=2))
    elif results:
        show("\n".join(text_of(each) for each in in_lines(results)))
    if failure is not None:
        raise failure
    raise_what_went_wrong(results)
    return 0


def _results_of(args: argparse.Namespace, settings: Settings) -> list[dict[str, Any]]:
    """Run on one drive what was asked for."""
    from drivelab.pts.every_test import TESTS

    path = args.out or _default_run(args, settings)
    with told_when_stopped(lambda: _kept(path, args.command)):
        if args.test == _ALL:
            return _run_all(args, settings, path)
        return [tell(_run(args, TESTS[args.test], settings, path))]


def _kept(path: Path, command: str) -> str:
    """Return what a run that was stopped between its steps contains, and how to resume."""
    from drivelab.store import RunStore, is_run

    steps = 0
    for run in [path, *path.glob("*/")]:
        if is_run(run):
            with RunStore.open(run) as store:
                steps += len(store.done())
    if not steps:
        return f" before the first step: nothing was measured; begin again with: {command}"
    return f"; {steps} steps are saved in {path}; {how_to_go_on(command)}"


def _run_all(args: argparse.Namespace, settings: Settings, path: Path) -> list[dict[str, Any]]:
    """Run every test that the drive can run, until one fails.

    Raises
    ------
    CannotAnswerError
        If the drive can run none of them.
    """
    from drivelab.pts.every_test import SPECIFIED

    results: list[dict[str, Any]] = []
    refusals: list[CannotAnswerError] = []
    for name, test in SPECIFIED.items():
        try:
            results.append(tell(_run(args, test, settings, path / name)))
        except CannotAnswerError as error:
            refusals.append(error)
            results.append(left_out(args.drive, test, settings, str(error)))
            continue
        if results[-1]["problem"]:
            return results
    if len(refusals) == len(results):
        raise refusals[0]
    return results


def _run(
    args: argparse.Namespace,
    test: PtsTest,
    settings: Settings,
    path: Path,
) -> Outcome:
    from drivelab.cli.pts_report import check_run_files
    from drivelab.pts.run import finished, refuse_impossible, run_test
    from drivelab.pts.shared_states import USUAL_BYTES, SharedStates, usual_folder
    from drivelab.runs.header import this_start
    from drivelab.runs.stopping import found_file_stays

    check_run_files(path)
    outcome = finished(
        test,
        args.drive,
        settings,
        path,
        varies=not args.no_variability,
        size_bytes=args.size,
    )
    if outcome is not None:
        return outcome
    most_bytes = USUAL_BYTES if args.keep_states is None else args.keep_states
    states = SharedStates(usual_folder(), most_bytes)
    origin = {**this_start(args.command), "beside": beside(args)}

    def refuse(drive: Askable) -> None:
        refuse_impossible(test, drive, settings)

    with _open(args, settings, refuse) as session, found_file_stays(session.leave):
        return run_test(
            test,
            session,
            settings,
            path,
            shared_states=states,
            origin=origin,
            command=args.command,
        )


def _open(
    args: argparse.Namespace, settings: Settings, before_filling: Callable[[Askable], None]
) -> DriveSession:
    from drivelab.drives.sessions import open_session

    return open_session(
        args.drive,
        seed=settings.seed,
        varies=not args.no_variability,
        allow_destructive=allowed(args),
        size_bytes=args.size,
        keep=args.keep,
        purge=args.purge,
        write_cache="off" if settings.writes_are_forced else "on",
        before_filling=before_filling,
    )


def _settings_of(args: argparse.Namespace) -> Settings:
    from drivelab.pts.settings import Settings

    return Settings.of_edition(
        args.edition or "enterprise",
        active_range_ratio=args.active_range,
        threads=args.threads,
        queue_depth=args.queue_depth,
        content=args.content,
        rule=args.rule,
        seed=args.seed,
        scale=args.scale,
        workload=args.workload,
        idle_seconds=args.idle,
        block_bytes=args.block_size,
        write_ratio=args.write_ratio,
        operator=args.operator,
        workload_class=_class_of(args),
    )


def _class_of(args: argparse.Namespace) -> dict[str, Any] | None:
    if args.workload_class is None:
        return None
    from drivelab.pts.class_file import load_class

    return load_class(args.workload_class).to_json()


def _refuse_without_effect(args: argparse.Namespace) -> None:
    from drivelab.drives.naming import kind_of

    if kind_of(args.drive) == "closed_form":
        drive = f"sim:{args.drive.partition(':')[2]}"
        raise UsageError(f"{args.drive} is a formula and has no state to settle; test {drive}")
    refuse_options_without_effect(args)
    for name, tests in _OF_SOME_TESTS.items():
        # All of the specification's tests; a class of workloads is not one of them.
        runs_it = args.test in tests or (args.test == _ALL and tests != ("class",))
        if getattr(args, name) is not None and not runs_it:
            option = "--class" if tests == ("class",) else f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for {' and '.join(tests)}; leave it out for {args.test}")

    for name in _WITHOUT.get(args.test, ()):
        if getattr(args, name) is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} has no effect on {args.test}, which sets its own "
                "queue depth and has no steady state"
            )


def _default_run(args: argparse.Namespace, settings: Settings) -> Path:
    """Return the run's folder, the same for the same words, so that the same command resumes."""
    test = args.test
    if settings.workload_class is not None:
        test = f"{test} {settings.workload_class['name']}"
    scale = "" if settings.scale == 1 else f"-scale-{settings.scale:g}"
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{test} {args.drive} {settings.edition}")
    return Path("runs") / f"pts-{words.strip('-')[:100]}{scale}-seed-{settings.seed}"
