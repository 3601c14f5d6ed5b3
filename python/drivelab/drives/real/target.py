"""What a real drive measures: an open file or block device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from drivelab.drives.real.block_devices import BlockDevice
    from drivelab.drives.real.file_location import FileLocation
    from drivelab.drives.real.fio.content import Mark
    from drivelab.drives.real.made_file import Written


class Target(Protocol):
    """What is measured: an open file or block device."""

    @property
    def path(self) -> Path:
        """Return its path, links resolved."""
        ...

    @property
    def place(self) -> FileLocation | None:
        """Return the location of a file; `None` for a device."""
        ...

    @property
    def device(self) -> BlockDevice | None:
        """Return the device, or the drive below a file if the kernel reports one."""
        ...

    @property
    def is_whole(self) -> bool:
        """Return whether it is a drive, not a file, a partition or a device made of others."""
        ...

    @property
    def descriptor(self) -> int:
        """Return the open descriptor, at least readable."""
        ...

    @property
    def locks(self) -> tuple[int, ...]:
        """Return the descriptors that keep its locks: its own, and those of what is below it."""
        ...

    @property
    def capacity_bytes(self) -> int:
        """Return the bytes that may be addressed."""
        ...

    @property
    def write_refusal(self) -> str | None:
        """Return why it may only be read, or `None`."""
        ...

    def check_present(self) -> None:
        """Raise `RunError` if the path names something else now."""
        ...

    @property
    def mark(self) -> Mark | None:
        """Return the mark on written data; `None` if no mark is needed."""
        ...

    def before_writing(self, written: Written | None = None) -> None:
        """Raise `RunError` if it may not be written any more, or not by such a workload."""
        ...

    def after_writing(self) -> None:
        """Note that a workload that writes has ended."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return what it is, as JSON values."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


@contextlib.contextmanager
def writing(target: Target, written: Written | None) -> Iterator[None]:
    """Check a target before a workload that writes, and tell it the end; `None` only reads.

    Raises
    ------
    RunError
        If it may not be written any more.
    """
    if written is None:
        yield
        return
    target.before_writing(written)
    try:
        yield
    finally:
        target.after_writing()
