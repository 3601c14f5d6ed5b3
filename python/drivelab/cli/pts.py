"""Run the SNIA performance tests: how fast a drive is once it has settled.

Every action takes --json; `drivelab pts ACTION --help` explains one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.cli import pts_classes, pts_compare, pts_report, pts_run, pts_states
from drivelab.cli.arguments import add_actions

if TYPE_CHECKING:
    import argparse
    from types import ModuleType

#: Each action is a module with a line of help, ``add_arguments(parser)`` and ``carry_out(args)``.
_ACTIONS: Final[dict[str, tuple[ModuleType, str]]] = {
    "run": (pts_run, "run a test, or all of them, on a drive, and write a report"),
    "classes": (pts_classes, "list the classes of workloads, or print one to edit"),
    "report": (pts_report, "write the report of a test: page, tables, JSON and PDF"),
    "compare": (pts_compare, "compare up to twenty drives"),
    "states": (pts_states, "list the saved preconditioned states, or remove them"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `drivelab pts` and their options."""
    add_actions(parser, _ACTIONS)


def run(args: argparse.Namespace) -> int:
    """Carry out the action."""
    module, _ = _ACTIONS[args.action]
    return int(module.carry_out(args))
