"""Read recorded block traces: show what they ask of a drive, convert them, cut them.

FILE is a trace in one of sixteen formats, plain, gzip or zstd. The format is recognised from the
content. Several files are merged by their times. docs/traces.md describes formats and numbers.

Every action takes --json; `drivelab trace ACTION --help` explains one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.cli import trace_characterize, trace_convert, trace_cut, trace_fit, trace_info
from drivelab.cli.arguments import add_actions

if TYPE_CHECKING:
    import argparse
    from types import ModuleType

#: Each action is a module with a line of help, ``add_arguments(parser)`` and ``carry_out(args)``.
_ACTIONS: Final[dict[str, tuple[ModuleType, str]]] = {
    "info": (trace_info, "show a trace on one screen: requests, devices, characteristics"),
    "characterize": (
        trace_characterize,
        "show everything about a trace, as a whole and by window; --out writes a report",
    ),
    "convert": (trace_convert, "write a trace in another format"),
    "fit": (trace_fit, "write a scenario that asks a drive for what the trace asked for"),
    "cut": (trace_cut, "write a part of a trace: a span of time, a device, only reads or writes"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `drivelab trace` and their options."""
    add_actions(parser, _ACTIONS)


def run(args: argparse.Namespace) -> int:
    """Carry out the action."""
    module, _ = _ACTIONS[args.action]
    return int(module.carry_out(args))
