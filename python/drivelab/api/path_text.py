"""Names and paths that a Python program passes in."""

from __future__ import annotations

import os

from drivelab.errors import UsageError
from drivelab.workloads.given import shown


def path_text(value: object, what: str, example: str) -> str:
    """Return a name or a path as text.

    Parameters
    ----------
    value
        The argument: text or a `pathlib.Path`.
    what
        Its meaning, for the error message: ``a drive``.
    example
        An example of a valid value, for the error message.

    Raises
    ------
    UsageError
        For any other type.
    """
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value)
        if isinstance(text, str):
            return text
    raise UsageError(f"{what} is named by text, such as {example!r}; found {shown(value)}")
