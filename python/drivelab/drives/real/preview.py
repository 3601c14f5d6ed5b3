"""What a real drive could be asked for, without making, writing or locking anything.

Files and devices are opened only for reading, and fio is not needed. What opening the drive would
refuse is refused here in the same words, as far as reading shows.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from drivelab.drives.real.block_devices import THIS_MACHINE, SystemRoots
from drivelab.drives.real.direct_io import direct_block_bytes
from drivelab.drives.real.file_location import FileLocation, locate_file
from drivelab.drives.real.fio.asked import check_on_drive
from drivelab.drives.real.fio.buffers import buffers_with
from drivelab.drives.real.fio.program import find_fio
from drivelab.drives.real.opened_path import open_folder, open_in
from drivelab.drives.real.ownership import BuffersOf, why_not_ours
from drivelab.drives.real.side_file import read_side
from drivelab.drives.real.target_device import look_at_device
from drivelab.drives.real.target_file import (
    ALIGNMENT,
    DEFAULT_SIZE_BYTES,
    check_content,
    check_makeable,
    check_named,
    only_read,
    used_file,
)
from drivelab.errors import UsageError
from drivelab.named_file import reason_unread
from drivelab.workloads.workload import Workload

# If the drive below does not report it: more than any drive needs.
_ASSUMED_BLOCK_BYTES: Final = 4096


@dataclass(frozen=True)
class RealPreview:
    """A real drive that is not opened.

    Attributes
    ----------
    name
        Name as the user gave it.
    capacity_bytes
        Bytes that workloads may address.
    block_bytes
        Requests are multiples of this.
    block_assumed
        Whether the block size is assumed, because the file does not exist yet.
    file_bytes
        Size of the file that would be made and filled; 0 if it exists.
    write_refusal
        Why it may only be read, or `None`.
    """

    name: str
    capacity_bytes: int
    block_bytes: int
    block_assumed: bool
    file_bytes: int
    write_refusal: str | None
    kind: Literal["real"] = "real"

    def check(self, workload: Workload) -> None:
        """Raise for `workload` as the opened drive would."""
        check_on_drive(
            workload, self.name, self.capacity_bytes, self.block_bytes, self.write_refusal
        )


def preview_real_drive(
    name: str,
    *,
    size_bytes: int | None = None,
    keep: bool = False,
    allow_destructive: str | None = None,
    roots: SystemRoots = THIS_MACHINE,
) -> RealPreview:
    """Look at a block device or a file; parameters as for `open_real_drive`.

    Raises
    ------
    UsageError
        If the path cannot be measured; the error gives the reason and a remedy.
    """
    if Path(name).is_block_device():
        return _preview_device(name, size_bytes, keep, allow_destructive, roots)
    place = locate_file(name, roots)
    check_named(place, allow_destructive)
    if place.exists:
        return _preview_file(name, place, size_bytes, allow_destructive, roots)
    asked = DEFAULT_SIZE_BYTES if size_bytes is None else size_bytes
    check_makeable(place.path, asked)
    return _yet_to_be_made(name, place, asked)


def _yet_to_be_made(name: str, place: FileLocation, size_bytes: int) -> RealPreview:
    known = None if place.device is None else place.device.logical_block_bytes
    return RealPreview(
        name=name,
        capacity_bytes=size_bytes,
        block_bytes=known or _ASSUMED_BLOCK_BYTES,
        block_assumed=True,
        file_bytes=size_bytes,
        write_refusal=None,
    )


def _preview_file(
    name: str,
    place: FileLocation,
    size_bytes: int | None,
    allow_destructive: str | None,
    roots: SystemRoots,
) -> RealPreview:
    path = place.path
    descriptor = _opened(path)
    try:
        used = used_file(path, descriptor, roots, to_write=allow_destructive is not None)
        side = read_side(path) if used is None else None
        foreign = None if side is None else why_not_ours(descriptor, side, _buffers())
        made = side is not None and foreign is None
        if side is not None and made and side.state == "filling":
            return _yet_to_be_made(name, place, side.size_bytes)
        actual = os.fstat(descriptor).st_size
        check_content(path, descriptor, actual, size_bytes, made=made)
        refusal = used
        if used is None and not made and allow_destructive is None:
            refusal = only_read(path, foreign)
        return RealPreview(
            name=name,
            capacity_bytes=actual // ALIGNMENT * ALIGNMENT,
            block_bytes=direct_block_bytes(path, descriptor),
            block_assumed=False,
            file_bytes=0,
            write_refusal=refusal,
        )
    finally:
        os.close(descriptor)


def _buffers() -> BuffersOf | None:
    """Return what fio's buffers contain if there is a fio; without one less can be proved."""
    try:
        return buffers_with(find_fio())
    except UsageError:
        return None


def _preview_device(
    name: str,
    size_bytes: int | None,
    keep: bool,
    allow_destructive: str | None,
    roots: SystemRoots,
) -> RealPreview:
    device, refusals = look_at_device(
        name, size_bytes=size_bytes, keep=keep, allow_destructive=allow_destructive, roots=roots
    )
    descriptor = _opened(Path(device.path))
    try:
        block_bytes = direct_block_bytes(Path(device.path), descriptor)
    finally:
        os.close(descriptor)
    return RealPreview(
        name=name,
        capacity_bytes=device.size_bytes,
        block_bytes=block_bytes,
        block_assumed=False,
        file_bytes=0,
        write_refusal="; ".join(refusals) or None,
    )


def _opened(path: Path) -> int:
    try:
        with contextlib.ExitStack() as undo:
            folder = open_folder(path.parent)
            undo.callback(os.close, folder)
            return open_in(folder, path.name, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason_unread(error)}") from error
