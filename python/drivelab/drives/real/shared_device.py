"""Find named drives on the same hardware, which would disturb each other."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from drivelab.drives.naming import kind_of
from drivelab.drives.real.block_devices import (
    THIS_MACHINE,
    BlockDevice,
    SystemRoots,
    children,
    find_block_device,
    folders_of,
)
from drivelab.drives.real.file_location import locate_file


def sharing_pair(
    names: Sequence[str], roots: SystemRoots = THIS_MACHINE
) -> tuple[str, str, str] | None:
    """Find two drives on the same hardware.

    Parameters
    ----------
    names
        Names as users write them; simulated drives share nothing.
    roots
        The kernel's view of devices.

    Returns
    -------
    tuple or None
        The two, and what they share.

    Raises
    ------
    UsageError
        If a name is neither a device nor a file on a drive.
    """
    below = {name: hardware_of(name, roots) for name in names if kind_of(name) == "real"}
    for one, other in combinations(below, 2):
        shared = below[one] & below[other]
        if shared:
            return one, other, min(shared)
    return None


def hardware_of(name: str, roots: SystemRoots = THIS_MACHINE) -> frozenset[str]:
    """Return the drives below a device or a file's file system.

    If no drive is known (network and layered file systems), return the file system.
    """
    path = Path(os.path.realpath(name))
    try:
        is_device = stat.S_ISBLK(path.stat().st_mode)
    except OSError:
        is_device = False
    if is_device:
        return _bottom(find_block_device(path, roots), roots)
    place = locate_file(name, roots)
    if place.device is not None:
        return _bottom(place.device, roots)
    return frozenset() if place.mount is None else frozenset({f"file system {place.mount.point}"})


def _bottom(device: BlockDevice, roots: SystemRoots) -> frozenset[str]:
    if device.backing is not None and Path(device.backing).exists():
        return hardware_of(device.backing, roots)
    return frozenset(str(roots.dev / name) for name in _drives_below(device.name, roots))


def _drives_below(name: str, roots: SystemRoots) -> set[str]:
    """Follow a partition to its drive, and a device made of others to those."""
    folders = folders_of(name, roots)
    if not folders:
        return {name}
    folder = folders[0]
    drive = folder.parent if (folder / "partition").exists() else folder
    lower = children(drive / "slaves")
    if not lower:
        return {drive.name}
    return set().union(*(_drives_below(each, roots) for each in lower))
