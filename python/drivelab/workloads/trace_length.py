"""How long a trace may last: a simulator's time ends, and nobody waits so long for a real drive."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from drivelab._core import MOST_SIMULATED_NS
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from drivelab.workloads.trace import Trace


def refuse_long(trace: Trace, what: str) -> None:
    """Raise `UsageError` if a trace at its speed lasts longer than a simulated run can.

    Parameters
    ----------
    trace
        The trace.
    what
        What it is too long for, for example ``a simulated run``.
    """
    lasting_ns = trace.lasting_ns
    if lasting_ns is not None and lasting_ns > MOST_SIMULATED_NS:
        raise UsageError(
            f"the trace {length_text(lasting_ns, what)}; replay it faster (--speed "
            f"{least_speed(trace)}x or more) or as fast as the drive answers (--speed max)"
        )


def length_text(lasting_ns: int, what: str) -> str:
    """Say how long a trace lasts, and how long it may."""
    return (
        f"lasts {format_duration_ns(lasting_ns)} at this speed, and {what} at most "
        f"{format_duration_ns(MOST_SIMULATED_NS)}"
    )


def least_speed(trace: Trace) -> int:
    """Return the least whole speed at which a trace is short enough."""
    return max(1, math.ceil(trace.span_ns / MOST_SIMULATED_NS))
