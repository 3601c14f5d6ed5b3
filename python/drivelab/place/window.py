"""How long workloads run when they are tried: long enough for the slowest, short enough for all.

All groups run equally long, in the drive's time, so that what a workload does alone can be compared
with what it does beside others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from drivelab.place.plan import Demand

#: Requests of the workload with the fewest, where the others allow it: 20 are beyond 99 %.
_LEAST_REQUESTS: Final = 2000
#: Arrivals of all workloads together; what is overrun keeps so many waiting.
_MOST_REQUESTS: Final = 400_000
#: And the bytes of their requests: a drive that is overrun has as many pages under way.
_MOST_BYTES: Final = 4 << 30
_LEAST_SECONDS: Final = 0.5
_WARMUP_SHARE: Final = 0.1


@dataclass(frozen=True)
class Window:
    """When counting begins and ends.

    Attributes
    ----------
    seconds
        Counted, in the drive's time.
    requests
        Counted requests that end it sooner: workloads that wait for the drive may be fast.
    """

    seconds: float
    requests: int = _MOST_REQUESTS

    @property
    def duration_ns(self) -> int:
        """Counted."""
        return max(1, round(self.seconds * 1e9))

    @property
    def warmup_ns(self) -> int:
        """Before counting begins."""
        return round(self.seconds * 1e9 * _WARMUP_SHARE)

    def for_copies(self, demand: Demand) -> Window:
        """Give the window for many times the load of a workload.

        What is overrun by then serves a fourth of it, and keeps the rest waiting.
        """
        most = min(self.requests, round(_MOST_BYTES / demand.request_bytes))
        return Window(self.seconds, max(1, most // 4))


def window_for(demands: Sequence[Demand], seconds: float | None = None) -> Window:
    """Give the window in which these workloads are tried.

    Parameters
    ----------
    demands
        All of the plan.
    seconds
        As asked for; else so long that the slowest workload counts 2,000 requests, unless all
        together then come to more than 400,000 or 4 GiB. A trace is never outlasted.
    """
    rates = [each.rate_iops for each in demands if each.rate_iops is not None]
    wanted = seconds
    if wanted is None:
        wanted = max((_LEAST_REQUESTS / rate for rate in rates), default=_LEAST_SECONDS)
        wanted = max(wanted, _LEAST_SECONDS)
        if rates:
            arriving = sum(each.request_bytes * (each.rate_iops or 0.0) for each in demands)
            wanted = min(wanted, _MOST_REQUESTS / sum(rates), _MOST_BYTES / arriving)
    lasting = [each.lasting_ns for each in demands if each.lasting_ns is not None]
    if lasting:
        wanted = min(wanted, min(lasting) / 1e9 / (1 + _WARMUP_SHARE))
    return Window(max(wanted, 1e-6))
