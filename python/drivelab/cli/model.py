"""The main job: measure many workloads on a drive, fit models to them, write a report.

Every measurement is saved in the run folder immediately. If the command is stopped, the same
command resumes. On a finished run it fits and reports again without measuring.

If you name several drives, each is measured into its own run, and one page compares them. A drive
of another machine is HOST:/PATH; --on names the machines.

With --from it measures nothing and fits models to your own measurements, from CSV or Parquet
tables or fio's JSON.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_drives, add_json
from drivelab.cli.command_line import command_line
from drivelab.cli.design_options import (
    add_design_options,
    asked_goal,
    check_of,
    goal_of,
    parts_text,
)
from drivelab.cli.drive_options import (
    BOTH,
    add_drive_options,
    add_writes,
    plan_of,
)
from drivelab.cli.dry_run import dry_run
from drivelab.cli.executor_options import add_executor_options, check_executor
from drivelab.cli.model_drives import executors_of, open_anywhere, separated
from drivelab.cli.models import accuracy_text
from drivelab.cli.own_model import add_own_options, fit_own, refuse_measuring, refuse_without_files
from drivelab.cli.several_drives import add_at_once
from drivelab.cli.terminal import in_lines, show
from drivelab.drives.asked import usual_writes
from drivelab.drives.naming import kind_of
from drivelab.drives.write_pattern import BURST, WRITES
from drivelab.errors import RunError, UsageError
from drivelab.runs.stopping import how_to_go_on, told_when_stopped
from drivelab.workloads.parts import FITTED, Parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.models.probed import Unprobed
    from drivelab.pages.fitted import Fitted
    from drivelab.store import Failure, RunStore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab model`."""
    add_drives(
        parser, "with --on HOST:/PATH, a real drive of another machine; several are compared"
    )
    add_design_options(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="RUN",
        help="output folder; an existing run resumes; one subfolder per drive if there are several "
        "[runs/ with a name made of drive, design and seed]; with --from the folder for model and "
        "report",
    )
    add_at_once(parser)
    add_drive_options(parser, several=True)
    add_writes(
        parser,
        (*WRITES, BOTH),
        "simulated drives: sustained; real ones: burst, or sustained where settling the drive "
        "takes at most a fifth of --budget; both: a run of each",
    )
    add_executor_options(parser)
    add_own_options(parser)
    parser.add_argument(
        "--on-failure",
        choices=("stop", "continue"),
        help="what to do when a measurement on a real drive fails [stop]; the next start tries "
        "it again",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Measure, fit, report, and print how good the models are.

    Raises
    ------
    RunError
        If measurements failed; raised after everything was made from the others.
    """
    if args.own_files is not None:
        refuse_measuring(args, add_arguments)
        return fit_own(args)
    refuse_without_files(args)
    alone = separated(args)
    for one in alone:
        one.may_settle = one.writes is None and kind_of(one.drive) == "real"
        if one.writes is None:
            one.writes = usual_writes(one.drive)
        check_executor(one)
        if not one.dry_run:
            goal_of(one)
            one.out = one.out or default_run(one.drive, one.design, one.seed)
    if len(alone) > 1 and args.writes == BOTH:
        raise UsageError("--writes both compares two runs of one drive: name one drive")
    if args.writes == BOTH:
        _halve_budget(alone[0])
    if args.dry_run:
        return dry_run(alone)
    if len(alone) > 1:
        from drivelab.cli.model_drives import run_several

        return run_several(args, alone, _one)
    return _alone(args, alone[0])


def _halve_budget(args: argparse.Namespace) -> None:
    """Give each of two runs half of the command's budget."""
    from drivelab.models.model_campaign import refuse_short_budget
    from drivelab.workloads.design import parse_design

    if args.budget_seconds is None:
        return
    args.budget_seconds /= 2
    goal = asked_goal(args, parse_design(args.design))
    try:
        refuse_short_budget(goal, plan_of(argparse.Namespace(**{**vars(args), "writes": BURST})))
    except UsageError as error:
        raise UsageError(f"{error}; --writes both gives each run half of --budget") from error


def _alone(typed: argparse.Namespace, args: argparse.Namespace) -> int:
    if args.endurance is not None:
        raise UsageError("--endurance has no effect without --dry-run: add that, or leave it out")
    path = args.out
    if args.writes == BOTH:
        return _both(args, typed.out or path.with_name(f"{path.name}-both"))
    answer, text, failed = _one(args, path)
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(text)
    if failed is not None:
        raise RunError(failed)
    return 0


def _both(args: argparse.Namespace, path: Path) -> int:
    """Measure once with burst and once with sustained writes, and compare both.

    The burst comes first, because it must find a real drive unchanged.
    """
    from drivelab.cli.report import compared, comparison_folder
    from drivelab.store import is_run

    if is_run(path):
        raise UsageError(f"{path} is one run; choose another --out for both")
    each = {one: argparse.Namespace(**{**vars(args), "writes": one}) for one in WRITES}
    for asked in each.values():
        plan_of(asked)
    runs = [path / one for one in WRITES]
    out = comparison_folder(runs, path / "compared")
    made = {one: _one(each[one], path / one) for one in (BURST, "sustained")}
    answers = [made[one][0] for one in WRITES]
    texts = [made[one][1] for one in WRITES]
    complaints = [failed for one in WRITES if (failed := made[one][2]) is not None]
    comparison, text = compared(runs, out)
    if args.json:
        print(json.dumps({**comparison, "models": answers}, indent=2))
    else:
        show("\n\n".join([*texts, text]))
    if complaints:
        raise RunError("; ".join(complaints))
    return 0


def _one(args: argparse.Namespace, path: Path) -> tuple[dict[str, Any], str, str | None]:
    """Measure with one kind of writes; return the answer, its text, and what failed."""
    from drivelab.models.limits import limits_of
    from drivelab.models.of_run import accuracy_rows, weights_of
    from drivelab.models.probed import unprobed
    from drivelab.pages.fitted import fit_and_report

    _check_files(path)
    with _campaign(args, path) as store:
        header = store.header
        designed = header["design"]
        # The budget may have been large enough for sustained writes.
        args.writes = header["plan"].get("writes", BURST)
        failures, ended = store.failures(), header.get("ended")
        try:
            with told_when_stopped(
                lambda: (
                    f"; everything is measured and saved in {path}; {how_to_go_on(args.command)}"
                )
            ):
                fitted = fit_and_report(store)
        except UsageError as error:
            if failures:
                raise RunError(f"{_failed(args, path, failures)} ({error})") from error
            raise
    built = fitted.probed
    answer: dict[str, Any] = {
        "run": str(path),
        "report": str(fitted.report_path),
        "model": str(fitted.model_path),
        "measurements": str(fitted.measurements_path),
        "drive": fitted.drive_name,
        "kind": fitted.drive_kind,
        "design": args.design,
        "seed": args.seed,
        "writes": args.writes,
        "workloads": designed["workloads"],
        "distinct_workloads": designed["distinct_workloads"],
        "left_out_workloads": designed["left_out_workloads"],
        "failed_workloads": len(failures),
        "half_width_ratio": fitted.half_width_ratio,
        "half_width_reached_workloads": fitted.half_width_reached,
        "parts": Parts.from_json(designed["parts"]).counts,
        "population": designed["population"],
        "ended": ended,
        "probed": None if built is None else built.to_json(),
        "accuracy": accuracy_rows(fitted.model),
        "weights": weights_of(fitted.model),
        "limits": limits_of(fitted.model).to_json(),
    }
    failed = _failed(args, path, failures) if failures else None
    return answer, _text(in_lines(answer), fitted, unprobed(header)), failed


def _campaign(args: argparse.Namespace, path: Path) -> RunStore:
    from drivelab.models.model_campaign import run_model_campaign
    from drivelab.workloads.design import parse_design

    design = parse_design(args.design)
    return run_model_campaign(
        args.drive,
        lambda: open_anywhere(args, path),
        plan_of(args),
        path,
        design=design,
        goal=asked_goal(args, design),
        check=check_of(args),
        sweeps=args.sweeps,
        size_bytes=args.size,
        may_settle=args.may_settle,
        on_failure=args.on_failure or "stop",
        command=args.command,
        executors=executors_of(args),
    )


def _check_files(path: Path) -> None:
    """Refuse a run with files that somebody changed, before hours of measuring."""
    from drivelab.campaign.header import stored_header
    from drivelab.pages.fitted import check_run_files
    from drivelab.store import EmptyRunError, RunStore, is_run

    if not is_run(path):
        return
    try:
        with RunStore.open(path) as store:
            header = stored_header(store)
    except (EmptyRunError, UsageError, RunError):
        # Opening the run reports what is wrong.
        return
    check_run_files(path, header)


def _failed(args: argparse.Namespace, path: Path, failures: Sequence[Failure]) -> str:
    count = f"{len(failures)} measurement{'s' if len(failures) > 1 else ''}"
    listing = command_line("runs", ["show", str(path)])
    return (
        f"{count} failed, the first: {failures[0].message}; `{listing}` lists them, and they are "
        f"tried again by: {args.command}"
    )


def default_run(drive: str, design: str, seed: int) -> Path:
    """Return the run's folder, the same for the same words, so that the same command resumes."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{drive} {design}").strip("-")
    return Path("runs") / f"{words[:100]}-seed-{seed}"


def _text(answer: dict[str, Any], fitted: Fitted, without: Unprobed | None) -> str:
    writes = {"sustained": ", sustained writes", BURST: ", writes a burst"}[answer["writes"]]
    found = "" if answer["kind"] == "closed_form" else writes
    lines = [
        f"{answer['drive']} under {answer['workloads']:,} workloads{found}, seed {answer['seed']}",
        f"  {parts_text(answer['parts'], answer['design'])}",
    ]
    if fitted.probed is not None:
        lines.append(f"built: {fitted.probed.describe()}")
    if without is not None:
        remedy = f"; {without.remedy}" if without.remedy else ""
        lines.append(f"built: not known, there were no probes ({without.reason}{remedy})")
    if answer["left_out_workloads"]:
        left_out = f"{answer['left_out_workloads']:,}"
        lines.append(f"(this drive cannot run {left_out} other workloads of the design)")
    lines += half_width_text(answer)
    lines += ended_text(answer)
    lines += ["", accuracy_text(fitted.model), ""]
    asked = [answer["run"], "--queue-depth", "8", "--read-size", "64KiB"]
    lines += [
        f"report   {answer['report']}",
        f"model    {answer['model']}",
        f"ask it   {command_line('predict', asked)}",
    ]
    return "\n".join(lines)


def ended_text(answer: Mapping[str, Any]) -> list[str]:
    """Return what ended a run that asks round by round, and the expected error at that time."""
    ended = answer["ended"]
    if ended is None:
        return []
    goal = ended["goal"]
    why = {
        "error": "the expected error that was asked for was reached",
        "budget": "the budget is spent",
        "measurements": "as many measurements as were asked for",
    }[ended["ended_by"]]
    parts = answer["parts"]
    held = sum(parts[name] for name in FITTED)
    if ended["ended_by"] == "measurements" and goal["measurements"] not in (None, held):
        why = f"it already has {held:,} measurements, and {goal['measurements']:,} were asked for"
    lines = [f"ended: {why}"]
    if ended["expected_error_ratio"] is not None:
        from drivelab.models.adaptive import ExpectedError

        ratio, deviation = ended["expected_error_ratio"], ended["expected_error_deviation_ratio"]
        lines[0] += f"; expected error: {ExpectedError(ratio, deviation, held).describe()}"
    return lines


def half_width_text(answer: Mapping[str, Any]) -> list[str]:
    """Return how many measurements reached the half-width that was asked for, if one was."""
    ratio, reached = answer["half_width_ratio"], answer["half_width_reached_workloads"]
    if ratio is None:
        return []
    measured = answer["workloads"] - answer["failed_workloads"]
    words = f"a half-width of {100 * ratio:g} % of the mean latency"
    if reached == measured:
        return [f"all {measured:,} reach {words}"]
    return [f"{reached:,} of {measured:,} reach {words}; the others are marked"]
