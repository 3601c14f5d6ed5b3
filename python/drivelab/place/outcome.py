"""The result of one workload of a group on a drive."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from drivelab.drives.completed import Completed
from drivelab.workloads.side_by_side import SideBySide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult
    from drivelab.drives.stream_result import StreamResult
    from drivelab.place.plan import Demand

#: Less than this of what arrives is served where a drive cannot keep up, beyond the scatter of
#: arrivals at random.
_SERVED_RATIO: Final = 0.98
_SCATTER: Final = 3.0
#: If requests wait for this share of the window, the queue is growing.
_LONGEST_WAIT: Final = 0.05
#: Where fewer should arrive, none may come by chance, which says nothing of the drive.
FEWEST_EXPECTED: Final = 10.0


@dataclass(frozen=True)
class Outcome:
    """What a workload did, or is predicted to do.

    Attributes
    ----------
    latency_ns_mean, latency_ns_p99
        Over all its requests.
    iops, bytes_per_second
        That were served.
    keeps_up
        Whether all arriving requests are served; true of workloads that wait for the drive.
    requests
        That were counted; 0 of a prediction.
    """

    latency_ns_mean: float
    latency_ns_p99: float
    iops: float
    bytes_per_second: float
    keeps_up: bool = True
    requests: int = 0

    def broken(self, demand: Demand) -> dict[str, tuple[float, float]]:
        """Return the bounds that do not hold: name, what was asked, what was found."""
        found = {}
        for name, bound in demand.bounds.given().items():
            value: float = getattr(self, name)
            is_most = name.startswith("latency")
            if value > bound if is_most else value < bound:
                found[name] = (bound, value)
        return found


class _Streams(Completed):
    """Several streams as one."""

    def __init__(self, streams: Sequence[StreamResult], duration_ns: int) -> None:
        self.duration_ns = duration_ns
        self._operations = tuple(part for each in streams for part in each.operations)
        self._bytes = sum(each.bytes for each in streams)

    @property
    def operations(self) -> tuple[OperationResult, ...]:
        return self._operations

    @property
    def bytes(self) -> int:
        return self._bytes


def outcomes_of(measurement: Measurement, demands: Sequence[Demand]) -> list[Outcome | None]:
    """Return the result of each workload of a group; ``None`` if it sent too little to be judged.

    Parameters
    ----------
    measurement
        Of the group.
    demands
        Its workloads, in the order of the parts.
    """
    workload = measurement.workload
    if not isinstance(workload, SideBySide):
        raise TypeError(f"{workload.describe()} is not a group")
    found: list[Outcome | None] = []
    for (part, mine), demand in zip(workload.shares(), demands, strict=True):
        streams = measurement.streams[mine]
        rate = None if demand.rate_iops is None else demand.rate_iops * part.copies
        found.append(_outcome(streams, measurement.duration_ns, rate))
    return found


def _outcome(
    streams: Sequence[StreamResult], duration_ns: int, rate: float | None
) -> Outcome | None:
    done = _Streams(streams, duration_ns)
    expected = math.inf if rate is None else rate * duration_ns / 1e9
    if not done.requests and expected < FEWEST_EXPECTED:
        return None
    if not done.requests:
        # Nothing came back in the whole window.
        waits = float(duration_ns)
        return Outcome(waits, waits, 0.0, 0.0, keeps_up=False)
    one = Outcome(
        done.latency_ns_mean,
        float(done.percentile_ns(99)),
        done.iops,
        done.bandwidth_bytes_per_second,
        requests=done.requests,
    )
    if rate is None:
        return one
    least = _SERVED_RATIO - _SCATTER / math.sqrt(max(expected, 1.0))
    is_late = any(each.lateness is not None and each.lateness.was_late for each in streams)
    keeps_up = (
        one.iops >= least * rate
        and one.latency_ns_mean <= _LONGEST_WAIT * duration_ns
        and not is_late
    )
    return replace(one, keeps_up=keeps_up)
