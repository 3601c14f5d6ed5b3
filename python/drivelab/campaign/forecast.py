"""The costs of a campaign before it runs: time, and bytes written.

For real drives only the plan is used, and nothing is measured. The time comes from the plan. The
bytes do too if the plan counts requests; if it counts time, they are given per 100 MB/s of the
drive. Simulated drives and formulas run a few of the workloads, spread over the campaign's request
sizes, and the rest is extrapolated from these.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.drives.write_pattern import SETTLING_CAPACITIES, settled_patterns, write_pattern
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.probes import FILL_SECONDS, Fill

#: Bytes are estimated for this rate if only the drive knows how fast it is.
RATE_BYTES_PER_SECOND: Final = 100_000_000
# If every measurement counts the same number of requests, their sizes nearly determine the bytes.
# If measurements end by themselves, a few workloads count ten times more than others: of 400 on
# sim:x25m, a sample of 16 gave twice the bytes, and one of 64 was off by a twentieth.
_PILOT_OF_COUNTS: Final = 16
_PILOT: Final = 64


@dataclass(frozen=True)
class Forecast:
    """The estimated costs of a campaign.

    Attributes
    ----------
    drive_seconds
        Time on the drive, simulated or real; `None` if only the drive decides it.
    host_seconds
        Time on this machine; `None` likewise.
    written_bytes
        Bytes that counted requests and warm-up requests write.
    settling_bytes
        Most bytes written before the workloads of each kind of writing, if writes are sustained.
        How long that takes only the drive knows.
    written_bytes_per_rate
        Additional bytes for each `RATE_BYTES_PER_SECOND` at which the drive moves data.
    at_most
        Whether a measurement may end earlier than assumed.
    pilot_workloads
        Number of workloads that were run for the estimate; 0 if the plan is enough.
    pilot_capacity_bytes
        Capacity of the drive that ran them; 0 if none did.
    budget_workloads
        Estimated number of workloads within the budget; None without a budget.
    """

    drive_seconds: float | None
    host_seconds: float | None
    written_bytes: int
    settling_bytes: int
    written_bytes_per_rate: int
    at_most: bool
    pilot_workloads: int
    pilot_capacity_bytes: int = 0
    budget_workloads: int | None = None


def forecast_from_plan(
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    capacity_bytes: int,
    *,
    rounds: int = 1,
) -> Forecast:
    """Estimate the costs of a campaign on a real drive, without measuring.

    Parameters
    ----------
    workloads
        Workloads of all parts.
    plan
        Length of each measurement.
    capacity_bytes
        Capacity of the drive.
    rounds
        Most rounds in which the workloads are requested.
    """
    plan = plan.holding(ends_by_itself=False)
    counted = plan.requests if plan.half_width_ratio is None else plan.max_requests
    timed = plan.seconds
    seconds = None if timed is None else (plan.warmup_seconds + timed) * len(workloads)
    requests = plan.warmup_requests + ((counted or 0) if timed is None else 0)
    window_seconds = plan.warmup_seconds + (timed or 0.0)
    patterns = len(settled_patterns(workloads, plan.writes))
    # A round begins with the kind of writing that ended the one before.
    settlings = patterns + (rounds - 1) * max(patterns - 1, 0)
    return Forecast(
        drive_seconds=seconds,
        host_seconds=seconds,
        written_bytes=round(requests * sum(map(_written_bytes, workloads))),
        settling_bytes=settlings * SETTLING_CAPACITIES * capacity_bytes,
        written_bytes_per_rate=round(
            window_seconds * RATE_BYTES_PER_SECOND * sum(map(_written_share, workloads))
        ),
        at_most=(timed is not None and counted is not None) or plan.half_width_ratio is not None,
        pilot_workloads=0,
    )


def adding_fills(cost: Forecast, fills: Sequence[Fill]) -> Forecast:
    """Add the cost of fills on a real drive: at most a minute each, and their requests."""
    if not fills:
        return cost
    seconds = FILL_SECONDS * len(fills)
    written = sum(round(one.requests * _written_bytes(one.workload)) for one in fills)
    return replace(
        cost,
        drive_seconds=None if cost.drive_seconds is None else cost.drive_seconds + seconds,
        host_seconds=None if cost.host_seconds is None else cost.host_seconds + seconds,
        written_bytes=cost.written_bytes + written,
        at_most=True,
    )


def within_budget(cost: Forecast, budget_seconds: float, workloads: int, fixed: int) -> Forecast:
    """Return the part of a campaign that fits into its budget.

    Parameters
    ----------
    cost
        Cost of all workloads.
    budget_seconds
        Limit on the drive's time.
    workloads
        Number of all workloads.
    fixed
        Number of workloads that are measured whatever the budget is.
    """
    if not cost.drive_seconds:
        return cost
    most = budget_seconds + cost.drive_seconds * fixed / workloads
    if cost.drive_seconds <= most:
        return cost
    share = most / cost.drive_seconds
    return replace(
        cost,
        drive_seconds=most,
        host_seconds=None if cost.host_seconds is None else share * cost.host_seconds,
        written_bytes=round(share * cost.written_bytes),
        written_bytes_per_rate=round(share * cost.written_bytes_per_rate),
        budget_workloads=round(share * workloads),
    )


def together(costs: Sequence[Forecast]) -> Forecast:
    """Add up the costs of campaigns with the same number of workloads, one after the other."""
    first = costs[0]
    return Forecast(
        drive_seconds=_sum([one.drive_seconds for one in costs]),
        host_seconds=_sum([one.host_seconds for one in costs]),
        written_bytes=sum(one.written_bytes for one in costs),
        settling_bytes=sum(one.settling_bytes for one in costs),
        written_bytes_per_rate=sum(one.written_bytes_per_rate for one in costs),
        at_most=first.at_most,
        pilot_workloads=first.pilot_workloads,
        pilot_capacity_bytes=first.pilot_capacity_bytes,
        budget_workloads=first.budget_workloads,
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def forecast_by_pilot(
    drive: Drive,
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    *,
    capacity_bytes: int | None = None,
) -> Forecast:
    """Run a few of the workloads on a simulated drive or a formula, and extrapolate.

    Parameters
    ----------
    drive
        A simulated drive or a formula.
    workloads
        Workloads of all parts.
    plan
        Length of each measurement.
    capacity_bytes
        Capacity of the campaign's drive, if `drive` is a smaller one like it. Preparing the states
        of the drive takes longer in the same ratio.
    """
    planned_bytes = capacity_bytes or drive.capacity_bytes
    larger = planned_bytes / drive.capacity_bytes
    plan = plan.on_capacity(planned_bytes, drive.capacity_bytes)
    by_count = plan.half_width_ratio is None and plan.seconds is None
    shares = _shares_by_size(workloads, _PILOT_OF_COUNTS if by_count else _PILOT)
    pilot = [(share[len(share) // 2], workloads[share[len(share) // 2]]) for share in shares]
    preparing = time.monotonic()
    # A state is prepared when it is first needed, once for the whole campaign.
    least = replace(plan, requests=1, warmup_requests=0, warmup_seconds=0.0, half_width_ratio=None)
    list(drive.measure([*pilot[:1], *_one_of_each(workloads, plan)], least))
    started = time.monotonic()
    measurements = list(drive.measure(pilot, plan))
    ended = time.monotonic()
    scale = len(workloads) / len(pilot)
    pairs = list(zip(shares, measurements, strict=True))
    return Forecast(
        drive_seconds=sum(len(share) * measurement_seconds(one, plan) for share, one in pairs),
        host_seconds=larger * (started - preparing) + scale * (ended - started),
        written_bytes=round(
            sum(
                _requests_sent(one, plan) * sum(_written_bytes(workloads[at]) for at in share)
                for share, one in pairs
            )
        ),
        settling_bytes=0,
        written_bytes_per_rate=0,
        at_most=False,
        pilot_workloads=len(pilot),
        pilot_capacity_bytes=drive.capacity_bytes,
    )


def _one_of_each(
    workloads: Sequence[Characteristics], plan: MeasurementPlan
) -> list[tuple[int, Characteristics]]:
    """Return one workload, and its index, for each kind of writing that the drive settles to."""
    first = {
        write_pattern(workload): place for place, workload in reversed([*enumerate(workloads)])
    }
    patterns = settled_patterns(workloads, plan.writes)
    return [(first[pattern], workloads[first[pattern]]) for pattern in patterns]


def _shares_by_size(workloads: Sequence[Characteristics], most: int) -> list[list[int]]:
    """Divide the workloads, by request size, into equal shares; the middle one stands for each."""
    order = sorted(range(len(workloads)), key=lambda place: _mean_bytes(workloads[place]))
    count = min(most, len(order))
    ends = [len(order) * share // count for share in range(count + 1)]
    return [order[start:end] for start, end in pairwise(ends)]


def _mean_bytes(workload: Characteristics) -> float:
    return (1 - workload.write_ratio) * workload.read_size + _written_bytes(workload)


def _written_bytes(workload: Characteristics) -> float:
    """Return the mean number of bytes that a request writes."""
    return workload.write_ratio * workload.write_size


def _written_share(workload: Characteristics) -> float:
    """Return the fraction of the transferred bytes that are writes."""
    return _written_bytes(workload) / _mean_bytes(workload)


def _requests_sent(measurement: Measurement, plan: MeasurementPlan) -> float:
    """Return the requests in window and warm-up; the warm-up is a number or a time."""
    rate = measurement.requests * 1e9 / measurement.duration_ns
    return measurement.requests + max(plan.warmup_requests, plan.warmup_seconds * rate)


def measurement_seconds(measurement: Measurement, plan: MeasurementPlan) -> float:
    """Return how long the drive took for a measurement, warm-up included."""
    rate = measurement.requests * 1e9 / measurement.duration_ns
    return _requests_sent(measurement, plan) / rate
