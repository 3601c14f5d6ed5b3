"""A real drive brought to where a kind of writing has led when it has gone on for long.

::

    pattern of the next workload    written first
    none, or that of the last       nothing
    in order                        twice the drive, in order
    at random                       twice the drive, pieces anywhere

Twice the capacity is what the performance test specification writes before it looks for a steady
state (Coughlin et al. 2010). What the drive was written with before this program began is not
known, so the first workload of each start that writes comes after such writing. So does the first
one after anything else has written to the drive: a pass, or a burst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.drives.session import StepPlan
from drivelab.drives.write_pattern import (
    BURST,
    IN_ORDER_BYTES,
    PIECE_BYTES,
    SETTLING_CAPACITIES,
    SETTLING_DEPTH,
    WritePattern,
    write_pattern,
)
from drivelab.told import tell
from drivelab.units import format_size
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus

if TYPE_CHECKING:
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.real.fio.session import FioSession
    from drivelab.workloads.workload import Workload


class Settling:
    """Which kind of writing the drive has had last, for so long that it lasts.

    Parameters
    ----------
    session
        The drive, step after step.
    """

    def __init__(self, session: FioSession) -> None:
        self._session = session
        # With what was written: a drive that compresses is left otherwise by other content.
        self._had: tuple[WritePattern, str] | None = None
        self._steps = 0

    def before(self, workload: Workload, plan: MeasurementPlan, *, writes: bool) -> None:
        """Write what comes before a workload, if it needs any.

        Parameters
        ----------
        workload
            What is measured next.
        plan
            Whether its writes are to be sustained, and what they look like.
        writes
            Whether it writes at all.

        Raises
        ------
        RunError
            When fio fails, or the drive goes away.
        """
        if not writes:
            return
        pattern = None if plan.writes == BURST else write_pattern(workload)
        if pattern is not None and self._had == (pattern, plan.content):
            return
        # Until it is over nobody knows what the drive has had.
        self._had = None
        if pattern is not None:
            self._settle(pattern, plan.content)
            self._had = (pattern, plan.content)

    def _settle(self, pattern: WritePattern, content: str) -> None:
        session = self._session
        is_random = PIECE_BYTES[pattern] > 0
        piece_bytes = PIECE_BYTES[pattern] if is_random else IN_ORDER_BYTES
        stimulus = Stimulus(
            read_ratio=0.0,
            sizes=((max(piece_bytes, session.block_bytes), 1.0),),
            range_bytes=session.capacity_bytes,
            is_random=is_random,
            queue_depth=SETTLING_DEPTH,
            content=content,
        )
        total_bytes = SETTLING_CAPACITIES * session.capacity_bytes
        tell(
            f"writing {format_size(total_bytes)} to {session.name}, {pattern}, before the "
            "workloads that write so are measured"
        )
        session.run(Stimuli((stimulus,)), StepPlan(total_bytes=total_bytes), self._steps)
        self._steps += 1
