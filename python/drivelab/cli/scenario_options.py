"""Options of commands that run one workload or a scenario on a simulated drive."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from drivelab.cli.drive_options import add_content, characteristics_of
from drivelab.cli.trace_options import trace_of
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from drivelab.workloads.workload import Workload


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """Add ``--scenario``."""
    parser.add_argument(
        "--scenario",
        metavar="NAME|FILE.toml",
        help="run several streams at the same time instead of the characteristics; `drivelab "
        "scenarios` lists the built-in scenarios",
    )
    add_content(parser)


def workload_of(args: argparse.Namespace) -> Workload:
    """Read the trace or the scenario, or return the characteristics.

    Raises
    ------
    UsageError
        If both are given, or the given one is wrong.
    """
    from drivelab.drives.simulated.scenarios import read_scenario
    from drivelab.workloads.characteristics import FIELDS

    trace = trace_of(args) if hasattr(args, "trace") else None
    if trace is not None:
        return trace
    if args.scenario is None:
        workload = characteristics_of(args)
        workload.validate()
        return workload
    for name in (*FIELDS, "content"):
        if getattr(args, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"a scenario sets its own workloads: leave out {option} or --scenario")
    if hasattr(args, "trace"):
        return read_scenario(args.scenario, if_trace=f"name it with --trace {args.scenario}")
    return read_scenario(args.scenario)


def file_of_scenario(args: argparse.Namespace) -> Path | None:
    """Return the file that the scenario was read from, if it was one."""
    from drivelab.drives.simulated.scenarios import scenario_file

    return None if args.scenario is None else scenario_file(args.scenario)
