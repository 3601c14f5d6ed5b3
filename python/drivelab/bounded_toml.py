"""TOML from outside: how deep and how large its numbers are is bounded before it is believed.

Python's own reader takes minutes and gigabytes for a key of many parts, follows brackets until
its stack ends, and takes hexadecimal numbers of any length, which cannot even be printed. How long
a text is, is for those to bound who read it.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

#: Parts of a key and tables in each other; nothing that Drivelab reads comes to a tenth of it.
MOST_DEPTH: Final = 64
_NAME: Final = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_PART: Final = rf"{_NAME}[ \t]*+\.[ \t]*+"
_LONG_KEY: Final = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}){{{MOST_DEPTH}}}")
_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1


class UnreadableTomlError(ValueError):
    """A text that is no TOML, or beyond what is read; its message says what it does."""


def parse_toml(text: str) -> dict[str, Any]:
    """Read a document of TOML.

    Raises
    ------
    UnreadableTomlError
        Says on one line, with a verb, what is wrong: ``is no TOML: ...``.
    """
    if _LONG_KEY.search(text):
        raise UnreadableTomlError(f"has a key of more than {MOST_DEPTH} parts")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnreadableTomlError(f"is no TOML: {error}") from error
    except RecursionError as error:
        raise UnreadableTomlError("is nested too deeply") from error
    except ValueError as error:
        # Of thousands of digits, which Python does not read.
        raise UnreadableTomlError("holds a number beyond 64 bits") from error
    _check_values(values)
    return values


def _check_values(values: dict[str, Any]) -> None:
    level: list[Any] = [values]
    for _ in range(MOST_DEPTH):
        if any(isinstance(each, int) and not _LEAST <= each <= _MOST for each in level):
            raise UnreadableTomlError("holds a number beyond 64 bits")
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return
    raise UnreadableTomlError(f"is nested too deeply, more than {MOST_DEPTH} levels")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
