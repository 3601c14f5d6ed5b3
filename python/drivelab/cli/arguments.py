"""What all commands share: the parser, types of arguments and common options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final, NoReturn, TypeVar

from drivelab.errors import DrivelabError, UsageError
from drivelab.near_names import meant
from drivelab.units import parse_duration, parse_size

Value = TypeVar("Value")
# argparse's message about them.
_MISSING: Final = re.compile(r"the following arguments are required: (.+)", re.DOTALL)

_DRIVE_HELP: Final = (
    "sim:PRESET or sim:FILE.toml (simulated), {}a block device or a file path (real); "
    "`drivelab drives` lists what is here"
)
_ANY_DRIVE_HELP: Final = _DRIVE_HELP.format("analytic:PRESET (closed form), ")
#: For a drive that must have a state, or files: a formula has none.
DRIVE_HELP: Final = _DRIVE_HELP.format("")
# Offsets are kept in 64 bits and seeds are hashed from 64 bits; a larger number would wrap.
_MAX_SEED: Final = 2**63 - 1
# float() alone would accept "nan", "1_0" and any number of digits.
_NUMBER: Final = r"[0-9]{0,20}\.?[0-9]{1,20}(?:[eE][+-]?[0-9]{1,3})?"


class CommandParser(argparse.ArgumentParser):
    """An argument parser whose error is one line that lists what is valid."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        # What begins like a number without a unit is a value, not an option: no option here begins
        # with a digit. So `-1s` is a value, and its type reports what is allowed.
        self._negative_number_matcher = re.compile(r"-\.?[0-9]")

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` instead of printing usage and leaving.

        Raises
        ------
        UsageError
            Always.
        """
        missing = _MISSING.fullmatch(message)
        if missing is not None:
            names = missing[1].split(", ")
            is_or_are = "is" if len(names) == 1 else "are"
            message = f"{' and '.join(names)} {is_or_are} missing"
        raise UsageError(f"{message} (see `{self.prog} --help`)")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(each) for each in action.choices]
            raise argparse.ArgumentError(
                action,
                f"{value!r} is not allowed; {meant(str(value), known)}it takes {', '.join(known)}",
            )

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # argparse drops "--" even as an option's value and then finds none; and an empty path would
        # be the current folder.
        for text in arg_strings if action.option_strings else ():
            if text.strip() in ("", "--"):
                raise argparse.ArgumentError(
                    action, f"{text!r} is not a value; give one, or leave the option out"
                )
        return super()._get_values(action, arg_strings)

    def parse_strictly(self, arguments: list[str]) -> argparse.Namespace:
        """Parse `arguments`; anything left over is an error that lists the options.

        Raises
        ------
        UsageError
            For whatever argparse rejects, and for unknown options and words.
        """
        parsed, unknown = self.parse_known_args(arguments)
        if unknown:
            parser: CommandParser = getattr(parsed, "parser", self)
            options = sorted(
                option
                for option in parser._option_string_actions
                if option.startswith("--") and option != "--help"
            )
            word = unknown[0]
            if not word.startswith("-"):
                parser.error(f"{word!r} is one word too many")
            near = meant(word.partition("=")[0], options).strip()
            instead = near or f"the options are {', '.join(options)}"
            parser.error(f"there is no option {word!r}; {instead}")
        return parsed


def add_actions(
    parser: argparse.ArgumentParser, actions: Mapping[str, tuple[ModuleType, str]]
) -> None:
    """Add the actions of a command, each a module with ``add_arguments`` and a line of help."""
    choices = parser.add_subparsers(dest="action", metavar="|".join(actions), required=True)
    for name, (module, text) in actions.items():
        added = choices.add_parser(name, help=text, description=text, allow_abbrev=False)
        # The parser whose options are listed if a word is not understood.
        added.set_defaults(parser=added)
        module.add_arguments(added)


def argument_type(parse: Callable[[str], Value]) -> Callable[[str], Value]:
    """Make an argparse type of `parse`, so that its error names the option."""

    def parse_argument(text: str) -> Value:
        try:
            return parse(text)
        except DrivelabError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse_argument


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Make an argparse type for whole numbers from `least` to `most`, both included."""

    def parse_number(text: str) -> int:
        # A signed 64-bit number has at most 19 digits; int() alone would take "1_0".
        number = int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) else None
        if number is None or not least <= number <= most:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not allowed; it takes a whole number from {least} to {most}"
            )
        return number

    return parse_number


def ratio(text: str) -> float:
    """Read a number from 0 to 1, an argparse type."""
    number = float(text) if re.fullmatch(f"-?{_NUMBER}", text) else None
    if number is None or not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not allowed; it takes a number from 0 to 1, for example 0.3"
        )
    return number


def share(text: str) -> float:
    """Read a share such as ``75%``, ``0.75`` or ``1e-3``, an argparse type."""
    number = _number_or_per_cent(text)
    if number is None or not 0 < number <= 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not allowed; it takes a share above 0 up to 100 %, as 75% or 0.75"
        )
    return number


def inner_share(text: str) -> float:
    """Read a share above 0 and below 1 such as ``1%`` or ``0.01``, an argparse type."""
    number = _number_or_per_cent(text)
    if number is None or not 0 < number < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not allowed; it takes a share between 0 and 100 %, for example 1% or 0.01"
        )
    return number


def _number_or_per_cent(text: str) -> float | None:
    match = re.fullmatch(f"({_NUMBER}) ?(%?)", text)
    return None if match is None else float(match[1]) / (100 if match[2] else 1)


size = argument_type(parse_size)
duration = argument_type(parse_duration)
seed = whole_number(0, _MAX_SEED)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object (its keys: docs/json.md)"
    )


def add_drive(parser: argparse.ArgumentParser) -> None:
    """Add the positional argument ``DRIVE``, which may be a formula."""
    parser.add_argument("drive", metavar="DRIVE", help=_ANY_DRIVE_HELP)


def add_drives(parser: argparse.ArgumentParser, more: str) -> None:
    """Add ``DRIVE ...``, none to any number of them; `more` is what else there is to say."""
    parser.add_argument("drives", metavar="DRIVE", help=f"{_ANY_DRIVE_HELP}; {more}", nargs="*")


def add_record(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add ``--op`` and ``--record``: one request of one kind."""
    parser.add_argument(
        "--op", required=required, choices=("read", "write"), help="kind of request"
    )
    parser.add_argument(
        "--record", required=required, type=size, metavar="SIZE", help="size of the request"
    )


def add_characteristics(parser: argparse.ArgumentParser) -> None:
    """Add the eight workload characteristics; one that is not given stays `None`."""
    group = parser.add_argument_group("workload characteristics")
    options: list[tuple[str, str, dict[str, Any]]] = [
        ("--write-ratio", "RATIO", {"type": ratio, "help": "share of writes, 0 to 1 [0]"}),
        (
            "--queue-depth",
            "N",
            {"type": whole_number(1, 65536), "help": "number of outstanding requests [1]"},
        ),
        ("--read-size", "SIZE", {"type": size, "help": "size of each read [4KiB]"}),
        ("--write-size", "SIZE", {"type": size, "help": "size of each write [4KiB]"}),
        ("--read-random", "RATIO", {"type": ratio, "help": "share of random reads, 0 to 1 [1]"}),
        ("--write-random", "RATIO", {"type": ratio, "help": "share of random writes, 0 to 1 [1]"}),
        (
            "--read-stride",
            "SIZE",
            {"type": size, "help": "gap between non-random reads; 0 is sequential [0]"},
        ),
        (
            "--write-stride",
            "SIZE",
            {"type": size, "help": "gap between non-random writes; 0 is sequential [0]"},
        ),
    ]
    for option, metavar, settings in options:
        group.add_argument(option, metavar=metavar, default=None, **settings)
