"""A pass over a file, sent by fio: every request of the generator's pass, once and in its order.

::

    pass ──► iologs of at most a million requests, one after the other, one request at a time
                 └── each is checked against the stream, then its latencies are added up

A pass lasts as long as its requests together: from submitting each until it is complete. What fio
itself needs between two, a microsecond or two, is no time of the drive, and neither is the pause in
which the next log is prepared. So a pass of milliseconds is known as exactly as a long one,
although fio's clock has whole milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab._core import RequestStream
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult, added_up
from drivelab.drives.real.fio.job import Segment, buffer_seed
from drivelab.drives.real.fio.measurement import FioSetup, run_segment
from drivelab.drives.real.fio.pace import LONGEST_SECONDS, MOST_REQUESTS
from drivelab.errors import UsageError
from drivelab.units import format_size
from drivelab.workloads.content import USUAL

if TYPE_CHECKING:
    from drivelab.workloads.whole_pass import WholePass

_DIRECTIONS: Final = ("read", "write")


def check_pass(one: WholePass, name: str, capacity_bytes: int) -> None:
    """Raise `UsageError` when a pass's file does not fit into a drive of this size."""
    end = one.start_bytes + one.file_bytes
    if end > capacity_bytes:
        raise UsageError(
            f"a pass over {format_size(one.file_bytes)} ends at byte {end}, and {name} has "
            f"{format_size(capacity_bytes)}; allowed: a file of at most "
            f"{format_size(max(0, capacity_bytes - one.start_bytes))}"
        )


def pass_with_fio(setup: FioSetup, index: int, one: WholePass, seed: int) -> Measurement:
    """Measure one pass.

    Parameters
    ----------
    setup
        How and where.
    index
        With `seed` the key of a random order.
    one
        A pass that the drive accepts.
    seed
        See `index`.

    Raises
    ------
    RunError
        When fio fails, hangs, or sends other requests than those of the pass.
    """
    stream = RequestStream.of_pass(one.as_tuple(), seed, index)
    workload = one.characteristics()
    parts: dict[str, list[OperationResult]] = {name: [] for name in _DIRECTIONS}
    while (left := one.requests - stream.position) > 0:
        segment = Segment(min(left, MOST_REQUESTS), LONGEST_SECONDS)
        data = (buffer_seed(seed, index, stream.position), USUAL)
        completions, _ = run_segment(setup, workload, segment, stream, data)
        stream.complete(completions)
        for direction, counted in ((name, completions.operation(name)) for name in _DIRECTIONS):
            if counted is not None:
                parts[direction].append(OperationResult(**counted))
    done = [part for name in _DIRECTIONS for part in parts[name]]
    return Measurement(
        index=index,
        workload=one,
        duration_ns=sum(round(part.latency_ns_mean * part.requests) for part in done),
        read=added_up(parts["read"]),
        write=added_up(parts["write"]),
    )
