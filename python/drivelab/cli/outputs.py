"""Writing the files that a command was asked for by name."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# Whatever else goes wrong lies in the path that was named.
_FAILURES: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Turn what the system says about writing a file into one line.

    Raises
    ------
    UsageError
        When nothing can be written there.
    RunError
        When the disk is full or fails.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FAILURES:
            raise RunError(
                f"{path} cannot be written: {reason}; make room and run the same command again"
            ) from error
        raise UsageError(f"{path} cannot be written: {reason}; name another place") from error


def check_outputs(wanted: Mapping[str, Path | None]) -> None:
    """Refuse files that could not be written, before what they are to hold is worked out.

    Parameters
    ----------
    wanted
        The files, by the ending that each has to have; `None` where none is asked for.

    Raises
    ------
    UsageError
        When a name does not end so, is a folder, or nothing can be made in its folder.
    """
    for suffix, path in wanted.items():
        if path is None:
            continue
        if path.suffix != suffix:
            raise UsageError(f"{path} does not end in {suffix}, which is what is written there")
        if not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent} to write {path.name} into")
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise UsageError(
                f"{path} cannot be written: nothing can be made in its folder; name another place"
            )


def write_output(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; folders above it are made.

    Raises
    ------
    UsageError, RunError
        As `output_errors` tells them apart.
    """
    from drivelab.whole_file import write_whole

    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
