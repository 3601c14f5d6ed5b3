"""The locks that keep a second Drivelab away from a file or device while it is measured.

A loop device and the file below it are one drive with two names. So the file is locked too, and
before the loop device: two loop devices over one file conflict at the file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from pathlib import Path
from typing import Final

from drivelab.drives.real.block_devices import (
    THIS_MACHINE,
    BlockDevice,
    SystemRoots,
    block_device_by_number,
    drive_of,
)
from drivelab.drives.real.loop_devices import backing_path, loops_over
from drivelab.drives.real.opened_path import opened
from drivelab.errors import UsageError

_LOCK_SECONDS: Final = 5.0
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF})


def lock_to_measure(path: Path, descriptor: int) -> None:
    """Lock an open file or device; the lock lasts until every copy of the descriptor is closed.

    While a whole drive is locked, udev does not touch it either.

    Raises
    ------
    UsageError
        If another process has it.
    OSError
        If locking fails for another reason than missing support for locks.
    """
    # After a kill the last fio may still have the lock until its run time is over.
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise UsageError(f"{path} is being measured by another process") from error
            time.sleep(0.05)
        except OSError as error:
            # File systems without locks (some network ones) are measured without.
            if error.errno in _NO_LOCKS:
                return
            raise
        else:
            return


def lock_below(device: BlockDevice, roots: SystemRoots = THIS_MACHINE) -> list[int]:
    """Lock what a loop device is based on, from the bottom up.

    Parameters
    ----------
    device
        Any device; most have nothing below to lock.
    roots
        The kernel's view.

    Returns
    -------
    list of int
        Descriptors, to be closed with the device. Files that were removed, or that this user cannot
        read, cannot be named and measured here and are not locked.

    Raises
    ------
    UsageError
        If another process measures it.
    """
    loop = drive_of(device.name, roots)
    path = backing_path(loop, roots)
    if path is None:
        return []
    with contextlib.ExitStack() as undo:
        try:
            found = os.open(path, os.O_PATH | os.O_CLOEXEC)
            undo.callback(os.close, found)
            status = os.fstat(found)
            if not stat.S_ISBLK(status.st_mode) and loop not in loops_over(status, path, roots):
                return []
            descriptor = opened(found, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return []
        below: list[int] = []
        try:
            if stat.S_ISBLK(status.st_mode):
                number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
                below = lock_below(block_device_by_number(number, roots), roots)
            lock_to_measure(Path(path), descriptor)
        except BaseException:
            for each in (*below, descriptor):
                os.close(each)
            raise
        return [*below, descriptor]
