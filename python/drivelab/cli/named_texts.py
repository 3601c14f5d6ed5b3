"""Texts that the package contains by name: list them, or print one to edit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json
from drivelab.cli.terminal import show, show_file
from drivelab.report.terminal import aligned

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence


def add_named(parser: argparse.ArgumentParser) -> None:
    """Add the name of the text, and ``--json``."""
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME|FILE.toml",
        help="check this one and print it as TOML [list all]",
    )
    add_json(parser)


def list_or_print(
    args: argparse.Namespace,
    key: str,
    rows: Sequence[tuple[str, str]],
    *,
    described: Callable[[], Sequence[Mapping[str, Any]]],
    text_of: Callable[[str], str],
    uses: Sequence[str],
) -> None:
    """Print the list, or the text that was asked for.

    Parameters
    ----------
    args
        The name, or None for the list, and whether to print JSON.
    key
        Key of the list in JSON.
    rows
        Name and summary of each text that was checked: all of them, or the named one.
    described
        Returns what JSON contains for them.
    text_of
        Returns a text unchanged, with its comments.
    uses
        What can be done with one: one command line each.
    """
    if args.json:
        print(json.dumps({key: list(described())}, indent=2))
    elif args.name:
        show_file(text_of(args.name))
    else:
        listed = aligned(rows, left=2)
        show("\n".join([*(line.rstrip() for line in listed), "", *uses]))
