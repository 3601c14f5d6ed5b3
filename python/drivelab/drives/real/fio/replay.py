"""A recorded trace on a real drive: fio sends the commands that the core reads, in segments.

::

        at recorded times   each of N jobs sends every N-th request, one after the other (psync),
        after
                            a wait until its millisecond: at most N are outstanding
    as fast as possible one job with a queue of N (`fio.job`), nothing waits

Why jobs: before 3.36 fio's queue does not look for completions while it waits for a time, and
counts that as latency. Why waits instead of the times of its third iolog version: those count from
when the previous request was sent, so a late request makes all later ones late, and each adds a
microsecond.

A segment ends in a pause of the recording. Its requests complete before the next fio starts. The
clock stands still meanwhile; requests whose time passed before the end of a segment are sent late.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from drivelab._core import Completions, RecordedSegments
from drivelab.drives.lateness import Lateness
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import CommandResult, OperationResult, added_up
from drivelab.drives.real.fio.content import filled_content
from drivelab.drives.real.fio.files import FioFiles
from drivelab.drives.real.fio.job import (
    LEAST_LOG_ENTRIES,
    Segment,
    buffer_seed,
    segment_options,
)
from drivelab.drives.real.fio.measurement import (
    FioSetup,
    run_limited,
)
from drivelab.drives.real.fio.pace import LONGEST_SECONDS, MOST_REQUESTS
from drivelab.drives.real.fio.program import FioOutput
from drivelab.drives.real.fio.replay_asked import looks_like
from drivelab.drives.real.fio.result import check_segment, field_of, histogram_of
from drivelab.drives.stream_result import StreamResult
from drivelab.errors import RunError
from drivelab.workloads.trace import STREAM

if TYPE_CHECKING:
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.workloads.characteristics import Characteristics
    from drivelab.workloads.trace import Trace

#: The longest segment: a drive that stops answering is noticed when it should have ended.
MOST_SECONDS: Final = 600.0
_LEAD_MS: Final = 200.0
_LEAD_MS_A_JOB: Final = 2.0
_LEAD_MS_A_REQUEST: Final = 0.005
_LEAD_MS_A_BYTE: Final = 1e-5

#: Called now and then with the finished share of a replay.
ReplayWatch = Callable[[float], None]


@dataclass
class _Replay:
    """A replay in progress."""

    setup: FioSetup
    index: int
    trace: Trace
    requests: Characteristics
    plan: MeasurementPlan
    watch: ReplayWatch | None
    segments: RecordedSegments
    lasting_ns: int = 0
    sent: int = 0
    done: int = 0
    flushed: CommandResult | None = None

    @property
    def has_flushes(self) -> bool:
        return bool(self.trace.commands.get("flush"))

    def run(self) -> None:
        while True:
            span_ns = round(MOST_SECONDS * 1e9)
            found = self.segments.next(MOST_REQUESTS, span_ns)
            if found is None:
                return
            commands, flushes, self.lasting_ns = found
            segment = Segment(commands - flushes, self.lasting_ns / 1e9)
            if self.trace.speed is not None:
                self._send_timed(segment, flushes)
            elif segment.requests:
                self._send_closed(segment)
            self.sent += commands
            self.done += 1

    def _send_timed(self, segment: Segment, flushes: int) -> None:
        setup = self.setup
        jobs = min(self.requests.queue_depth, max(1, segment.requests))
        lead_ms = round(
            _LEAD_MS
            + jobs * (_LEAD_MS_A_JOB + self.requests.write_size * _LEAD_MS_A_BYTE)
            + segment.requests * _LEAD_MS_A_REQUEST
        )
        name = f"/proc/self/fd/{setup.descriptor}"
        iologs = self.segments.timed_iologs(name, jobs, lead_ms)
        lasting = replace(segment, seconds=segment.seconds + lead_ms / 1e3)
        with FioFiles(jobs) as files, files.holding(*iologs):
            del iologs
            output = self._run(self._timed_options(files, segment.requests), files, lasting)
            logs = [Completions(files.latency_log(job)) for job in range(jobs)]
        if segment.requests:
            check_segment(output.report, output.remarks, segment, Completions.merged(logs))
        flushed = self._take_flushes(output)
        if flushed != flushes:
            raise RunError(f"fio sent {flushed} flushes of {flushes}")
        self.segments.complete(logs, lead_ms)

    def _timed_options(self, files: FioFiles, requests: int) -> list[str]:
        """Return the options of one job for each of the files' iologs, without leading dashes."""
        iologs = files.iologs
        seed = buffer_seed(self.plan.seed, self.index, self.sent)
        jobs = (
            # Each job writes different data.
            (f"name=segment{job}", f"read_iolog={iolog}", f"randseed={seed + job}")
            for job, iolog in enumerate(iologs)
        )
        return [
            *(["readonly"] if self.requests.write_ratio == 0 else []),
            "ioengine=psync",
            "allow_file_create=0",
            "direct=1",
            "thread",
            "invalidate=1",
            *filled_content(self.plan.content, self.setup.mark),
            "randrepeat=0",
            f"write_lat_log={files.log_prefix}",
            f"log_entries={max(LEAST_LOG_ENTRIES, math.ceil(requests / len(iologs)))}",
            "log_offset=1",
            "disable_slat=1",
            # Together with it fio does not time flushes.
            *([] if self.has_flushes else ["disable_clat=1"]),
            "lat_percentiles=1",
            "clat_percentiles=0",
            "disk_util=0",
            "group_reporting",
            "output-format=json+",
            "eta=never",
            *(option for job in jobs for option in job),
        ]

    def _send_closed(self, segment: Segment) -> None:
        setup, files = self.setup, self.setup.files
        segment = replace(segment, seconds=LONGEST_SECONDS)
        options = segment_options(
            self.requests,
            segment,
            engine=setup.engine,
            iolog=files.iolog,
            log_prefix=files.log_prefix,
            buffer_seed=buffer_seed(self.plan.seed, self.index, self.sent),
            content=self.plan.content,
            mark=setup.mark,
        )
        if self.has_flushes:
            options.remove("disable_clat=1")
        name = f"/proc/self/fd/{setup.descriptor}"
        with files.holding(self.segments.closed_iolog(name)):
            output = self._run(options, files, segment)
            completions = Completions(files.latency_log())
        check_segment(output.report, output.remarks, segment, completions)
        self._take_flushes(output)
        self.segments.complete_closed(completions, self.requests.queue_depth)

    def _run(self, options: list[str], files: FioFiles, segment: Segment) -> FioOutput:
        # A drive that is too slow for recorded times is late but does not hang.
        patience = None if self.trace.speed is None else self.setup.slack_seconds
        watch = self._watcher(segment)
        return run_limited(
            self.setup, options, files, segment, watch=watch, patience_seconds=patience
        )

    def _take_flushes(self, output: FioOutput) -> int:
        """Count the flushes that fio sent, and return their number."""
        if not self.has_flushes:
            return 0
        job = field_of(field_of(output.report, "jobs", list), 0, dict)
        found = field_of(field_of(job, "sync", dict), "lat_ns", dict)
        count: int = field_of(found, "N", int)
        if count:
            this = CommandResult(
                requests=count,
                bytes=0,
                latency_ns_mean=float(field_of(found, "mean", (int, float))),
                latency_ns_min=field_of(found, "min", int),
                latency_ns_max=field_of(found, "max", int),
                histogram=histogram_of(field_of(found, "bins", dict), "flush"),
            )
            self.flushed = added_up([self.flushed, this])
        return count

    def _watcher(self, lasting: Segment) -> Callable[[], None] | None:
        """Report the finished share of the trace while fio sends a segment.

        In the mode "as fast as possible" it is known only between segments.
        """
        watch, whole_ns = self.watch, self.trace.lasting_ns
        if watch is None:
            return None
        if whole_ns is None:
            commands = sum(self.trace.commands.values())
            return lambda: watch(self.sent / commands)
        before_ns, ends = self.segments.clock_ns, time.monotonic() + lasting.seconds

        def tell() -> None:
            left_ns = max(0.0, ends - time.monotonic()) * 1e9
            over_ns = before_ns + max(0.0, self.lasting_ns - left_ns)
            watch(min(1.0, over_ns / max(1, whole_ns)))

        return tell


def _duration_ns(clock_ns: int, depth: int, *done: OperationResult | None) -> int:
    """Return how long a replay took, at least as long as its latencies need.

    fio's log has whole milliseconds, and its latencies whole nanoseconds. So a replay of a few
    short requests seems to take no time. But it takes at least its longest latency, and as at most
    `depth` requests are outstanding, the sum of all latencies divided by `depth`.
    """
    found = [each for each in done if each is not None]
    longest = max((each.latency_ns_max for each in found), default=0)
    in_turn = sum(each.requests * each.latency_ns_mean for each in found) / depth
    return max(1, clock_ns, longest, math.floor(in_turn))


def replay_with_fio(
    setup: FioSetup,
    index: int,
    trace: Trace,
    plan: MeasurementPlan,
    *,
    name: str,
    watch: ReplayWatch | None = None,
) -> Measurement:
    """Replay a trace.

    Parameters
    ----------
    setup
        What runs, and where.
    index
        Index of the measurement; with the plan's seed the key of its data.
    trace
        A trace that the drive accepts.
    plan
        Kind of the written data.
    name
        The drive's name as the user gave it.
    watch
        Called now and then with the finished share.

    Raises
    ------
    RunError
        If fio fails, hangs, or sends other requests than those of the trace.
    UsageError
        If the trace has changed since it was read.
    """
    requests = looks_like(trace, name)
    segments = trace.on_real_drive(setup.capacity_bytes, requests.queue_depth)
    replay = _Replay(setup, index, trace, requests, plan, watch, segments)
    replay.run()
    done = {each: segments.operation(each) for each in ("read", "write")}
    read, write = (None if each is None else OperationResult(**each) for each in done.values())
    late = segments.lateness() if trace.has_times else None
    duration_ns = _duration_ns(segments.clock_ns, requests.queue_depth, read, write, replay.flushed)
    stream = StreamResult(
        STREAM,
        duration_ns,
        read,
        write,
        flush=replay.flushed,
        lateness=None if late is None else Lateness(**late),
    )
    return Measurement(
        index=index,
        workload=trace,
        duration_ns=duration_ns,
        read=read,
        write=write,
        extra={"segments": replay.done, "queue_depth": requests.queue_depth},
        stopped_by="requests",
        streams=(stream,),
    )
