"""Reading TOML from outside, with limits on its depth and on its numbers.

Python's own reader takes minutes and gigabytes for a key of many parts, recurses until its stack
ends, and accepts hexadecimal numbers of any length, which Python then cannot print. This module
does not limit the length of a text: its callers do.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

#: Most parts of a key, and most levels of tables. Drivelab's own files reach less than a tenth.
MOST_DEPTH: Final = 64
_NAME: Final = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_PART: Final = rf"{_NAME}[ \t]*+\.[ \t]*+"
_LONG_KEY: Final = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}){{{MOST_DEPTH}}}")
_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1


class UnreadableTomlError(ValueError):
    """A text is not TOML or exceeds a limit; the message is a verb phrase about the text."""


def parse_toml(text: str) -> dict[str, Any]:
    """Read a document of TOML.

    Raises
    ------
    UnreadableTomlError
        When the text cannot be read. The message is one line that begins with a verb:
        ``is not TOML: ...``.
    """
    if _LONG_KEY.search(text):
        raise UnreadableTomlError(f"has a key of more than {MOST_DEPTH} parts")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnreadableTomlError(f"is not TOML: {error}") from error
    except RecursionError as error:
        raise UnreadableTomlError("is nested too deeply") from error
    except ValueError as error:
        # The number has thousands of digits, which Python refuses to read.
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
