"""Place several workloads on a pool of drives: which drives to use, and what goes where.

PLAN.toml names the workloads, the space and the latencies that they need, and the available drives
with their prices. Each workload is simulated alone and next to every other one. A solver then
finds the placement with the least cost, mean latency or power. Finally all workloads of a drive
are simulated together, and this decides whether the limits are met.

Exit code 1: no placement meets every limit. The answer names the limits that are in the way.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import add_json, seed, whole_number
from drivelab.cli.drive_options import add_workers
from drivelab.cli.executor_options import add_executor_options, check_simulating
from drivelab.cli.outputs import add_force
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.drives.simulated.drive import SimulatedDrive
    from drivelab.outputs import OutputFolder
    from drivelab.place.measured import Bench
    from drivelab.place.placing import Placement
    from drivelab.place.plan import PlacementPlan
    from drivelab.place.window import Window
    from drivelab.runs.executor import TurningExecutor, TurningExecutors

_USUAL_ROUNDS: Final = 20
_MOST_ROUNDS: Final = 1000
_EXIT_NOT_HELD: Final = 1
_WRITTEN: Final = ("report", "tables", "result")
#: Subfolder of --out with the run of each kind of drive.
RUNS: Final = "drives"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab place`."""
    from drivelab.cli.arguments import duration

    parser.add_argument("plan", metavar="PLAN.toml", nargs="?", type=Path, help="the plan to solve")
    parser.add_argument("--example", action="store_true", help="print an example plan and stop")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="output folder for a report, its tables and every measurement [nothing is saved]",
    )
    parser.add_argument(
        "--seconds",
        type=duration,
        metavar="TIME",
        help="simulated time of each measurement [long enough for 2000 requests of the slowest "
        "workload]",
    )
    parser.add_argument(
        "--rounds",
        type=whole_number(1, _MOST_ROUNDS),
        default=_USUAL_ROUNDS,
        metavar="N",
        help="maximum number of rounds; a group of workloads that breaks a limit in the "
        f"simulation is forbidden in the next round [{_USUAL_ROUNDS}]",
    )
    parser.add_argument(
        "--time-limit",
        type=duration,
        metavar="TIME",
        help="stop the solver after this time, and print how much better the answer could still "
        "be [no limit]",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers [0]"
    )
    add_workers(parser)
    add_executor_options(parser)
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Try, solve, simulate, write and print."""
    from drivelab.place.plan_file import example_text, read_plan

    if args.example:
        if args.plan is not None:
            raise UsageError("--example prints a plan and reads none: leave out the plan's name")
        print(example_text(), end="")
        return 0
    if args.plan is None:
        raise UsageError(
            "name a plan, as `drivelab place plan.toml`; `drivelab place --example > plan.toml` "
            "writes one to begin with"
        )
    plan = read_plan(args.plan)
    from drivelab.place.window import refuse_window, window_for

    if args.seconds is not None and args.seconds <= 0:
        raise UsageError("--seconds is 0; allowed: more than 0, such as 20s")
    window = window_for(plan.demands, args.seconds)
    try:
        refuse_window(plan.demands, window, _word)
    except UsageError as error:
        raise UsageError(f"{args.plan}: {error}") from error
    executors = _executors(args, plan)
    folder = None if args.out is None else _folder(args)
    placement, window = _placed(args, executors, plan, window)
    _tell(args, placement, window, folder)
    return 0 if placement.holds else _EXIT_NOT_HELD


def _executors(args: argparse.Namespace, plan: PlacementPlan) -> TurningExecutors:
    """Check who is to simulate; return what makes an executor for all drives of the pool."""
    from drivelab.runs.executor import nobody_else
    from drivelab.runs.workers.pool import refuse_files

    executors = check_simulating(args)
    if executors is not nobody_else:
        for each in plan.demands:
            refuse_files(each.part.workload)
    return executors


def _folder(args: argparse.Namespace) -> OutputFolder:
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder

    folder = OutputFolder(args.out, f"the placement of {args.plan.name}", force=args.force)
    refuse_folder(folder, folders=[RUNS])
    return folder


def _placed(
    args: argparse.Namespace, executors: TurningExecutors, plan: PlacementPlan, window: Window
) -> tuple[Placement, Window]:
    """Place; return the shortest window of all drives, and what was found."""
    from contextlib import ExitStack

    from drivelab.drives.naming import open_simulated
    from drivelab.place.placing import place
    from drivelab.runs.stopping import how_to_go_on, told_when_stopped

    with ExitStack() as stack, told_when_stopped(lambda: f"; {how_to_go_on(args.command)}"):
        drives = [
            stack.enter_context(open_simulated(each.drive, varies=False)) for each in plan.offers
        ]
        # Workers have memory for the largest drive.
        largest = max(drives, key=lambda each: each.session_bytes)
        workers = stack.enter_context(executors(largest))
        benches = [
            stack.enter_context(_bench(args, drive, workers, plan, window)) for drive in drives
        ]
        found = place(plan, benches, rounds=args.rounds, time_limit=args.time_limit)
        return found, min((each.window for each in benches), key=lambda each: each.seconds)


def _bench(
    args: argparse.Namespace,
    drive: SimulatedDrive,
    workers: TurningExecutor | None,
    plan: PlacementPlan,
    window: Window,
) -> Bench:
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.place.measured import Bench
    from drivelab.runs.executor import InTurn

    how = MeasurementPlan(
        seed=args.seed, warmup_requests=0, writes="sustained", workers=args.workers
    )
    path = None if args.out is None else args.out / RUNS / _folder_name(drive.name)
    return Bench(
        drive,
        plan.demands,
        window,
        how,
        path,
        executor=None if workers is None else InTurn(drive, workers),
        command=args.command,
        word=_word,
    )


def _word(name: str) -> str:
    return f"--{name}"


def _folder_name(drive: str) -> str:
    """Return the name of the folder for a drive's run; no two drives have the same."""
    import hashlib
    import re

    words = re.sub(r"[^A-Za-z0-9]+", "-", drive).strip("-")
    if drive == words.replace("-", ":", 1):
        return words
    return f"{words}-{hashlib.sha256(drive.encode()).hexdigest()[:8]}".lstrip("-")


def _tell(
    args: argparse.Namespace,
    placement: Placement,
    window: Window,
    folder: OutputFolder | None,
) -> None:
    from drivelab.place.answer import answer_of
    from drivelab.place.exhibits import placement_report
    from drivelab.report.written import write_report

    name = args.plan.name
    answer = answer_of(placement, name, args.seed, window.seconds)
    written = {}
    if folder is not None:
        report = placement_report(placement, name, args.seed, window.seconds)
        written = write_report(report, folder)
    answer |= {each: str(written[each]) if each in written else None for each in _WRITTEN}
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        from drivelab.cli.place_text import text

        show(text(in_lines(answer), placement))
