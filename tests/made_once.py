"""What takes long to make, made by one worker for all of them."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path


def made_once(folder: Path, name: str, make: Callable[[Path], None]) -> Path:
    """Return ``folder/name``, made by the first worker that asks for it; the others wait.

    Parameters
    ----------
    folder
        The fixture `between_workers`.
    name
        Different for everything that is made.
    make
        Makes the file or folder at the path that it gets. What fails is tried again by the next.
    """
    path, begun = folder / name, folder / f".{name}.begun"
    with (folder / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            if begun.is_dir():
                shutil.rmtree(begun)
            begun.unlink(missing_ok=True)
            make(begun)
            begun.rename(path)
    return path
