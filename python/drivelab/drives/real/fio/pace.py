"""How much of a stream the next fio sends.

::

        a time ends the window            ├── warm-up ──┬──────── counted ────────┤ one segment
    a number or a half-width does     ├── warm-up ──┤ ├──── counted ────┤ ...

If only time ends the window, warm-up and window are one segment, as long as the requests written
for it suffice. More requests are written than a drive can be expected to serve, because unsent ones
cost almost nothing. Otherwise the warm-up is its own segment (unless it is a number of requests
too), and its rate determines the size of what follows.

At the end of a segment the queue drains, and the drive rests until the next one is prepared (0.3 s
and 1 us per request). So segments are few, and as long as memory allows: a request takes about 350
bytes, 140 of them in fio.
"""

from __future__ import annotations

import math
from typing import Final

from drivelab._core import CompletionWindow
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio.job import Segment
from drivelab.workloads.characteristics import Characteristics

MOST_REQUESTS: Final = 1_000_000
# A drive that stops answering is noticed when its segment should have ended.
LONGEST_SECONDS: Final = 120.0
# Without a limit, and at least: the time that a number of requests may take at first.
_PATIENCE_SECONDS: Final = 30.0
# The assumed speed of a drive before anything is known about it.
_FIRST_RATE_OF_A_SLOT: Final = 65_000.0
_FIRST_RATE: Final = 200_000.0
_FIRST_BYTES_PER_SECOND: Final = 5e9
# Write twice the requests that the rate needs, so that time ends a segment and not its log.
_MARGIN: Final = 2.0
_SLOWER: Final = 4.0
# If the plan names none: fewer can look alike by chance, and a slow hard disk takes 10 s for them.
LEAST_REQUESTS: Final = 1000
_MOST_GROWTH: Final = 8
# The half-width is computed each time a quarter more have completed.
_LEAST_GROWTH: Final = 0.26


def next_segment(
    plan: MeasurementPlan, workload: Characteristics, window: CompletionWindow
) -> Segment | None:
    """Return what to send next; `None` when the window is closed.

    Parameters
    ----------
    plan
        What ends the measurement.
    workload
        The workload that is measured.
    window
        What completed so far.
    """
    if window.closed_by is not None:
        return None
    wanted = _requests_wanted(plan, window)
    rate = _rate(window, workload)
    depth = workload.queue_depth
    filling = 0 if window.completed == 0 else depth
    warmup_requests = max(0, plan.warmup_requests - window.completed)
    warmup_seconds = max(0.0, plan.warmup_seconds - window.now_ns / 1e9)
    if wanted is not None and warmup_seconds > 0:
        expected = rate * warmup_seconds * _MARGIN
        return _bounded(max(warmup_requests, expected) + depth, warmup_seconds, depth)
    seconds = math.inf
    if plan.seconds is not None:
        left = max(0.0, plan.seconds - window.duration_ns / 1e9)
        seconds = warmup_seconds + left + filling / rate * _MARGIN
    if wanted is None:
        return _bounded(warmup_requests + rate * seconds * _MARGIN + depth, seconds, depth)
    # The queue stays full until the last counted request.
    requests = warmup_requests + filling + wanted + depth - 1
    patience = max(_PATIENCE_SECONDS, _SLOWER * requests / rate)
    return _bounded(requests, min(seconds, patience), depth)


def least_requests(plan: MeasurementPlan) -> int | None:
    """Return how many requests close the window or, with a half-width, must count before it can."""
    if plan.half_width_ratio is None or plan.requests is not None:
        return plan.requests
    return min(LEAST_REQUESTS, plan.max_requests)


def _bounded(requests: float, seconds: float, depth: int) -> Segment:
    # A queue that never fills counts nothing.
    least = 4 * depth if depth > 1 else 1
    requests = max(math.ceil(min(requests, MOST_REQUESTS)), least)
    return Segment(requests, min(seconds, LONGEST_SECONDS))


def _requests_wanted(plan: MeasurementPlan, window: CompletionWindow) -> int | None:
    """Return how many more requests must count; `None` if no number ends the window."""
    counted = window.requests
    if plan.half_width_ratio is None:
        return None if plan.requests is None else plan.requests - counted
    left = plan.max_requests - counted
    least = least_requests(plan)
    if least is not None and counted < least:
        return min(left, least - counted)
    batches = LatencyBatches.from_json(window.batches())
    if batches.half_width_ns is None:
        return min(left, counted)
    ratio = batches.half_width_ns * len(batches.means_ns) / max(sum(batches.means_ns), 1e-9)
    # Half-widths shrink with the square root of the number.
    growth = 1.1 * (ratio / plan.half_width_ratio) ** 2 - 1
    return min(left, math.ceil(counted * min(max(growth, _LEAST_GROWTH), _MOST_GROWTH)))


def _rate(window: CompletionWindow, workload: Characteristics) -> float:
    """Return requests per second: measured, or the most that is expected."""
    if window.completed and window.now_ns:
        return window.completed * 1e9 / window.now_ns
    return min(
        _FIRST_RATE_OF_A_SLOT * workload.queue_depth,
        _FIRST_RATE,
        _FIRST_BYTES_PER_SECOND / workload.mean_request_bytes,
    )
