"""The smallest request past the page cache, found by reading."""

from __future__ import annotations

import contextlib
import mmap
import os
from pathlib import Path
from typing import Final

from drivelab.errors import CannotAnswerError

_LOGICAL_BLOCKS: Final = (512, 1024, 2048, 4096)


def direct_block_bytes(path: Path, descriptor: int) -> int:
    """Find the smallest read past the page cache that a file or device accepts.

    Parameters
    ----------
    path
        Its name in messages.
    descriptor
        Open for reading.

    Raises
    ------
    CannotAnswerError
        If it accepts none.
    """
    try:
        direct = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    except OSError as error:
        raise CannotAnswerError(
            f"{path}: its file system refuses direct I/O ({error.strerror}), so only "
            "the page cache could be measured; choose a file on another file system"
        ) from error
    try:
        # A memory map of its own, because direct reads need an aligned address.
        with mmap.mmap(-1, _LOGICAL_BLOCKS[-1]) as page, memoryview(page) as buffer:
            for block in _LOGICAL_BLOCKS:
                with contextlib.suppress(OSError), buffer[:block] as part:
                    if os.preadv(direct, [part], block) == block:
                        return block
    finally:
        os.close(direct)
    raise CannotAnswerError(f"{path} takes no direct reads of up to {_LOGICAL_BLOCKS[-1]} bytes")
