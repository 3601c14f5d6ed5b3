"""`drivelab firmware evaluate`: predict each workload of a profile with models of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json, seed
from drivelab.cli.outputs import add_force
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.firmware.evaluation import Evaluation
    from drivelab.firmware.profiled import Profiled
    from drivelab.outputs import OutputFolder

_WRITTEN: Final = ("report", "tables", "result")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab firmware evaluate`."""
    parser.add_argument("profile", metavar="RUN", type=Path, help="run of `firmware profile`")
    parser.add_argument(
        "--models",
        metavar="NAME,...",
        help="models to compare: static, ratio, linear, boosted, kriging, network (its shape is "
        "searched for each workload, in a quarter of an hour) [all but network]",
    )
    parser.add_argument(
        "--search",
        type=Path,
        metavar="FOLDER",
        help="run folder for the search of the network; an existing search resumes [nothing is "
        "saved]",
    )
    parser.add_argument(
        "--inputs",
        default="events",
        metavar="WHAT",
        help="what the models see: the host's events (events), the firmware's own counts "
        "(counts), or both [events]",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="output folder for a report and its tables [nothing is saved]",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers [0]"
    )
    add_force(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Evaluate, and print how far each model is off."""
    from drivelab.firmware.evaluation import NETWORK, USUAL, evaluate, evaluation_values
    from drivelab.firmware.network_search import NetworkSearch
    from drivelab.firmware.profile import FirmwareSettings

    models = USUAL if args.models is None else tuple(args.models.split(","))
    folder = None if args.out is None else _folder(args)
    if args.search is not None and NETWORK not in models:
        raise UsageError(
            "--search is for the network: name it with --models network, or leave --search out"
        )
    profiles, header, cautions = _profiles(args.profile)
    settings = FirmwareSettings(**header["plan"]["firmware"])
    found = evaluate(
        profiles,
        models,
        inputs=args.inputs,
        seed=args.seed,
        dies=settings.dies,
        search=NetworkSearch(args.search, header, args.command, progress=not args.json),
        cautions=cautions,
    )
    written: dict[str, Path] = {}
    if folder is not None:
        from drivelab.firmware.exhibits import evaluation_report
        from drivelab.report.written import write_report

        report = evaluation_report(found, profiles, settings.dies, args.profile.name)
        written = write_report(report, folder)
    values = {
        "run": str(args.profile),
        **evaluation_values(found),
        **{each: str(written[each]) if each in written else None for each in _WRITTEN},
    }
    print(json.dumps(values, indent=2)) if args.json else show(
        _text(in_lines(values), found, profiles)
    )
    return 0


def _folder(args: argparse.Namespace) -> OutputFolder:
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder

    folder = OutputFolder(args.out, f"the evaluation of {args.profile.name}", force=args.force)
    refuse_folder(folder)
    return folder


def _profiles(path: Path) -> tuple[list[Profiled], dict[str, Any], list[str]]:
    """Return the workloads of a profile, its header, and what it lacks."""
    from drivelab.firmware.kind import firmware_run, incomplete, stored_profile

    with firmware_run(path) as store:
        found = stored_profile(store)
        return found, store.header, incomplete(store, found)


def _text(values: dict[str, Any], found: Evaluation, profiles: list[Profiled]) -> str:
    from drivelab.firmware.exhibits import board_name, errors_table, headline, overall_table
    from drivelab.report.terminal import table_lines

    board = profiles[0].board
    target = (
        "times are of the emulated target; no board was measured"
        if board is None
        else f"times were measured on {board_name(board)}"
    )
    written = [values[name] for name in _WRITTEN if values[name]]
    lines = [
        headline(found),
        "",
        *table_lines(errors_table(found), left=1),
        "",
        *table_lines(overall_table(found), left=1),
        "",
        *values["cautions"],
        f"inputs: {values['inputs']}; {target}",
        *([""] if written else []),
        *(f"wrote {name}" for name in written),
    ]
    return "\n".join(lines)
