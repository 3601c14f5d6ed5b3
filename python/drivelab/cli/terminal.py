"""Results for people: a line that is too long for the terminal continues below its own text.

Anything else than a terminal (a file, a pipe) gets every line whole, so that it can be searched.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import Any, Final

from drivelab.plain_text import escaped, escaped_lines, write_controls

# A line's label, and the two or more spaces between it and the text.
_LABEL: Final = re.compile(r" *\S+(?: \S+)* {2,}(?=\S)| *- ")

# A number and its unit stay on one line.
_UNIT: Final = re.compile(r"(?<=\d) (?=%|[KMGT]?i?B\b|MB/s|[mun]?s\b|IOPS)")
_JOINED: Final = "\N{NO-BREAK SPACE}"


def columns() -> int | None:
    """Return the terminal's width, or None if the output is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def show(text: str) -> None:
    """Print lines, on a terminal wrapped to its width."""
    width = columns()
    # Measured as it will be on the terminal.
    text = escaped_lines(text)
    if width is not None:
        text = "\n".join(wrapped(line, width) for line in text.split("\n"))
    print(text)


def wrapped(line: str, columns: int) -> str:
    """Return a line wrapped into several; the further ones are aligned with its text.

    Parameters
    ----------
    line
        A line without a line end.
    columns
        Width of the terminal; nothing is wrapped below 40.
    """
    if len(line) <= columns or columns < 40:
        return line
    label = _LABEL.match(line)
    indent = len(label[0]) if label else len(line) - len(line.lstrip()) or 2
    filled = textwrap.fill(
        _UNIT.sub(_JOINED, line),
        columns,
        subsequent_indent=" " * min(indent, columns // 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(_JOINED, " ")


def show_file(text: str) -> None:
    """Print a file's content: unchanged into a file or a pipe, harmless on a terminal."""
    if sys.stdout.isatty():
        print(escaped_lines(text.expandtabs(4)), end="")
    else:
        write_controls(text, sys.stdout)


def in_lines(values: Any) -> Any:
    """Return an answer with each text on one line, so that a name cannot break a line."""
    if isinstance(values, str):
        return escaped(values)
    if isinstance(values, dict):
        return {key: in_lines(value) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [in_lines(value) for value in values]
    return values
