"""The mark that Drivelab puts on a file it writes: an extended attribute.

A rename keeps the mark, and so do some ways to copy. A program that overwrites the file in place
keeps the mark too, but then the checksum in the mark differs.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

_NAME: Final = "user.drivelab.output"
# ext4 keeps all marks of a file in a block of 4 KiB; JSON escapes a character by up to 6 bytes.
_MOST_CHARACTERS: Final = 500
# Opening a FIFO would block.
_LOOK: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Mark:
    """The kind of an output, its subject, and the checksum of the bytes that were written."""

    kind: str
    of: str
    sha256: str

    @classmethod
    def read(cls, descriptor: int) -> Self | None:
        """Read the mark of an open file; ``None`` if it has no complete mark."""
        try:
            values = json.loads(os.getxattr(descriptor, _NAME))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(values, dict) or values.keys() != {"kind", "of", "sha256"}:
            return None
        return cls(**values) if all(isinstance(one, str) for one in values.values()) else None

    @classmethod
    def write(cls, descriptor: int, path: Path, kind: str, of: str) -> None:
        """Mark a complete file. On a file system without extended attributes, do nothing."""
        with path.open("rb") as file:
            mark = cls(kind, shortened(of), hashlib.file_digest(file, "sha256").hexdigest())
        with contextlib.suppress(OSError):
            os.setxattr(descriptor, _NAME, json.dumps(asdict(mark)).encode())


@dataclass(frozen=True)
class FoundFile:
    """A file that exists, examined through one descriptor, because its name may be reused.

    Attributes
    ----------
    look
        Device, inode, size and time of the last change of its content.
    mark
        Its mark, if any.
    is_whole
        Whether its content has the checksum that the mark names.
    is_read_only
        Whether its owner may not write to it.
    """

    look: tuple[int, ...]
    mark: Mark | None
    is_whole: bool
    is_read_only: bool

    @classmethod
    def at(cls, path: Path) -> Self | None:
        """Examine the file at a path, following links; ``None`` if nothing is there.

        Raises
        ------
        OSError
            When it is not a regular file, or cannot be examined.
        """
        try:
            descriptor = os.open(path, _LOOK)
        except FileNotFoundError:
            return None
        except PermissionError:
            # A file that cannot be read was not written here.
            return cls._of(path.stat(), None, is_whole=False)
        except OSError as error:
            # Opening a socket fails in this way.
            if error.errno == errno.ENXIO:
                raise _no_file(path) from error
            raise
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            os.close(descriptor)
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        with open(descriptor, "rb") as file:  # noqa: PTH123
            if not stat.S_ISREG(status.st_mode):
                raise _no_file(path)
            mark = Mark.read(descriptor)
            is_whole = (
                mark is not None and hashlib.file_digest(file, "sha256").hexdigest() == mark.sha256
            )
        return cls._of(status, mark, is_whole=is_whole)

    @classmethod
    def _of(cls, status: os.stat_result, mark: Mark | None, *, is_whole: bool) -> Self:
        return cls(look_at(status), mark, is_whole, not status.st_mode & stat.S_IWUSR)


def look_at(status: os.stat_result) -> tuple[int, ...]:
    """Return what identifies a file. A rename changes the change time, so that is left out."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def shortened(of: str) -> str:
    """Shorten the subject of an output so that it fits into a mark."""
    if len(of) <= _MOST_CHARACTERS:
        return of
    digest = hashlib.sha256(of.encode(errors="surrogatepass")).hexdigest()
    return f"{of[: _MOST_CHARACTERS // 2]}... ({digest})"


def _no_file(path: Path) -> OSError:
    return OSError(errno.EEXIST, "it is not a regular file", str(path))
