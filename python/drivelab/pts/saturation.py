"""What write saturation left of a drive's first throughput, settled or not.

A fast drive has written its capacity four times before a window of rounds was judged; what it does
then is the mean of its last minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.pts.steady_state import PTS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What a drive is at the end is their mean, as many as a window of the specification has rounds.
LAST_MINUTES: Final = PTS.window_rounds


def end_iops(iops: Sequence[float]) -> float:
    """Give the throughput of the last minutes; `iops` of each, at least one."""
    last = iops[-LAST_MINUTES:]
    return float(sum(last) / len(last))


def lost_ratio(
    fresh_iops: float, settled_iops: float | None, iops: Sequence[float]
) -> float | None:
    """Give the share of the first minute's throughput that was gone in the last window.

    Where there was no window, at the end of the minutes that `iops` tells; ``None`` where the first
    minute had none.
    """
    last = end_iops(iops) if settled_iops is None else settled_iops
    return 1 - last / fresh_iops if fresh_iops else None
