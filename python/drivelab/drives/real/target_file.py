"""The file that represents a real drive, and the rules that protect everybody else's files.

- A path that does not exist is created: allocated, filled with content of its own key so that
  reads reach real blocks, and removed when closed unless it is kept.
- The side file ``PATH.drivelab.json`` contains the key. After a kill both files are left behind;
  the next run uses them again if the content proves that nobody else wrote to the file.
- Any other existing file is only read, unless the user named exactly this file with
  ``--allow-destructive``, and it is never removed.

The file is opened once, without following a link, and locked. To measure it, it is opened again
through that descriptor, so that what was checked is what is measured. Child processes inherit the
lock: as long as one of them works on the file, nobody else gets it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.real.block_devices import THIS_MACHINE, BlockDevice, SystemRoots
from drivelab.drives.real.direct_io import direct_block_bytes
from drivelab.drives.real.file_location import FileLocation, locate_file
from drivelab.drives.real.fio.content import Mark
from drivelab.drives.real.made_file import MadeFile, Written
from drivelab.drives.real.measuring_lock import lock_to_measure
from drivelab.drives.real.opened_path import (
    find_in,
    folder_reason,
    leads_to,
    open_folder,
    open_in,
    opened,
)
from drivelab.drives.real.ownership import BuffersOf, times_of, why_not_ours
from drivelab.drives.real.side_file import Side, read_side, side_path
from drivelab.drives.real.write_refusals import file_usage
from drivelab.errors import RunError, UsageError
from drivelab.notes import print_note
from drivelab.signals_later import signals_later
from drivelab.units import format_size

DEFAULT_SIZE_BYTES: Final = 2**30
MIN_SIZE_BYTES: Final = 2**20
# Direct requests are multiples of the drive's block; this is the largest common one.
ALIGNMENT: Final = 4096


@dataclass(frozen=True)
class UnfilledFile:
    """A file that is allocated but not written yet.

    Attributes
    ----------
    descriptor
        Open for reading and writing, and locked.
    capacity_bytes, block_bytes
        Size of the file, and block size of direct requests to it.
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
        Location of the file.
    descriptor
        Open for reading, and for writing if `write_refusal` is `None`.
    capacity_bytes
        Size of the measured part, a multiple of 4096.
    write_refusal
        Why the file may only be read, or `None`.
    was_there
        Whether it was complete when it was opened; its maker may want to resume with it.
    """

    place: FileLocation
    descriptor: int
    capacity_bytes: int
    write_refusal: str | None
    was_there: bool = False
    _folder: int = field(default=-1, repr=False)
    _roots: SystemRoots = field(default=THIS_MACHINE, repr=False)
    _own: MadeFile | None = field(default=None, repr=False)
    _remove: bool = field(default=False, repr=False)
    _is_left: bool = field(default=False, repr=False)

    @property
    def path(self) -> Path:
        """Return the file's path, links resolved."""
        return self.place.path

    @property
    def device(self) -> BlockDevice | None:
        """Return the drive below, if the file system has one."""
        return self.place.device

    @property
    def locks(self) -> tuple[int, ...]:
        """Return the file's own lock; there is no other."""
        return (self.descriptor,)

    @property
    def is_whole(self) -> bool:
        """Return False: a file is not a drive."""
        return False

    def describe(self) -> dict[str, Any]:
        """Return what identifies the file, its file system and the drive below, as JSON values."""
        return {"target": "file", "made_by_drivelab": self.made, **self.place.describe()}

    def check_present(self) -> None:
        """Check that the path still names the file that was opened, in full size.

        Raises
        ------
        RunError
            If it disappeared, was replaced or shrank.
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

    @property
    def made(self) -> bool:
        """Return whether Drivelab made the file, in this run or an earlier one."""
        return self._own is not None

    @property
    def mark(self) -> Mark | None:
        """Return the mark for fio's writes, by which our file is recognised."""
        return None if self._own is None else self._own.mark

    def before_writing(self, written: Written | None = None) -> None:
        """Check that nobody uses the file or changed ours, and note what may change it.

        Raises
        ------
        RunError
            If somebody did.
        """
        reasons = file_usage(self.descriptor, self.path, self._roots)
        if reasons:
            raise RunError(f"{self.path} may not be written any more: {'; '.join(reasons)}")
        if self._own is not None and written is not None:
            self._own.before_writing(written)

    def after_writing(self) -> None:
        """Note what a file that Drivelab made looks like now."""
        if self._own is not None:
            self._own.after_writing()

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Keep a file that would be removed, for the next start; return its path.

        With `only_found` a new file is removed all the same. So is a file that could not be
        recognised later: nothing could be written to it.
        """
        own = self._own
        if own is None or not own.can_be_known_again or not self._remove:
            return None
        if not self.path.exists() or (only_found and not self.was_there):
            return None
        self._remove, self._is_left = False, True
        return self.path

    def take_up(self) -> None:
        """Undo `leave`: remove the file after all, because its owner resumes with it."""
        if self._is_left:
            self._remove, self._is_left = True, False

    def close(self) -> None:
        """Close the file; remove it and its side file if it was made and is not kept.

        If it contains what somebody else wrote, it stays, and a message says so.
        """
        atexit.unregister(self.close)
        if self.descriptor < 0:
            return
        # A second Ctrl-C would leave half of it.
        with signals_later():
            try:
                if self._own is not None:
                    self._end(self._own)
            except (OSError, RunError) as error:
                print_note(str(error))
            finally:
                os.close(self.descriptor)
                os.close(self._folder)
                self.descriptor = -1

    def _end(self, own: MadeFile) -> None:
        reasons = "; ".join(file_usage(self.descriptor, self.path, self._roots))
        if self._remove and reasons:
            raise RunError(f"{self.path} is not removed: {reasons}")
        own.end(remove=self._remove)


@dataclass(frozen=True)
class _Asked:
    """The arguments of `open_target_file`."""

    size_bytes: int | None
    keep: bool
    may_overwrite: bool
    before_filling: BeforeFilling | None
    buffers_of: BuffersOf | None
    roots: SystemRoots


def open_target_file(
    name: str | Path,
    *,
    size_bytes: int | None = None,
    keep: bool = False,
    allow_destructive: str | None = None,
    before_filling: BeforeFilling | None = None,
    buffers_of: BuffersOf | None = None,
    roots: SystemRoots = THIS_MACHINE,
) -> TargetFile:
    """Open the file `name` to be measured; make it if it does not exist.

    Parameters
    ----------
    name
        The path as the user wrote it.
    size_bytes
        Size of a new file, 1 GiB by default. Only for files that Drivelab makes.
    keep
        Whether to keep a file that Drivelab made when closing.
    allow_destructive
        The path that the user allows to be overwritten, if any.
    before_filling
        Called before anything is written to a new file; an exception prevents the file.
    buffers_of
        Returns what fio's buffers contain, by which a file that was being written is recognised.
    roots
        The kernel's view of mounts.

    Raises
    ------
    UsageError
        If the path cannot be measured; the error gives the reason and a remedy.
    RunError
        If making the file fails half-way; nothing is left behind.
    """
    place = locate_file(name, roots)
    check_named(place, allow_destructive)
    may_overwrite = allow_destructive is not None
    asked = _Asked(size_bytes, keep, may_overwrite, before_filling, buffers_of, roots)
    if place.exists:
        return _open_existing(place, asked)
    size_bytes = DEFAULT_SIZE_BYTES if size_bytes is None else size_bytes
    check_makeable(place.path, size_bytes)
    return _make(place, size_bytes, asked)


def _open_existing(place: FileLocation, asked: _Asked) -> TargetFile:
    path, allowed = place.path, asked.may_overwrite
    with contextlib.ExitStack() as undo:
        folder = _folder_of(place)
        undo.callback(os.close, folder)
        may_be_ours = read_side(path, folder) is not None
        descriptor = _open_locked(folder, path, allowed or may_be_ours, allowed)
        undo.callback(os.close, descriptor)
        # Only now: until it was locked another Drivelab may have changed or removed it.
        side = read_side(path, folder)
        known = times_of(descriptor)
        foreign = None if side is None else _why_foreign(descriptor, side, asked.buffers_of)
        used = used_file(path, descriptor, asked.roots, to_write=allowed)
        if used is not None:
            side = None
        if (foreign is not None and not allowed) or used is not None:
            descriptor = _only_to_read(path, descriptor)
        made = None
        if side is not None and foreign is None:
            made = _made_at(place, folder, descriptor, side, asked.buffers_of)
            made.known_since(known)
            if side.state == "filling":
                # A killed run left it half written; the lock shows that nobody works on it now.
                target = _filled(place, folder, descriptor, made, asked)
                undo.pop_all()
                return target
        refusal = used
        if used is None and made is None and not allowed:
            refusal = only_read(path, foreign)
        if foreign is not None:
            print_note(refusal or f"{path} is not removed at the end: {foreign}")
        actual_bytes = os.fstat(descriptor).st_size
        check_content(path, descriptor, actual_bytes, asked.size_bytes, made=made is not None)
        if made is not None and asked.keep:
            made.keep()
        target = TargetFile(
            place=place,
            descriptor=descriptor,
            capacity_bytes=actual_bytes // ALIGNMENT * ALIGNMENT,
            write_refusal=refusal,
            was_there=True,
            _folder=folder,
            _roots=asked.roots,
            _own=made,
            _remove=made is not None and not made.side.keep,
        )
        undo.pop_all()
    atexit.register(target.close)
    return target


def _why_foreign(descriptor: int, side: Side, buffers_of: BuffersOf | None) -> str | None:
    if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        return "it may not be written"
    return why_not_ours(descriptor, side, buffers_of)


def check_named(place: FileLocation, allow_destructive: str | None) -> None:
    """Raise `UsageError` if ``--allow-destructive`` names anything but the file."""
    # Links are not followed here: the flag must name the file itself.
    named = None if allow_destructive is None else os.path.abspath(allow_destructive)  # noqa: PTH100
    if named is not None and named != str(place.path):
        raise UsageError(
            f"--allow-destructive={allow_destructive} does not name the drive {place.given}; "
            f"it must be {place.path}"
        )


def used_file(path: Path, descriptor: int, roots: SystemRoots, *, to_write: bool) -> str | None:
    """Return why a file in use is only read; ``None`` if nothing uses it.

    Raises
    ------
    UsageError
        If it was `to_write`.
    """
    reasons = "; ".join(file_usage(descriptor, path, roots))
    if reasons and to_write:
        raise UsageError(
            f"{path} is not overwritten: {reasons}; without --allow-destructive it is only read"
        )
    return f"{path} is only read: {reasons}" if reasons else None


def only_read(path: Path, foreign: str | None) -> str:
    """Return why a file that is not ours is not written; `foreign` is why it may not be ours."""
    reason = "was not made by Drivelab and is only read"
    if foreign is not None:
        stale = f"{side_path(path).name} next to it is out of date and may be deleted"
        reason = f"may not be as Drivelab left it and is only read: {foreign} ({stale})"
    return f"{path} {reason}; --allow-destructive={path} lets it be overwritten"


def check_content(
    path: Path, descriptor: int, actual_bytes: int, asked_bytes: int | None, *, made: bool
) -> None:
    """Raise `UsageError` if an existing file cannot be measured, or has another size.

    Parameters
    ----------
    path, descriptor
        The file, opened.
    actual_bytes, asked_bytes
        Its size, and the size that was asked for, if any.
    made
        Whether Drivelab made it.
    """
    if asked_bytes is not None and asked_bytes != actual_bytes:
        remedy = "remove it" if made else "name a path that does not exist"
        raise UsageError(
            f"{path} exists with {format_size(actual_bytes)}, not the --size of "
            f"{format_size(asked_bytes)}; {remedy} or leave --size out"
        )
    if actual_bytes == 0:
        raise UsageError(
            f"{path} is empty, perhaps left by a run that was killed: remove it, or name a path "
            "that does not exist"
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


def _open_locked(folder: int, path: Path, to_write: bool, must: bool) -> int:
    """Open a file and lock it; for writing if asked for, and allowed or a `must`."""
    verb = "read"
    with contextlib.ExitStack() as undo:
        try:
            found = find_in(folder, path.name)
            undo.callback(os.close, found)
            if not stat.S_ISREG(os.fstat(found).st_mode):
                raise UsageError(f"{path} is not a regular file any more")
            if to_write and (must or os.access(f"/proc/self/fd/{found}", os.R_OK | os.W_OK)):
                verb = "written"
            descriptor = opened(found, os.O_RDWR if verb == "written" else os.O_RDONLY)
        except OSError as error:
            raise UsageError(f"{path} cannot be {verb}: {error.strerror}") from error
        try:
            lock_to_measure(path, descriptor)
            if not leads_to(folder, path.name, descriptor):
                raise UsageError(
                    f"{path} was removed or replaced while another Drivelab measured it; "
                    "run the same command again"
                )
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, OSError):
                raise UsageError(f"{path} cannot be locked: {error.strerror}") from error
            raise
    return descriptor


def _only_to_read(path: Path, descriptor: int) -> int:
    """Remove the right to write from an open, locked file; its descriptor stays."""
    reading = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Replaced in one step, so that nobody else gets the number; the old one's lock goes with
        # it.
        os.dup2(reading, descriptor, inheritable=False)
    finally:
        os.close(reading)
    lock_to_measure(path, descriptor)
    return descriptor


def _folder_of(place: FileLocation) -> int:
    try:
        return open_folder(place.path.parent)
    except OSError as error:
        raise UsageError(f"{place.words} cannot be opened: {folder_reason(error)}") from error


def check_makeable(path: Path, size_bytes: int) -> None:
    """Raise `UsageError` if a file of this size cannot be made."""
    if size_bytes < MIN_SIZE_BYTES or size_bytes % ALIGNMENT:
        raise UsageError(
            f"--size must be a multiple of 4 KiB and at least {format_size(MIN_SIZE_BYTES)}; "
            f"{size_bytes} bytes is not"
        )
    _check_space(path.parent, size_bytes)
    if os.path.lexists(side_path(path)) and read_side(path) is None:
        raise UsageError(f"{side_path(path)} is in the way; move it or choose another path")


def _make(place: FileLocation, size_bytes: int, asked: _Asked) -> TargetFile:
    path = place.path
    how = os.O_RDWR | os.O_CREAT | os.O_EXCL
    with contextlib.ExitStack() as undo:
        folder = _folder_of(place)
        undo.callback(os.close, folder)
        try:
            descriptor = open_in(folder, path.name, how)
        except OSError as error:
            raise UsageError(f"{path} cannot be made: {error.strerror}") from error
        undo.callback(os.close, descriptor)
        side = Side.of_new(descriptor, size_bytes, keep=asked.keep)
        made = _made_at(place, folder, descriptor, side, asked.buffers_of)
        target = _filled(place, folder, descriptor, made, asked)
        undo.pop_all()
    return target


def _check_space(folder: Path, size_bytes: int) -> None:
    space = os.statvfs(folder)
    total, free = space.f_blocks * space.f_frsize, space.f_bavail * space.f_frsize
    # A tenth stays free: a full file system slows down, and its owner needs space.
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


def _made_at(
    place: FileLocation, folder: int, descriptor: int, side: Side, buffers_of: BuffersOf | None
) -> MadeFile:
    # Overlays have no generations, but they have the times of the file system below.
    overlay = place.mount is not None and place.mount.file_system == "overlay"
    times_tell = overlay or side.generation is not None
    return MadeFile(place.path, folder, descriptor, side, buffers_of, times_tell=times_tell)


def _filled(
    place: FileLocation,
    folder: int,
    descriptor: int,
    made: MadeFile,
    asked: _Asked,
) -> TargetFile:
    """Fill a new file; on any failure neither it nor its side file stays."""
    path, size_bytes = place.path, made.side.size_bytes
    try:
        lock_to_measure(path, descriptor)
        made.begin()
        # Allocation shows a full disk and the direct block before the file is filled.
        made.allocate()
        if asked.before_filling is not None:
            block_bytes = direct_block_bytes(path, descriptor)
            asked.before_filling(UnfilledFile(descriptor, size_bytes, block_bytes))
        made.fill()
    except BaseException as error:
        with contextlib.suppress(OSError, RunError):
            made.remove()
        if isinstance(error, OSError):
            raise RunError(f"{path} could not be made: {error.strerror}") from error
        raise
    target = TargetFile(
        place=place,
        descriptor=descriptor,
        capacity_bytes=size_bytes,
        write_refusal=None,
        _folder=folder,
        _roots=asked.roots,
        _own=made,
        _remove=not made.side.keep,
    )
    atexit.register(target.close)
    return target
