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

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What every program is called in its words.
_CALLED: Final = "drivelab-firmware"
_PATH_BYTES: Final = 280
_LONGEST_NAME: Final = 255
#: Of path, words and environment.
_START_BYTES: Final = 4096
_FILL: Final = "FILL="


def placed(program: Path, name: str, folder: Path) -> Path:
    """Copy a program into a folder of this folder, where its path is as long as in any other.

    Parameters
    ----------
    program
        Which.
    name
        A short word for it.
    folder
        Its path may have up to 250 bytes; below a longer one, times differ a little.
    """
    real = folder.resolve()
    missing = _PATH_BYTES - len(os.fsencode(real)) - len(f"//{name}")
    place = real / ("." * max(3, min(missing, _LONGEST_NAME))) / name
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        shutil.copy(program, place)
    return place


def filled(program: Path, words: Sequence[str]) -> list[str]:
    """Give the options of qemu's that call a program the same, and fill up what it begins with."""
    there = sum(len(os.fsencode(word)) + 1 for word in (str(program), _CALLED, *words))
    return ["-0", _CALLED, "-E", _FILL + "." * (_START_BYTES - there)]
