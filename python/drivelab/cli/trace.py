"""Look into recorded block traces: what they ask of a drive, and rewrite them.

FILE is a trace of one of sixteen formats, plain, gzip or zstd. Several files are merged by their
times. The format is recognised by the content. docs/traces.md describes formats and numbers.

Every action takes --json; `drivelab trace ACTION --help` explains one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.cli import trace_characterize, trace_convert, trace_cut, trace_fit, trace_info
from drivelab.cli.arguments import add_actions
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from types import ModuleType

#: What the core says to do, in the words of the options that do it.
_OPTIONS: Final = {
    "skip bad lines, or name the right format": "skip bad lines with --on-bad skip, or name the "
    "right --format",
    "if it is one of them, name it": "if it is one of them, name it with --format",
    ": name the format": ": name one with --format",
    "time unit is": "--time-unit is",
    "sector size is": "--address-unit is",
    "device size is": "--device-size is",
    "say which column holds what": "say which column holds what with --column MEANING=COLUMN",
    "use longer windows": "use a longer --window",
    "or allow that it is left out or rounded": "or leave such requests out with --drop",
    "widen the sort window": "widen --sort-window",
    "check its unit": "check its unit (--time-unit, --address-unit)",
}
#: Each a module with a line of help, ``add_arguments(parser)`` and ``carry_out(args)``.
_ACTIONS: Final[dict[str, tuple[ModuleType, str]]] = {
    "info": (trace_info, "what a trace is, in one screen: requests, devices, characteristics"),
    "characterize": (
        trace_characterize,
        "everything about a trace, as a whole and by window; --out writes a report",
    ),
    "convert": (trace_convert, "write a trace in another format"),
    "fit": (trace_fit, "write a scenario that asks a drive for what a trace asked for"),
    "cut": (trace_cut, "write a part of a trace: a span of time, a device, reads or writes"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `drivelab trace` and their options."""
    add_actions(parser, _ACTIONS)


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    module, _ = _ACTIONS[args.action]
    try:
        return int(module.carry_out(args))
    except UsageError as error:
        said = str(error)
        for words, with_option in _OPTIONS.items():
            said = said.replace(words, with_option)
        raise UsageError(said) from error
