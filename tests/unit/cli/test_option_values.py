"""Every option of every command, followed by something that is not a value."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator

import pytest

from drivelab.cli import main as cli
from drivelab.cli.arguments import CommandParser

LONG_ENDS = ["=--", "=", "= ", "=\t", "=-- ", "=-", "=---"]
SHORT_ENDS = ["--", "-", " ", "=--", "="]

#: Never a value, so that the error is about the option.
NO_VALUES = {"=--", "=", "= ", "=\t", "=-- ", "--", " "}


def parsers(words: list[str], parser: argparse.ArgumentParser) -> Iterator[tuple[list[str], str]]:
    """Give every option with the words that lead to it."""
    for option in parser._option_string_actions:
        yield words, option
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from parsers([*words, name], below)


def options(command: str) -> list[tuple[list[str], str]]:
    parser = CommandParser(prog=f"drivelab {command}", allow_abbrev=False)
    importlib.import_module(f"drivelab.cli.{command}").add_arguments(parser)
    return list(parsers([command], parser))


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_what_is_no_value_is_a_mistake_in_one_line(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = options(command)
    assert {"--json", "--help"} <= {option for _, option in found}
    for words, option in found:
        for end in LONG_ENDS if option.startswith("--") else SHORT_ENDS:
            # What the command needs besides is left out, so that nothing is carried out.
            assert cli.main([*words, f"{option}{end}"]) == 2, (words, option, end)
            said = capsys.readouterr()
            assert said.out == "", (words, option, end)
            assert said.err.startswith("drivelab: "), (words, option, end)
            assert said.err.count("\n") == 1, (words, option, end)
            assert "bug" not in said.err, (words, option, end)
            if end in NO_VALUES:
                assert said.err.startswith("drivelab: argument "), (words, option, end, said.err)
                assert option in said.err.partition(": ")[2], (words, option, end)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("=--", "argument --write-ratio: '--' is not a value; give one, or leave the option out"),
        ("=", "argument --write-ratio: '' is not a value"),
        ("= ", "argument --write-ratio: ' ' is not a value"),
    ],
)
def test_the_option_is_named(end: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["measure", "sim:x25m", f"--write-ratio{end}"]) == 2
    assert said in capsys.readouterr().err


def test_an_empty_path_is_not_the_current_folder(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--out="], ["--out", ""]):
        assert cli.main(["predict", "runs/x", "--file", "x.csv", *words]) == 2
        assert "argument --out: '' is not a value" in capsys.readouterr().err
