"""Reading JSON from outside, with limits on its depth and on its numbers.

Python's own reader recurses until its stack ends, accepts numbers of thousands of digits, turns
``1e999`` into infinity, accepts ``NaN``, and keeps the last value of a repeated name. This module
does not limit the length of a text: its callers do.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

#: Nesting limit. No file that Drivelab or fio writes reaches a third of it.
MOST_DEPTH: Final = 64
#: Longest number. Numbers of 64 bits and of double precision need at most 25 characters.
MOST_NUMBER_LETTERS: Final = 100
# A string, complete or not, is one token, so brackets inside it do not count.
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_CHANGE: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


class UnreadableJsonError(ValueError):
    """A text is not JSON or exceeds a limit; the message is a verb phrase about the text."""


def parse_json(text: str | bytes, *, same_names: bool = False) -> Any:
    """Read a value of JSON.

    Parameters
    ----------
    text
        The whole text; bytes are UTF-8.
    same_names
        Accept a name that occurs several times in one object and keep its last value, because some
        programs print such objects. Without it a repeated name is an error.

    Raises
    ------
    UnreadableJsonError
        When the text cannot be read. The message is one line that begins with a verb:
        ``is not JSON from line 2, column 5 on``.
    """
    try:
        text = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        raise UnreadableJsonError("is not text") from error
    _check_depth(text)
    try:
        return json.loads(
            text,
            parse_int=_whole,
            parse_float=_real,
            parse_constant=_refuse_constant,
            object_pairs_hook=None if same_names else _once_each,
        )
    except json.JSONDecodeError as error:
        if not text.strip():
            raise UnreadableJsonError("is empty") from error
        where = f"line {error.lineno}, column {error.colno}"
        raise UnreadableJsonError(f"is not JSON from {where} on") from error


def end_of_json(text: str, start: int) -> int:
    """Return where the object or list at `start` ends, or the length of the text if it does not."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += _CHANGE.get(token[0], 0)
        if depth == 0:
            return token.end()
    return len(text)


def _check_depth(text: str) -> None:
    # A text with few brackets cannot be nested deeply.
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += _CHANGE.get(token[0], 0)
        if depth > MOST_DEPTH:
            raise UnreadableJsonError(f"is nested too deeply, more than {MOST_DEPTH} levels")


def _whole(text: str) -> int:
    _check_length(text)
    return int(text)


def _real(text: str) -> float:
    _check_length(text)
    number = float(text)
    if math.isinf(number):
        raise UnreadableJsonError("contains a number too large for double precision")
    return number


def _check_length(text: str) -> None:
    if len(text) > MOST_NUMBER_LETTERS:
        raise UnreadableJsonError(
            f"contains a number of more than {MOST_NUMBER_LETTERS} characters"
        )


def _refuse_constant(name: str) -> NoReturn:
    raise UnreadableJsonError(f"contains {name}, which is not a number")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise UnreadableJsonError("names a value twice in one object")
    return values
