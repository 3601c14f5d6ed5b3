"""What was written to a drive before a measurement: nothing (a burst), or sustained writing.

::

        burst       the drive unchanged: erased blocks and caches take the first writes immediately
        sustained   after writing of the workload's own kind until more of it changes nothing

A burst finds a real drive as it is, and a simulated one in the condition of its preset.

States are kept by kind of writing, not by workload: how much a drive has to clean up depends mainly
on where writes go. Sequential writes leave whole blocks that can be erased; random writes leave
every block partly full. Large random writes are a kind of their own, for drives that keep the
pieces of one request together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.side_by_side import SideBySide

if TYPE_CHECKING:
    from collections.abc import Iterable

    from drivelab.workloads.workload import Workload

#: The state that a measurement's writes find.
Writes = Literal["burst", "sustained"]
WRITES: Final[tuple[Writes, ...]] = ("sustained", "burst")
#: The unchanged drive.
BURST: Final[Writes] = "burst"

WritePattern = Literal["in order", "small at random", "large at random"]
#: For each pattern the bytes of each piece that is written before, 0 for sequential pieces. In the
#: order in which a real drive is brought there: each leaves more behind to clean up.
PIECE_BYTES: Final[dict[WritePattern, int]] = {
    "in order": 0,
    "large at random": 128 << 10,
    "small at random": 4 << 10,
}
#: A real drive is overwritten this often before the first workload of a pattern.
SETTLING_CAPACITIES: Final = 2
#: Size of sequential pieces then, and number of outstanding requests.
IN_ORDER_BYTES: Final = 128 << 10
SETTLING_DEPTH: Final = 32
#: Random writes of this size and more are a kind of their own.
LARGE_BYTES: Final = 64 << 10


def write_pattern(workload: Workload) -> WritePattern | None:
    """Return the kind of writing of a workload; `None` if it writes nothing.

    Characteristics have one. Of several at the same time, the one that leaves most behind to clean
    up counts. Other workloads set themselves what comes before them: they find the drive unchanged.
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
