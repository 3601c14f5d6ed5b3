"""The contents of a list of requests, counted exactly, in the units of table 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab._core import RequestCount
from drivelab.firmware.requests import CAPACITY_BYTES, RECORD_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

_GIB: Final = 1 << 30


@dataclass(frozen=True)
class CountedKind:
    """The requests of one kind.

    Attributes
    ----------
    requests
        How many.
    volume_bytes
        Bytes of all of them.
    footprint_bytes
        Different bytes among these.
    end_bytes
        From the drive's first byte to the last of them.
    """

    requests: int
    volume_bytes: int
    footprint_bytes: int
    end_bytes: int

    @property
    def volume_gib(self) -> float:
        """In GiB."""
        return self.volume_bytes / _GIB

    @property
    def footprint_gib(self) -> float:
        """In GiB."""
        return self.footprint_bytes / _GIB


@dataclass(frozen=True)
class CountedRequests:
    """A list of requests by kind."""

    read: CountedKind
    write: CountedKind
    trim: CountedKind

    @property
    def requests(self) -> int:
        """How many requests there are."""
        return self.read.requests + self.write.requests + self.trim.requests

    @property
    def records(self) -> float:
        """How many records of 1000 requests they are."""
        return self.requests / RECORD_REQUESTS

    def percent(self, kind: str) -> float:
        """Return the share of a kind of requests, in percent."""
        counted: CountedKind = getattr(self, kind)
        return 100 * counted.requests / max(self.requests, 1)


def count_requests(
    chunks: Iterable[NDArray[np.void]], capacity_bytes: int = CAPACITY_BYTES
) -> CountedRequests:
    """Count requests and the bytes that they ask for, each byte once for the footprint.

    Memory is a bit a sector that is asked for: 152.6 GiB take 38 MiB.

    Raises
    ------
    UsageError
        For what is not a request within the capacity.
    """
    count = RequestCount(capacity_bytes)
    for requests in chunks:
        count.add(requests.tobytes())
    return CountedRequests(**{kind: CountedKind(*told) for kind, told in count.told().items()})
