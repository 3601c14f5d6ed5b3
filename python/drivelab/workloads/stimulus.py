"""The requests that a host keeps sending: an access pattern of the performance test specification.

::

    threads x queue_depth requests are outstanding; each completion submits the next
        read or write     by the share of reads
        how large         by the shares of the sizes
        where             at random in a zone, by the shares of the zones, or in order
"""

from __future__ import annotations

import math
from dataclasses import MISSING, asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from drivelab._core import MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES, SECTOR_BYTES
from drivelab.errors import UsageError
from drivelab.workloads.content import CONTENTS, USUAL
from drivelab.workloads.given import (
    END,
    attributes_of,
    check_items,
    is_number,
    is_whole,
    shown,
)

if TYPE_CHECKING:
    from drivelab._core import StimulusTuple

#: Shares may be rounded decimal fractions, so their sum may be off by this.
_SUM_TOLERANCE: Final = 1e-6
_MOST_THREADS: Final = 1024
_SIZES: Final = "pairs of bytes and a share"
_ZONES: Final = "pairs of a share of accesses and of the range"
_WHOLE: Final = ("range_bytes", "threads", "queue_depth", "range_start_bytes", "begin_bytes")


@dataclass(frozen=True)
class Stimulus:
    """One access pattern.

    Attributes
    ----------
    read_ratio
        Share of reads, 0 to 1; the rest are writes.
    sizes
        Request sizes in bytes (whole sectors, at most 64 MiB), each with its share of the requests;
        the shares add up to 1.
    is_random
        Whether offsets are random multiples of the request's size. Otherwise each request follows
        the one before, and starts again at the beginning when no further one fits.
    zones
        Shares of accesses and of the range, in order from the start of the range; each add up to 1.
        Only for random accesses.
    threads
        Number of programs that send. For accesses in order, each has an equal part of the range.
    queue_depth
        Outstanding requests of each thread.
    range_start_bytes, range_bytes
        Part of the drive that is accessed, in whole sectors.
    begin_bytes
        For accesses in order: where each thread begins within its part of the range. Whole sectors,
        less than the part.
    content
        Kind of written data: ``zero``, ``database`` or ``random``.
    is_forced
        Whether a write completes only when it would survive a power failure.

    Raises
    ------
    UsageError
        Names the impossible value and the allowed ones.
    """

    read_ratio: float
    sizes: tuple[tuple[int, float], ...]
    range_bytes: int
    is_random: bool = True
    zones: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    threads: int = 1
    queue_depth: int = 1
    range_start_bytes: int = 0
    begin_bytes: int = 0
    content: str = USUAL
    is_forced: bool = False

    def __post_init__(self) -> None:
        self._check_types()
        self._check_sizes()
        self._check_zones()
        if not 0 <= self.read_ratio <= 1:
            raise UsageError(f"read_ratio is {self.read_ratio}; allowed: 0 to 1")
        for name, value, most in (
            ("threads", self.threads, _MOST_THREADS),
            ("queue_depth", self.queue_depth, MAX_QUEUE_DEPTH),
            ("threads x queue_depth", self.outstanding, MAX_QUEUE_DEPTH),
        ):
            if not 1 <= value <= most:
                raise UsageError(f"{name} is {value}; allowed: 1 to {most}")
        if self.content not in CONTENTS:
            raise UsageError(f"content is {self.content!r}; allowed: {', '.join(CONTENTS)}")

    @classmethod
    def of_size(
        cls, size_bytes: int, read_ratio: float, range_bytes: int, **others: Any
    ) -> Stimulus:
        """Return a stimulus with a single request size; `others` are attributes by name."""
        return cls(
            read_ratio=read_ratio, sizes=((size_bytes, 1.0),), range_bytes=range_bytes, **others
        )

    @property
    def outstanding(self) -> int:
        """Outstanding requests of all threads."""
        return self.threads * self.queue_depth

    @property
    def largest_bytes(self) -> int:
        """Size of the largest request in bytes."""
        return max(size for size, _ in self.sizes)

    @property
    def part_bytes(self) -> int:
        """Size of each thread's part of the range, for accesses in order: whole requests."""
        return self.range_bytes // self.threads // self.largest_bytes * self.largest_bytes

    def as_tuple(self) -> StimulusTuple:
        """Return the attributes in the order of the native core."""
        return (
            self.read_ratio,
            self.is_random,
            list(self.sizes),
            list(self.zones),
            self.threads,
            self.queue_depth,
            self.range_start_bytes,
            self.range_bytes,
            self.begin_bytes,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the attributes; their names contain the units."""
        values = asdict(self)
        values["sizes"] = [list(each) for each in self.sizes]
        values["zones"] = [list(each) for each in self.zones]
        return values

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Stimulus:
        """Read a value that `to_json` wrote; `UsageError` for anything else."""
        every = fields(cls)
        required = [each.name for each in every if each.default is MISSING]
        values = dict(attributes_of(data, "a stimulus", [each.name for each in every], required))
        for name, allowed in (("sizes", _SIZES), ("zones", _ZONES)):
            if name in values:
                check_items(name, values[name], lambda each: isinstance(each, list), allowed)
                values[name] = tuple(tuple(each) for each in values[name])
        return cls(**values)

    def _check_types(self) -> None:
        check_items("sizes", self.sizes, _is_size, _SIZES)
        check_items("zones", self.zones, _is_zone, _ZONES)
        if not is_number(self.read_ratio):
            raise UsageError(f"read_ratio is {shown(self.read_ratio)}; allowed: 0 to 1")
        for name in _WHOLE:
            value = getattr(self, name)
            if not is_whole(value) or not -END < value < END:
                raise UsageError(f"{name} is {shown(value)}; allowed: a whole number")
        for name in ("is_random", "is_forced"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name} is {shown(getattr(self, name))}; allowed: true or false")

    def _check_sizes(self) -> None:
        for size, _ in self.sizes:
            if size <= 0 or size % SECTOR_BYTES or size > MAX_REQUEST_BYTES:
                raise UsageError(
                    f"a request of {size} bytes; allowed: multiples of {SECTOR_BYTES} up to "
                    f"{MAX_REQUEST_BYTES}"
                )
        _check_shares("sizes", [share for _, share in self.sizes])
        largest = self.largest_bytes
        start, length = self.range_start_bytes, self.range_bytes
        if start < 0 or start % SECTOR_BYTES or length % SECTOR_BYTES or length < largest:
            raise UsageError(
                f"{length} bytes from {start} on are not a range for requests of {largest} bytes; "
                f"allowed: multiples of {SECTOR_BYTES}, at least one request"
            )
        if self.begin_bytes < 0 or self.begin_bytes % SECTOR_BYTES:
            raise UsageError(
                f"begin_bytes is {self.begin_bytes}; allowed: multiples of {SECTOR_BYTES}"
            )

    def _check_zones(self) -> None:
        _check_shares("accesses of the zones", [accesses for accesses, _ in self.zones])
        _check_shares("ranges of the zones", [part for _, part in self.zones])
        if len(self.zones) > 1 and not self.is_random:
            raise UsageError("accesses in order have no zones; allowed: one zone, or random ones")


def _is_size(pair: object) -> bool:
    return _is_zone(pair) and is_whole(pair[0])


def _is_zone(pair: object) -> TypeGuard[tuple[float, float]]:
    return isinstance(pair, tuple) and len(pair) == 2 and all(map(is_number, pair))


def _check_shares(what: str, shares: list[float]) -> None:
    if not shares or any(not share > 0 for share in shares):
        raise UsageError(f"shares of {what} are {shares}; allowed: at least one, each above 0")
    if abs(math.fsum(shares) - 1) > _SUM_TOLERANCE:
        raise UsageError(f"shares of {what} add up to {math.fsum(shares):g}; allowed: 1")
