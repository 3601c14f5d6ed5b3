"""A program that is run so that nothing of where that is moves what it has in memory.

A program begins with its path, its words and its environment: the words lie at the top of its
stack, and its C library keeps the path in the first piece of the heap. A path that is longer moves
all that comes after, caches hold other lines together, and times differ by up to half a percent.
So all of it is made equally long: the same work then takes the same time in any folder.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What every program is called in its words.
_CALLED: Final = "drivelab-firmware"
_PATH_BYTES: Final = 280
#: Some file systems have names of at most 143 bytes (eCryptfs).
_LONGEST_NAME: Final = 100
_SHORTEST_NAME: Final = len("...")
#: Of path, words and environment.
_START_BYTES: Final = 4096
_FILL: Final = "FILL="
#: All that decides what a program begins with, as a run keeps it.
START: Final = {
    "called": _CALLED,
    "path_bytes": _PATH_BYTES,
    "environment": _FILL,
    "start_bytes": _START_BYTES,
}


def placed(program: Path, name: str, folder: Path) -> Path:
    """Copy a program to below this folder, where its path is as long as in any other.

    Parameters
    ----------
    program
        Which.
    name
        A short word for it.
    folder
        A folder for temporary files.

    Raises
    ------
    UsageError
        When the folder's own path is too long for that.
    """
    real = folder.resolve()
    missing = _PATH_BYTES - len(os.fsencode(real)) - len(f"//{name}")
    if missing < _SHORTEST_NAME:
        raise UsageError(
            f"{real.parent} is too long a path for temporary files, with which times would "
            "differ: set TMPDIR to a folder with a shorter path, /tmp for example"
        )
    place = real.joinpath(*_dotted(missing), name)
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, place)
    return place


def _dotted(length: int) -> list[str]:
    """Return names of folders, none of them long, that have so many bytes with what parts them."""
    names = []
    while length > _LONGEST_NAME:
        # What is left has a name of its own.
        names.append("." * min(_LONGEST_NAME, length - 1 - _SHORTEST_NAME))
        length -= len(names[-1]) + 1
    return [*names, "." * length]


def filled(program: Path, words: Sequence[str]) -> list[str]:
    """Return qemu's options that fix the program's name and the size of its environment."""
    there = sum(len(os.fsencode(word)) + 1 for word in (str(program), _CALLED, *words))
    return ["-0", _CALLED, "-E", _FILL + "." * (_START_BYTES - there)]
