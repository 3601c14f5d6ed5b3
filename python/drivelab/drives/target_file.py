"""The file that stands for a real drive, and the rules that keep everybody else's files whole.

- A path that does not exist is created: allocated, filled with random bytes so that reads
  reach real blocks, and removed when closed unless it is to be kept.
- Beside it a side file, ``PATH.drivelab.json``, says that Drivelab made it. After a kill the
  pair is left behind, recognised by the next run and used again.
- An existing file without a matching side file is only ever read, unless the user named
  exactly this file with ``--allow-destructive``.

The file is opened once, without following a link, and locked; whoever measures it opens it
again through that descriptor, so that what was checked is what is measured. The lock passes
to child processes: as long as one of them works on the file, nobody else gets it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.block_devices import THIS_MACHINE, BlockDevice, SystemRoots
from drivelab.drives.direct_io import direct_block_bytes
from drivelab.drives.file_location import FileLocation, locate_file
from drivelab.drives.measuring_lock import lock_to_measure
from drivelab.drives.side_file import (
    SIDE_LAYOUT,
    file_key,
    read_side,
    remove_with_side,
    side_path,
    write_side,
)
from drivelab.errors import RunError, UsageError
from drivelab.units import format_size

DEFAULT_SIZE_BYTES: Final = 2**30
MIN_SIZE_BYTES: Final = 2**20
# Direct requests are multiples of the drive's block; this is the largest common one.
ALIGNMENT: Final = 4096
_FILL_BYTES: Final = 4 * 2**20


@dataclass(frozen=True)
class UnfilledFile:
    """A file that is allocated, and to which nothing was written yet.

    Attributes
    ----------
    descriptor
        Open for reading and writing, and locked.
    capacity_bytes, block_bytes
        Of the file, and of direct requests to it.
    """

    descriptor: int
    capacity_bytes: int
    block_bytes: int


BeforeFilling = Callable[[UnfilledFile], None]


@dataclass
class TargetFile(ClosedOnExit):
    """An open, locked file to measure. Made by `open_target_file`; close it.

    Parameters
    ----------
    place
        Where the file lies.
    descriptor
        Open for reading, and for writing where `write_refusal` is `None`.
    capacity_bytes
        The part that is measured, a multiple of 4096.
    made
        Drivelab made the file, in this run or an earlier one.
    write_refusal
        Why the file may only be read, or `None`.
    was_there
        It was complete when it was opened: who made it may want to go on with it.
    """

    place: FileLocation
    descriptor: int
    capacity_bytes: int
    made: bool
    write_refusal: str | None
    was_there: bool = False
    _remove: bool = field(default=False, repr=False)

    @property
    def path(self) -> Path:
        """The file, links resolved."""
        return self.place.path

    @property
    def device(self) -> BlockDevice | None:
        """The drive below, where the file system has one."""
        return self.place.device

    @property
    def is_whole(self) -> bool:
        """A file is no drive."""
        return False

    def describe(self) -> dict[str, Any]:
        """Say what identifies the file, its file system and the drive below, JSON-able."""
        return {"target": "file", "made_by_drivelab": self.made, **self.place.describe()}

    def check_present(self) -> None:
        """Check that the path still names the file that was opened, in full size.

        Raises
        ------
        RunError
            When it vanished, was replaced or shrank.
        """
        try:
            now = self.path.lstat()
        except OSError as error:
            raise RunError(f"{self.path} vanished while it was measured") from error
        ours = os.fstat(self.descriptor)
        if (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino):
            raise RunError(f"{self.path} was replaced by another file while it was measured")
        if now.st_size < self.capacity_bytes:
            raise RunError(
                f"{self.path} shrank to {format_size(now.st_size)} while it was measured"
            )

    def before_writing(self) -> None:
        """Do nothing: who may write a file is settled when it is opened."""

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Let a file that would be removed stay for whoever opens it next; give its path.

        With `only_found` one that is new is removed all the same.
        """
        if not self._remove or not self.path.exists() or (only_found and not self.was_there):
            return None
        self._remove = False
        return self.path

    def close(self) -> None:
        """Close the file; remove it and its side file if it was made and is not kept."""
        atexit.unregister(self.close)
        if self.descriptor < 0:
            return
        try:
            if self._remove:
                remove_with_side(self.path, self.descriptor)
        finally:
            os.close(self.descriptor)
            self.descriptor = -1


def open_target_file(
    name: str | Path,
    *,
    size_bytes: int | None = None,
    keep: bool = False,
    allow_destructive: str | None = None,
    before_filling: BeforeFilling | None = None,
    roots: SystemRoots = THIS_MACHINE,
) -> TargetFile:
    """Open the file `name` to be measured; make it when it does not exist.

    Parameters
    ----------
    name
        The path as the user wrote it.
    size_bytes
        Size of a file to be made, 1 GiB when not given. Only for files that Drivelab makes.
    keep
        Leave a file that Drivelab made in place when closing.
    allow_destructive
        The path that the user allowed to be overwritten, if any.
    before_filling
        Called before anything is written to a file that is made; what it raises prevents the
        file.
    roots
        The kernel's view of what is mounted.

    Raises
    ------
    UsageError
        When the path cannot be measured, with the reason and what to do.
    RunError
        When making the file fails half-way; nothing is left behind.
    """
    place = locate_file(name, roots)
    check_named(place.path, allow_destructive)
    if place.exists:
        return _open_existing(place, size_bytes, keep, allow_destructive, before_filling)
    size_bytes = DEFAULT_SIZE_BYTES if size_bytes is None else size_bytes
    check_makeable(place.path, size_bytes)
    return _make(place, size_bytes, keep, before_filling)


def _open_existing(
    place: FileLocation,
    size_bytes: int | None,
    keep: bool,
    allow_destructive: str | None,
    before_filling: BeforeFilling | None,
) -> TargetFile:
    path = place.path
    allowed = allow_destructive is not None
    descriptor = _open_locked(path, allowed)
    try:
        status = os.fstat(descriptor)
        side = read_side(path)
        made = side is not None and side["file"] == file_key(descriptor)
        if side is not None and made and side["state"] != "ready":
            # A killed run left it half written; the lock says that nobody works on it now.
            return _finish(place, descriptor, side["size_bytes"], keep, before_filling)
        made_bytes = side["size_bytes"] if side is not None and made else None
        made = made_bytes == status.st_size
        check_content(path, descriptor, status.st_size, made_bytes, size_bytes)
        if made and side is not None:
            keep = keep or side["keep"]
            if keep != side["keep"]:
                write_side(path, {**side, "keep": keep})
        refusal = None if made or allowed else only_read(path)
        target = TargetFile(
            place=place,
            descriptor=descriptor,
            capacity_bytes=status.st_size // ALIGNMENT * ALIGNMENT,
            made=made,
            write_refusal=refusal,
            was_there=True,
            _remove=made and not keep,
        )
    except BaseException:
        os.close(descriptor)
        raise
    atexit.register(target.close)
    return target


def check_named(path: Path, allow_destructive: str | None) -> None:
    """Raise `UsageError` when ``--allow-destructive`` names anything but the file."""
    # No link is followed here: the flag must name the file itself.
    named = None if allow_destructive is None else os.path.abspath(allow_destructive)  # noqa: PTH100
    if named is not None and named != str(path):
        raise UsageError(
            f"--allow-destructive={allow_destructive} does not name the drive; it must be {path}"
        )


def only_read(path: Path) -> str:
    """Say why a file of somebody else's is not written."""
    return (
        f"{path} was not made by Drivelab and is only read; "
        f"--allow-destructive={path} lets it be overwritten"
    )


def check_content(
    path: Path,
    descriptor: int,
    actual_bytes: int,
    made_bytes: int | None,
    asked_bytes: int | None,
) -> None:
    """Raise `UsageError` when an existing file cannot be measured, or is not as asked for.

    Parameters
    ----------
    path, descriptor
        The file, opened.
    actual_bytes, asked_bytes
        How long it is, and is to be, if that was asked.
    made_bytes
        How long Drivelab made it; ``None`` for somebody else's.
    """
    if asked_bytes is not None and asked_bytes != actual_bytes:
        remedy = "name a path that does not exist or leave --size out"
        if made_bytes == actual_bytes:
            remedy = "remove it or leave --size out"
        elif made_bytes is not None:
            remedy = "something else changed it since it was made: remove it, and begin anew"
        raise UsageError(
            f"{path} exists with {format_size(actual_bytes)}, not the --size of "
            f"{format_size(asked_bytes)}; {remedy}"
        )
    if actual_bytes < MIN_SIZE_BYTES:
        raise UsageError(
            f"{path} has {format_size(actual_bytes)}; "
            f"at least {format_size(MIN_SIZE_BYTES)} are needed"
        )
    hole = os.lseek(descriptor, 0, os.SEEK_HOLE)
    if hole < actual_bytes:
        raise UsageError(
            f"{path} was never written at byte {hole}, and reading there does not reach the "
            "drive; name a file that is written throughout, or a path that does not exist"
        )


def _open_locked(path: Path, allowed: bool) -> int:
    """Open for reading, or for writing when that is allowed or the file is ours; lock it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"{path} is no regular file any more")
        side = read_side(path)
        if allowed or (side is not None and side["file"] == file_key(descriptor)):
            reading = descriptor
            # Through the descriptor, so that it is the file just looked at.
            descriptor = os.open(f"/proc/self/fd/{reading}", os.O_RDWR | os.O_CLOEXEC)
            os.close(reading)
        lock_to_measure(path, descriptor)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, OSError):
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
        raise
    return descriptor


def check_makeable(path: Path, size_bytes: int) -> None:
    """Raise `UsageError` when a file of this size cannot be made."""
    if size_bytes < MIN_SIZE_BYTES or size_bytes % ALIGNMENT:
        raise UsageError(
            f"--size must be a multiple of 4 KiB and at least {format_size(MIN_SIZE_BYTES)}; "
            f"{size_bytes} bytes is not"
        )
    _check_space(path.parent, size_bytes)
    if side_path(path).exists() and read_side(path) is None:
        raise UsageError(f"{side_path(path)} is in the way; move it or choose another path")


def _make(
    place: FileLocation, size_bytes: int, keep: bool, before_filling: BeforeFilling | None
) -> TargetFile:
    path = place.path
    try:
        descriptor = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise UsageError(f"{path} cannot be made: {error.strerror}") from error
    return _finish(place, descriptor, size_bytes, keep, before_filling)


def _check_space(folder: Path, size_bytes: int) -> None:
    space = os.statvfs(folder)
    total, free = space.f_blocks * space.f_frsize, space.f_bavail * space.f_frsize
    # A tenth stays free: a full file system slows down, and its owner has other plans for it.
    if (free - size_bytes) * 10 < total:
        most = max(0, free - -(-total // 10)) // ALIGNMENT * ALIGNMENT
        remedy = (
            f"--size may be at most {format_size(most)}"
            if most >= MIN_SIZE_BYTES
            else "choose another file system"
        )
        raise UsageError(
            f"{format_size(size_bytes)} in {folder} would leave less than a tenth of its file "
            f"system free ({format_size(max(0, free))} of {format_size(total)} are); {remedy}"
        )


def _finish(
    place: FileLocation,
    descriptor: int,
    size_bytes: int,
    keep: bool,
    before_filling: BeforeFilling | None,
) -> TargetFile:
    """Fill a file that is ours; whatever goes wrong, neither it nor its side file stays."""
    path = place.path
    try:
        lock_to_measure(path, descriptor)
        side = {
            "made_by": "drivelab",
            "layout": SIDE_LAYOUT,
            "state": "filling",
            "keep": keep,
            "size_bytes": size_bytes,
            "file": file_key(descriptor),
        }
        write_side(path, side)
        # Allocated it shows a full disk and its direct block before a byte is written.
        os.posix_fallocate(descriptor, 0, size_bytes)
        if before_filling is not None:
            block_bytes = direct_block_bytes(path, descriptor)
            before_filling(UnfilledFile(descriptor, size_bytes, block_bytes))
        _fill(descriptor, size_bytes)
        write_side(path, {**side, "state": "ready"})
    except BaseException as error:
        with contextlib.suppress(OSError):
            remove_with_side(path, descriptor)
        os.close(descriptor)
        if isinstance(error, OSError):
            raise RunError(f"{path} could not be made: {error.strerror}") from error
        raise
    target = TargetFile(
        place=place,
        descriptor=descriptor,
        capacity_bytes=size_bytes,
        made=True,
        write_refusal=None,
        _remove=not keep,
    )
    atexit.register(target.close)
    return target


def _fill(descriptor: int, size_bytes: int) -> None:
    for offset in range(0, size_bytes, _FILL_BYTES):
        block = memoryview(os.urandom(min(_FILL_BYTES, size_bytes - offset)))
        while block:
            written = os.pwrite(descriptor, block, offset)
            block, offset = block[written:], offset + written  # noqa: PLW2901
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
