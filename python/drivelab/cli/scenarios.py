"""List the built-in scenarios, or print one to copy and edit.

A scenario is several streams of requests at the same time. Every number has its source next to it.
`drivelab simulate` runs a scenario, and `drivelab choose` compares drives under it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.cli.named_texts import add_named, list_or_print
from drivelab.cli.terminal import in_lines

if TYPE_CHECKING:
    import argparse

    from drivelab.workloads.scenario import Scenario


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab scenarios`."""
    add_named(parser)


def run(args: argparse.Namespace) -> int:
    """List or print.

    Raises
    ------
    UsageError
        If there is no such scenario, or a file does not contain one.
    """
    from drivelab._core import scenario_names
    from drivelab.drives.simulated.scenarios import read_scenario, text_of

    found = {name: read_scenario(name) for name in ([args.name] if args.name else scenario_names())}
    list_or_print(
        args,
        "scenarios",
        [(name, scenario.describe()) for name, scenario in found.items()],
        described=lambda: [_described(name, scenario) for name, scenario in found.items()],
        text_of=text_of,
        uses=[
            "drivelab scenarios NAME > mine.toml   to edit one",
            "drivelab simulate sim:x25m --scenario NAME|mine.toml",
        ],
    )
    return 0


def _described(name: str, scenario: Scenario) -> dict[str, Any]:
    _, _, requests, duration_ns, *_ = scenario.window
    streams = [stream.described() for stream in scenario.streams()]
    return {
        "name": in_lines(name),
        "summary": in_lines(scenario.summary),
        "requests": requests,
        "duration_ns": duration_ns,
        "occupancy": None if scenario.occupancy is None else scenario.occupancy.describe(),
        "streams": [in_lines(stream["name"]) for stream in streams],
    }
