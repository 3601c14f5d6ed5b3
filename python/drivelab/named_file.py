"""The contents of a file that a user names, and why it cannot be read."""

from __future__ import annotations

import codecs
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError
from drivelab.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_BEGINNING_BYTES: Final = 4096


def reason_unread(error: OSError | ValueError) -> str:
    """Return why a file cannot be read, with the remedy where there is one."""
    reason = getattr(error, "strerror", None) or str(error)
    return f"{reason}; allow it first with chmod" if isinstance(error, PermissionError) else reason


def check_file(path: Path, what: str, most_bytes: int, instead: str) -> None:
    """Raise `UsageError` if `read_file` would not read this file."""
    with _explained(path, what, instead):
        status = path.stat()
        _refuse_folder(path, what, status)
        # Reading a pipe or a device may never end.
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} cannot be read as {what}: it is not a regular file")
        if status.st_size > most_bytes:
            raise UsageError(f"{path} is larger than {what} can be ({format_size(most_bytes)})")


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
    with _explained(path, what, instead):
        return path.read_bytes()


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


def begins_as_text(path: Path) -> bool:
    """Return whether the beginning of a file is text in UTF-8, or cannot be looked at."""
    try:
        if not path.is_file():
            return True
        with path.open("rb") as file:
            # The last character may be cut off.
            codecs.getincrementaldecoder("utf-8")().decode(file.read(_BEGINNING_BYTES))
    except UnicodeDecodeError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def opened_elsewhere(paths: Iterable[Path], what: str, instead: str) -> Iterator[None]:
    """Explain an error that the native core raised if it could not open one of its files.

    The core reports that with the words of the system, and an error number. If it raises and a file
    cannot be opened here either, the error is the one that `read_file` would raise. Other errors
    pass.

    Parameters
    ----------
    paths
        The files that the core opens. They may be pipes.
    what, instead
        As for `read_file`.

    Raises
    ------
    UsageError
        If a file cannot be opened.
    """
    try:
        yield
    except UsageError:
        for path in paths:
            with _explained(path, what, instead):
                # A pipe without a writer would wait for one.
                descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                try:
                    _refuse_folder(path, what, os.fstat(descriptor))
                finally:
                    os.close(descriptor)
        raise


def _refuse_folder(path: Path, what: str, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise UsageError(f"{path} is a folder, not {what}; name a file")


@contextmanager
def _explained(path: Path, what: str, instead: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}; {instead}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as {what}: {reason_unread(error)}") from error
