"""The side file ``PATH.drivelab.json``, by which Drivelab knows the files that it made.

A side file counts only for the very file it was written for: it carries the inode and the
inode's generation, so that a file which later got the same name or inode is left alone.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import json
import os
from pathlib import Path
from typing import Any, Final

_SUFFIX: Final = ".drivelab.json"
SIDE_LAYOUT: Final = 1
# ioctl FS_IOC_GETVERSION: an inode that is used again for another file gets a new one.
_GET_GENERATION: Final = 0x80087601
_KEYS: Final = {"layout": int, "state": str, "keep": bool, "size_bytes": int, "file": dict}


def side_path(path: Path) -> Path:
    """Name the side file of `path`."""
    return path.with_name(path.name + _SUFFIX)


def read_side(path: Path) -> dict[str, Any] | None:
    """Read the side file of `path`; `None` when there is none that Drivelab wrote."""
    try:
        text = side_path(path).read_text(encoding="utf-8")
        side = json.loads(text)
    except (OSError, ValueError):
        return None
    if not isinstance(side, dict) or side.get("made_by") != "drivelab":
        return None
    if any(not isinstance(side.get(key), kind) for key, kind in _KEYS.items()):
        return None
    return side if side["layout"] == SIDE_LAYOUT else None


def write_side(path: Path, side: dict[str, Any]) -> None:
    """Write the side file of `path`, whole or not at all."""
    final = side_path(path)
    draft = final.with_name(final.name + ".draft")
    with draft.open("w", encoding="utf-8") as stream:
        json.dump(side, stream, indent=1)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(final)


def file_key(descriptor: int) -> dict[str, int | None]:
    """Identify a file by what no later file has: its inode and the inode's generation."""
    status = os.fstat(descriptor)
    generation = array.array("l", [0])
    try:
        fcntl.ioctl(descriptor, _GET_GENERATION, generation)
        told: int | None = generation[0] & 0xFFFFFFFF
    except OSError:
        told = None
    return {"inode": status.st_ino, "generation": told}


def remove_with_side(path: Path, descriptor: int) -> None:
    """Remove the file and its side file, unless the path names another file by now."""
    ours = os.fstat(descriptor)
    with contextlib.suppress(FileNotFoundError):
        now = path.lstat()
        if (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino):
            return
        path.unlink()
    side = side_path(path)
    side.unlink(missing_ok=True)
    side.with_name(side.name + ".draft").unlink(missing_ok=True)
