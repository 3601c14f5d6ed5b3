"""Open paths once, without following links, so that what was checked is what is used.

A path is resolved before it is opened, and its owner may replace any part of it with a link in
between. So nothing here follows one: a resolved path has no links, and one that turns up is
refused.

::

    /mnt/disk1/folder/file
    ├────────────────┘ │
    open_folder        open_in: found by O_PATH, which reads and waits for nothing
                       │
                                              opened: the very file that was found and checked
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final

# linux/openat2.h: one number on every architecture of today.
_OPENAT2: Final = 437
_RESOLVE_NO_SYMLINKS: Final = 0x04
_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
# An older kernel does not know it; a container's filter may refuse calls that it does not know.
_NOT_THERE: Final = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG})


def open_folder(path: Path) -> int:
    """Open a folder without following a link anywhere in its path.

    Parameters
    ----------
    path
        Absolute, links resolved.

    Returns
    -------
    int
        A descriptor (``O_PATH``) for looking up names.

    Raises
    ------
    OSError
        If there is no such folder; ``ELOOP`` or ``ENOTDIR`` if a part of the path is a link.
    """
    try:
        return _open_at_once(path)
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
    return _open_by_parts(path)


def _open_at_once(path: Path) -> int:
    # struct open_how: flags, mode, resolve.
    how = struct.pack("=QQQ", _FOLDER, 0, _RESOLVE_NO_SYMLINKS)
    descriptor = _system_call()(_OPENAT2, -1, os.fsencode(path), how, len(how))
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))
    return descriptor


@functools.cache
def _system_call() -> Callable[[int, int, bytes, bytes, int], int]:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = [
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    call.restype = ctypes.c_long

    def open_it(number: int, folder: int, path: bytes, how: bytes, size: int) -> int:
        return int(call(number, folder, path, how, size))

    return open_it


def _open_by_parts(path: Path) -> int:
    """Open one folder inside the other, as `_open_at_once`, on a kernel without that call."""
    folder = os.open(path.anchor, _FOLDER)
    for name in path.parts[1:]:
        try:
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def open_in(folder: int, name: str, flags: int, mode: int = 0o600) -> int:
    """Open `name` in an open folder; a link of that name is not followed.

    Parameters
    ----------
    folder
        Descriptor from `open_folder`.
    name
        A single name, not a path.
    flags, mode
        As for `os.open`. It does not wait for a FIFO.

    Raises
    ------
    OSError
        If opening fails; ``ELOOP`` for a link.
    """
    how = flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    return os.open(name, how, mode, dir_fd=folder)


def find_in(folder: int, name: str) -> int:
    """Open this name in a folder only to look at it (``O_PATH``).

    Nothing is read and no driver is asked: it may be a device, a FIFO, or a link, which `os.fstat`
    shows. `opened` makes a descriptor for reading or writing from it.
    """
    return open_in(folder, name, os.O_PATH)


def folder_reason(error: OSError) -> str:
    """Return why `open_folder` did not open a folder."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a part of its path was replaced by a link or a file in this very moment"
    return error.strerror or str(error)


def opened(found: int, flags: int) -> int:
    """Open what a descriptor leads to, whatever its path names now."""
    return os.open(f"/proc/self/fd/{found}", flags | os.O_CLOEXEC)


def leads_to(folder: int, name: str, descriptor: int) -> bool:
    """Return whether a name in a folder is that of an open file."""
    try:
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (now.st_dev, now.st_ino) == (ours.st_dev, ours.st_ino)
