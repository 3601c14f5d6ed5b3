"""A real drive brought to where a kind of writing has led when it has gone on for long.

::

    pattern of the next workload    written first
    none, or that of the last       nothing
    in order                        twice the drive, in order
    at random                       twice the drive, pieces anywhere

Twice the capacity is what the performance test specification writes before it looks for a steady
state (Coughlin et al. 2010). What the drive was written with before this program began is not
known, so the first workload of each start that writes comes after such writing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.drives.session import StepPlan
from drivelab.drives.write_pattern import (
    PIECE_BYTES,
    SETTLING_CAPACITIES,
    WritePattern,
    write_pattern,
)
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus

if TYPE_CHECKING:
    from drivelab.drives.real.fio.session import FioSession
    from drivelab.workloads.workload import Workload

_IN_ORDER_BYTES: Final = 128 << 10
_QUEUE_DEPTH: Final = 32


class Settling:
    """Which kind of writing the drive has had last, for so long that it lasts.

    Parameters
    ----------
    session
        The drive, step after step.
    """

    def __init__(self, session: FioSession) -> None:
        self._session = session
        self._pattern: WritePattern | None = None
        self._steps = 0

    def before(self, workload: Workload, content: str) -> None:
        """Write what comes before a workload, if it needs any.

        Raises
        ------
        RunError
            When fio fails, or the drive goes away.
        """
        pattern = write_pattern(workload)
        if pattern is None or pattern == self._pattern:
            return
        # Until it is over nobody knows what the drive has had.
        self._pattern = None
        session = self._session
        piece = max(PIECE_BYTES[pattern], session.block_bytes)
        stimulus = Stimulus(
            read_ratio=0.0,
            sizes=((piece if PIECE_BYTES[pattern] else _IN_ORDER_BYTES, 1.0),),
            range_bytes=session.capacity_bytes,
            is_random=PIECE_BYTES[pattern] > 0,
            queue_depth=_QUEUE_DEPTH,
            content=content,
        )
        plan = StepPlan(total_bytes=SETTLING_CAPACITIES * session.capacity_bytes)
        session.run(Stimuli((stimulus,)), plan, self._steps)
        self._steps += 1
        self._pattern = pattern
