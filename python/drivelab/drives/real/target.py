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
        """Where it is, links resolved."""
        ...

    @property
    def place(self) -> FileLocation | None:
        """Where a file lies; `None` for a device."""
        ...

    @property
    def device(self) -> BlockDevice | None:
        """The device, or the drive below a file if the kernel reports one."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether it is a drive, not a file, a partition or what is made of others."""
        ...

    @property
    def descriptor(self) -> int:
        """Open, at least for reading."""
        ...

    @property
    def locks(self) -> tuple[int, ...]:
        """Descriptors that hold its locks: `descriptor`, and of what it lies over."""
        ...

    @property
    def capacity_bytes(self) -> int:
        """Bytes that may be addressed."""
        ...

    @property
    def write_refusal(self) -> str | None:
        """Why it may only be read, or `None`."""
        ...

    def check_present(self) -> None:
        """Raise `RunError` when the path names something else by now."""
        ...

    @property
    def mark(self) -> Mark | None:
        """What data written to it carries; `None` where that is all one."""
        ...

    def before_writing(self, written: Written | None = None) -> None:
        """Raise `RunError` when it may not be written any more, or not by such a workload."""
        ...

    def after_writing(self) -> None:
        """Take note that a workload that writes is over."""
        ...

    def describe(self) -> dict[str, Any]:
        """Say what it is, JSON-able."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


@contextlib.contextmanager
def writing(target: Target, written: Written | None) -> Iterator[None]:
    """Check a target before a workload that writes, and have it note the end; `None` only reads.

    Raises
    ------
    RunError
        When it may not be written any more.
    """
    if written is None:
        yield
        return
    target.before_writing(written)
    try:
        yield
    finally:
        target.after_writing()
