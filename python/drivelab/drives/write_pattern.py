"""What a drive has been written with when a measurement begins: a burst, or what lasts.

::

    burst       as the drive is: erased blocks and caches take the first writes at once
    sustained   after so much writing of the workload's own kind that more of it changes nothing

A real drive is as it was found, a simulated one in the condition of its preset.

States are kept by kind of writing, not by workload: how much a drive has to clean up depends on
where writes go, and on little else. Writes in order leave whole blocks behind that can be erased;
writes anywhere leave every block partly full. Large ones are a kind of their own, for drives
that keep the pieces of one request together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.side_by_side import SideBySide

if TYPE_CHECKING:
    from collections.abc import Iterable

    from drivelab.workloads.workload import Workload

#: What a measurement's writes find.
Writes = Literal["burst", "sustained"]
WRITES: Final[tuple[Writes, ...]] = ("sustained", "burst")
#: As drives are found.
BURST: Final[Writes] = "burst"

WritePattern = Literal["in order", "small at random", "large at random"]
#: By pattern the bytes of each piece that is written before, 0 where they follow each other; in the
#: order in which a real drive is brought there: each leaves more behind to clean up.
PIECE_BYTES: Final[dict[WritePattern, int]] = {
    "in order": 0,
    "large at random": 128 << 10,
    "small at random": 4 << 10,
}
#: A real drive's capacity is written so often before the first workload of a pattern.
SETTLING_CAPACITIES: Final = 2
#: Pieces that follow each other are of this size then, and so many requests are in flight.
IN_ORDER_BYTES: Final = 128 << 10
SETTLING_DEPTH: Final = 32
#: From this size on writes at random are a kind of their own.
LARGE_BYTES: Final = 64 << 10


def write_pattern(workload: Workload) -> WritePattern | None:
    """Return the kind of writing of a workload; `None` of one that writes nothing.

    Characteristics have one. Of several side by side the one counts that leaves most behind to
    clean up. Other workloads say themselves what comes before them: what they find is as the drive
    was left.
    """
    if isinstance(workload, SideBySide):
        found = [workload.after, *(write_pattern(each.workload) for each in workload.parts)]
        return next((each for each in reversed(PIECE_BYTES) if each in found), None)
    if not isinstance(workload, Characteristics) or not workload.write_ratio:
        return None
    if not workload.write_random:
        return "in order"
    return "large at random" if workload.write_size >= LARGE_BYTES else "small at random"


def settled_patterns(workloads: Iterable[Workload], writes: str) -> list[WritePattern]:
    """Return the kinds of writing that come before some of the workloads; none for a burst."""
    found = set() if writes == BURST else {write_pattern(each) for each in workloads}
    return [pattern for pattern in PIECE_BYTES if pattern in found]
