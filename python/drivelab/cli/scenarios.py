"""List the workloads that the package has ready, or print one so that it can be copied and edited.

Each is a scenario: streams of requests at the same time, every number with its source behind it.
`drivelab simulate` runs one, and `drivelab choose` compares drives under it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json
from drivelab.cli.terminal import in_lines, show, show_file
from drivelab.report.terminal import aligned

if TYPE_CHECKING:
    import argparse

    from drivelab.workloads.scenario import Scenario


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab scenarios`."""
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME|FILE.toml",
        help="print this one as TOML, once it is checked [list all]",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List or print.

    Raises
    ------
    UsageError
        When there is no such scenario, or a file is none.
    """
    from drivelab._core import scenario_names
    from drivelab.drives.simulated.scenarios import read_scenario, text_of

    found = {name: read_scenario(name) for name in ([args.name] if args.name else scenario_names())}
    if args.json:
        answer = [_described(name, scenario) for name, scenario in found.items()]
        print(json.dumps({"scenarios": answer}, indent=2))
    elif args.name:
        # As it is, comments too.
        show_file(text_of(args.name))
    else:
        rows = [[name, scenario.describe()] for name, scenario in found.items()]
        lines = [line.rstrip() for line in aligned(rows, left=2)]
        lines += ["", "drivelab scenarios NAME > mine.toml   to edit one"]
        lines += ["drivelab simulate sim:x25m --scenario NAME|mine.toml"]
        show("\n".join(lines))
    return 0


def _described(name: str, scenario: Scenario) -> dict[str, Any]:
    _, _, requests, duration_ns, *_ = scenario.window
    streams = [stream.described() for stream in scenario.streams()]
    return {
        "name": in_lines(name),
        "summary": in_lines(scenario.summary),
        "requests": requests,
        "duration_ns": duration_ns,
        "streams": [in_lines(stream["name"]) for stream in streams],
    }
