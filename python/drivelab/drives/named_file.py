"""The contents of a file that a user names."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from drivelab.errors import UsageError
from drivelab.units import format_size

if TYPE_CHECKING:
    from pathlib import Path


def check_file(path: Path, what: str, most_bytes: int, instead: str) -> None:
    """Raise `UsageError` if `read_file` would not read this file."""
    try:
        status = path.stat()
        # Reading a pipe or a device may never end.
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise UsageError(f"{path} cannot be read as {what}: it is not a regular file")
        if status.st_size > most_bytes:
            raise UsageError(f"{path} is larger than {what} can be ({format_size(most_bytes)})")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}; {instead}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} cannot be read as {what}: {reason}") from error


def read_file(path: Path, what: str, most_bytes: int, instead: str) -> bytes:
    """Return the bytes of a regular file.

    Parameters
    ----------
    path
        The file.
    what
        What it should be, with its article, for messages.
    most_bytes
        The largest size that such a file can have.
    instead
        The remedy if there is no such file.

    Raises
    ------
    UsageError
        If it cannot be read.
    """
    check_file(path, what, most_bytes, instead)
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read as {what}: {error.strerror}") from error


def read_text_file(path: Path, what: str, most_bytes: int, instead: str) -> str:
    """Return the text of a regular file in UTF-8, its lines ended by line feeds.

    Raises
    ------
    UsageError
        As `read_file`, and if it is not such text.
    """
    try:
        # Spreadsheets begin UTF-8 with a byte-order mark.
        text = read_file(path, what, most_bytes, instead).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} cannot be read as {what}: it is not UTF-8 text") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
