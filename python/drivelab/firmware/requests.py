"""The requests of a workload as one list, chunk by chunk, and the file that holds it.

A request takes 16 bytes, little endian:

========  ====  ==========================================
field     type  meaning
========  ====  ==========================================
first     u64   its first sector of 512 bytes
sectors   u32   how many
kind      u32   0 read, 1 write, 2 trim
========  ====  ==========================================

A file holds nothing else, so it may be cut after any request, and joined to others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab._core import RequestList
from drivelab.errors import UsageError
from drivelab.whole_file import whole_file
from drivelab.workloads.given import is_whole, shown
from drivelab.workloads.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from drivelab._core import Stream
    from drivelab.workloads.workload import Workload

#: A request of a list.
REQUEST: Final = np.dtype([("first", "<u8"), ("sectors", "<u4"), ("kind", "<u4")])
#: Kinds by their numbers.
KINDS: Final = ("read", "write", "trim")
#: Requests of a record (Lee et al. 2021, section 3).
RECORD_REQUESTS: Final = 1000
#: The drive of Lee et al. 2021, section 4.1: 1 TiB.
CAPACITY_BYTES: Final = 1 << 40

_CHUNK: Final = 1 << 18
_SEED_END: Final = 1 << 64


@dataclass(frozen=True)
class RequestPlan:
    """Which requests of a workload are listed.

    Attributes
    ----------
    seed
        Key of the random numbers.
    shorter
        One part of so many: the first requests, in whole records where there are as many. Mix,
        sizes, order and ranges stay. Volume falls by as much, different bytes by as much or less.
    requests
        How many instead of as many as the workload says. Needed where it says none.
    capacity_bytes
        Of the drive.

    Raises
    ------
    UsageError
        Names what is impossible and what is allowed.
    """

    seed: int = 1
    shorter: int = 1
    requests: int | None = None
    capacity_bytes: int = CAPACITY_BYTES

    def __post_init__(self) -> None:
        if not (is_whole(self.seed) and 0 <= self.seed < _SEED_END):
            raise UsageError(f"seed is {shown(self.seed)}; allowed: 0 to 2^64 - 1")
        for name in ("shorter", "requests", "capacity_bytes"):
            value = getattr(self, name)
            if value is None and name == "requests":
                continue
            if not (is_whole(value) and 1 <= value < _SEED_END):
                raise UsageError(f"{name} is {shown(value)}; allowed: 1 or more")

    def count(self, workload: Workload, streams: list[Stream]) -> int | None:
        """Return how many requests are listed at most; ``None`` for all until it ends.

        Parameters
        ----------
        workload, streams
            Any, and what it consists of.

        Raises
        ------
        UsageError
            Where neither says how many.
        """
        total = self.requests if self.requests is not None else _own_count(workload, streams)
        if total is None or self.shorter == 1:
            return total
        part = max(1, total // self.shorter)
        return part if part < RECORD_REQUESTS else part // RECORD_REQUESTS * RECORD_REQUESTS


def request_chunks(
    workload: Workload, plan: RequestPlan | None = None, *, chunk: int = _CHUNK
) -> Iterator[NDArray[np.void]]:
    """List the requests of a workload in the order in which they are sent.

    The same workload, seed and capacity give the same list.

    Parameters
    ----------
    workload
        Any whose order needs no drive: one stream, streams with shares, streams with times, a
        trace. Flushes are left out: they have no place.
    plan
        The requests to list; default: all.
    chunk
        Requests of an array, the last may be shorter.

    Yields
    ------
    Arrays of type `REQUEST`; sizes and offsets are those of the workload, not cut at pages.

    Raises
    ------
    UsageError
        Where a drive would decide the order, the workload does not lie on the drive, or nobody
        says how many requests there are.
    """
    plan = plan or RequestPlan()
    if isinstance(workload, Scenario) and workload.occupancy is not None:
        raise UsageError(
            "a list of requests says nothing about what is on the drive; leave [occupancy] out of "
            "the scenario"
        )
    streams = workload.streams()
    listed = RequestList(streams, plan.capacity_bytes, plan.seed)
    left = plan.count(workload, streams)

    def chunks() -> Iterator[NDArray[np.void]]:
        so_far = 0
        while left is None or so_far < left:
            packed = listed.next(chunk if left is None else min(chunk, left - so_far))
            if not packed:
                return
            requests = np.frombuffer(packed, dtype=REQUEST)
            so_far += len(requests)
            yield requests

    return chunks()


def write_requests(path: Path, chunks: Iterator[NDArray[np.void]]) -> int:
    """Write a list of requests as the firmware program reads it; give how many.

    Raises
    ------
    OSError
        When it cannot be written; an older file stays then.
    """
    written = 0
    with whole_file(path) as file:
        for requests in chunks:
            file.write(requests.tobytes())
            written += len(requests)
    return written


def _own_count(workload: Workload, streams: list[Stream]) -> int | None:
    """Return a workload's number of requests; ``None`` for lists, which end themselves."""
    if isinstance(workload, Scenario):
        warmup, _, requests, *_ = workload.window
        if requests is not None:
            return warmup + requests
    counts = [each.requests for each in streams]
    if all(each is not None for each in counts):
        described = [each.described() for each in streams]
        if all(each["source"] in ("listed", "recorded") for each in described):
            placed: int = sum(each["listed"][kind] for each in described for kind in KINDS)
            return placed
        return sum(each for each in counts if each is not None)
    raise UsageError(
        f"{workload.describe()} does not say how many requests it has; say requests (a scenario: "
        "requests = 100_000)"
    )
