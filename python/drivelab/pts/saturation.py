"""What write saturation left of a drive's first throughput, settled or not.

A fast drive has written its capacity four times before a window of rounds can be judged; its final
throughput is the mean of its last minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.pts.steady_state import PTS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The final throughput is the mean of this many minutes, as many as the specification's window has
#: rounds.
LAST_MINUTES: Final = PTS.window_rounds


def end_iops(iops: Sequence[float]) -> float:
    """Return the throughput of the last minutes; `iops` has at least one minute."""
    last = iops[-LAST_MINUTES:]
    return float(sum(last) / len(last))


def lost_ratio(
    fresh_iops: float, settled_iops: float | None, iops: Sequence[float]
) -> float | None:
    """Return the share of the first minute's throughput that was lost in the last window.

    Without a window, at the end of the minutes in `iops`; ``None`` if the first minute had no
    throughput.
    """
    last = end_iops(iops) if settled_iops is None else settled_iops
    return 1 - last / fresh_iops if fresh_iops else None
