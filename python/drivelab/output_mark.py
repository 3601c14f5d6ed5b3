"""What a file says of itself as an output: an extended attribute that Drivelab gives to it.

A mark goes with its file through renames and some copies. A file that is written over in place
keeps its mark, and the checksum in it then differs.
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
# A FIFO would be waited for.
_LOOK: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Mark:
    """What kind of output a file is, of what, and the checksum of what was written."""

    kind: str
    of: str
    sha256: str

    @classmethod
    def read(cls, descriptor: int) -> Self | None:
        """Read the mark of a file that is open; ``None`` where there is none that is whole."""
        try:
            values = json.loads(os.getxattr(descriptor, _NAME))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(values, dict) or values.keys() != {"kind", "of", "sha256"}:
            return None
        return cls(**values) if all(isinstance(one, str) for one in values.values()) else None

    @classmethod
    def write(cls, descriptor: int, path: Path, kind: str, of: str) -> None:
        """Mark a file that is complete; where the file system keeps no marks, there is none."""
        with path.open("rb") as file:
            mark = cls(kind, shortened(of), hashlib.file_digest(file, "sha256").hexdigest())
        with contextlib.suppress(OSError):
            os.setxattr(descriptor, _NAME, json.dumps(asdict(mark)).encode())


@dataclass(frozen=True)
class FoundFile:
    """A file that is there, looked at through one descriptor: its name may change hands.

    Attributes
    ----------
    look
        Device, inode, size and time of the last change of its bytes.
    mark
        Its mark, if it has one.
    is_whole
        Whether it holds the bytes that its mark names.
    is_read_only
        Whether its owner may not write it.
    """

    look: tuple[int, ...]
    mark: Mark | None
    is_whole: bool
    is_read_only: bool

    @classmethod
    def at(cls, path: Path) -> Self | None:
        """Look at what has a name, links followed; ``None`` where nothing has.

        Raises
        ------
        OSError
            When it is no regular file, or cannot be looked at.
        """
        try:
            descriptor = os.open(path, _LOOK)
        except FileNotFoundError:
            return None
        except PermissionError:
            # Whose bytes cannot be read was not written here.
            return cls._of(path.stat(), None, is_whole=False)
        except OSError as error:
            # Of a socket.
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
    """Give what tells a file from another: the change time moves with its name, so it is not in."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def shortened(of: str) -> str:
    """Bring what an output is of to a length that a mark can hold."""
    if len(of) <= _MOST_CHARACTERS:
        return of
    digest = hashlib.sha256(of.encode(errors="surrogatepass")).hexdigest()
    return f"{of[: _MOST_CHARACTERS // 2]}... ({digest})"


def _no_file(path: Path) -> OSError:
    return OSError(errno.EEXIST, "it is no regular file", str(path))
