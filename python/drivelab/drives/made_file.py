"""A file that Drivelab made: filled, kept true to its side file while it is measured, and removed.

::

    create ── first sectors, side file "filling" ── filled ── "ready"
    before a workload that writes: unchanged since?  ── "writing"
    at the end: left as it is, "ready" again  |  removed, if its samples carry the key

While it is open the file is locked, and its times are noted after everything that Drivelab writes:
a change in between is somebody else's.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from drivelab._core import KeyedContent
from drivelab.drives.ownership import BuffersOf, Evidence, as_left
from drivelab.drives.side_file import Side, read_side, remove_side, side_path, write_side
from drivelab.errors import RunError

_FILL_BYTES: Final = 4 * 2**20
#: Written before anything else, so that a file that was begun carries its key.
FIRST_BYTES: Final = 4096


@dataclass(frozen=True)
class Mark:
    """What makes content that fio writes known again.

    Attributes
    ----------
    tag
        Ends each sector that fio fills anew, in hexadecimal digits.
    randseed
        Of the buffers that fio keeps.
    """

    tag: str
    randseed: int


@dataclass(frozen=True)
class Written:
    """What a workload is about to write.

    Attributes
    ----------
    content
        What its data looks like.
    buffers
        Queue depth and the largest request in bytes where fio keeps its buffers; ``None`` where it
        fills them anew.
    """

    content: str
    buffers: tuple[int, int] | None = None


class MadeFile:
    """A file of Drivelab's own, open for writing and locked.

    Parameters
    ----------
    path
        Where it is, links resolved.
    folder
        Descriptor of its folder, open as long as this is used.
    descriptor
        Of the file.
    side
        What its side file says, which was proved or was written just now.
    buffers_of
        Gives what fio's buffers hold.
    times_tell
        Whether a file's times change with the file and never later, as on network file systems.
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
        self._known = self._times()

    @property
    def mark(self) -> Mark:
        """What fio is to write by."""
        return Mark(self._content.tag.hex(), self._content.randseed)

    def begin(self) -> None:
        """Write the side file and the first sectors.

        Raises
        ------
        FileExistsError
            When something has the side file's name and is none.
        """
        # One of a file that is gone has no meaning any more.
        first = read_side(self.path, self._folder) is None
        write_side(self.path, self._folder, self.side, first=first)
        self._write(0, FIRST_BYTES)

    def fill(self) -> None:
        """Write the whole file, and say that it is ready."""
        size_bytes = self.side.size_bytes
        for place in range(0, size_bytes, _FILL_BYTES):
            self._write(place, min(_FILL_BYTES, size_bytes - place))
        self._settle()
        os.posix_fadvise(self._descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    def keep(self) -> None:
        """Say that the user wants the file to stay."""
        if not self.side.keep:
            self._say(replace(self.side, keep=True))

    def before_writing(self, written: Written) -> None:
        """Check that nobody else changed the file, and say that a workload may from now on.

        Raises
        ------
        RunError
            When somebody did.
        """
        self._check_unchanged("nothing more is written to it")
        now = self.side.writing(written.content, written.buffers)
        if now != self.side:
            self._say(now)

    def after_writing(self) -> None:
        """Note what the file looks like after a workload."""
        self._known = self._times()

    def end(self, *, remove: bool) -> None:
        """Leave the file to whoever opens it next, or remove it.

        Raises
        ------
        RunError
            As `remove`; and when it was changed by something else, and so is left to nobody.
        """
        if remove:
            self.remove()
        elif self.side.state == "writing":
            self._check_unchanged("Drivelab will only read it from now on")
            self._settle()

    def _settle(self) -> None:
        """Bring everything to the medium, and say how the file is left."""
        left = as_left(self._descriptor, self.side)
        self._say(replace(self.side, state="ready", left=left))
        self.after_writing()

    def remove(self) -> None:
        """Remove the file and its side file, if the path names it and nobody else wrote to it.

        Raises
        ------
        RunError
            When somebody did: the file stays, and this says why.
        """
        if not self._is_named(self.path.name):
            return
        if self.side.state != "filling":
            self._check_unchanged("it is not removed")
        found = Evidence(self._descriptor, self.side, self._buffers_of, self._whole()).samples()
        may_be_zero = self.side.state == "filling" or "zero" in self.side.contents
        if found.foreign or (found.zero and not may_be_zero):
            raise RunError(f"{self.path} holds what Drivelab did not write; it is not removed")
        self._unlink()
        if self._has_side():
            remove_side(self.path, self._folder)

    def _unlink(self) -> None:
        """Remove the name, unless another file took it in this very moment."""
        away = f".{self.path.name}.{secrets.token_hex(8)}"
        os.rename(self.path.name, away, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        if self._is_named(away):
            os.unlink(away, dir_fd=self._folder)
            return
        # As it was; should the name be taken again by now, both files are still there.
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
        raise RunError(f"{self.path} was replaced while it was removed; what lay there is {away}")

    def _is_named(self, name: str) -> bool:
        try:
            now = os.stat(name, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        ours = os.fstat(self._descriptor)
        return (now.st_dev, now.st_ino) == (ours.st_dev, ours.st_ino)

    def _check_unchanged(self, consequence: str) -> None:
        if self._times_tell and self._known != self._times():
            raise RunError(
                f"{self.path} was changed by something else while it was measured; {consequence}"
            )

    def _times(self) -> tuple[int, int, int]:
        status = os.fstat(self._descriptor)
        return status.st_ctime_ns, status.st_mtime_ns, status.st_size

    def _whole(self) -> int:
        """Return how many bytes of the file are whole sectors, of one that is half made too."""
        return min(self.side.size_bytes, os.fstat(self._descriptor).st_size // 512 * 512)

    def _write(self, place: int, size: int) -> None:
        block = memoryview(self._content.fill(place, size))
        while block:
            written = os.pwrite(self._descriptor, block, place)
            block, place = block[written:], place + written
        self._known = self._times()

    def _has_side(self) -> bool:
        """Whether the side file is there, and no other file of that name."""
        found = read_side(self.path, self._folder)
        return found is not None and found.key == self.side.key

    def _say(self, side: Side) -> None:
        try:
            # What lies there and is not the side file is somebody else's.
            write_side(self.path, self._folder, side, first=not self._has_side())
        except FileExistsError as error:
            raise RunError(f"{side_path(self.path)} was replaced by something else") from error
        self.side = side
