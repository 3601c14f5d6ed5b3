"""A block device to measure: open for reading, and never for anything else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from drivelab.drives.block_devices import (
    THIS_MACHINE,
    BlockDevice,
    SystemRoots,
    find_block_device,
    write_refusals,
)
from drivelab.errors import RunError, UsageError


class TargetDevice:
    """An open block device. Made by `open_target_device`; close it.

    Parameters
    ----------
    device
        What `find_block_device` described.
    refusals
        Why it is not written, at least one reason.
    """

    def __init__(self, device: BlockDevice, refusals: Sequence[str]) -> None:
        self.path = Path(device.path)
        self.capacity_bytes = device.size_bytes
        self.write_refusal = "; ".join(refusals)
        self._device = device
        try:
            self.descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be read: {error.strerror}; reading a block device takes "
                "root or the group disk"
            ) from error

    def check_present(self) -> None:
        """Check that the node still names the device that was opened.

        Raises
        ------
        RunError
            When it went away.
        """
        try:
            now = self.path.stat().st_rdev
        except OSError as error:
            raise RunError(f"{self.path} went away while it was measured") from error
        if now != os.fstat(self.descriptor).st_rdev:
            raise RunError(f"{self.path} names another device by now")

    def describe(self) -> dict[str, Any]:
        """Say which device it is, JSON-able."""
        return {"target": "block device", "device": self._device.describe()}

    def close(self) -> None:
        """Close the device."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def open_target_device(
    name: str,
    *,
    size_bytes: int | None = None,
    keep: bool = False,
    allow_destructive: str | None = None,
    roots: SystemRoots = THIS_MACHINE,
) -> TargetDevice:
    """Open the block device `name` to be read.

    Parameters
    ----------
    name
        The device's node or a link to it.
    size_bytes, keep
        Only for files that are made; anything but the default is an error.
    allow_destructive
        The path that the user allowed to be overwritten, if any.
    roots
        The kernel's view of devices and mounts.

    Raises
    ------
    UsageError
        When it is no block device, is empty or cannot be read.
    """
    if size_bytes is not None or keep:
        raise UsageError(f"{name} is a block device; --size and --keep are for files")
    device = find_block_device(name, roots)
    if allow_destructive is not None and os.path.realpath(allow_destructive) != device.path:
        raise UsageError(
            f"--allow-destructive={allow_destructive} does not name the drive; "
            f"it must be {device.path}"
        )
    if device.size_bytes == 0:
        raise UsageError(f"{name} is empty: no medium or nothing attached")
    return TargetDevice(device, write_refusals(device, roots, allow_destructive=allow_destructive))
