"""A pass over a file, sent by fio: every request of the generator's pass, once and in its order.

::

        pass ──► iologs of at most a million requests, one after the other, one request at a time
                 └── each is checked against the stream, then its latencies are added up

A pass takes the sum of its requests' times, each from submission to completion. fio's own time
between two requests, a microsecond or two, is not the drive's, and neither is the pause in which
the next log is prepared. So a pass of milliseconds is measured as exactly as a long one, although
fio's clock has whole milliseconds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from drivelab._core import RequestStream
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult, added_up
from drivelab.drives.real.fio.job import Segment, buffer_seed
from drivelab.drives.real.fio.measurement import FioSetup, run_segment
from drivelab.drives.real.fio.pace import LONGEST_SECONDS, MOST_REQUESTS
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.units import format_size
from drivelab.workloads.content import USUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.workloads.whole_pass import WholePass

_DIRECTIONS: Final = ("read", "write")


def check_pass(one: WholePass, name: str, capacity_bytes: int) -> None:
    """Raise `UsageError` if a pass's file does not fit into a drive of this size."""
    end = one.start_bytes + one.file_bytes
    if end > capacity_bytes:
        raise UsageError(
            f"a pass over {format_size(one.file_bytes)} ends at byte {end}, and {name} has "
            f"{format_size(capacity_bytes)}; allowed: a file of at most "
            f"{format_size(max(0, capacity_bytes - one.start_bytes))}"
        )


def check_pass_plan(plan: MeasurementPlan, name: str) -> None:
    """Raise `CannotAnswerError` if the plan has a half-width."""
    if plan.half_width_ratio is not None:
        raise CannotAnswerError(
            f"a pass over a file of {name}, a real drive, is not counted to a half-width: leave "
            "half_width_ratio out, or measure it on a simulated one (sim:NAME)"
        )


def pass_with_fio(
    setup: FioSetup, index: int, one: WholePass, plan: MeasurementPlan
) -> Measurement:
    """Measure one pass.

    Parameters
    ----------
    setup
        What runs, and where.
    index
        With the plan's seed the key of a random order.
    one
        A pass that the drive accepts.
    plan
        Ends the pass before its last request, at `requests` or `seconds`, if given.

    Raises
    ------
    RunError
        If fio fails, hangs, or sends other requests than those of the pass.
    """
    stream = RequestStream.of_pass(one.as_tuple(), plan.seed, index)
    workload = one.characteristics()
    most = one.requests if plan.requests is None else min(one.requests, plan.requests)
    done: list[tuple[str, OperationResult]] = []
    is_over = False
    while (left := most - stream.position) > 0 and not is_over:
        seconds = math.inf if plan.seconds is None else plan.seconds - _lasted_ns(done) / 1e9
        segment = Segment(min(left, MOST_REQUESTS), min(LONGEST_SECONDS, seconds))
        data = (buffer_seed(plan.seed, index, stream.position), USUAL)
        completions, is_cut = run_segment(setup, workload, segment, stream, data)
        stream.complete(completions)
        counts = ((name, completions.operation(name)) for name in _DIRECTIONS)
        done += [(name, OperationResult(**each)) for name, each in counts if each is not None]
        is_over = is_cut and seconds <= LONGEST_SECONDS
    read, write = (added_up([part for each, part in done if each == name]) for name in _DIRECTIONS)
    return Measurement(
        index=index,
        workload=one,
        duration_ns=_lasted_ns(done),
        read=read,
        write=write,
        stopped_by="seconds" if is_over else "requests",
    )


def _lasted_ns(done: Sequence[tuple[str, OperationResult]]) -> int:
    """Return how long requests took together, one at a time."""
    return sum(round(part.latency_ns_mean * part.requests) for _, part in done)
