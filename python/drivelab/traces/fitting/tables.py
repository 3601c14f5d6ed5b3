"""What a fitted scenario contains: kinds, gaps, regions, and windows that count them.

Tables are counts and quantiles: values of the trace, so few requests can be rebuilt from them.
Addresses are kept to the MiB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.traces.fitting.kinds import kinds_of, needs_region
from drivelab.traces.fitting.places import AHEAD, BEHIND, PLACES, placed
from drivelab.traces.fitting.regions import Region, region_numbers, regions_of
from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from drivelab.traces.fitting.kinds import Kinds
    from drivelab.traces.fitting.places import Placed
    from drivelab.traces.fitting.requests import Requests

#: Gaps at which another class begins, in ns: differences that drives notice, from a flash page to a
#: disk's spin-up.
GAP_BOUNDS_NS: Final = (
    *(5_000, 20_000, 100_000, 500_000, 2_000_000, 10_000_000, 50_000_000, 500_000_000),
)
#: The most windows that a scenario may have.
MOST_WINDOWS: Final = 2_000
#: Simulated time ends here, and so must a scenario.
_LONGEST_NS: Final = 1 << 49
#: A train continues across gaps below this: the drive is still busy with the request before.
TRAIN_GAP_NS: Final = 2_000_000
#: Steps of train classes in each doubling of length.
_TRAIN_STEPS: Final = 2
_MOST_WINDOW_REQUESTS: Final = 4_000_000
_GRID_BYTES: Final = 4096
#: The share of a kind's offsets that must be on a grid for the grid to be saved.
_GRID_SHARE: Final = 0.9
#: Values in a table of sizes or ranks, and bounds in one of distances or gaps.
_CELLS: Final = 16
_GAP_CELLS: Final = 8

#: Numbers and counts.
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Kind:
    """A kind of requests, as `docs/scenarios.md` says."""

    action: str
    place: str
    group: int
    sizes_bytes: tuple[int, ...]
    ranks: tuple[int, ...]
    distances_bytes: tuple[int, ...]
    grid_bytes: int
    grid_offset_bytes: int
    kinds_after: Pairs
    gaps_before: Pairs


@dataclass(frozen=True)
class Gap:
    """A class of times between requests."""

    gaps_ns: tuple[int, ...]
    gaps_after: Pairs
    begins_train: bool


@dataclass(frozen=True)
class Train:
    """A class of trains: requests in quick succession."""

    lengths: tuple[int, ...]


@dataclass(frozen=True)
class Window:
    """A span of time, and how many requests of each kind it has."""

    duration_ns: int
    kinds: Pairs
    gaps: Pairs
    regions: Pairs
    trains: Pairs


@dataclass(frozen=True)
class Fitted:
    """A fit to a trace.

    Attributes
    ----------
    kinds, gaps, regions, trains, windows
        The tables that requests are drawn from.
    requests, span_ns, window_ns
        Size and length of the trace, and length of its windows.
    """

    kinds: tuple[Kind, ...]
    gaps: tuple[Gap, ...]
    regions: tuple[Region, ...]
    trains: tuple[Train, ...]
    windows: tuple[Window, ...]
    requests: int
    span_ns: int
    window_ns: int

    @property
    def numbers(self) -> int:
        """Return how many numbers it consists of."""

        def size(value: Any) -> int:
            if isinstance(value, (int, str)):
                return int(isinstance(value, int))
            each = value if isinstance(value, tuple) else vars(value).values()
            return sum(size(one) for one in each)

        return size((self.kinds, self.gaps, self.regions, self.trains, self.windows))

    def caution(self) -> str | None:
        """Return a caution if it gives much of the trace away; ``None`` if it does not."""
        if self.requests >= self.numbers:
            return None
        return (
            f"the scenario has more numbers ({self.numbers:,}) than the trace has requests "
            f"({self.requests:,}): much of the trace can be rebuilt from it. Do not share it if "
            "the trace is secret"
        )


def fit(requests: Requests, window_ns: int) -> Fitted:
    """Fit a scenario that asks for what these requests ask for.

    Raises
    ------
    UsageError
        If the window does not suit the trace.
    """
    span_ns = int(requests.arrival_ns[-1]) + 1
    window = requests.arrival_ns // window_ns
    _check_windows(span_ns, window_ns, window)
    where = placed(requests)
    kinds = kinds_of(requests, where)
    gap_ns = np.diff(requests.arrival_ns, prepend=0)
    gap_class = np.unique(np.digitize(gap_ns, GAP_BOUNDS_NS), return_inverse=True)[1]
    is_drawn = needs_region(kinds)
    regions = regions_of(requests.offset_bytes[is_drawn], requests.end_bytes)
    region = region_numbers(regions, requests.offset_bytes[is_drawn])
    count = int(window[-1]) + 1
    train = _trains(window, gap_ns)
    rows = zip(
        _counted(window, kinds.of_request, count),
        _counted(window, gap_class, count),
        _counted(window[is_drawn], region, count),
        _counted(window[train.begins], train.of_each, count),
        strict=True,
    )
    last_ns = span_ns - (count - 1) * window_ns
    return Fitted(
        tuple(_kinds(requests, where, kinds, gap_class)),
        tuple(_gaps(gap_ns, gap_class)),
        regions,
        train.classes,
        tuple(
            Window(window_ns if number < count - 1 else last_ns, *row)
            for number, row in enumerate(rows)
        ),
        len(window),
        span_ns,
        window_ns,
    )


def _check_windows(span_ns: int, window_ns: int, window: NDArray[np.int64]) -> None:
    count = int(window[-1]) + 1
    if count > MOST_WINDOWS:
        least = -(-span_ns // MOST_WINDOWS)
        raise UsageError(
            f"windows of {format_duration_ns(window_ns)} would be {count:,}, more than the "
            f"{MOST_WINDOWS:,} that a scenario may have; use a longer --window, of "
            f"{format_duration_ns(least)} or more"
        )
    if span_ns > _LONGEST_NS:
        raise UsageError(
            f"the trace lasts {format_duration_ns(span_ns)}, longer than the "
            f"{format_duration_ns(_LONGEST_NS)} that can be simulated; cut a part out of it with "
            "`drivelab trace cut`, and fit that"
        )
    most = int(np.bincount(window).max())
    if most > _MOST_WINDOW_REQUESTS:
        raise UsageError(
            f"a window has {most:,} requests, more than the {_MOST_WINDOW_REQUESTS:,} that one may "
            "have; use a shorter --window"
        )


def _counted(rows: NDArray[np.int64], columns: NDArray[np.int64], count: int) -> Sequence[Pairs]:
    """Count each column of each row."""
    most = int(columns.max()) + 1 if len(columns) else 1
    found, counts = np.unique(rows * most + columns, return_counts=True)
    pairs: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for key, each in zip(found.tolist(), counts.tolist(), strict=True):
        pairs[key // most].append((key % most, each))
    return [tuple(row) for row in pairs]


def _kinds(
    requests: Requests, where: Placed, kinds: Kinds, gap_class: NDArray[np.int64]
) -> Sequence[Kind]:
    count = len(kinds.action)
    after = _counted(kinds.of_request[:-1], kinds.of_request[1:], count)
    before = _counted(kinds.of_request, gap_class, count)
    made = []
    for number in range(count):
        mine = kinds.of_request == number
        place = int(kinds.place[number])
        # Kinds that joined others use their tables.
        true = mine & (where.place == place)
        is_near = place in (AHEAD, BEHIND)
        grid = _grid(where.distance_bytes[true] if is_near else requests.offset_bytes[mine])
        distances = _bounds(where.distance_bytes[true], _CELLS) if is_near else ()
        made.append(
            Kind(
                ("read", "write")[kinds.action[number]],
                PLACES[place],
                int(kinds.size_class[number]),
                _cells(requests.size_bytes[mine]),
                _cells(where.rank[true]),
                distances,
                grid[0],
                0 if is_near else grid[1],
                after[number],
                before[number],
            )
        )
    return made


def _gaps(gap_ns: NDArray[np.int64], gap_class: NDArray[np.int64]) -> Sequence[Gap]:
    count = int(gap_class.max()) + 1
    after = _counted(gap_class[:-1], gap_class[1:], count)
    return [
        Gap(
            _bounds(gap_ns[gap_class == number], _GAP_CELLS),
            after[number],
            bool(gap_ns[gap_class == number].min() >= TRAIN_GAP_NS),
        )
        for number in range(count)
    ]


@dataclass(frozen=True)
class _Trains:
    """Where trains begin, their classes, and the class of each."""

    begins: NDArray[np.intp]
    of_each: NDArray[np.int64]
    classes: tuple[Train, ...]


def _trains(window: NDArray[np.int64], gap_ns: NDArray[np.int64]) -> _Trains:
    """Find the trains; one that continues in the next window counts there as another."""
    is_first = (gap_ns >= TRAIN_GAP_NS) | (np.diff(window, prepend=-1) > 0)
    begins = np.flatnonzero(is_first)
    lengths = np.diff(begins, append=len(gap_ns))
    steps = np.floor(np.log2(lengths) * _TRAIN_STEPS + 1e-9)
    of_each = np.unique(steps, return_inverse=True)[1].astype(np.int64)
    classes = [Train(_cells(lengths[of_each == each])) for each in range(int(of_each.max()) + 1)]
    return _Trains(begins, of_each, tuple(classes))


def _cells(values: NDArray[np.int64]) -> tuple[int, ...]:
    """Return values for equal parts of all; one value if all are the same."""
    shares = (np.arange(_CELLS) + 0.5) / _CELLS
    found = np.quantile(values, shares, method="nearest").tolist()
    return tuple(int(each) for each in (found[:1] if len(set(found)) == 1 else found))


def _bounds(values: NDArray[np.int64], cells: int) -> tuple[int, ...]:
    """Return bounds with equal parts between them."""
    found = np.quantile(values, np.linspace(0, 1, cells + 1)).round().tolist()
    return tuple(int(each) for each in (found[:1] * 2 if len(set(found)) == 1 else found))


def _grid(values: NDArray[np.int64]) -> tuple[int, int]:
    """Return the grid of 4 KiB that nearly all are on, and its start; else sectors."""
    found, counts = np.unique(values % _GRID_BYTES, return_counts=True)
    if counts.max() >= _GRID_SHARE * len(values):
        return _GRID_BYTES, int(found[counts.argmax()])
    return 512, 0
