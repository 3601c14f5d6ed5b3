"""Writing a file whole or not at all, even if the process or the machine stops."""

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

# Errors of a file system without hard links, or without an exchange of names.
_NOT_THERE: Final = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL}
# linux/fs.h and linux/fcntl.h.
_RENAME_EXCHANGE: Final = 2
_HERE: Final = -100
_MOST_PREFIX_BYTES: Final = 200


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file by bytes, or by text in UTF-8; a reader never sees half of it.

    This also holds after a power cut.

    Raises
    ------
    OSError
        When the file cannot be written. An older file stays, and the draft is removed.
    """
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(
    path: Path, place: Callable[[BinaryIO, Path, Path], None] | None = None
) -> Iterator[BinaryIO]:
    """Open a draft to write into. It replaces the file if the block ends without an error.

    If the path is a link, its target is replaced and the link stays.

    Parameters
    ----------
    path
        Where to write the file.
    place
        Puts the draft into place. It gets the complete draft (already on the medium), its path, and
        the path with links resolved. By default an older file is replaced.

    Raises
    ------
    OSError
        As `write_whole`; also if the path is a device, a pipe or a folder, which a draft must not
        replace.
    """
    path = without_links(path)
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "it is not a regular file", str(path))
    # Leave room for the draft's own suffix: file systems limit the length of a name.
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
    """Return where a path leads, even if nothing is there; a loop of links stays as it is."""
    return Path(os.path.realpath(path))


def _mode_of(path: Path) -> int:
    """Return the permissions of the replaced file, or those of a new one."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        # mkstemp makes a draft private; a report should be as readable as any new file.
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def place_where_nothing_is(draft: Path, path: Path) -> None:
    """Rename a draft to its final name, unless a file has taken that name.

    Raises
    ------
    FileExistsError
        When the name is taken.
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
    """Put a draft in the place of a file, if that file is still the one to be replaced.

    The names are exchanged first and checked afterwards, so that no other process can intervene.

    Raises
    ------
    FileExistsError
        When another file is there now; it stays.
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
