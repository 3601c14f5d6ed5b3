"""How well a fitted scenario represents its trace: both on the same simulated drive, by window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from drivelab.drives.naming import open_simulated
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.traces.fitting.requests import Requests
    from drivelab.workloads.recorded import RecordedFiles
    from drivelab.workloads.workload import Workload

#: A trace's requests do not wait for completions, like arrivals of a scenario.
_DEPTH = 65_536


@dataclass(frozen=True)
class Check:
    """What both did on a drive, by window; medians over windows in which the trace has requests.

    Attributes
    ----------
    drive
        Name of the drive.
    windows
        Number of windows that were compared.
    latency_difference, throughput_difference, bandwidth_difference
        Median of the absolute difference of mean latency, of requests per second and of bytes per
        second, relative to the trace.
    latency_difference_p90
        The difference of latency that nine of ten windows do not exceed.
    latency_bias
        Median of the signed difference: above 0 the scenario is slower.
    trace_latency_ns_mean, scenario_latency_ns_mean
        Mean over all requests.
    """

    drive: str
    windows: int
    latency_difference: float
    throughput_difference: float
    bandwidth_difference: float
    latency_difference_p90: float
    latency_bias: float
    trace_latency_ns_mean: float
    scenario_latency_ns_mean: float


def check(
    drive: str, source: RecordedFiles, scenario: Scenario, window_ns: int, *, seed: int = 0
) -> Check:
    """Replay a trace and run a scenario on a drive, and compare them by window.

    Addresses beyond the end of the drive start again at its beginning, for both.

    Raises
    ------
    UsageError
        If there is no such simulated drive.
    """
    trace = Trace.of_files(source, depth=_DEPTH, fit="wrap")
    # Both end at the same time, even if the drive has fallen behind.
    duration_ns = scenario.window[3]
    seconds = None if duration_ns is None else duration_ns / 1e9
    recorded = windows_on(drive, trace, window_ns, seed, seconds=seconds)
    return compared(drive, recorded, windows_on(drive, scenario, window_ns, seed))


def requests_as_trace(requests: Requests) -> Trace:
    """Return requests in memory as a workload, for a drive of any size."""
    rows = zip(
        requests.arrival_ns.tolist(),
        [("read", "write")[each] for each in requests.action.tolist()],
        requests.offset_bytes.tolist(),
        requests.size_bytes.tolist(),
        strict=True,
    )
    return Trace(tuple(rows), depth=_DEPTH, fit="wrap")


def windows_on(
    drive: str,
    workload: Workload,
    window_ns: int,
    seed: int = 0,
    *,
    seconds: float | None = None,
) -> dict[int, Any]:
    """Run a workload for its whole length; return requests, bytes and latency by window."""
    with open_simulated(drive) as opened:
        simulated = opened.simulate(
            workload, seed=seed, seconds=seconds, interval_seconds=window_ns / 1e9
        ).values
    found: dict[int, Any] = {}
    for row in simulated["series"]["rows"]:
        if row["requests"]:
            sums = found.setdefault(row["start_ns"] // window_ns, np.zeros(3))
            latency_ns = row["requests"] * row["latency_ns_mean"]
            sums += (row["requests"], row["bytes"], latency_ns)
    return found


def compared(drive: str, recorded: Mapping[int, Any], made: Mapping[int, Any]) -> Check:
    """Compare the results of `windows_on` for a trace and for a scenario."""
    none = np.zeros(3)
    ours = np.array([made.get(window, none) for window in recorded])
    theirs = np.array(list(recorded.values()))
    latency = (ours[:, 2] / np.maximum(ours[:, 0], 1)) / (theirs[:, 2] / theirs[:, 0]) - 1
    rates = ours[:, :2] / theirs[:, :2] - 1
    throughput, bandwidth = np.median(np.abs(rates), axis=0)
    return Check(
        drive,
        len(theirs),
        float(np.median(np.abs(latency))),
        float(throughput),
        float(bandwidth),
        float(np.quantile(np.abs(latency), 0.9)),
        float(np.median(latency)),
        float(theirs[:, 2].sum() / theirs[:, 0].sum()),
        float(ours[:, 2].sum() / max(ours[:, 0].sum(), 1)),
    )
