"""A bound of a plan, by what it is of: what may be in the way of a placement."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from drivelab.place.plan import PlacementPlan

What = Literal[
    "cost",
    "watts",
    "utilisation",
    "drives",
    "latency_ns_mean",
    "latency_ns_p99",
    "iops",
    "bytes_per_second",
    "demand",
]

_RATES: Final = ("iops", "bytes_per_second")


@dataclass(frozen=True)
class Bound:
    """One bound.

    Attributes
    ----------
    what
        ``cost``, ``watts`` and ``utilisation`` of the whole, ``drives`` of a kind of drive, those
        of `drivelab.place.plan.Bounds` and ``demand``, which cannot be relaxed, of a workload.
    of
        The place of the workload or of the kind of drive in the plan.
    """

    what: What
    of: int | None = None


def relaxable(plan: PlacementPlan) -> Iterator[Bound]:
    """Yield every bound that could be another one."""
    if plan.cost_at_most is not None:
        yield Bound("cost")
    if plan.watts_at_most is not None:
        yield Bound("watts")
    for place, demand in enumerate(plan.demands):
        for name in demand.bounds.given():
            yield Bound(name, place)  # type: ignore[arg-type]
    for place, _ in enumerate(plan.offers):
        yield Bound("drives", place)
    if plan.utilisation_at_most < 1:
        yield Bound("utilisation")


@dataclass(frozen=True)
class Forbidden:
    """A group that broke bounds when it was simulated on a kind of drive.

    Attributes
    ----------
    drive
        The place of the kind of drive.
    group
        The places of the workloads. Whoever has more of them breaks the same.
    broken
        By bound how many times as much as allowed was found; of what has to be at least so much
        how many times as little.
    """

    drive: int
    group: tuple[int, ...]
    broken: dict[Bound, float]


def slack_of(bound: Bound, factor: float) -> float:
    """Return the slack that stands for being so many times as far as allowed."""
    is_logarithm = bound.what == "latency_ns_mean" or bound.what in _RATES
    return math.log(factor) if is_logarithm else factor - 1


def relaxed_value(bound: Bound, value: float, slack: float) -> float:
    """Return what a bound has to be at least, or at most, so that there is a solution."""
    if bound.what == "latency_ns_mean":
        return value * math.exp(slack)
    if bound.what in _RATES:
        return value * math.exp(-slack)
    return value + round(slack) if bound.what == "drives" else value * (1 + slack)
