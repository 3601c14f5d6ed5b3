"""`drivelab firmware evaluate`: predict each workload of a profile by models of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json, seed
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.firmware.evaluation import Evaluation
    from drivelab.firmware.profiled import Profiled


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab firmware evaluate`."""
    parser.add_argument("profile", metavar="RUN", type=Path, help="run of `firmware profile`")
    parser.add_argument(
        "--models",
        metavar="NAME,...",
        help="static, linear, boosted, kriging, and network, whose shape is searched anew for each "
        "workload and takes hours [all but network]",
    )
    parser.add_argument(
        "--inputs",
        default="events",
        metavar="WHAT",
        help="what models are given: the host's events (events), the firmware's own counts "
        "(counts), or both [events]",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="key of all random numbers [0]"
    )
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Evaluate, and say how far each model is off."""
    from drivelab.firmware.evaluation import USUAL, evaluate, evaluation_values

    models = USUAL if args.models is None else tuple(args.models.split(","))
    found = evaluate(_profiles(args.profile), models, inputs=args.inputs, seed=args.seed)
    values = {"run": str(args.profile), **evaluation_values(found)}
    print(json.dumps(values, indent=2)) if args.json else show(_text(in_lines(values), found))
    return 0


def _profiles(path: Path) -> list[Profiled]:
    from drivelab.firmware.kind import FIRMWARE_PROFILE, stored_profile
    from drivelab.runs.header import command_of
    from drivelab.store import RunStore

    with RunStore.open(path) as store:
        if command_of(store.header) != FIRMWARE_PROFILE.command:
            raise UsageError(
                f"{path} is a run of `drivelab {command_of(store.header)}`; name one of `drivelab "
                "firmware profile`"
            )
        return stored_profile(store)


def _text(values: dict[str, Any], found: Evaluation) -> str:
    from drivelab.firmware.evaluation import errors_table
    from drivelab.report.terminal import table_lines

    best = found.by_model[found.best]
    worst = best.worst
    lines = [
        f"Best: {found.best}, off by {100 * best.ratio:.1f} % on average over workloads that it "
        f"has not seen; at most {100 * worst.ratio:.1f} % ({worst.workload}).",
        "",
        *table_lines(errors_table(found), left=1),
        "",
        *values["cautions"],
        f"inputs: {values['inputs']}; times are of the emulated target, no board was measured",
    ]
    return "\n".join(lines)
