"""Probes: two dozen workloads that find how a drive is built, on any kind of drive.

The first ones compare sizes, orders and depths. The second ones write whole pages in order with
gaps, so that the requests in flight fall on every second, third, fifth ... page: where pages are
dealt out to parallel units in turn, n pages from one request to the next reach only every
gcd(n, units)-th of them. Their page is what the first ones found.

Fills are counted from the first request, without a warm-up. A write buffer, and a region of fast
cells or of erased blocks behind it, take writes quickly until they are full: two short fills show
the first, a long one the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from drivelab.workloads.characteristics import Characteristics

_KIB: Final = 1024
#: Sizes of writes that are compared.
WRITE_SIZES: Final = tuple(size * _KIB for size in (1, 2, 4, 8, 16, 32))
#: Pages that may be found.
PAGES: Final = WRITE_SIZES[:-1]
#: Of drives of which nothing is known.
USUAL_PAGE_BYTES: Final = 4 * _KIB
#: From the begin of one request to the next, in pages.
STEPS: Final = (2, 3, 4, 5, 8, 16, 32, 64, 128)
#: Requests in flight: enough for every unit of most drives, few enough for any host.
DEPTH: Final = 32
_SMALL: Final = 4 * _KIB
#: A fill ends after this long, if it has not sent all its requests.
FILL_SECONDS: Final = 60.0
_IN_ORDER_SIZES: Final = tuple(size * _KIB for size in (1, 4, 16))


def read(depth: int = 1, size: int = _SMALL) -> Characteristics:
    """Return random reads."""
    return Characteristics(queue_depth=depth, read_size=size)


def random_write(size: int = _SMALL, depth: int = DEPTH) -> Characteristics:
    """Return random writes."""
    return Characteristics(write_ratio=1.0, queue_depth=depth, write_size=size)


def write_in_order(size: int = _SMALL, gap: int = 0) -> Characteristics:
    """Return sequential writes, with gaps of this many bytes."""
    return Characteristics(
        write_ratio=1.0, queue_depth=DEPTH, write_size=size, write_random=0.0, write_stride=gap
    )


def first_probes() -> list[Characteristics]:
    """Return what is asked whatever the drive is."""
    return [
        read(),
        read(depth=64),
        read(depth=64, size=64 * _KIB),
        random_write(depth=1),
        *(random_write(size) for size in WRITE_SIZES),
        *(write_in_order(size) for size in _IN_ORDER_SIZES),
    ]


def page_probes(page_bytes: int) -> list[Characteristics]:
    """Return what is asked where a page is found: aligned and unaligned, with gaps."""
    steps = [write_in_order(page_bytes, (step - 1) * page_bytes) for step in STEPS]
    return [
        *([] if page_bytes in _IN_ORDER_SIZES else [write_in_order(page_bytes)]),
        write_in_order(page_bytes, page_bytes // 2),
        *steps,
    ]


@dataclass(frozen=True)
class Fill:
    """Writes that are counted from the first one.

    Attributes
    ----------
    workload
        What is written.
    requests
        How many requests, unless `FILL_SECONDS` are over before.
    """

    workload: Characteristics
    requests: int


#: The first two are shallow, so that a buffer of a few hundred KiB is larger than what is in
#: flight, and random, so that no disk keeps up. The third writes 16 GiB.
FILLS: Final = (
    Fill(random_write(16 * _KIB, depth=4), 512),
    Fill(random_write(16 * _KIB, depth=4), 8_192),
    Fill(random_write(64 * _KIB, depth=32), 262_144),
)


def every_probe() -> list[Characteristics]:
    """Return all that may be asked, without repetitions."""
    found = [*first_probes(), *(each for page in PAGES for each in page_probes(page))]
    return [each.without_ineffective() for each in dict.fromkeys(found)]
