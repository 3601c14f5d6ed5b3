"""Make a simulated twin of a drive: measure the drive, fit a simulated one, and compare both.

Workloads are measured as with `drivelab model --writes burst`, and a simulated drive is fitted to
them as with `drivelab fit`. Other workloads judge the twin. They are measured twice on the drive,
so that the page shows both how far the twin is off and how far the drive is from itself.

One folder contains the run, the second measurements, the preset and the page. The same command
resumes if it was stopped. --serve then serves the twin, as `drivelab serve` does.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import add_drive, add_json, whole_number
from drivelab.cli.command_line import command_line
from drivelab.cli.design_options import add_budget
from drivelab.cli.drive_options import add_drive_options, open_named, plan_of
from drivelab.cli.executor_options import (
    add_executor_options,
    check_executor,
    check_simulating,
)
from drivelab.cli.fit import WRITTEN, base_and_file, fit_as_asked, fit_text
from drivelab.cli.outputs import add_force
from drivelab.cli.terminal import in_lines, show
from drivelab.drives.write_pattern import BURST
from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.outputs import OutputFolder
    from drivelab.preset_fit.candidate import Base
    from drivelab.preset_fit.fitting import Fitted
    from drivelab.preset_fit.observed import Observed, Run
    from drivelab.runs.executor import Executors
    from drivelab.store import RunStore

# Folders of the run, of the second measurements and of the page, and the preset.
_RUN, _AGAIN, _PAGE, _PRESET = "run", "again", "page", "twin.toml"
_USUAL_MEASUREMENTS: Final = 100
_USUAL_CHECK: Final = 40
_MOST_CHECK: Final = 100
_MOST_MEASUREMENTS: Final = 1200
_SECOND: Final = "held out, measured again"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab twin`."""
    from drivelab.cli.fit import add_search

    add_drive(parser)
    add_search(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="output folder; an existing run resumes [runs/twin- with the drive's name and the "
        "seed]",
    )
    parser.add_argument(
        "-o",
        "--preset",
        type=Path,
        metavar="FILE.toml",
        help=f"output file for the twin, a preset [{_PRESET} in the folder]",
    )
    group = parser.add_argument_group(
        "how much is measured", "measuring ends at the first of --measurements and --budget"
    )
    group.add_argument(
        "--measurements",
        type=whole_number(40, _MOST_MEASUREMENTS),
        metavar="N",
        help=f"number of workloads to fit to [100; with --budget at most {_MOST_MEASUREMENTS}]",
    )
    add_budget(group)
    group.add_argument(
        "--check",
        type=whole_number(5, _MOST_CHECK),
        default=_USUAL_CHECK,
        metavar="N",
        help="number of other workloads that judge the twin; each is measured twice "
        f"[{_USUAL_CHECK}]",
    )
    parser.add_argument(
        "--serve", action="store_true", help="serve the twin when it is ready, until Ctrl-C"
    )
    add_drive_options(parser)
    add_executor_options(parser)
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Measure, fit, measure again, write, and serve if asked to.

    Raises
    ------
    RunError
        If measurements failed.
    """
    from drivelab.cli.outputs import write_file
    from drivelab.preset_fit.fitting import Errors
    from drivelab.preset_fit.observed import read_run

    if args.serve and args.json:
        raise UsageError("--serve with --json would print two answers: leave one of them out")
    executors, simulating = _executors(args), check_simulating(args)
    args.writes = BURST
    plan = plan_of(args)
    path = args.out or _usual_folder(args)
    args.preset = args.preset or path / _PRESET
    with _made(path):
        base, preset = base_and_file(args)
        _refuse_another_kind(args, base)
        folder = _folder(args, path / _PAGE)
        store = _measured(args, plan, path / _RUN, executors)
    with store:
        _refuse_failures(args, store)
    run = read_run(path / _RUN)
    # Before the search: whoever watches the drive may go.
    again = _measured_again(args, plan, run, path / _AGAIN, executors)
    repeated = Errors.of(again.behaviour, run.held_out.behaviour)
    fitted = fit_as_asked(args, run, base, executors=simulating)
    fitted = replace(fitted, repeated=repeated)
    write_file(preset, fitted.text(args.preset.stem), force=args.force)
    _tell(args, fitted, folder)
    return _serve(args) if args.serve else 0


@contextlib.contextmanager
def _made(path: Path) -> Iterator[None]:
    """Make the output folder, and remove it if nothing comes of it."""
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except UsageError:
        if is_new:
            # What was measured stays.
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def _refuse_another_kind(args: argparse.Namespace, base: Base) -> None:
    """Refuse early what cannot succeed; about real drives nothing is known yet."""
    from drivelab.drives.naming import kind_of
    from drivelab.drives.presets.source import read_preset
    from drivelab.drives.simulated.drive import PREFIX
    from drivelab.preset_fit.fitting import base_of, refuse_another_kind

    if kind_of(args.drive) == "closed_form":
        raise UsageError(
            f"{args.drive} is a formula and has no state to simulate; name a real or a "
            "simulated drive"
        )
    if args.drive.startswith(PREFIX):
        drive = base_of(read_preset(args.drive.removeprefix(PREFIX)))
        refuse_another_kind(args.drive, drive.kind, base)


def _usual_folder(args: argparse.Namespace) -> Path:
    from drivelab.cli.model import default_run

    return default_run(args.drive, "twin", args.seed)


def _folder(args: argparse.Namespace, path: Path) -> OutputFolder:
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder

    folder = OutputFolder(path, f"the twin of {args.drive}", force=args.force)
    refuse_folder(folder)
    return folder


def _executors(args: argparse.Namespace) -> Executors:
    """Say who measures the drive: of a real one only candidates can be simulated elsewhere."""
    from drivelab.drives.naming import kind_of
    from drivelab.runs.executor import nobody_else

    return nobody_else if kind_of(args.drive) == "real" else check_executor(args)


def _measured(
    args: argparse.Namespace, plan: MeasurementPlan, path: Path, executors: Executors
) -> RunStore:
    """Measure what the twin is fitted to and what judges it, or what is missing of that."""
    from drivelab.models.goal import Goal
    from drivelab.models.model_campaign import run_model_campaign
    from drivelab.workloads.design import parse_design

    measurements = args.measurements
    if measurements is None and args.budget_seconds is None:
        measurements = _USUAL_MEASUREMENTS
    return run_model_campaign(
        args.drive,
        lambda: open_named(args),
        plan,
        path,
        design=parse_design("adaptive"),
        goal=Goal(measurements, None, args.budget_seconds),
        check=args.check,
        sweeps=False,
        size_bytes=args.size,
        command=args.command,
        executors=executors,
    )


def _refuse_failures(args: argparse.Namespace, store: RunStore) -> None:
    if failures := store.failures():
        raise RunError(
            f"{len(failures)} measurements failed, the first: {failures[0].message}; they are "
            f"tried again by: {args.command}"
        )


def _measured_again(
    args: argparse.Namespace,
    plan: MeasurementPlan,
    measured: Run,
    path: Path,
    executors: Executors,
) -> Observed:
    """Measure the held-out workloads a second time, with other random numbers."""
    from drivelab.campaign.campaign import run_campaign
    from drivelab.campaign.finished import finished_run
    from drivelab.campaign.stored import stored_measurements
    from drivelab.preset_fit.observed import Observed

    other = replace(plan, seed=plan.seed + 1)
    workloads = measured.held_out.workloads
    store = finished_run(path, args.drive, other, design_name=_SECOND, size_bytes=args.size)
    if store is None:
        with open_named(args) as drive, executors(drive) as executor:
            store = run_campaign(
                drive,
                workloads,
                other,
                path,
                design_name=_SECOND,
                command=args.command,
                executor=executor,
            )
    with store:
        _refuse_failures(args, store)
        return Observed.of(stored_measurements(store))


def _tell(args: argparse.Namespace, fitted: Fitted, folder: OutputFolder) -> None:
    from drivelab.preset_fit.answer import answer_of
    from drivelab.preset_fit.exhibits import fit_report
    from drivelab.report.written import write_report

    written = write_report(fit_report(fitted, str(args.preset)), folder)
    answer = answer_of(fitted, str(args.preset))
    answer |= {each: str(written[each]) for each in WRITTEN}
    if args.json:
        print(json.dumps(answer, indent=2))
        return
    serve = command_line("serve", [f"sim:{args.preset}"])
    show(f"{fit_text(in_lines(answer), fitted, args.preset)}\nserve it {serve}")


def _serve(args: argparse.Namespace) -> int:
    from drivelab.cli import main

    return main.main(["serve", f"sim:{args.preset}"])
