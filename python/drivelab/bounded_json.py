"""JSON from outside: how deep and how large its numbers are is bounded before it is believed.

Python's own reader follows brackets until its stack ends, takes numbers of thousands of digits,
turns ``1e999`` into infinity, reads ``NaN`` and keeps the last of several values of one name. How
long a text is, is for those to bound who read it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

#: Nothing that Drivelab or fio writes comes to a third of it.
MOST_DEPTH: Final = 64
#: Of a number; 64 bits and double precision take 25.
MOST_NUMBER_LETTERS: Final = 100
# A string, ended or not, is one token: what is in it opens nothing.
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_CHANGE: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


class UnreadableJsonError(ValueError):
    """A text that is no JSON, or beyond what is read; its message says what it does."""


def parse_json(text: str | bytes, *, same_names: bool = False) -> Any:
    """Read a value of JSON.

    Parameters
    ----------
    text
        All of it; bytes are UTF-8.
    same_names
        Of several values of one name in an object the last one holds, as programs may print
        them. Otherwise they are refused.

    Raises
    ------
    UnreadableJsonError
        Says on one line, with a verb, what is wrong: ``is not JSON from line 2, column 5 on``.
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
    """Give where the object or list that begins at `start` ends; the text's end without one."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += _CHANGE.get(token[0], 0)
        if depth == 0:
            return token.end()
    return len(text)


def _check_depth(text: str) -> None:
    # Few brackets are no deep ones.
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
    raise UnreadableJsonError(f"contains {name}, which is no number")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise UnreadableJsonError("names a value twice in one object")
    return values
