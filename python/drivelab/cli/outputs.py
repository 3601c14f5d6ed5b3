"""Writing the files that a command was asked for by name."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

# Whatever else goes wrong lies in the path that was named.
_FAILURES: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def write_output(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; folders above it are made.

    Raises
    ------
    UsageError
        When nothing can be written there.
    RunError
        When the disk is full or fails.
    """
    from drivelab.whole_file import write_whole

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FAILURES:
            raise RunError(
                f"{path} cannot be written: {reason}; make room and run the same command again"
            ) from error
        raise UsageError(f"{path} cannot be written: {reason}; name another place") from error
