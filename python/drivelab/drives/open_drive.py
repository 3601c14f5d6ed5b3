"""What every drive says about itself, and the handle of an open drive."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal, Protocol, Self

DriveKind = Literal["simulated", "closed_form", "real"]


class NamedDrive(Protocol):
    """What every drive says about itself, open or not."""

    @property
    def name(self) -> str:
        """The one string that names it everywhere: ``sim:x25m``, ``/dev/sda``."""
        ...

    @property
    def kind(self) -> DriveKind:
        """The kind of drive; results of one kind are never shown as another's."""
        ...

    @property
    def capacity_bytes(self) -> int:
        """Bytes that workloads may address."""
        ...

    @property
    def block_bytes(self) -> int:
        """Sizes and strides of requests are whole multiples of this, the logical block."""
        ...


class OpenDrive(NamedDrive, Protocol):
    """A drive that is held open.

    A context manager: leaving it closes the drive.
    """

    def identity(self) -> dict[str, Any]:
        """Return everything that identifies the drive, as JSON values.

        A run resumes only on a drive with the same identity. What may change between two starts
        (free space, a kernel's version) goes under the key ``volatile``, which is stored but not
        compared.
        """
        ...

    def close(self) -> None:
        """Release the drive; removes a file that was made for it."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
