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
    """Open the drive that `name` stands for, to be used step after step.

    Parameters
    ----------
    name
        ``sim:x25m``, ``sim:file.toml``, a block device, a file.
    seed
        Key of all random numbers, with a step's place.
    varies
        Whether times of a simulated drive vary as its preset says.
    allow_destructive, size_bytes, keep
        As for `drivelab.drives.naming.open_drive`; of real drives.
    purge
        The command of a real drive's own to purge it with, one of
        `drivelab.drives.real.purge.METHODS`; without it a real drive is not purged.
    write_cache
        What a real drive's own write cache is switched to until the session is closed. Of a
        simulated drive whether writes are forced says the same, step by step.
    before_filling
        Asked of a file that would have to be made, before anything is written to it: what it
        raises prevents the file.

    Raises
    ------
    UsageError
        When there is no such drive, or it is a formula, which has no state; the error says what
        can be named.
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
    """Say what distinguishes a drive from another one of that name, without opening it.

    Parameters
    ----------
    name, varies, size_bytes
        As for `open_session`.

    Returns
    -------
    dict
        Of ``capacity_bytes`` and ``identity`` what is known: all of a simulated drive, of a real
        one its path, size, model and serial. A file that is not there has its path alone, and the
        size that it was asked to have.

    Raises
    ------
    UsageError
        When the path is something that is no drive.
    """
    if kind_of(name) != "real":
        with open_session(name, varies=varies) as session:
            return {"capacity_bytes": session.capacity_bytes, "identity": session.identity()}
    known: dict[str, Any] = {"identity": {"path": os.path.realpath(name)}}
    if Path(name).is_block_device():
        device = find_block_device(name)
        told = device.describe()
        known["identity"]["device"] = {key: told[key] for key in ("model", "serial", "size_bytes")}
        return known
    place = locate_file(name)
    actual_bytes = place.path.stat().st_size if place.exists else size_bytes
    if actual_bytes is not None:
        known["capacity_bytes"] = actual_bytes // ALIGNMENT * ALIGNMENT
    return known
