"""Where a file to measure is: its real path, its file system, and the drive below.

Anything but a regular file on a drive is refused here, before it is opened.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drivelab.drives.real.block_devices import (
    THIS_MACHINE,
    BlockDevice,
    Mount,
    SystemRoots,
    device_below,
    mounts,
)
from drivelab.errors import UsageError

_MEMORY_FILE_SYSTEMS: Final = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "rootfs")
_KERNEL_FOLDERS: Final = ("/dev", "/proc", "/sys")


@dataclass(frozen=True)
class FileLocation:
    """A path that may be opened or created, and what is below it.

    Parameters
    ----------
    path
        Absolute, links resolved.
    exists
        Whether the file exists; otherwise only its folder does.
    mount
        The file system, if the kernel reports it.
    device
        The drive below; `None` for network and layered file systems.
    given
        The path as the user wrote it, possibly through links.
    """

    path: Path
    exists: bool
    mount: Mount | None
    device: BlockDevice | None
    given: Path | None = None

    @property
    def words(self) -> str:
        """Return the path, and what the user wrote if that is different."""
        written = self.given is not None and os.path.abspath(self.given) != str(self.path)  # noqa: PTH100
        return f"{self.given} (that is {self.path})" if written else str(self.path)

    def describe(self) -> dict[str, Any]:
        """Return what identifies the location, as JSON values."""
        mount = self.mount
        return {
            "file_system": None if mount is None else mount.file_system,
            "mount_point": None if mount is None else mount.point,
            "mount_options": None if mount is None else mount.options,
            "device": None if self.device is None else self.device.describe(),
        }


def locate_file(name: str | Path, roots: SystemRoots = THIS_MACHINE) -> FileLocation:
    """Resolve `name` and check that a file there would be on a drive.

    Parameters
    ----------
    name
        The path as the user wrote it.
    roots
        The kernel's view of devices and mounts.

    Raises
    ------
    UsageError
        If it is not a regular file, cannot become one, or is in memory.
    """
    given = Path(name)
    path = _resolve(given)
    exists = path.exists()
    if str(name).endswith(os.sep) and not exists:
        raise UsageError(f"{name} is a folder's name; name a file in it")
    _check_kind(path)
    mount = _mount_of(path if exists else path.parent, roots)
    if mount is not None and mount.file_system in _MEMORY_FILE_SYSTEMS:
        raise UsageError(
            f"{given} is in memory ({mount.file_system}), not on a drive; name a path on the "
            "drive's file system"
        )
    device = None if mount is None else device_below(mount, roots)
    return FileLocation(path, exists, mount, device, given)


def _resolve(given: Path) -> Path:
    if not str(given) or "\0" in str(given):
        raise UsageError("a drive's path may not be empty")
    try:
        path = Path(os.path.realpath(given, strict=False))
        exists = path.exists()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{given} cannot be followed: {error}") from error
    if given.is_symlink() and not exists:
        raise UsageError(f"{given} is a link to {path}, which does not exist; name a file itself")
    # A misspelt device must not become a file in the folder of devices.
    if not exists and any(path.is_relative_to(folder) for folder in _KERNEL_FOLDERS):
        raise UsageError(f"{given} does not exist; `drivelab drives` lists what is here")
    return path


def _check_kind(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        parent = path.parent
        if not parent.is_dir():
            raise UsageError(
                f"{parent} is not a folder, so {path.name} cannot be made in it"
            ) from None
        return
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    kinds = {
        stat.S_ISDIR: "a folder; name a file in it",
        stat.S_ISFIFO: "a FIFO, not a file on a drive",
        stat.S_ISCHR: "a character device, not a drive",
        stat.S_ISSOCK: "a socket, not a file on a drive",
        stat.S_ISBLK: "a block device; open it as one",
    }
    for matches, what in kinds.items():
        if matches(mode):
            raise UsageError(f"{path} is {what}")


def _mount_of(path: Path, roots: SystemRoots) -> Mount | None:
    """Find the mount of `path`; of several at one point the last one counts."""
    under = [mount for mount in mounts(roots) if path.is_relative_to(mount.point)]
    return max(reversed(under), key=lambda mount: len(mount.point), default=None)
