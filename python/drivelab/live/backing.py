"""The backing file of a served drive, and whether it may be written.

A file that Drivelab made has a mark, an extended attribute, and may be served again. Any other
existing file is somebody's data: --allow-destructive must name it too.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_MARK: Final = "user.drivelab.backing"


def check_backing(path: Path, allow_destructive: str | None) -> None:
    """Refuse a file whose content would be lost without its owner's consent.

    Opening the file refuses anything that is not a regular file.

    Raises
    ------
    UsageError
        If it exists, was not made here, and --allow-destructive does not name it.
    """
    if allow_destructive is not None and os.path.realpath(allow_destructive) != os.path.realpath(
        path
    ):
        raise UsageError(
            f"--allow-destructive {allow_destructive} is not the backing file {path}: name that one"
        )
    try:
        found = path.stat()
    except OSError:
        return
    if not stat.S_ISREG(found.st_mode) or allow_destructive is not None or _is_marked(path):
        return
    raise UsageError(
        f"{path} exists and was not made by `drivelab serve`: clients would overwrite it; add "
        f"--allow-destructive={path}, or name a file that does not exist"
    )


def mark_backing(path: Path) -> None:
    """Mark a file as made here; without extended attributes it must be named twice next time."""
    with contextlib.suppress(OSError):
        os.setxattr(path, _MARK, b"1")


def _is_marked(path: Path) -> bool:
    try:
        return os.getxattr(path, _MARK) == b"1"
    except OSError:
        return False
