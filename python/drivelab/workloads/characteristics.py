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

# Offsets and strides cross into signed 64-bit numbers in fio and SQLite.
MAX_STRIDE_BYTES: Final = 2**63 - SECTOR_BYTES

_SIZES: Final = ("read_size", "write_size")
# Letters of a text that may be a size; errors show no more.
_LONGEST_SIZE: Final = 50
_STRIDES: Final = ("read_stride", "write_stride")


@refuses_unknown_names("characteristic")
@dataclass(frozen=True)
class Characteristics:
    """A workload; the defaults are random reads of 4 KiB, one at a time.

    Attributes
    ----------
    write_ratio
        Share of the requests that write, 0 to 1.
    queue_depth
        Requests outstanding at any time, 1 to 65536.
    read_size, write_size
        Bytes of a request in each direction, whole sectors of 512 bytes up to 64 MiB; may be
        given as text such as ``"64KiB"``.
    read_random, write_random
        Share of the requests of a direction that go to a random aligned offset, 0 to 1.
    read_stride, write_stride
        Bytes from the end of a request to the start of the next of the same direction when
        that is not random, whole sectors; 0 is sequential. May be given as text too.

    Raises
    ------
    UnknownNameError
        For a name that is none of these; a `TypeError` too.
    UsageError
        For a text that is no size. Values out of range are errors of `validate`, and of every
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
        # Whoever writes a workload may write sizes as text; whoever reads one finds bytes.
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
        """Refuse what no drive, or none of this capacity, can be asked for.

        Parameters
        ----------
        capacity_bytes
            Bytes of the drive or range; without it, only what is impossible everywhere is
            refused.

        Raises
        ------
        UsageError
            Names the characteristic, its value and what is allowed. Characteristics without
            effect are checked all the same.
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
        """Return the characteristics with those that have no effect blanked to ``None``.

        A workload that never writes has no write characteristics, one that only writes no
        read characteristics, and where every access is random there is no stride.
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
        """Bytes of a request, the mean of reads and writes."""
        return (1 - self.write_ratio) * self.read_size + self.write_ratio * self.write_size

    def key(self) -> tuple[float | int | None, ...]:
        """Return what identifies the workload: equal for workloads that mean the same."""
        return tuple(self.canonical().values())

    def without_ineffective(self) -> Characteristics:
        """Return the same workload with defaults where a characteristic has no effect."""
        effective = {name: value for name, value in self.canonical().items() if value is not None}
        return Characteristics(**effective)  # type: ignore[arg-type]

    def as_tuple(self) -> CharacteristicsTuple:
        """Return the values in the order of `FIELDS`, as the native core takes them."""
        return (
            # Adding 0.0 turns -0.0, which means the same, into 0.0.
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
        """Return it as a drive takes it: one closed loop."""
        return [Stream.of_characteristics(self.as_tuple())]

    @property
    def footprint_bytes(self) -> None:
        """Requests go over the whole drive."""

    def describe(self) -> str:
        """Say in a line what is sent."""
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
        """Return the values under their names: ratios 0 to 1, sizes and strides in bytes."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> Characteristics:
        """Read what `to_json` wrote.

        Raises
        ------
        UsageError
            When a characteristic is missing, unknown or out of range, or `data` is no object.
        """
        values = _object(data)
        unknown = [shown(name) for name in values if name not in FIELDS]
        missing = [name for name in FIELDS if name not in values]
        if unknown:
            raise UsageError(
                f"{unknown[0]} is no workload characteristic; allowed: {', '.join(FIELDS)}"
            )
        if missing:
            raise UsageError(f"the workload lacks {', '.join(missing)}")
        for name in FIELDS:
            # Before it is made: what a program wrote has no sizes as text.
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
