"""Candidates of a choice whose latencies and rates are given."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab._core import histogram_bin
from drivelab.choose.candidate import Candidate
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.stream_result import StreamResult
from drivelab.workloads.scenario import Scenario

REQUESTS = 1000


def scenario(rate_iops: float | None) -> Scenario:
    """Give one stream of reads of 4 KiB, which wait for the drive or arrive at a rate."""
    source = "queue_depth = 1" if rate_iops is None else f"rate_iops = {rate_iops}"
    return Scenario(f'requests = {REQUESTS}\n[[stream]]\nname = "load"\n{source}\n')


def candidate(
    name: str,
    latencies_ns: Sequence[float],
    *,
    rate_iops: float | None = None,
    served_iops: float | None = None,
    batches: tuple[float, ...] = (),
) -> Candidate:
    """Give a drive all of whose requests took as long as each repetition's latency says.

    It serves `served_iops`, or one request after the other.
    """
    found = []
    for index, latency in enumerate(latencies_ns):
        result = OperationResult(
            REQUESTS,
            REQUESTS * 4096,
            float(latency),
            int(latency),
            int(latency) + 1,
            {histogram_bin(int(latency)): REQUESTS},
        )
        iops = 1e9 / latency if served_iops is None else served_iops
        duration = round(REQUESTS * 1e9 / iops)
        latency_batches = None
        if batches:
            ends = tuple(duration * (place + 1) // len(batches) for place in range(len(batches)))
            latency_batches = LatencyBatches(REQUESTS // len(batches), batches, ends, 0.0, None)
        found.append(
            Measurement(
                index,
                scenario(rate_iops),
                duration,
                result,
                None,
                batches=latency_batches,
                streams=(StreamResult("load", duration, result),),
            )
        )
    return Candidate(name, "simulated", 2**30, tuple(found))
