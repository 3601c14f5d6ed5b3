"""The reference of commands, from the parsers themselves."""

from __future__ import annotations

import argparse
import re
import textwrap
from typing import Final

from drivelab.cli.main import GROUPS
from drivelab.cli.whole_parser import command_parser

_MARKUP: Final = re.compile(r"([\\*_<>|])")


def commands_page() -> str:
    """Return every command with its options as a page of Markdown."""
    lines = ["# Commands", ""]
    lines += [
        "`drivelab --help` is the tour; `drivelab COMMAND --help` prints the same as this page.",
        "",
    ]
    for title, commands in GROUPS.items():
        lines += [f"## {title}", ""]
        for command in commands:
            parser = command_parser(command.name)
            lines += [f"### {command.name}", ""]
            lines += _description(parser.description or command.summary)
            lines += ["```sh", f"drivelab {command.example}", "```", ""]
            lines += _options(parser)
    return "\n".join(lines)


def _description(text: str) -> list[str]:
    first, _, rest = text.partition("\n")
    parts = (first + "\n" + textwrap.dedent(rest)).strip().split("\n\n")
    lines = []
    for part in parts:
        if part.startswith(("::", " ")) or "\n " in part:
            lines += ["```text", part, "```", ""]
        else:
            lines += [_plain(" ".join(part.split())), ""]
    return lines


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """Give a table of a parser's options, and of the actions below it."""
    rows, below = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {one.dest: one.help or "" for one in action._choices_actions}
            below = [(name, texts.get(name, ""), one) for name, one in action.choices.items()]
            continue
        if action.help == argparse.SUPPRESS or "--help" in action.option_strings:
            continue
        rows.append(f"| {_called(action)} | {_plain(_help(action))} |")
    lines = ["| word or option | what it does |", "|---|---|", *rows, ""] if rows else []
    for name, text, one in below:
        lines += [f"#### {parser.prog.removeprefix('drivelab ')} {name}", "", _plain(text), ""]
        lines += _options(one)
    return lines


def _called(action: argparse.Action) -> str:
    words = action.option_strings or [""]
    value = "" if action.nargs == 0 else _value(action)
    return ", ".join(f"`{f'{word} {value}'.strip()}`".replace("|", "\\|") for word in words)


def _value(action: argparse.Action) -> str:
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    name = action.metavar or action.dest.upper()
    return name if isinstance(name, str) else " ".join(name)


def _help(action: argparse.Action) -> str:
    return " ".join((action.help or "").replace("%%", "%").split())


def _plain(text: str) -> str:
    """Escape everything outside of backquotes, so that it has no meaning in Markdown."""
    parts = text.split("`")
    return "`".join(
        part.replace("|", "\\|") if index % 2 else _MARKUP.sub(r"\\\1", part)
        for index, part in enumerate(parts)
    )
