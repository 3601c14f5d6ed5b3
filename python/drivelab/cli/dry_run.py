"""``drivelab model --dry-run``: what a campaign would cost; nothing is created or written."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.design_options import asked_goal, selection_of
from drivelab.cli.drive_options import BOTH, open_named, plan_of
from drivelab.cli.model_drives import look_anywhere
from drivelab.cli.terminal import in_lines, show
from drivelab.drives.write_pattern import WRITES
from drivelab.errors import DrivelabError, RunError, UsageError
from drivelab.units import format_decimal_size, format_duration_ns, format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.forecast import Forecast
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import DriveLimits
    from drivelab.models.goal import Goal
    from drivelab.workloads.design import Design
    from drivelab.workloads.selection import Selection

_NOTHING_DONE: Final = (
    "Nothing was created or written. The same command without --dry-run starts the campaign."
)
_KINDS: Final = {"simulated": "simulated", "closed_form": "closed form", "real": "real drive"}


def dry_run(alone: Sequence[argparse.Namespace]) -> int:
    """Say how many workloads, how long, how many bytes, and what share of the endurance.

    Parameters
    ----------
    alone
        The arguments for each drive, as `drivelab.cli.model_drives.separated` gives them.

    Raises
    ------
    UsageError, RunError
        When a drive cannot be measured, or its machine be asked, after the others were shown.
    """
    answers, failures = [], []
    for one in alone:
        try:
            answers.append(_answer_of(one))
        except DrivelabError as error:
            if len(alone) == 1:
                raise
            failures.append(error)
    if len(alone) == 1:
        _show(alone[0].json, answers[0], answers)
    elif answers:
        _show(alone[0].json, {"plans": answers}, answers)
    if failures:
        kind = UsageError if isinstance(failures[0], UsageError) else RunError
        raise kind("; ".join(map(str, failures)))
    return 0


def _show(as_json: bool, whole: dict[str, Any], answers: Sequence[dict[str, Any]]) -> None:
    if as_json:
        print(json.dumps(whole, indent=2))
    else:
        texts = [_text(in_lines(each)) for each in answers]
        apart = "\n" if len(texts) == 1 else "\n\n"
        show("\n\n".join(texts) + apart + _NOTHING_DONE)


def _answer_of(args: argparse.Namespace) -> dict[str, Any]:
    from drivelab.drives.naming import kind_of
    from drivelab.workloads.design import parse_design

    design = parse_design(args.design)
    # Both are two campaigns.
    asked = WRITES if args.writes == BOTH else (args.writes,)
    if _may_settle(args):
        # The most that the campaign may cost.
        asked = ("sustained",)
    plans = [plan_of(argparse.Namespace(**{**vars(args), "writes": one})) for one in asked]
    tell = _on_real_drive if kind_of(args.drive) == "real" else _on_virtual_drive
    return tell(args, design, plans)


def _may_settle(args: argparse.Namespace) -> bool:
    """Return whether a real drive's budget decides if writes are sustained."""
    return bool(args.may_settle) and args.budget_seconds is not None


def _on_real_drive(
    args: argparse.Namespace, design: Design, plans: Sequence[MeasurementPlan]
) -> dict[str, Any]:
    from drivelab.campaign.forecast import adding_fills, forecast_from_plan, together
    from drivelab.models.adaptive_rounds import most_rounds
    from drivelab.models.model_campaign import fills_of

    drive = look_anywhere(args)
    selection = selection_of(args, design, drive)
    capacity, has_check = drive.capacity_bytes, selection.parts.check > 0
    goal = asked_goal(args, design)
    costs = []
    for plan in plans:
        rounds = 1 if goal is None else most_rounds(goal, plan, is_real=True, has_check=has_check)
        others = selection.workloads[: selection.parts.total - selection.parts.fills]
        one = forecast_from_plan(others, plan, capacity, rounds=rounds)
        one = _affordable(one, goal, selection)
        costs.append(adding_fills(one, fills_of(drive) if selection.parts.fills else []))
    cost = together(costs)
    # A file that is not kept is gone after each run.
    times = 1 if args.keep else len(plans)
    file_bytes = times * drive.file_bytes
    return _answer(args, drive, design, selection, cost) | {
        "block_bytes_assumed": drive.block_assumed,
        "file_bytes": file_bytes,
        "write_refusal": drive.write_refusal,
        **_endurance(args.endurance, cost, file_bytes),
    }


def _on_virtual_drive(
    args: argparse.Namespace, design: Design, plans: Sequence[MeasurementPlan]
) -> dict[str, Any]:
    from drivelab.campaign.forecast import together
    from drivelab.preset_fit.smaller import forecast_on_smaller

    with open_named(args) as drive:
        selection = selection_of(args, design, drive)
        goal = asked_goal(args, design)
        costs = [forecast_on_smaller(drive, selection.workloads, plan) for plan in plans]
        cost = together([_affordable(one, goal, selection) for one in costs])
        rated = drive.identity()["preset"].get("rated_endurance_bytes")
    return _answer(args, drive, design, selection, cost) | {
        "block_bytes_assumed": False,
        "file_bytes": 0,
        "write_refusal": None,
        **_endurance(rated, cost, 0),
    }


def _affordable(cost: Forecast, goal: Goal | None, selection: Selection) -> Forecast:
    """Cap a cost if a budget ends the run first; the check part comes on top."""
    from drivelab.campaign.forecast import within_budget

    if goal is None or goal.budget_seconds is None:
        return cost
    count = len(selection.workloads) - selection.parts.fills
    return within_budget(cost, goal.budget_seconds, count, selection.parts.check)


def _answer(
    args: argparse.Namespace,
    drive: DriveLimits,
    design: Design,
    selection: Selection,
    cost: Forecast,
) -> dict[str, Any]:
    """Return what ``--json`` prints (docs/json-model.md)."""
    from drivelab.models.adaptive_rounds import first_round

    goal = asked_goal(args, design)
    return {
        "drive": drive.name,
        "kind": drive.kind,
        "capacity_bytes": drive.capacity_bytes,
        "block_bytes": drive.block_bytes,
        "design": args.design,
        "seed": args.seed,
        "writes": args.writes,
        "may_settle": _may_settle(args),
        "design_distinct_workloads": design.distinct,
        "goal": None if goal is None else goal.to_json(),
        "first_round_workloads": None if goal is None else first_round(goal),
        "population": selection.population,
        "workloads": len(selection.workloads),
        "budget_workloads": cost.budget_workloads,
        "distinct_workloads": len({workload.key() for workload in selection.workloads}),
        "parts": selection.parts.counts,
        "left_out_workloads": selection.left_out,
        "left_out_sweeps": selection.left_out_sweeps,
        "drive_seconds": cost.drive_seconds,
        "host_seconds": cost.host_seconds,
        "at_most": cost.at_most,
        "pilot_workloads": cost.pilot_workloads,
        "pilot_capacity_bytes": cost.pilot_capacity_bytes,
        "written_bytes": cost.written_bytes,
        "settling_bytes": cost.settling_bytes,
        "written_bytes_per_100_mb_per_s": cost.written_bytes_per_rate,
    }


def _endurance(rated_bytes: int | None, cost: Forecast, file_bytes: int) -> dict[str, Any]:
    """Return the shares of the rated endurance, 0.01 for a hundredth."""
    written = cost.written_bytes + cost.settling_bytes + file_bytes
    return {
        "rated_endurance_bytes": rated_bytes,
        "endurance_ratio": rated_bytes and written / rated_bytes,
        "endurance_ratio_per_100_mb_per_s": rated_bytes
        and cost.written_bytes_per_rate / rated_bytes,
    }


def _text(answer: dict[str, Any]) -> str:
    lines = [
        ("drive", f"{answer['drive']} ({_KINDS[answer['kind']]})"),
        ("workloads", _workloads_text(answer)),
        *_goal_lines(answer),
        *_parts_lines(answer),
        *_left_out_lines(answer),
        *_writes_lines(answer),
        ("time", _time_text(answer)),
        ("written", _written_text(answer)),
        ("endurance", _endurance_text(answer)),
    ]
    width = max(len(label) for label, _ in lines)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in lines)


def _workloads_text(answer: dict[str, Any]) -> str:
    from drivelab.workloads.design import is_file

    total, distinct = answer["workloads"], answer["distinct_workloads"]
    name, held = answer["design"], answer["design_distinct_workloads"]
    whole = name if is_file(name) else name.partition(":")[0]
    distinct_in_design = "" if held is None else f"; {whole} has {held:,} distinct ones"
    return f"{total:,}, of them {distinct:,} distinct{distinct_in_design}"


def _goal_lines(answer: dict[str, Any]) -> list[tuple[str, str]]:
    from drivelab.models.goal import Goal

    if answer["goal"] is None:
        return []
    first = answer["first_round_workloads"]
    return [
        ("ends with", Goal(**answer["goal"]).describe()),
        ("begins with", f"{first} spread over the ranges; their results decide the others"),
        *_budget_lines(answer),
    ]


def _budget_lines(answer: dict[str, Any]) -> list[tuple[str, str]]:
    count = answer["budget_workloads"]
    if count is None:
        return []
    count -= answer["parts"]["check"]
    parts = [name for name in ("check", "fills") if answer["parts"][name]]
    besides = f"; not counting {' and '.join(parts)}" if parts else ""
    return [("budget", f"ends the run after about {count:,} of these workloads{besides}")]


def _parts_lines(answer: dict[str, Any]) -> list[tuple[str, str]]:
    uses = {
        "training": "models are fitted to them",
        "calibration": "drawn at random from the design, for models and their intervals",
        "check": "off-grid, to check the models",
        "sweeps": "for curves, in addition to those in another part",
        "probes": "to find how the drive is built, at most",
        "fills": "writes to find its buffer and when it slows down, a minute each at most",
    }
    lines = {name: f"{answer['parts'][name]:,} {use}" for name, use in uses.items()}
    parts = {name: text for name, text in lines.items() if answer["parts"][name]}
    unprobed = _unprobed_text(answer)
    if unprobed is not None:
        parts["probes"] = unprobed
    return [(f"  {name}", text) for name, text in parts.items()]


def _unprobed_text(answer: dict[str, Any]) -> str | None:
    from drivelab.models.adaptive_rounds import FEWEST_AFFORDED_WITH_PROBES
    from drivelab.models.goal import FEWEST_WITH_PROBES, Goal

    if answer["goal"] is None:
        return None
    if not Goal(**answer["goal"]).has_probes:
        return (
            f"none below {FEWEST_WITH_PROBES} measurements; --measurements {FEWEST_WITH_PROBES} or "
            "more finds how the drive is built, too"
        )
    afforded = answer["budget_workloads"]
    if not answer["parts"]["probes"] or afforded is None:
        return None
    if afforded - answer["parts"]["check"] >= FEWEST_AFFORDED_WITH_PROBES:
        return None
    return (
        f"none likely: a budget for {FEWEST_AFFORDED_WITH_PROBES} or more workloads finds how the "
        "drive is built, too"
    )


def _left_out_lines(answer: dict[str, Any]) -> list[tuple[str, str]]:
    left_out = f"{answer['left_out_workloads']:,} of the design, which this drive cannot run"
    if answer["left_out_sweeps"]:
        left_out += f", and {answer['left_out_sweeps']} of the sweeps"
    if answer["write_refusal"]:
        left_out += f" (no writes: {answer['write_refusal']})"
    lines = [("left out", left_out)]
    if answer["block_bytes_assumed"]:
        blocks = f"{answer['block_bytes']} bytes, assumed: the file is yet to be made"
        lines.append(("blocks", blocks))
    return lines


def _writes_lines(answer: dict[str, Any]) -> list[tuple[str, str]]:
    if answer["kind"] == "closed_form":
        return []
    both = f"both: two runs of {answer['workloads']:,} workloads, sustained and burst"
    if answer["goal"] is not None and answer["goal"]["budget_seconds"] is not None:
        both += ", each with half of the budget"
    found = both if answer["writes"] == BOTH else answer["writes"]
    if answer["may_settle"]:
        found += ", or sustained where settling the drive takes at most a fifth of the budget"
    return [("writes", found)]


def _time_text(answer: dict[str, Any]) -> str:
    if answer["host_seconds"] is None and answer["kind"] != "real":
        return (
            "unknown: a few of the workloads would tell, and bringing this drive into its "
            "condition for them takes long"
        )
    if answer["drive_seconds"] is None:
        return "unknown: the drive decides how long its requests take; --seconds limits it"
    passing = format_duration_ns(answer["drive_seconds"] * 1e9)
    runs = len(WRITES) if answer["writes"] == BOTH else 1
    if answer["kind"] == "real":
        bound = "at most " if answer["at_most"] else ""
        count = answer["budget_workloads"] or answer["workloads"]
        starts = f"{count * runs:,} times"
        before = " and to settle the drive" if answer["settling_bytes"] else ""
        return f"{bound}{passing}, and what it takes to start fio {starts}{before}"
    here = format_duration_ns(answer["host_seconds"] * 1e9)
    pilot = answer["pilot_capacity_bytes"]
    where = (
        ""
        if pilot == answer["capacity_bytes"]
        else (f" on {format_decimal_size(pilot)} of such a drive")
    )
    return (
        f"{here} on this machine, {passing} of the drive's simulated time; extrapolated from "
        f"{answer['pilot_workloads']} of the workloads{where}"
    )


def _written_text(answer: dict[str, Any]) -> str:
    bound = "at most " if answer["at_most"] else ""
    # Which requests write is random, and their results may decide how many are counted.
    bound = "about " if answer["pilot_workloads"] else bound
    parts = []
    if answer["file_bytes"]:
        parts.append(f"{format_size(answer['file_bytes'])} to fill the file that is made")
    if answer["settling_bytes"]:
        settling = format_size(answer["settling_bytes"])
        parts.append(f"at most {settling} to settle it, each time twice its size")
    if answer["written_bytes"]:
        parts.append(f"{bound}{format_decimal_size(answer['written_bytes'])} by requests")
    if answer["written_bytes_per_100_mb_per_s"]:
        rate = format_decimal_size(answer["written_bytes_per_100_mb_per_s"])
        parts.append(f"{bound}{rate} for each 100 MB/s at which the drive moves data")
    written = ", and ".join(parts) or "nothing"
    return written if answer["kind"] == "real" else f"{written}, simulated: nothing wears"


def _endurance_text(answer: dict[str, Any]) -> str:
    rated = answer["rated_endurance_bytes"]
    if rated is None:
        remedy = (
            "--endurance SIZE gives it" if answer["kind"] == "real" else "the preset gives none"
        )
        return f"the drive's rated endurance is not known; {remedy}"
    parts = [_share(answer["endurance_ratio"])]
    if answer["endurance_ratio_per_100_mb_per_s"]:
        rate = _share(answer["endurance_ratio_per_100_mb_per_s"])
        parts.append(f"{rate} for each 100 MB/s")
    return f"{', and '.join(parts)} of the rated endurance, {format_decimal_size(rated)}"


def _share(ratio: float) -> str:
    return f"{100 * ratio:.2g} %"
