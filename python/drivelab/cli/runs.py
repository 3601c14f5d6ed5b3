"""List the runs of this machine, show one, export its measurements, or remove it.

A run is a folder made by `drivelab model`, `drivelab profile` or `drivelab pts`. Every action takes
--json; `drivelab runs ACTION --help` explains one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json
from drivelab.cli.drive_options import characteristics_json
from drivelab.cli.outputs import STANDARD, add_force
from drivelab.cli.terminal import columns, in_lines, show
from drivelab.notes import print_note

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drivelab.runs.inventory import RunSummary

DEFAULT_FOLDER: Final = Path("runs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `drivelab runs` and their options."""
    actions = parser.add_subparsers(dest="action", metavar="list|show|export|remove", required=True)

    def action(name: str, text: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=text, description=text, allow_abbrev=False)
        # The parser whose options are listed if a word is not understood.
        added.set_defaults(parser=added)
        return added

    added = action("list", "list the runs in a folder and its subfolders, damaged ones too")
    added.add_argument(
        "folder",
        metavar="FOLDER",
        type=Path,
        nargs="?",
        help=f"folder that contains the runs [{DEFAULT_FOLDER}/]",
    )
    add_json(added)
    added = action("show", "show what was measured, on which machine and when, and what failed")
    _add_run(added)
    add_json(added)
    added = action("export", "write a run's measurements as a table")
    _add_run(added)
    added.add_argument(
        "--csv",
        type=Path,
        metavar="FILE",
        help="output CSV file with one row per measurement; - is standard output",
    )
    added.add_argument(
        "--parquet",
        type=Path,
        metavar="FILE",
        help="output Parquet file with the same columns, typed, and the histograms",
    )
    add_force(added)
    add_json(added)
    added = action("remove", "delete a run, but nothing that Drivelab did not make")
    _add_run(added)
    added.add_argument("--yes", action="store_true", help="remove without asking")
    add_json(added)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", type=Path, help="the folder of a run")


def run(args: argparse.Namespace) -> int:
    """Carry out the action, and print."""
    from drivelab.cli.run_files import export, remove

    answers = {"list": listed, "show": shown, "export": export, "remove": remove}
    texts = {"list": _list_text, "show": _show_text, "export": _made_text, "remove": _removed_text}
    answer = answers[args.action](args)
    if args.json:
        print(json.dumps(answer, indent=2))
        return 0
    text = texts[args.action](in_lines(answer))
    if STANDARD in answer.get("files", ()):
        # The answer is a table already.
        for line in text.splitlines():
            print_note(line)
    else:
        show(text)
    return 0


def listed(args: argparse.Namespace) -> dict[str, Any]:
    """Return what ``runs list --json`` prints (docs/json-runs.md)."""
    from drivelab.cli.run_kinds import kind_of_run
    from drivelab.runs.inventory import find_runs, summarise

    folder = args.folder or DEFAULT_FOLDER
    # A missing default folder is no mistake before the first measurement.
    paths = [] if args.folder is None and not folder.exists() else find_runs(folder)
    return {
        "folder": str(folder),
        "runs": [_summary_json(summarise(path, kind_of_run)) for path in paths],
    }


def shown(args: argparse.Namespace) -> dict[str, Any]:
    """Return what ``runs show --json`` prints (docs/json-runs.md)."""
    from drivelab.campaign.header import stored_header
    from drivelab.cli.run_kinds import kind_of_run
    from drivelab.runs.header import CAMPAIGN_COMMAND, command_of
    from drivelab.runs.inventory import summarise
    from drivelab.store import RunStore
    from drivelab.workloads.characteristics import Characteristics

    with RunStore.open(args.run) as store:
        is_other = command_of(store.header) != CAMPAIGN_COMMAND
        header = store.header if is_other else stored_header(store)
        starts, failures = store.starts(), store.failures()
    return {
        **_summary_json(summarise(args.run, kind_of_run)),
        "capacity_bytes": header["drive"]["capacity_bytes"],
        "identity": header["drive"]["identity"],
        # Only a campaign has these.
        "workloads": _workloads(header.get("design")),
        "plan": header.get("plan"),
        "starts": starts,
        "failures": [
            {
                "index": one.index,
                "workload": None
                if is_other
                else characteristics_json(Characteristics.from_json(one.workload)),
                "message": one.message,
                "failed_at": one.failed_at,
            }
            for one in failures
        ],
    }


def _summary_json(summary: RunSummary) -> dict[str, Any]:
    standing = summary.standing
    return {
        "run": str(summary.path),
        "state": summary.state,
        "problem": summary.problem,
        "drive": summary.drive,
        "kind": summary.kind,
        "design": None if standing is None else standing.design,
        "seed": None if standing is None else standing.seed,
        "planned": None if standing is None else standing.planned,
        "may_end_sooner": None if standing is None else standing.may_end_sooner,
        "measured": summary.measured,
        "failed": summary.failed,
        "started_at": summary.started_at,
        "size_bytes": summary.size_bytes,
    }


def _list_text(answer: Mapping[str, Any]) -> str:
    from drivelab.report.terminal import display_width
    from drivelab.units import format_size

    if not answer["runs"]:
        return f"no runs in {answer['folder']}; `drivelab model` makes them"
    rows = []
    problems = []
    for one in answer["runs"]:
        known = one["problem"] is None
        rows.append(
            (
                one["run"],
                one["drive"] or "?",
                one["design"] or "?",
                _measured_text(one) if known else "?",
                str(one["failed"]) if known else "?",
                _when(one["started_at"]) if known else "?",
                format_size(one["size_bytes"]),
                one["state"],
            )
        )
        if not known:
            problems.append(one["problem"])
    heads = ("run", "drive", "design", "measured", "failed", "started", "size", "state")
    table = _table(heads, rows)
    width = columns()
    if width is not None and max(map(display_width, table)) > width:
        table = _labelled(rows)
    return "\n".join([*table, *problems])


def _measured_text(one: Mapping[str, Any]) -> str:
    if one["planned"] is None:
        return f"{one['measured']:,}"
    most = "at most " if one["may_end_sooner"] else ""
    return f"{one['measured']:,} of {most}{one['planned']:,}"


def _labelled(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return runs as labelled lines, because a table of them is too wide."""
    width = max(len(row[0]) for row in rows)
    lines = []
    for run, drive, design, measured, failed, started, size, state in rows:
        failures = [] if failed in {"0", "?"} else [f"{failed} failed"]
        facts = [drive, design, state, measured, *failures, started, size]
        lines.append(f"{run:<{width}}  {', '.join(facts)}")
    return lines


def _show_text(answer: Mapping[str, Any]) -> str:
    from drivelab.exhibits.quantities import PROVENANCE
    from drivelab.units import format_size

    seed = "" if answer["seed"] is None else f", seed {answer['seed']}"
    lines = [
        ("run", f"{answer['run']}, {answer['state']}, {format_size(answer['size_bytes'])}"),
        (
            "drive",
            f"{answer['drive']}, {PROVENANCE[answer['kind']].label.lower()}, "
            f"{format_size(answer['capacity_bytes'])}",
        ),
        ("design", f"{answer['design']}{seed}"),
        *([] if answer["workloads"] is None else _campaign_lines(answer)),
        ("measured", _measured_text(answer)),
        ("failed", str(answer["failed"])),
    ]
    for place, start in enumerate(answer["starts"]):
        lines.append(("resumed" if place else "started", _start_text(start)))
    if answer["starts"]:
        lines.append(("command", answer["starts"][-1]["command"] or "?"))
    text = [f"{label:<10}  {value}" for label, value in lines if value]
    if answer["failures"]:
        rows = [
            (
                str(one["index"]),
                _when(one["failed_at"]),
                "" if one["workload"] is None else _workload_text(one["workload"]),
                one["message"],
            )
            for one in answer["failures"]
        ]
        head = ("index", "failed at", "workload", "why")
        text += ["", *_table(head, rows), "the same command tries them again"]
    return "\n".join(text)


def _workloads(design: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what a campaign's header says of its workloads: the number of each part."""
    from drivelab.workloads.parts import Parts

    if design is None:
        return None
    order = {"order": design["parts"]["order"]} if "order" in design["parts"] else {}
    return {**design, "parts": {**Parts.from_json(design["parts"]).counts, **order}}


def _campaign_lines(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    from drivelab.campaign.exhibits.plan_words import plan_words
    from drivelab.workloads.parts import Parts

    workloads = answer["workloads"]
    # In the order of their indices; JSON has them by name.
    parts = Parts.from_json(workloads["parts"]).counts.items()
    return [
        ("population", workloads["population"]),
        ("parts", ", ".join(f"{count} {name}" for name, count in parts if count)),
        ("plan", plan_words(answer["plan"], answer["kind"])),
    ]


def _start_text(start: Mapping[str, Any]) -> str:
    versions = ", ".join(
        f"{key.removesuffix('_version').replace('_', '-')} {value}"
        for key, value in start.items()
        if key.endswith("_version")
    )
    processors = f"{start['processors']} x {start['processor'] or 'unknown processor'}"
    where = f"{start['host']} ({start['system']}, {processors})"
    return f"{_when(start['started_at'])} on {where}: {versions}"


def _workload_text(values: Mapping[str, Any]) -> str:
    from drivelab.exhibits.quantities import workload_text
    from drivelab.workloads.characteristics import Characteristics

    named = {name.removesuffix("_bytes"): value for name, value in values.items()}
    return workload_text(Characteristics(**named))


def _made_text(answer: Mapping[str, Any]) -> str:
    names = ("to standard output" if name == STANDARD else name for name in answer["files"])
    return "\n".join(f"wrote {name}: {answer['rows']} rows" for name in names)


def _removed_text(answer: Mapping[str, Any]) -> str:
    return f"removed {answer['run']}: {len(answer['files'])} files"


def _when(text: str | None) -> str:
    """Return a stored time for people, in the time zone of this machine."""
    from datetime import datetime

    return "?" if text is None else f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M}"


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    from drivelab.exhibits import Table
    from drivelab.report.terminal import table_lines

    return table_lines(Table("runs", heads, tuple(rows)), left=len(heads))
