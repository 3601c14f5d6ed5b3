"""A block device to measure: open for reading, or claimed for writing after every check.

::

        --allow-destructive names it, and nothing prevents writing
        │
        open O_RDWR | O_EXCL    the kernel refuses if anything has claimed it, and from now on
        │                       refuses mounts, swap, LVM and RAID over it
                locked, checked again   for changes in between
        │
                before each workload that writes: is it used? before the first: what does it
                contain?
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from drivelab.drives.real.block_devices import (
    THIS_MACHINE,
    BlockDevice,
    SystemRoots,
    find_block_device,
)
from drivelab.drives.real.made_file import Written
from drivelab.drives.real.measuring_lock import lock_below, lock_to_measure
from drivelab.drives.real.opened_path import find_in, open_folder, opened
from drivelab.drives.real.write_refusals import usage, write_refusals
from drivelab.errors import RunError, UsageError
from drivelab.units import format_size


class TargetDevice:
    """An open block device. Made by `open_target_device`; close it.

    Parameters
    ----------
    device
        The result of `find_block_device`.
    descriptor
        Open and locked; if there is no refusal, for writing and exclusively.
    write_refusal
        Why it may only be read, or `None`.
    roots
        The kernel's view of devices and mounts.
    below
        Descriptors that lock what is below a loop device.
    """

    def __init__(
        self,
        device: BlockDevice,
        descriptor: int,
        write_refusal: str | None,
        roots: SystemRoots = THIS_MACHINE,
        below: Sequence[int] = (),
    ) -> None:
        self.path = Path(device.path)
        self.capacity_bytes = device.size_bytes
        self.descriptor = descriptor
        self.write_refusal = write_refusal
        self._device = device
        self._roots = roots
        self._below = tuple(below)
        self._written = False

    @property
    def device(self) -> BlockDevice:
        """Return the device as it was when it was opened."""
        return self._device

    @property
    def place(self) -> None:
        """Return None: there is no file system in between."""

    @property
    def is_whole(self) -> bool:
        """Return whether it is a drive: no partition, no loop device, not made of others."""
        is_drive = (self._roots.sys / "block" / self._device.name).exists()
        return is_drive and self._device.backing is None and not self._device.members

    @property
    def locks(self) -> tuple[int, ...]:
        """Return all locks; each measurement keeps all of them."""
        return (self.descriptor, *self._below)

    def check_present(self) -> None:
        """Check that the node still names the device that was opened, in full size.

        Raises
        ------
        RunError
            If it disappeared or shrank.
        """
        try:
            now = self.path.stat().st_rdev
            size_bytes = os.lseek(self.descriptor, 0, os.SEEK_END)
        except OSError as error:
            raise RunError(f"{self.path} went away while it was measured") from error
        if now != os.fstat(self.descriptor).st_rdev:
            raise RunError(f"{self.path} names another device by now")
        if size_bytes < self.capacity_bytes:
            shrank = f"went away or shrank to {format_size(size_bytes)}"
            raise RunError(f"{self.path} {shrank} while it was measured")

    @property
    def mark(self) -> None:
        """Return None: a device's content proves nothing."""

    def before_writing(self, _written: Written | None = None) -> None:
        """Check before a workload that writes that nobody else uses the device.

        Raises
        ------
        RunError
            If it is used or, before the first write, contains something now.
        """
        reasons = usage(self._device, self._roots)
        if not self._written and not reasons:
            # Later it contains what was written here.
            reasons = write_refusals(self._device, self._roots, allow_destructive=self._device.path)
        if reasons:
            raise RunError(f"{self.path} may not be written any more: {'; '.join(reasons)}")
        self._written = True

    def after_writing(self) -> None:
        """Do nothing: a device is checked again each time."""

    def describe(self) -> dict[str, Any]:
        """Return which device it is, as JSON values."""
        return {"target": "block device", "device": self._device.describe()}

    def close(self) -> None:
        """Close the device."""
        if self.descriptor >= 0:
            for descriptor in (self.descriptor, *self._below):
                os.close(descriptor)
            self.descriptor = -1


def open_target_device(
    name: str,
    *,
    size_bytes: int | None = None,
    keep: bool = False,
    allow_destructive: str | None = None,
    roots: SystemRoots = THIS_MACHINE,
) -> TargetDevice:
    """Open the block device `name` to be read or, if allowed, written.

    Parameters
    ----------
    name
        The device's node or a link to it.
    size_bytes, keep
        Only for new files; anything but the default is an error.
    allow_destructive
        The path that the user allows to be overwritten, if any.
    roots
        The kernel's view of devices and mounts.

    Raises
    ------
    UsageError
        If it is not a block device, is empty or cannot be read; or if it is to be written and
        something prevents that.
    """
    device, reasons = look_at_device(
        name, size_bytes=size_bytes, keep=keep, allow_destructive=allow_destructive, roots=roots
    )
    descriptor = _opened(device, allow_destructive is not None)
    below: list[int] = []
    try:
        below = lock_below(device, roots)
        lock_to_measure(Path(device.path), descriptor)
        if allow_destructive is not None:
            reasons = write_refusals(device, roots, allow_destructive=allow_destructive)
            _refuse(device, reasons)
    except BaseException:
        for each in (*below, descriptor):
            os.close(each)
        raise
    return TargetDevice(device, descriptor, "; ".join(reasons) or None, roots, below)


def look_at_device(
    name: str,
    *,
    size_bytes: int | None,
    keep: bool,
    allow_destructive: str | None,
    roots: SystemRoots,
) -> tuple[BlockDevice, list[str]]:
    """Describe a device and why it would only be read; parameters as `open_target_device`.

    Raises
    ------
    UsageError
        As `open_target_device`, as far as it is known without opening.
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
    reasons = write_refusals(device, roots, allow_destructive=allow_destructive)
    if allow_destructive is not None:
        _refuse(device, reasons)
    return device, reasons


def _refuse(device: BlockDevice, reasons: Sequence[str]) -> None:
    if reasons:
        raise UsageError(
            f"{device.path} is not overwritten: {'; '.join(reasons)}; "
            "without --allow-destructive it is only read"
        )


def _opened(device: BlockDevice, to_write: bool) -> int:
    # Without O_EXCL the kernel would let it be written under a mounted file system.
    how = os.O_RDWR | os.O_EXCL if to_write else os.O_RDONLY
    path = Path(device.path)
    try:
        with contextlib.ExitStack() as undo:
            folder = open_folder(path.parent)
            undo.callback(os.close, folder)
            found = find_in(folder, path.name)
            undo.callback(os.close, found)
            _check_number(device, found)
            return opened(found, how)
    except OSError as error:
        if to_write and error.errno == errno.EBUSY:
            raise UsageError(
                f"{device.path} is not overwritten: something has claimed it, perhaps in another "
                "container; without --allow-destructive it is only read"
            ) from error
        verb = "written" if to_write else "read"
        reason = f"{error.strerror}{_remedy(error)}"
        raise UsageError(f"{device.path} cannot be {verb}: {reason}") from error


def _check_number(device: BlockDevice, found: int) -> None:
    """Check that the found device is the one that was looked at, before its driver is asked."""
    status = os.fstat(found)
    number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    if not stat.S_ISBLK(status.st_mode) or number != device.number:
        raise UsageError(f"{device.path} became another device while it was opened")


def _remedy(error: OSError) -> str:
    """Return who may open a device, if permissions prevent opening it."""
    if error.errno not in (errno.EACCES, errno.EPERM):
        return ""
    if os.geteuid():
        return "; a block device takes root or the group disk"
    return ", and the user is root: as in a container that was not given the device"
