"""Probes: 13 to 29 workloads that reveal the structure of any kind of drive.

The first probes compare sizes, orders and depths, and reveal the page size. The second ones write
whole pages in order with gaps, so that the requests in flight go to every second, third, fifth ...
page. If pages are distributed over parallel units in turn, a step of n pages reaches only every
gcd(n, units)-th unit.

If random writes are much slower than sequential ones, the drive may map whole blocks. Writes to a
few places in turn then show how many blocks it can overwrite without merging one for every write.

Fills count from the first request, without a warm-up. A write buffer, and behind it a region of
fast cells or of erased blocks, accepts writes quickly until it is full. Two short fills show the
buffer, a long one the region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from drivelab.workloads.characteristics import Characteristics

_KIB: Final = 1024
#: Sizes of writes to compare.
WRITE_SIZES: Final = tuple(size * _KIB for size in (1, 2, 4, 8, 16, 32))
#: Page sizes that can be found.
PAGES: Final = WRITE_SIZES[:-1]
#: Page size for drives of unknown structure.
USUAL_PAGE_BYTES: Final = 4 * _KIB
#: Distances from the start of a request to the start of the next, in pages.
STEPS: Final = (2, 3, 4, 5, 8, 16, 32, 64, 128)
#: Requests in flight: enough for every unit of most drives, and few enough for any host.
DEPTH: Final = 32
_SMALL: Final = 4 * _KIB
#: A fill ends after this time if it has not sent all its requests.
FILL_SECONDS: Final = 60.0
#: About so many places, from end to end of the drive, are written in turn.
PLACES: Final = (2, 4, 8, 16, 32)
# Places are a multiple of this apart: in blocks of their own, and mostly on the same unit.
_APART: Final = 64 << 20
_IN_ORDER_SIZES: Final = tuple(size * _KIB for size in (1, 4, 16))


def read(depth: int = 1, size: int = _SMALL) -> Characteristics:
    """Return random reads."""
    return Characteristics(queue_depth=depth, read_size=size)


def random_write(size: int = _SMALL, depth: int = DEPTH) -> Characteristics:
    """Return random writes."""
    return Characteristics(write_ratio=1.0, queue_depth=depth, write_size=size)


def write_in_order(size: int = _SMALL, gap: int = 0) -> Characteristics:
    """Return sequential writes with gaps of `gap` bytes."""
    return Characteristics(
        write_ratio=1.0, queue_depth=DEPTH, write_size=size, write_random=0.0, write_stride=gap
    )


def first_probes() -> list[Characteristics]:
    """Return the probes for every drive."""
    return [
        read(),
        read(depth=64),
        read(depth=64, size=64 * _KIB),
        random_write(depth=1),
        *(random_write(size) for size in WRITE_SIZES),
        *(write_in_order(size) for size in _IN_ORDER_SIZES),
    ]


def page_probes(page_bytes: int) -> list[Characteristics]:
    """Return the probes for a drive with a known page size: aligned and unaligned, with gaps."""
    steps = [write_in_order(page_bytes, (step - 1) * page_bytes) for step in STEPS]
    return [
        *([] if page_bytes in _IN_ORDER_SIZES else [write_in_order(page_bytes)]),
        write_in_order(page_bytes, page_bytes // 2),
        *steps,
    ]


def rewrites(capacity_bytes: int) -> list[Characteristics]:
    """Return writes to a few places of a drive in turn, the fewest places first."""
    steps = [-(-capacity_bytes // (places * _APART)) * _APART for places in PLACES]
    return [
        Characteristics(write_ratio=1.0, write_random=0.0, write_stride=step - _SMALL)
        for step in dict.fromkeys(steps)
        if step < capacity_bytes
    ]


def is_rewrites(one: Characteristics) -> bool:
    """Return whether this is one of `rewrites`."""
    is_small = (one.queue_depth, one.write_size) == (1, _SMALL)
    is_in_order = one.write_ratio == 1 and one.write_random == 0 and one.write_stride > 0
    return is_small and is_in_order and is_distance(one.write_stride + _SMALL)


def is_distance(size_bytes: int) -> bool:
    """Return whether the places of `rewrites` can be so far apart."""
    return size_bytes > 0 and size_bytes % _APART == 0


def places_of(one: Characteristics, capacity_bytes: int) -> int:
    """Return how many places sequential writes with gaps go to before they begin again."""
    return (capacity_bytes - one.write_size) // (one.write_stride + one.write_size) + 1


@dataclass(frozen=True)
class Fill:
    """Writes that count from the first one.

    Attributes
    ----------
    workload
        The writes.
    requests
        Number of requests, unless `FILL_SECONDS` pass first.
    """

    workload: Characteristics
    requests: int


#: The first two fills are shallow, so that even a buffer of a few hundred KiB exceeds the requests
#: in flight, and random, so that no disk keeps up. The third fill writes 16 GiB.
FILLS: Final = (
    Fill(random_write(16 * _KIB, depth=4), 512),
    Fill(random_write(16 * _KIB, depth=4), 8_192),
    Fill(random_write(64 * _KIB, depth=32), 262_144),
)


def every_probe(capacity_bytes: int) -> list[Characteristics]:
    """Return all probes of a drive that may be used, without repetitions."""
    found = [*first_probes(), *(each for page in PAGES for each in page_probes(page))]
    found += rewrites(capacity_bytes)
    return [each.without_ineffective() for each in dict.fromkeys(found)]
