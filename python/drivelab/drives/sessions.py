"""From the one string that names a drive to a session on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.drives.registry import kind_of, open_drive
from drivelab.errors import CannotAnswerError

if TYPE_CHECKING:
    from drivelab.drives.session import DriveSession


def open_session(
    name: str,
    *,
    seed: int = 0,
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
        Key of the random numbers, with a step's place.
    allow_destructive, size_bytes, keep
        As for `drivelab.drives.registry.open_drive`; of real drives.

    Raises
    ------
    UsageError
        When there is no such drive; the error says what can be named.
    CannotAnswerError
        When nothing can be done to it step after step.
    """
    if kind_of(name) != "real":
        raise CannotAnswerError(f"{name} is no drive that is used step after step")
    drive = open_drive(name, allow_destructive=allow_destructive, size_bytes=size_bytes, keep=keep)
    from drivelab.drives.fio import FioDrive
    from drivelab.drives.fio_session import FioSession

    assert isinstance(drive, FioDrive)  # noqa: S101
    return FioSession(drive, seed=seed)
