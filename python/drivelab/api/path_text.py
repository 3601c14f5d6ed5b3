"""Names and paths as a program gives them."""

from __future__ import annotations

import os

from drivelab.errors import UsageError
from drivelab.workloads.given import shown


def path_text(value: object, what: str, example: str) -> str:
    """Return a name or a path as text.

    Parameters
    ----------
    value
        What was given: text or a `pathlib.Path`.
    what
        What it is, for an error: ``a drive``.
    example
        What to write instead.

    Raises
    ------
    UsageError
        For anything else.
    """
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value)
        if isinstance(text, str):
            return text
    raise UsageError(f"{what} is named by text, such as {example!r}; found {shown(value)}")
