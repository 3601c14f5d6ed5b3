"""A workload as a vector of characteristics (Huang et al. 2011, equation 4)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from drivelab._core import MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES, SECTOR_BYTES, Stream
from drivelab.errors import UsageError
from drivelab.units import format_size, parse_size
from drivelab.workloads.given import is_number, is_whole, refuses_unknown_names, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from drivelab._core import CharacteristicsTuple

# fio and SQLite keep offsets and strides as signed 64-bit numbers.
MAX_STRIDE_BYTES: Final = 2**63 - SECTOR_BYTES

_SIZES: Final = ("read_size", "write_size")
# Longest text that may be a size; errors show no more of it.
_LONGEST_SIZE: Final = 50
_STRIDES: Final = ("read_stride", "write_stride")


@refuses_unknown_names("characteristic")
@dataclass(frozen=True)
class Characteristics:
    """A workload; by default random reads of 4 KiB, one at a time.

    Attributes
    ----------
    write_ratio
        Share of requests that write, 0 to 1.
    queue_depth
        Outstanding requests at any time, 1 to 65536.
    read_size, write_size
        Request size in bytes: whole sectors of 512 bytes, at most 64 MiB. Text such as ``"64KiB"``
        is accepted.
    read_random, write_random
        Share of the reads or writes that go to a random aligned offset, 0 to 1.
    read_stride, write_stride
        Bytes from the end of a request to the start of the next one in the same direction, for
        requests that are not random: whole sectors; 0 is sequential. Text is accepted too.

    Raises
    ------
    UnknownNameError
        For an unknown name; also a `TypeError`.
    UsageError
        For a text that is not a size. Values out of range are found by `validate`, and by every
        drive that is asked to measure them.

    Examples
    --------
    Three reads of 64 KiB to each write of 4 KiB, eight requests at any time:

    >>> workload = Characteristics(write_ratio=0.25, queue_depth=8, read_size="64KiB")
    >>> workload.read_size
    65536
    >>> workload.write_size
    4096
    """

    kind: ClassVar[Literal["characteristics"]] = "characteristics"

    write_ratio: float = 0.0
    queue_depth: int = 1
    read_size: int = 4096
    write_size: int = 4096
    read_random: float = 1.0
    write_random: float = 1.0
    read_stride: int = 0
    write_stride: int = 0

    if TYPE_CHECKING:
        # Type checkers: a caller may give sizes as text; attributes are always bytes.
        def __init__(  # noqa: PLR0917
            self,
            write_ratio: float = 0.0,
            queue_depth: int = 1,
            read_size: int | str = 4096,
            write_size: int | str = 4096,
            read_random: float = 1.0,
            write_random: float = 1.0,
            read_stride: int | str = 0,
            write_stride: int | str = 0,
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in (*_SIZES, *_STRIDES):
            value: object = getattr(self, name)
            if isinstance(value, str):
                try:
                    object.__setattr__(self, name, parse_size(value.strip()[:_LONGEST_SIZE]))
                except UsageError as error:
                    raise UsageError(f"{name}: {error}") from error

    def validate(self, capacity_bytes: int | None = None) -> None:
        """Raise `UsageError` for a workload that no drive, or none of this capacity, can run.

        Parameters
        ----------
        capacity_bytes
            Size of the drive or range in bytes. Without it, only values that are impossible on
            every drive are refused.

        Raises
        ------
        UsageError
            Names the characteristic, its value and the allowed values. Characteristics without
            effect are checked too.
        """
        for name in FIELDS:
            _CHECKS[name](name, getattr(self, name))
        if capacity_bytes is not None:
            self._check_fit(capacity_bytes)

    def _check_fit(self, capacity_bytes: int) -> None:
        for name in _SIZES:
            _check_limit(name, getattr(self, name), capacity_bytes, capacity_bytes)
        for size, stride in zip(_SIZES, _STRIDES, strict=True):
            limit = capacity_bytes - getattr(self, size)
            _check_limit(stride, getattr(self, stride), limit, capacity_bytes)

    def canonical(self) -> dict[str, float | int | None]:
        """Return the characteristics, with ``None`` for those that have no effect.

        A workload that never writes has no write characteristics, and one that only writes has no
        read characteristics. If every access is random, there is no stride.
        """
        values: dict[str, float | int | None] = dict(
            zip(FIELDS, self.as_tuple(), strict=True),
        )
        for direction, share in (("read", 1 - self.write_ratio), ("write", self.write_ratio)):
            if share <= 0:
                blank: tuple[str, ...] = ("size", "random", "stride")
            elif getattr(self, f"{direction}_random") >= 1:
                blank = ("stride",)
            else:
                blank = ()
            values.update({f"{direction}_{name}": None for name in blank})
        return values

    @property
    def mean_request_bytes(self) -> float:
        """Mean size of all requests in bytes, reads and writes together."""
        return (1 - self.write_ratio) * self.read_size + self.write_ratio * self.write_size

    def key(self) -> tuple[float | int | None, ...]:
        """Return a key that is equal for workloads with the same meaning."""
        return tuple(self.canonical().values())

    def without_ineffective(self) -> Characteristics:
        """Return the same workload with the default for each characteristic without effect."""
        effective = {name: value for name, value in self.canonical().items() if value is not None}
        return Characteristics(**effective)  # type: ignore[arg-type]

    def as_tuple(self) -> CharacteristicsTuple:
        """Return the values in the order of `FIELDS`, for the native core."""
        return (
            # Adding 0.0 turns -0.0 into 0.0, which means the same.
            float(self.write_ratio) + 0.0,
            self.queue_depth,
            self.read_size,
            self.write_size,
            float(self.read_random) + 0.0,
            float(self.write_random) + 0.0,
            self.read_stride,
            self.write_stride,
        )

    def streams(self) -> list[Stream]:
        """Return the workload's streams for a drive: one closed loop."""
        return [Stream.of_characteristics(self.as_tuple())]

    @property
    def footprint_bytes(self) -> None:
        """None: requests go to the whole drive."""

    def describe(self) -> str:
        """Describe in one line what is sent."""
        parts = []
        for direction, share in (("read", 1 - self.write_ratio), ("write", self.write_ratio)):
            if share <= 0:
                continue
            random, stride = (getattr(self, f"{direction}_{name}") for name in ("random", "stride"))
            order = "at random" if random >= 1 else "in order" if random <= 0 else "partly in order"
            gap = f" with gaps of {format_size(stride)}" if random < 1 and stride else ""
            size = format_size(getattr(self, f"{direction}_size"))
            part = "" if share >= 1 else f"{100 * share:g} % "
            parts.append(f"{part}{direction}s of {size} {order}{gap}")
        return f"{' and '.join(parts)}, {self.queue_depth} outstanding"

    def to_json(self) -> dict[str, float | int]:
        """Return the values by name: ratios from 0 to 1, sizes and strides in bytes."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> Characteristics:
        """Read a value that `to_json` wrote.

        Raises
        ------
        UsageError
            When a characteristic is missing, unknown or out of range, or `data` is not an object.
        """
        values = _object(data)
        unknown = [shown(name) for name in values if name not in FIELDS]
        missing = [name for name in FIELDS if name not in values]
        if unknown:
            raise UsageError(
                f"{unknown[0]} is not a workload characteristic; allowed: {', '.join(FIELDS)}"
            )
        if missing:
            raise UsageError(f"the workload lacks {', '.join(missing)}")
        for name in FIELDS:
            # Checked before the object is made, because JSON written by a program has no sizes as
            # text.
            _CHECKS[name](name, values[name])
        return cls(**values)


FIELDS: Final = tuple(field.name for field in fields(Characteristics))


def _object(data: object) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise UsageError(f"a workload is an object with {', '.join(FIELDS)}; found {shown(data)}")
    return data


def _check_ratio(name: str, value: object) -> None:
    plain = is_number(value)
    # The comparison is false for NaN.
    if not (plain and 0 <= value <= 1):  # type: ignore[operator]
        raise UsageError(f"{name} is {shown(value)}; allowed: a ratio from 0 to 1")


def _check_queue_depth(name: str, value: object) -> None:
    if not is_whole(value) or not 1 <= value <= MAX_QUEUE_DEPTH:
        raise UsageError(f"{name} is {shown(value)}; allowed: 1 to {MAX_QUEUE_DEPTH}")


def _check_size(name: str, value: object) -> None:
    if not _is_whole_sectors(value, SECTOR_BYTES, MAX_REQUEST_BYTES):
        raise UsageError(
            f"{name} is {shown(value)} bytes; allowed: a multiple of {SECTOR_BYTES} "
            f"from {SECTOR_BYTES} to {MAX_REQUEST_BYTES}"
        )


def _check_stride(name: str, value: object) -> None:
    if not _is_whole_sectors(value, 0, MAX_STRIDE_BYTES):
        raise UsageError(
            f"{name} is {shown(value)} bytes; allowed: 0 (sequential) or a multiple of "
            f"{SECTOR_BYTES} below 2^63"
        )


def _check_limit(name: str, value: int, limit: int, capacity_bytes: int) -> None:
    if value > limit:
        raise UsageError(
            f"{name} is {value} bytes; allowed here: at most {limit}, "
            f"the range has {capacity_bytes}"
        )


def _is_whole_sectors(value: object, low: int, high: int) -> bool:
    return is_whole(value) and value % SECTOR_BYTES == 0 and low <= value <= high


_CHECKS: Final[dict[str, Callable[[str, object], None]]] = {
    "write_ratio": _check_ratio,
    "queue_depth": _check_queue_depth,
    "read_size": _check_size,
    "write_size": _check_size,
    "read_random": _check_ratio,
    "write_random": _check_ratio,
    "read_stride": _check_stride,
    "write_stride": _check_stride,
}
