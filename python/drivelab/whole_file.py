"""Writing a file whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file by bytes, or by a text in UTF-8; nobody ever sees half of it.

    That holds after a power cut too.

    Raises
    ------
    OSError
        When it cannot be written; an older file stays, and no draft of the new one.
    """
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Give a draft to write into, which takes a file's place when nothing went wrong.

    A link is followed, so that it stays one.

    Raises
    ------
    OSError
        As `write_whole` does; also when a device, a pipe or a folder is there, whose place a
        draft must not take.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "it is no regular file", str(path))
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = path.with_name(os.path.basename(name))  # noqa: PTH119
    try:
        with open(handle, "wb") as file:  # noqa: PTH123
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes it private; a report is as readable as any new file.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
