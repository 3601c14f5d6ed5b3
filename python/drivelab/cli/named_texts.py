"""Texts that the package has ready under names: listed, or one printed so that it can be edited."""

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
    """Add the name of the one that is wanted, and ``--json``."""
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
    """Print what was asked for.

    Parameters
    ----------
    args
        The name or none, and whether as JSON.
    key
        Of the list in JSON.
    rows
        Name and line of each that was checked: all, or the one that is named.
    described
        Gives what JSON says of them.
    text_of
        Gives a text as it was written, comments too.
    uses
        What can be done with one: a command line each.
    """
    if args.json:
        print(json.dumps({key: list(described())}, indent=2))
    elif args.name:
        show_file(text_of(args.name))
    else:
        listed = aligned(rows, left=2)
        show("\n".join([*(line.rstrip() for line in listed), "", *uses]))
