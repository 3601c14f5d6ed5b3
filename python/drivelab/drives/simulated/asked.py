"""What a simulated drive is asked for: a workload's streams, and when counting begins and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.drives.write_pattern import BURST, PIECE_BYTES, write_pattern
from drivelab.errors import UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.side_by_side import SideBySide
from drivelab.workloads.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from drivelab._core import Stream, WindowTuple
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.session import StepPlan
    from drivelab.workloads.workload import Workload

#: The window of a workload with its own end: from the first request to the last.
_WHOLE: WindowTuple = (0, 0, None, None, None, 0)


def streams_of(workload: Workload, content: str, range_bytes: int | None = None) -> list[Stream]:
    """Return the streams of a workload.

    Parameters
    ----------
    workload
        Any workload.
    content
        Kind of the written data of characteristics and traces; other workloads set it themselves.
    range_bytes
        Requests of characteristics go to this many bytes at the drive's beginning; default:
        anywhere.
    """
    streams = workload.streams()
    if not isinstance(workload, (Characteristics, Trace)):
        return streams
    streams = [each.of_content(content) for each in streams]
    if isinstance(workload, Trace):
        return streams
    return streams if range_bytes is None else [each.within(range_bytes) for each in streams]


def refuse_writes_anywhere(name: str, preset: Mapping[str, Any], streams: Sequence[Stream]) -> None:
    """Refuse to measure what a drive with zones refuses: only the rest would be counted.

    Parameters
    ----------
    name
        The drive.
    preset
        Its resolved values.
    streams
        What is to be measured.

    Raises
    ------
    UsageError
        If the drive has zones, and a stream writes without regard to them.
    """
    if "zones" in preset and any(each.writes_anywhere for each in streams):
        raise UsageError(
            f"{name} has zones, and this workload writes anywhere, so its writes would be refused: "
            "give a scenario whose streams have `zones` (docs/zones.md), or read only; drivelab "
            "simulate counts what is refused"
        )


def planned_window(
    workload: Workload, streams: list[Stream], plan: MeasurementPlan, capacity_bytes: int
) -> WindowTuple:
    """Return when counting begins and ends in a measurement: see `drivelab.drives.plan`."""
    warmup, warmup_ns, requests, duration_ns, *_ = _own_window(workload)
    counts = [each.requests for each in streams]
    if isinstance(workload, SideBySide) and None not in counts:
        # Only lists end by themselves, even if a number of requests would end them sooner.
        total = sum(each or 0 for each in counts)
        requests = total if requests is None else min(requests, total)
    if requests is None and None not in counts:
        requests = sum(each or 0 for each in counts) - warmup
    if requests is None and duration_ns is None and not (warmup or warmup_ns):
        warmup, warmup_ns = plan.warmup_requests, round(plan.warmup_seconds * 1e9)
    duration_ns = _first(duration_ns, nanoseconds(plan.seconds))
    ratio = plan.half_width_ratio
    if ratio is None:
        return (warmup, warmup_ns, _first(requests, plan.requests), duration_ns, None, 0)
    least = plan.requests if requests is None else min(requests, plan.requests or 1)
    most = plan.max_requests if requests is None else min(requests, plan.max_requests)
    burst = burst_requests(workload, plan, capacity_bytes)
    if burst is not None:
        most = max(least or 1, min(most, burst - warmup))
    return (warmup, warmup_ns, least, duration_ns, ratio, most)


def burst_requests(workload: Workload, plan: MeasurementPlan, capacity_bytes: int) -> int | None:
    """Return after how many requests the burst of a workload ends by the plan, if it does."""
    ratio = plan.burst_ratio
    if ratio is None or plan.writes != BURST or not isinstance(workload, Characteristics):
        return None
    written = workload.write_ratio * workload.write_size
    # A workload that hardly writes ends by the number of its requests.
    most = plan.max_requests + plan.warmup_requests
    return int(min(ratio * capacity_bytes / written, most)) if written else None


def settled_by(workload: Workload, plan: MeasurementPlan) -> int | None:
    """Return the size of the pieces written before, 0 for sequential; `None` for a burst."""
    pattern = None if plan.writes == BURST else write_pattern(workload)
    return None if pattern is None else PIECE_BYTES[pattern]


def step_window(workload: Workload, plan: StepPlan) -> WindowTuple:
    """Return when counting begins and ends in a step, apart from bytes and the streams' end."""
    warmup, warmup_ns, requests, duration_ns, *_ = _own_window(workload)
    return (warmup, warmup_ns, requests, _first(duration_ns, nanoseconds(plan.seconds)), None, 0)


def asked_window(
    workload: Workload,
    *,
    warmup_requests: int | None,
    requests: int | None,
    duration_ns: int | None,
) -> WindowTuple:
    """Return when counting begins and ends in a run; the default is what a scenario says.

    Parameters
    ----------
    workload
        Any workload.
    warmup_requests
        Requests that complete before counting begins.
    requests, duration_ns
        Limits of the run, whichever is reached first; one of them replaces the scenario's.
    """
    own_warmup, warmup_ns, own_requests, own_duration_ns, *_ = _own_window(workload)
    if requests is None and duration_ns is None:
        requests, duration_ns = own_requests, own_duration_ns
    warmup = own_warmup if warmup_requests is None else warmup_requests
    return (warmup, warmup_ns, requests, duration_ns, None, 0)


def _own_window(workload: Workload) -> WindowTuple:
    return workload.window if isinstance(workload, (Scenario, SideBySide)) else _WHOLE


def _first(*ends: int | None) -> int | None:
    """Return the first of the ends that are given."""
    return min((end for end in ends if end is not None), default=None)


def own_interval_ns(workload: Workload) -> int | None:
    """Return the length of time series intervals that a workload itself sets, in ns."""
    return workload.interval_ns if isinstance(workload, Scenario) else None


def nanoseconds(seconds: float | None) -> int | None:
    """Return a time in ns, at least one."""
    return None if seconds is None else max(1, round(seconds * 1e9))
