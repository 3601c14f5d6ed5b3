"""Writing a file whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

# Of a file system without hard links, or without an exchange of names.
_NOT_THERE: Final = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL}
# linux/fs.h and linux/fcntl.h.
_RENAME_EXCHANGE: Final = 2
_HERE: Final = -100
_MOST_PREFIX_BYTES: Final = 200


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
def whole_file(
    path: Path, place: Callable[[BinaryIO, Path, Path], None] | None = None
) -> Iterator[BinaryIO]:
    """Give a draft to write into, which takes a file's place when nothing went wrong.

    A link is followed, so that it stays one.

    Parameters
    ----------
    path
        Where the file is to be.
    place
        Gets the draft complete and on the medium, its path, and the path with links resolved, and
        puts it there; an older file is replaced unless given.

    Raises
    ------
    OSError
        As `write_whole` does; also when a device, a pipe or a folder is there, whose place a
        draft must not take.
    """
    path = without_links(path)
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "it is no regular file", str(path))
    # Room for its own ending, whose length a file system limits too.
    prefix = path.name.encode(errors="surrogateescape")[:_MOST_PREFIX_BYTES].decode(errors="ignore")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{prefix}.")
    temporary = path.with_name(os.path.basename(name))  # noqa: PTH119
    try:
        with open(handle, "wb") as file:  # noqa: PTH123
            yield file
            file.flush()
            os.fchmod(handle, _mode_of(path))
            os.fsync(handle)
            if place is None:
                temporary.replace(path)
            else:
                place(file, temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def without_links(path: Path) -> Path:
    """Give where a path leads, also where nothing is; a loop of links stays as it is."""
    return Path(os.path.realpath(path))


def _mode_of(path: Path) -> int:
    """Give the rights of the file that is replaced, or of a new one."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        # mkstemp makes a draft private; a report is as readable as any new file.
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def place_where_nothing_is(draft: Path, path: Path) -> None:
    """Give a draft its name, unless something has that name by now.

    Raises
    ------
    FileExistsError
        When something has.
    """
    try:
        os.link(draft, path)
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
        if os.path.lexists(path):
            raise _exists(path) from error
        draft.replace(path)
    else:
        draft.unlink()


def place_instead(draft: Path, path: Path, is_meant: Callable[[Path], bool]) -> None:
    """Put a draft in the place of a file, if that still is the one that is meant to go.

    Names are exchanged first and looked at then, so that nobody can come in between.

    Raises
    ------
    FileExistsError
        When another file is there by now; it stays.
    """
    try:
        _exchange(draft, path)
    except FileNotFoundError:
        place_where_nothing_is(draft, path)
        return
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
        if not is_meant(path):
            raise _exists(path) from error
        draft.replace(path)
        return
    if not is_meant(draft):
        _exchange(draft, path)
        raise _exists(path)
    draft.unlink()


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _exchange(one: Path, other: Path) -> None:
    names = os.fsencode(one), os.fsencode(other)
    if _renameat2()(_HERE, names[0], _HERE, names[1], _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))


@functools.cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int]:
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    call.argtypes = [
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    ]
    call.restype = ctypes.c_int
    return cast(Callable[[int, bytes, int, bytes, int], int], call)
