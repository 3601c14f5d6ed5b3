"""Which loop devices use which files.

Root can ask the driver, which knows the file itself, whatever its path names now. Other users have
the path that the kernel shows, which may belong to another container. A path that leads nowhere
counts as a file of the same name.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
from pathlib import Path
from typing import Final

from drivelab.drives.real.block_devices import THIS_MACHINE, SystemRoots, children

# linux/loop.h: struct loop_info64 begins with the file's device and inode.
_GET_STATUS: Final = 0x4C05
_STATUS_BYTES: Final = 232
_DELETED: Final = " (deleted)"


def backing_path(name: str, roots: SystemRoots = THIS_MACHINE) -> str | None:
    """Return the path of the file or device behind the loop device `name`, as the kernel shows it.

    `None` if it is not a loop device, or an unused one. A removed file keeps its old path.
    """
    try:
        text = (roots.sys / "block" / name / "loop" / "backing_file").read_bytes()
    except OSError:
        return None
    return os.fsdecode(text.removesuffix(b"\n")).removesuffix(_DELETED) or None


def loops_over(file: os.stat_result, path: str, roots: SystemRoots = THIS_MACHINE) -> list[str]:
    """Return the loop devices over a file.

    Parameters
    ----------
    file
        The file's device and inode.
    path
        Its path, for loop devices of which only the path is known.
    roots
        The kernel's view of devices.
    """
    found = []
    for name in children(roots.sys / "block"):
        backing = backing_path(name, roots)
        if backing is None:
            continue
        identity = _file_behind(name, backing, roots)
        if identity == (file.st_dev, file.st_ino) or (identity is None and backing == path):
            found.append(name)
    return found


def _file_behind(name: str, backing: str, roots: SystemRoots) -> tuple[int, int] | None:
    """Return device and inode of the file behind a loop device."""
    found = _from_driver(roots.dev / name)
    if found is not None:
        return found
    try:
        status = Path(backing).stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _from_driver(node: Path) -> tuple[int, int] | None:
    try:
        descriptor = os.open(node, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if stat.S_ISBLK(os.fstat(descriptor).st_mode):
            answer = fcntl.ioctl(descriptor, _GET_STATUS, bytes(_STATUS_BYTES))
            device, inode = struct.unpack_from("=QQ", answer)
            return device, inode
    except OSError:
        pass
    finally:
        os.close(descriptor)
    return None
