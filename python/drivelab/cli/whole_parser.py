"""All commands in one parser, to describe the whole command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from drivelab.cli.main import COMMANDS, module_of

#: Words and options whose values are or may be files: a drive's name may be a path.
_PATHS: Final = {"drive", "drives", "allow_destructive", "trace"}


def whole_parser() -> argparse.ArgumentParser:
    """Return a parser that contains every command, to be inspected."""
    parser = argparse.ArgumentParser(prog="drivelab", allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, command in COMMANDS.items():
        added = commands.add_parser(name, help=command.summary, allow_abbrev=False)
        module_of(name).add_arguments(added)
    return parser


def command_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of one command, with its description."""
    module = module_of(name)
    parser = argparse.ArgumentParser(
        prog=f"drivelab {name}", description=module.__doc__, allow_abbrev=False
    )
    module.add_arguments(parser)
    return parser


def takes_a_path(action: argparse.Action) -> bool:
    """Return whether the value may be a file."""
    return action.type is Path or action.dest in _PATHS


def every_action(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Yield the options and words of a parser and of its subparsers."""
    found = []
    for action in parser._actions:
        found.append(action)
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                found += every_action(below)
    return found
