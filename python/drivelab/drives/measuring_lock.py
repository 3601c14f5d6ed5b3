"""The lock that keeps a second Drivelab off a file or device while it is measured."""

from __future__ import annotations

import errno
import fcntl
import time
from pathlib import Path
from typing import Final

from drivelab.errors import UsageError

_LOCK_SECONDS: Final = 5.0
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF})


def lock_to_measure(path: Path, descriptor: int) -> None:
    """Lock an open file or device; the lock lasts until every copy of the descriptor is closed.

    On a whole drive udev keeps off as well while it is held.

    Raises
    ------
    UsageError
        When another process has it.
    OSError
        When locking fails in another way than that there are no locks.
    """
    # After a kill the last fio may still hold the lock until its run time is over.
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
