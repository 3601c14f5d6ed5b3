"""A file that Drivelab made: filled, tracked in its side file while measured, and removed.

::

    create ── first sectors, side file "filling" ── filled ── "ready"
    before a workload that writes: unchanged since?  ── "writing"
        at the end: kept, "ready" again  |  removed, if its samples carry the key

While it is open the file is locked, and its times are noted after everything that Drivelab writes.
Any change in between was made by somebody else.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from drivelab._core import KeyedContent
from drivelab.drives.real.fio.content import Mark
from drivelab.drives.real.opened_path import leads_to
from drivelab.drives.real.ownership import (
    SECTOR_BYTES,
    BuffersOf,
    Evidence,
    as_left,
    times_of,
    why_not_ours,
)
from drivelab.drives.real.side_file import (
    Side,
    hidden_name,
    read_side,
    remove_side,
    side_path,
    write_side,
)
from drivelab.errors import RunError

_FILL_BYTES: Final = 4 * 2**20
#: Written before anything else, so that an unfinished file already carries its key.
FIRST_BYTES: Final = 4096
# Between two workloads a hard disk should not seek for half a second.
_SAMPLES_BETWEEN: Final = 14
_SAMPLES_AT_THE_END: Final = 64
_TO_LOOK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Written:
    """What a workload is about to write.

    Attributes
    ----------
    content
        Kind of the data.
    buffers
        Queue depth and the largest request in bytes if fio keeps its buffers; ``None`` if it
        refills them.
    """

    content: str
    buffers: tuple[int, int] | None = None


class MadeFile:
    """A file that Drivelab made, open for writing and locked.

    Parameters
    ----------
    path
        Where it is, links resolved.
    folder
        Descriptor of its folder, open as long as this object is used.
    descriptor
        Descriptor of the file.
    side
        Contents of its side file, which was checked or written just now.
    buffers_of
        Returns what fio's buffers contain.
    times_tell
        Whether a file's times change with the file and never later, as they may on network file
        systems.
    """

    def __init__(
        self,
        path: Path,
        folder: int,
        descriptor: int,
        side: Side,
        buffers_of: BuffersOf | None,
        *,
        times_tell: bool,
    ) -> None:
        self.path = path
        self._times_tell = times_tell
        self.side = side
        self._folder = folder
        self._descriptor = descriptor
        self._buffers_of = buffers_of
        self._content = KeyedContent(side.key)
        self._known = times_of(descriptor)
        self._has_written = self._is_over = False

    @property
    def can_be_known_again(self) -> bool:
        """Return whether its file system can tell it from a later file with the same inode."""
        return self.side.generation is not None

    @property
    def mark(self) -> Mark:
        """Return the mark for fio's writes."""
        return Mark(self._content.tag.hex(), self._content.randseed)

    def known_since(self, known: tuple[int, int, int]) -> None:
        """Take the times from before the file was checked, so that no later change is missed."""
        self._known = known

    def begin(self) -> None:
        """Write the side file and the first sectors.

        Raises
        ------
        FileExistsError
            If something else has the side file's name.
        """
        stale = read_side(self.path, self._folder)
        if stale is not None and stale.key != self.side.key:
            # From a file that is gone; one that was being removed has a name derived from it.
            self._remove_what_was_taken_away(stale)
        write_side(self.path, self._folder, self.side, first=stale is None)
        self._write(0, FIRST_BYTES)

    def allocate(self) -> None:
        """Give the file its size without writing to it."""
        self._check_unchanged("it is not filled")
        try:
            os.posix_fallocate(self._descriptor, 0, self.side.size_bytes)
        finally:
            self.after_writing()

    def fill(self) -> None:
        """Write the whole file, and mark it as ready."""
        size_bytes = self.side.size_bytes
        for place in range(0, size_bytes, _FILL_BYTES):
            self._write(place, min(_FILL_BYTES, size_bytes - place))
        self._settle()
        os.posix_fadvise(self._descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    def keep(self) -> None:
        """Note that the user wants to keep the file."""
        if not self.side.keep:
            self._say(replace(self.side, keep=True))

    def before_writing(self, written: Written) -> None:
        """Check that nobody else changed the file, and note that a workload may do so from now on.

        Raises
        ------
        RunError
            If somebody did.
        """
        self._check_unchanged("nothing more is written to it")
        if self._has_written:
            self._check_samples(_SAMPLES_BETWEEN, "nothing more is written to it")
        self._has_written = True
        now = self.side.writing(written.content, written.buffers)
        if now != self.side:
            self._say(now)

    def after_writing(self) -> None:
        """Note what the file looks like after writes."""
        if not self._is_over:
            self._known = times_of(self._descriptor)

    def end(self, *, remove: bool) -> None:
        """Leave the file for the next start, or remove it.

        Raises
        ------
        RunError
            As `remove`; also if something else changed the file, which then nobody may use.
        """
        self._is_over = True
        if remove:
            self.remove()
        elif self.side.state == "writing":
            self._check_unchanged("Drivelab will only read it from now on")
            self._settle()

    def _settle(self) -> None:
        """Flush everything to the medium, and note how the file is left."""
        left = as_left(self._descriptor, self.side)
        if left is None:
            # Its times show nothing, so the next start reads all of it.
            self._say(self.side.unsettled())
        else:
            self._say(replace(self.side, state="ready", left=left))

    def remove(self) -> None:
        """Remove the file and its side file, if the path names it and nobody else wrote to it.

        Raises
        ------
        RunError
            If somebody did: the file stays, and the error says why.
        """
        if self._is_named(self.path.name):
            self._check_unchanged("it is not removed")
            self._check_samples(_SAMPLES_AT_THE_END, "it is not removed")
            try:
                self._unlink()
            except OSError as error:
                reason = f"{self.path} cannot be removed: {error.strerror}"
                raise RunError(reason) from error
        if self._has_side():
            remove_side(self.path, self._folder)

    def _check_samples(self, most: int, consequence: str) -> None:
        """Check that sampled sectors carry the key."""
        size_bytes = os.fstat(self._descriptor).st_size
        filling = self.side.state == "filling"
        if filling and size_bytes == 0:
            return
        foreign = size_bytes % SECTOR_BYTES != 0
        if not foreign:
            whole = min(self.side.size_bytes, size_bytes)
            found = Evidence(self._descriptor, self.side, self._buffers_of, whole).samples(most)
            may_be_zero = filling or "zero" in self.side.contents
            foreign = bool(found.foreign or (found.zero and not may_be_zero))
            # The first sectors come before all others.
            foreign = foreign or (filling and not found.keyed)
        if foreign:
            raise RunError(f"{self.path} contains data that Drivelab did not write; {consequence}")

    def _unlink(self) -> None:
        """Remove the name, unless another file has just taken it."""
        away = hidden_name(self.path.name, self.side.key, "removed")
        os.rename(self.path.name, away, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        if self._is_named(away):
            os.unlink(away, dir_fd=self._folder)
            return
        # Put it back; if the name has been taken again by now, both files still exist.
        with contextlib.suppress(FileExistsError):
            os.link(
                away,
                self.path.name,
                src_dir_fd=self._folder,
                dst_dir_fd=self._folder,
                follow_symlinks=False,
            )
            os.unlink(away, dir_fd=self._folder)
            away = self.path.name
        raise RunError(f"{self.path} was replaced while it was removed; the old file is {away}")

    def _is_named(self, name: str) -> bool:
        return leads_to(self._folder, name, self._descriptor)

    def _check_unchanged(self, consequence: str) -> None:
        if self._times_tell and self._known != times_of(self._descriptor):
            raise RunError(
                f"{self.path} was changed by something else while it was measured; {consequence}"
            )

    def _remove_what_was_taken_away(self, stale: Side) -> None:
        """Finish the removal of an earlier file that a kill interrupted."""
        away = hidden_name(self.path.name, stale.key, "removed")
        with contextlib.suppress(OSError):
            descriptor = os.open(away, _TO_LOOK, dir_fd=self._folder)
            try:
                if why_not_ours(descriptor, stale.unsettled(), self._buffers_of) is None:
                    os.unlink(away, dir_fd=self._folder)
            finally:
                os.close(descriptor)

    def _write(self, place: int, size: int) -> None:
        self._check_unchanged("it is not filled any further")
        block = memoryview(self._content.fill(place, size))
        try:
            while block:
                written = os.pwrite(self._descriptor, block, place)
                block, place = block[written:], place + written
        finally:
            self.after_writing()

    def _has_side(self) -> bool:
        """Return whether the side file is there, and no other file of that name."""
        found = read_side(self.path, self._folder)
        return found is not None and found.key == self.side.key

    def _say(self, side: Side) -> None:
        try:
            # Another file of that name belongs to somebody else.
            write_side(self.path, self._folder, side, first=not self._has_side())
        except FileExistsError as error:
            raise RunError(f"{side_path(self.path)} was replaced by something else") from error
        except OSError as error:
            reason = f"{side_path(self.path)} cannot be written: {error.strerror}"
            raise RunError(reason) from error
        self.side = side
