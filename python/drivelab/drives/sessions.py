"""From the one string that names a drive to a session on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.drives.naming import kind_of, open_drive, open_real
from drivelab.drives.real.block_devices import find_block_device
from drivelab.drives.real.file_location import locate_file
from drivelab.drives.real.purge import check_method
from drivelab.drives.real.target_file import ALIGNMENT
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.drives.real.write_cache import CacheState
    from drivelab.drives.session import Askable, DriveSession


def open_session(
    name: str,
    *,
    seed: int = 0,
    varies: bool = True,
    allow_destructive: str | None = None,
    size_bytes: int | None = None,
    keep: bool = False,
    purge: str | None = None,
    write_cache: CacheState | None = None,
    before_filling: Callable[[Askable], None] | None = None,
) -> DriveSession:
    """Open a session on the drive called `name`.

    Parameters
    ----------
    name
        ``sim:x25m``, ``sim:file.toml``, a block device, a file.
    seed
        Key of all random numbers, together with a step's position.
    varies
        Whether the times of a simulated drive vary as its preset says.
    allow_destructive, size_bytes, keep
        As for `drivelab.drives.naming.open_drive`, for real drives.
    purge
        The real drive's own command to purge it with, one of `drivelab.drives.real.purge.METHODS`;
        without it a real drive is not purged.
    write_cache
        The setting of a real drive's own write cache until the session is closed. On a simulated
        drive each step says whether its writes are forced.
    before_filling
        Called for a file that would have to be made, before anything is written to it; an exception
        prevents the file.

    Raises
    ------
    UsageError
        If there is no such drive, or it is a formula, which has no state; the error lists what is
        allowed.
    """
    if kind_of(name) != "real":
        drive = open_drive(name, varies=varies)
        if purge is not None:
            raise UsageError(f"--purge={purge} is for real drives; {name} is purged without it")
        return drive.session(seed=seed)
    method = None if purge is None else check_method(purge, allow_destructive)
    from drivelab.drives.real.fio.session import UnmadeFile

    def ask(capacity_bytes: int, block_bytes: int, engine: str) -> None:
        if before_filling is not None:
            before_filling(UnmadeFile(name, capacity_bytes, block_bytes, engine))

    real = open_real(
        name,
        allow_destructive=allow_destructive,
        size_bytes=size_bytes,
        keep=keep,
        before_filling=ask,
    )
    try:
        return real.session(seed=seed, purge_method=method, write_cache=write_cache)
    except BaseException:
        real.close()
        raise


def known_of(name: str, *, varies: bool = True, size_bytes: int | None = None) -> dict[str, Any]:
    """Return what distinguishes a drive from another one of that name, without opening it.

    Parameters
    ----------
    name, varies, size_bytes
        As for `open_session`.

    Returns
    -------
    dict
        The known parts of ``capacity_bytes`` and ``identity``: all for a simulated drive; path,
        size, model and serial for a real one. A file that does not exist has only its path, and the
        size that was asked for.

    Raises
    ------
    UsageError
        If the path is something that is not a drive.
    """
    if kind_of(name) != "real":
        with open_session(name, varies=varies) as session:
            return {"capacity_bytes": session.capacity_bytes, "identity": session.identity()}
    known: dict[str, Any] = {"identity": {"path": os.path.realpath(name)}}
    if Path(name).is_block_device():
        device = find_block_device(name)
        described = device.describe()
        known["identity"]["device"] = {
            key: described[key] for key in ("model", "serial", "size_bytes")
        }
        return known
    place = locate_file(name)
    actual_bytes = place.path.stat().st_size if place.exists else size_bytes
    if actual_bytes is not None:
        known["capacity_bytes"] = actual_bytes // ALIGNMENT * ALIGNMENT
    return known
