"""From the one string that names a drive to a session on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.drives.registry import kind_of, open_drive, open_simulated

if TYPE_CHECKING:
    from drivelab.drives.session import DriveSession


def open_session(
    name: str,
    *,
    seed: int = 0,
    varies: bool = True,
    allow_destructive: str | None = None,
    size_bytes: int | None = None,
    keep: bool = False,
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
        As for `drivelab.drives.registry.open_drive`; of real drives.

    Raises
    ------
    UsageError
        When there is no such drive, or it is a formula, which has no state; the error says what
        can be named.
    """
    if kind_of(name) != "real":
        from drivelab.drives.simulated_session import SimulatedSession

        return SimulatedSession(open_simulated(name, varies=varies), seed=seed)
    drive = open_drive(name, allow_destructive=allow_destructive, size_bytes=size_bytes, keep=keep)
    from drivelab.drives.fio import FioDrive
    from drivelab.drives.fio_session import FioSession

    assert isinstance(drive, FioDrive)  # noqa: S101
    return FioSession(drive, seed=seed)
