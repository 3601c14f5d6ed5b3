"""One transfer of a whole file at one request size (Boito et al. 2015, section 3)."""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, get_args

from drivelab._core import MAX_REQUEST_BYTES, SECTOR_BYTES, Stream
from drivelab.errors import UsageError
from drivelab.units import format_size
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.given import END, attributes_of, is_whole, shown

if TYPE_CHECKING:
    from drivelab._core import PassTuple

Direction = Literal["read", "write"]

KIB: Final = 1024
MIB: Final = 1024 * KIB


@dataclass(frozen=True)
class WholePass:
    """One transfer of a whole file, with one request at a time.

    Attributes
    ----------
    direction
        ``read`` or ``write``.
    is_random
        Whether requests are in random order, each once; otherwise in the order of the file.
    request_bytes
        Size of a request: whole sectors, at most the file and at most 64 MiB.
    file_bytes
        Size of the file in whole sectors. A rest that is smaller than a request is not transferred.
    start_bytes
        Start of the file on the drive, a multiple of a sector.
    first_requests
        Stop after this many requests, at least one: a partial pass. ``None`` transfers the whole
        file.

    Raises
    ------
    UsageError
        Names the impossible value and the allowed ones.
    """

    kind: ClassVar[Literal["whole_pass"]] = "whole_pass"

    direction: Direction
    is_random: bool
    request_bytes: int
    file_bytes: int
    start_bytes: int = 0
    first_requests: int | None = None

    def __post_init__(self) -> None:
        if self.direction not in get_args(Direction):
            allowed = " or ".join(get_args(Direction))
            raise UsageError(f"direction is {shown(self.direction)}; allowed: {allowed}")
        if not isinstance(self.is_random, bool):
            raise UsageError(f"is_random is {shown(self.is_random)}; allowed: true or false")
        for name in ("request_bytes", "file_bytes", "start_bytes", "first_requests"):
            value = getattr(self, name)
            if value is None and name == "first_requests":
                continue
            if not is_whole(value) or not 0 <= value < END:
                raise UsageError(f"{name} is {shown(value)}; allowed: a whole number from 0")
        size = self.request_bytes
        if size % SECTOR_BYTES or not SECTOR_BYTES <= size <= MAX_REQUEST_BYTES:
            raise UsageError(
                f"request_bytes is {size}; allowed: a multiple of {SECTOR_BYTES} from "
                f"{SECTOR_BYTES} to {MAX_REQUEST_BYTES}"
            )
        if size > self.file_bytes:
            raise UsageError(
                f"request_bytes is {size}; allowed: at most file_bytes, {self.file_bytes}"
            )
        # Where the file lies is checked when requests are made.
        self.streams()

    @property
    def whole_requests(self) -> int:
        """Number of requests in the whole file."""
        return self.file_bytes // self.request_bytes

    @property
    def requests(self) -> int:
        """Number of requests that are sent."""
        whole = self.whole_requests
        return whole if self.first_requests is None else min(max(1, self.first_requests), whole)

    @property
    def is_partial(self) -> bool:
        """Whether it stops before the end of the file."""
        return self.requests < self.whole_requests

    @property
    def transferred_bytes(self) -> int:
        """Bytes that are transferred."""
        return self.requests * self.request_bytes

    @property
    def footprint_bytes(self) -> int:
        """Bytes from the start of the drive to the end of the file."""
        return self.start_bytes + self.file_bytes

    def describe(self) -> str:
        """Describe in one line what is sent."""
        order = "at random" if self.is_random else "in order"
        part = f"the first {self.requests:,} requests of " if self.is_partial else ""
        return (
            f"{self.direction}s {part}a file of {format_size(self.file_bytes)} by "
            f"{format_size(self.request_bytes)} {order}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the attributes; their names contain the units."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> WholePass:
        """Read a value that `to_json` wrote; `UsageError` for anything else."""
        every = fields(cls)
        required = [each.name for each in every if each.default is MISSING]
        return cls(**attributes_of(data, "a pass", [each.name for each in every], required))

    def characteristics(self) -> Characteristics:
        """Return the characteristics of the pass: one request at a time."""
        is_write = self.direction == "write"
        return Characteristics(
            write_ratio=float(is_write),
            queue_depth=1,
            read_size=self.request_bytes,
            write_size=self.request_bytes,
            read_random=float(self.is_random),
            write_random=float(self.is_random),
        )

    def streams(self) -> list[Stream]:
        """Return the streams for a drive: one, with one request at a time."""
        return [Stream.of_pass(self.as_tuple())]

    def as_tuple(self) -> PassTuple:
        """Return the fields in the order of the native core."""
        return (
            self.direction,
            self.is_random,
            self.request_bytes,
            self.start_bytes,
            self.file_bytes,
            self.first_requests,
        )


#: Intervals of request sizes in Boito et al. 2015, section 4.1: first, last, step. The paper's
#: units are those of IOzone, which are binary.
BOITO2015_INTERVALS: Final = ((8 * KIB, 64 * KIB, 8 * KIB), (64 * KIB, 4 * MIB, 32 * KIB))

#: All distinct sizes in these intervals: 134.
BOITO2015_SIZES: Final = tuple(
    sorted({size for low, high, gap in BOITO2015_INTERVALS for size in range(low, high + 1, gap)})
)

#: The paper's file sizes.
BOITO2015_FILES: Final = tuple(size * MIB for size in (40, 200, 400, 800, 1200))
