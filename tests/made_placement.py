"""Plans whose workloads behave on each kind of drive as a test says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drivelab.place.interference import Behaviour
from drivelab.place.outcome import Outcome
from drivelab.place.plan import Bounds, Demand, Offer, PlacementPlan
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.side_by_side import Part

GIB = 2**30


def demand(name: str, gib: int = 1, rate_iops: float | None = 1000.0, **bounds: float) -> Demand:
    """Give reads that arrive at a rate, or wait for the drive."""
    part = Part(name, Characteristics(), gib * GIB, rate_iops=rate_iops)
    return Demand(part, Bounds(**bounds))


def outcome(mean_ns: float, p99_ns: float | None = None, iops: float = 1000.0) -> Outcome:
    """Give what a workload did; its slowest requests take three times as long unless said."""
    return Outcome(mean_ns, 3 * mean_ns if p99_ns is None else p99_ns, iops, iops * 4096)


def behaviour(
    offer: Offer,
    gib: int,
    alone: Mapping[int, Outcome],
    utilisation: Mapping[int, float] | None = None,
    *,
    growth: Mapping[tuple[int, int], float] | None = None,
    conflicts: Sequence[tuple[int, int]] = (),
    drive: int = 0,
) -> Behaviour:
    """Give a kind of drive.

    Parameters
    ----------
    offer, gib, alone
        What it is, how large, and what each workload does there.
    utilisation
        0.1 unless said.
    growth
        By what a neighbour multiplies latencies; 1.2 unless said.
    conflicts
        Pairs that it cannot hold.
    drive
        Its place in the plan.
    """
    growth = growth or {}
    beside = {}
    for at, one in alone.items():
        for other in alone:
            if at == other or (at, other) in conflicts or (other, at) in conflicts:
                continue
            factor = growth.get((at, other), 1.2)
            beside[at, other] = Outcome(
                one.latency_ns_mean * factor,
                one.latency_ns_p99 * factor,
                one.iops / factor,
                one.bytes_per_second / factor,
            )
    used = {at: (utilisation or {}).get(at, 0.1) for at in alone}
    return Behaviour(drive, offer, gib * GIB, alone, alone, beside, used)


def plan(demands: Sequence[Demand], offers: Sequence[Offer], **values: Any) -> PlacementPlan:
    """Give a plan."""
    return PlacementPlan(tuple(demands), tuple(offers), **values)
