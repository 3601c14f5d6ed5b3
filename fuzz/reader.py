"""What every reader of outside data must do, for any bytes."""

from __future__ import annotations

import atexit
import importlib
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from drivelab.errors import DrivelabError
from drivelab.sealed_json import seal

if TYPE_CHECKING:
    from collections.abc import Callable

_Read = TypeVar("_Read")
#: In memory where there is such a place: a file an input.
_MEMORY: Final = Path("/dev/shm")  # noqa: S108


@dataclass(frozen=True)
class Reader:
    """A reader of outside data.

    Attributes
    ----------
    name
        What it is called, and its folder in ``regressions/``.
    modules
        What of Drivelab reads it: what fuzzing is to cover.
    check
        Raises anything but a `DrivelabError` where a promise is broken.
    seeds
        Inputs to begin with; the same every time.
    """

    name: str
    modules: tuple[str, ...]
    check: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]

    def try_input(self, data: bytes) -> None:
        """Check an input; a refusal must be one line."""
        try:
            self.check(data)
        except DrivelabError as error:
            _check_message(error)


def load_reader(name: str) -> Reader:
    """Import one of `fuzz.readers.NAMES`."""
    reader: Reader = importlib.import_module(f"fuzz.readers.{name}").READER
    return reader


@cache
def scratch() -> Path:
    """Give a folder of this process, removed at its end."""
    where = _MEMORY if _MEMORY.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="drivelab-fuzz-", dir=where))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _check_message(error: DrivelabError) -> None:
    text = str(error)
    assert text.strip(), "a message says nothing"
    assert len(text.splitlines()) == 1, f"a message has several lines: {text!r}"


def read_sealed(name: str, data: bytes, read: Callable[[Path], _Read]) -> _Read:
    """Read an input unchanged, and then with the checksum without which a reader refuses it."""
    try:
        read(file_of(name, data))
    except DrivelabError as error:
        _check_message(error)
    return read(file_of(name, seal(data)))


def file_of(name: str, data: bytes) -> Path:
    """Write an input to a file, for a reader that takes the name of a file."""
    path = scratch() / name
    path.write_bytes(data)
    return path
