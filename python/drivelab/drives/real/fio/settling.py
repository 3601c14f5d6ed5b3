"""Bring a real drive to the state that a kind of writing leads to in the long run.

::

        pattern of the next workload    written first
        none, or that of the last       nothing
        sequential                      twice the drive, sequentially
        at random                       twice the drive, in pieces anywhere

The performance test specification also writes twice the capacity before it looks for a steady state
(Coughlin et al. 2010). What was written to the drive before this program began is not known, so at
each start this writing comes before the first workload that writes. It also comes before the first
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
from drivelab.notes import print_note
from drivelab.units import format_size
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus

if TYPE_CHECKING:
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.real.fio.session import FioSession
    from drivelab.workloads.workload import Workload


class Settling:
    """The last kind of writing that the drive had for long enough to be sustained.

    Parameters
    ----------
    session
        The session on the drive.
    """

    def __init__(self, session: FioSession) -> None:
        self._session = session
        # The content counts too: other content leaves a drive that compresses in another state.
        self._had: tuple[WritePattern, str] | None = None
        self._steps = 0

    def before(self, workload: Workload, plan: MeasurementPlan, *, writes: bool) -> None:
        """Write what must come before a workload, if anything.

        Parameters
        ----------
        workload
            The workload that is measured next.
        plan
            Whether its writes are to be sustained, and the kind of data.
        writes
            Whether it writes at all.

        Raises
        ------
        RunError
            If fio fails, or the drive disappears.
        """
        if not writes:
            return
        pattern = None if plan.writes == BURST else write_pattern(workload)
        if pattern is not None and self._had == (pattern, plan.content):
            return
        # Until the writing is over the drive's state is unknown.
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
        print_note(
            f"writing {format_size(total_bytes)} to {session.name}, {pattern}, before the "
            "workloads that write so are measured"
        )
        session.run(Stimuli((stimulus,)), StepPlan(total_bytes=total_bytes), self._steps)
        self._steps += 1
