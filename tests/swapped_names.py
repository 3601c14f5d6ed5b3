"""A program that exchanges two names of files or folders as fast as the kernel allows."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# renameat2 with RENAME_EXCHANGE; -100 is AT_FDCWD.
_SWAPPER = """
import ctypes, os, sys
one, other = map(os.fsencode, sys.argv[1:])
exchange = ctypes.CDLL(None).renameat2
print("swapping", flush=True)
while exchange(-100, one, -100, other, 2) == 0:
    pass
"""


@contextlib.contextmanager
def swapped(one: Path, other: Path) -> Iterator[None]:
    """Exchange two names over and over; both are there at any time."""
    # A process of its own: a thread would take turns with what is tried.
    swapper = subprocess.Popen([sys.executable, "-c", _SWAPPER, one, other], stdout=subprocess.PIPE)
    try:
        assert swapper.stdout is not None
        assert swapper.stdout.readline() == b"swapping\n"
        yield
        assert swapper.poll() is None
    finally:
        swapper.kill()
        swapper.communicate()
