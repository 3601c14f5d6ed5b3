"""One measurement with fio: segments of one stream, until the plan's window is closed.

::

    fio_pace: how much next ──► stream's next requests as an iolog ──► fio_program: fio runs
        ▲                                                                       │
        └── window: what counts ◄── stream: are they its requests? ◄── fio_result: JSON = log?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, cast

from drivelab._core import Completions, CompletionWindow, RequestStream
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.plan import MeasurementPlan, StoppedBy
from drivelab.drives.real.fio.content import Mark
from drivelab.drives.real.fio.files import FioFiles
from drivelab.drives.real.fio.job import Segment, buffer_seed, segment_options
from drivelab.drives.real.fio.pace import least_requests, next_segment
from drivelab.drives.real.fio.program import FioOutput, FioProgram, run_fio
from drivelab.drives.real.fio.result import check_segment
from drivelab.errors import RunError
from drivelab.workloads.characteristics import Characteristics

# Time for fio's start, and per request for reading the iolog and writing the log, times ten.
START_SECONDS: Final = 3.0
SECONDS_A_REQUEST: Final = 1e-5
# A line of the latency log takes 30 to 60 bytes.
LOG_BYTES_A_REQUEST: Final = 120
# With a smaller probability a missing kind of request is no chance.
_CHANCE: Final = 1e-9
# Limit on segments that count nothing although their window is open.
_MOST_IDLE_SEGMENTS: Final = 3


@dataclass(frozen=True)
class FioSetup:
    """What runs, and on which target.

    Parameters
    ----------
    program
        A checked fio.
    files
        For fio's logs.
    descriptor
        The open file or device.
    capacity_bytes
        The part that requests may address, from the start.
    engine
        fio's I/O engine.
    slack_seconds
        How long outstanding requests may take beyond the run time before fio is killed.
    mark
        The mark on written data, in a file that Drivelab made.
    locks
        Descriptors that fio also keeps open, so that the drive stays locked as long as fio works.
    """

    program: FioProgram
    files: FioFiles
    descriptor: int
    capacity_bytes: int
    engine: str
    slack_seconds: float
    mark: Mark | None = None
    locks: tuple[int, ...] = ()


def measure_with_fio(
    setup: FioSetup, index: int, workload: Characteristics, plan: MeasurementPlan
) -> Measurement:
    """Measure one workload.

    Parameters
    ----------
    setup
        What runs, and where.
    index
        Index of the measurement in its campaign; with the plan's seed the key of its stream.
    workload
        A workload that the drive accepts.
    plan
        When the window opens and closes.

    Raises
    ------
    RunError
        If fio fails, hangs, or reports the impossible.
    """
    stream = RequestStream(workload.as_tuple(), 0, setup.capacity_bytes, plan.seed, index)
    window = CompletionWindow(
        warmup_requests=plan.warmup_requests,
        warmup_ns=_nanoseconds(plan.warmup_seconds),
        requests=least_requests(plan),
        duration_ns=None if plan.seconds is None else _nanoseconds(plan.seconds),
        half_width_ratio=plan.half_width_ratio,
        max_requests=plan.max_requests,
    )
    segments = idle = 0
    while (segment := next_segment(plan, workload, window)) is not None:
        counted = window.requests
        seed = buffer_seed(plan.seed, index, stream.position)
        completions, stopped = run_segment(setup, workload, segment, stream, (seed, plan.content))
        stream.complete(completions)
        window.add(
            completions,
            filling=workload.queue_depth if segments else 0,
            draining=workload.queue_depth - 1,
            stopped_ns=segment.milliseconds * 1_000_000 if stopped else None,
        )
        segments += 1
        idle = idle + 1 if window.opened_ns is not None and window.requests == counted else 0
        if idle == _MOST_IDLE_SEGMENTS:
            raise RunError(
                f"a queue of {workload.queue_depth} requests does not fill in the time given; a "
                "longer one may do"
            )
    return _measurement(index, workload, window, segments)


def run_segment(
    setup: FioSetup,
    workload: Characteristics,
    segment: Segment,
    stream: RequestStream,
    data: tuple[int, str],
) -> tuple[Completions, bool]:
    """Let fio send a segment; return what completed and whether time ended it.

    Parameters
    ----------
    setup
        What runs, and where.
    workload
        Gives queue depth and whether there are writes.
    segment
        How many requests, and for how long.
    stream
        The stream whose next requests are sent; its cursor does not move.
    data
        Key of the written bytes, and their kind.

    Raises
    ------
    RunError
        If fio fails, hangs, or contradicts itself.
    """
    files = setup.files
    options = segment_options(
        workload,
        segment,
        engine=setup.engine,
        iolog=files.iolog,
        log_prefix=files.log_prefix,
        buffer_seed=data[0],
        content=data[1],
        mark=setup.mark,
    )
    # The descriptor that was opened and checked, whatever its path names now.
    name = f"/proc/self/fd/{setup.descriptor}"
    with files.holding(stream.iolog_segment(name, segment.requests)):
        output = run_limited(setup, options, files, segment)
        completions = Completions(files.latency_log())
    return completions, check_segment(output.report, output.remarks, segment, completions)


def run_limited(
    setup: FioSetup,
    options: Sequence[str],
    files: FioFiles,
    segment: Segment,
    *,
    watch: Callable[[], None] | None = None,
    patience_seconds: float | None = None,
) -> FioOutput:
    """Run fio on a segment with limits on its time and log; else as `run_fio`."""
    return run_fio(
        setup.program,
        options,
        deadline_seconds=segment.seconds
        + setup.slack_seconds
        + START_SECONDS
        + segment.requests * SECONDS_A_REQUEST,
        descriptors=[*{setup.descriptor, *setup.locks}, *files.descriptors],
        log=(files.log_descriptors, (segment.requests + 1000) * LOG_BYTES_A_REQUEST),
        watch=watch,
        patience_seconds=patience_seconds,
    )


def _measurement(
    index: int,
    workload: Characteristics,
    window: CompletionWindow,
    segments: int,
) -> Measurement:
    results: dict[str, OperationResult | None] = {}
    shares = {"read": 1 - workload.write_ratio, "write": workload.write_ratio}
    for name, share in shares.items():
        counted = window.operation(name)
        results[name] = None if counted is None else OperationResult(**counted)
        # Of few requests none may be of a kind that the workload hardly has.
        if counted is None and (1 - share) ** window.requests < _CHANCE:
            raise RunError(
                f"no {name} completed among the {window.requests} requests that counted; a longer "
                "measurement may do"
            )
    return Measurement(
        index=index,
        workload=workload,
        duration_ns=window.duration_ns,
        read=results["read"],
        write=results["write"],
        extra={"segments": segments},
        batches=LatencyBatches.from_json(window.batches()),
        stopped_by=cast("StoppedBy", window.closed_by),
    )


def _nanoseconds(seconds: float) -> int:
    return math.ceil(round(seconds * 1e9, 3))
