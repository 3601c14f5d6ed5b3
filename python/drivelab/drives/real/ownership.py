"""Whether a file is the one that Drivelab made, and nobody else wrote to it.

A name, an inode and a size prove nothing: a copy over the file keeps all three. So a file is ours
only if all of the following is true, and what cannot be checked counts as false:

=============  ==================================  ===============================================
state          identity                            content
=============  ==================================  ===============================================
``ready``      inode, generation, size, times of   the sampled sectors are those that were left,
               change and of content as left       and carry the file's key
``writing``    inode, generation, size             every sector carries the key
``filling``    inode, generation, size             every sector carries the key or is yet empty
=============  ==================================  ===============================================

A killed run leaves ``writing``: the time of its last write is not known.
``crates/workload/src/keyed_content.rs`` defines how content carries the key.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from drivelab._core import KeyedContent
from drivelab.drives.real.side_file import AsLeft, Side, generation_of
from drivelab.errors import RunError, UsageError
from drivelab.notes import print_note
from drivelab.units import format_size

SECTOR_BYTES: Final = 512
_SAMPLES: Final = 64
_CHUNK_BYTES: Final = 4 * 2**20
_SECOND_NS: Final = 10**9
# The slowest kernel clock ticks a hundred times per second.
_TICK_NS: Final = 20_000_000
# More takes some seconds, and the user waits.
_QUICKLY_READ_BYTES: Final = 2**30
_FOREIGN: Final = "it contains data that Drivelab did not write"

#: Yields what fio's buffers contain for a seed, a queue depth and a request size, in pieces.
BuffersOf = Callable[[int, int, int], Iterator[bytes]]


@dataclass(frozen=True)
class Counted:
    """Numbers of sectors that carry the key, that contain only zeroes, and of all others."""

    keyed: int
    zero: int
    foreign: int

    def __add__(self, other: Counted) -> Counted:
        return Counted(
            self.keyed + other.keyed, self.zero + other.zero, self.foreign + other.foreign
        )


class Evidence:
    """What the content of an open file shows about who wrote it.

    Parameters
    ----------
    descriptor
        The file, open for reading.
    side
        Contents of its side file.
    buffers_of
        Returns the content of fio's buffers, if fio is available.
    size_bytes
        Size of the file in whole sectors; default: the size it was made with.
    """

    def __init__(
        self,
        descriptor: int,
        side: Side,
        buffers_of: BuffersOf | None,
        size_bytes: int | None = None,
    ) -> None:
        self._descriptor = descriptor
        self._side = side
        self._buffers_of = buffers_of
        self._size_bytes = side.size_bytes if size_bytes is None else size_bytes
        self._content = KeyedContent(side.key)
        self._learned = False

    def all_sectors(self) -> Counted:
        """Read the whole file, or up to the first sector that is not ours."""
        return self._counted(range(0, self._size_bytes, _CHUNK_BYTES), _CHUNK_BYTES)

    def samples(self, most: int = _SAMPLES) -> Counted:
        """Read some sectors: the first, the last, and up to `most` that the key chooses."""
        return self._counted(self._places(most), SECTOR_BYTES)

    def digest(self) -> str:
        """Return the digest of those sectors."""
        digest = hashlib.blake2b(digest_size=16, key=self._side.key)
        for place in self._places():
            digest.update(self._read(place, SECTOR_BYTES))
        return digest.hexdigest()

    def _places(self, most: int = _SAMPLES) -> list[int]:
        sectors = self._size_bytes // SECTOR_BYTES
        if sectors == 0:
            return []
        drawn = (self._draw(number) % sectors for number in range(most))
        return [place * SECTOR_BYTES for place in sorted({0, sectors - 1, *drawn})]

    def _draw(self, number: int) -> int:
        key = self._side.key
        return int.from_bytes(hashlib.blake2b(b"%d" % number, digest_size=8, key=key).digest())

    def _counted(self, places: range | list[int], size: int) -> Counted:
        total = Counted(0, 0, 0)
        for place in places:
            content = self._read(place, size)
            found = Counted(*self._content.tally(content))
            if found.foreign and self._learn():
                found = Counted(*self._content.tally(content))
            total = total + found
            if found.foreign:
                break
        return total

    def _learn(self) -> bool:
        """Learn what fio's buffers contain, once, if the file was written from any."""
        if self._learned or self._buffers_of is None or not self._side.buffers:
            return False
        self._learned = True
        for depth, size in self._side.buffers:
            for part in self._buffers_of(self._content.randseed, depth, size):
                self._content.learn(part)
        return True

    def _read(self, place: int, size: int) -> bytes:
        size = min(size, self._size_bytes - place)
        parts = []
        while size > 0 and (part := os.pread(self._descriptor, size, place)):
            parts.append(part)
            place, size = place + len(part), size - len(part)
        if size:
            raise RunError(f"it ends {format_size(size)} early")
        return b"".join(parts)


def as_left(descriptor: int, side: Side) -> AsLeft | None:
    """Return how a file is left, after all that was written is on the medium.

    Returns
    -------
    AsLeft or None
        ``None`` if the file system's times are too coarse to show a later change.
    """
    os.fsync(descriptor)
    status = os.fstat(descriptor)
    if status.st_ctime_ns % _SECOND_NS == 0:
        return None
    # Later writes must have another time, but a kernel may count in ticks.
    while abs(time.time_ns() - status.st_ctime_ns) < _TICK_NS:
        time.sleep(_TICK_NS / _SECOND_NS / 4)
    samples = Evidence(descriptor, side, None).digest()
    return AsLeft(status.st_ctime_ns, status.st_mtime_ns, samples)


def times_of(descriptor: int) -> tuple[int, int, int]:
    """Return when a file and its content were last changed, in ns, and its size."""
    status = os.fstat(descriptor)
    return status.st_ctime_ns, status.st_mtime_ns, status.st_size


def why_not_ours(descriptor: int, side: Side, buffers_of: BuffersOf | None = None) -> str | None:
    """Return why an open file may not be as Drivelab left it; ``None`` if it is.

    Parameters
    ----------
    descriptor
        The file, open for reading.
    side
        Contents of its side file.
    buffers_of
        See `Evidence`.
    """
    before = times_of(descriptor)
    reason = _other_identity(descriptor, side) or _other_content(descriptor, side, buffers_of)
    if reason is None and times_of(descriptor) != before:
        reason = "it was changed while it was looked at"
    return reason


def _other_identity(descriptor: int, side: Side) -> str | None:
    generation, status = generation_of(descriptor), os.fstat(descriptor)
    if side.generation is None or generation is None:
        return "its file system does not distinguish a file from a later one with the same inode"
    # Another user's side file may contain anything.
    then, now = (side.owner, side.inode, side.generation), (status.st_uid, status.st_ino)
    if then != (*now, generation):
        return "another file has its name by now"
    if side.state == "filling":
        return None if status.st_size <= side.size_bytes else "it has grown since"
    if status.st_size != side.size_bytes:
        return f"it had {format_size(side.size_bytes)} then"
    left = side.left
    if side.state != "ready" or left is None:
        return None
    as_then = times_of(descriptor)[:2] == (left.changed_ns, left.modified_ns)
    return None if as_then else "it was changed since"


def _other_content(descriptor: int, side: Side, buffers_of: BuffersOf | None) -> str | None:
    check = {"filling": _of_filling, "ready": _of_ready, "writing": _of_writing}[side.state]
    try:
        return check(descriptor, side, buffers_of)
    except (OSError, RunError, UsageError) as error:
        return f"its content cannot be checked: {error}"


def _of_filling(descriptor: int, side: Side, _: BuffersOf | None) -> str | None:
    size_bytes = os.fstat(descriptor).st_size
    if size_bytes == 0:
        return None  # killed before the first sector: there is nothing that anybody could lose
    if size_bytes % SECTOR_BYTES:
        return _FOREIGN
    found = Evidence(descriptor, side, None, size_bytes).all_sectors()
    if found.foreign:
        return _FOREIGN
    return None if found.keyed else "it was not begun when Drivelab was stopped"


def _of_ready(descriptor: int, side: Side, buffers_of: BuffersOf | None) -> str | None:
    evidence = Evidence(descriptor, side, buffers_of)
    if side.left is None or evidence.digest() != side.left.samples:
        return _FOREIGN
    found = evidence.samples()
    return _FOREIGN if found.foreign or (found.zero and "zero" not in side.contents) else None


def _of_writing(descriptor: int, side: Side, buffers_of: BuffersOf | None) -> str | None:
    if side.size_bytes > _QUICKLY_READ_BYTES:
        size = format_size(side.size_bytes)
        print_note(f"reading {size} to see that nobody else wrote to the file")
    found = Evidence(descriptor, side, buffers_of).all_sectors()
    if found.foreign:
        return _FOREIGN
    return "it contains zeroes, so nothing shows who wrote it" if found.zero else None
