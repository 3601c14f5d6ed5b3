"""What is to be placed where: workloads with their bounds, drives with their prices, the objective.

A plan says nothing of how it is solved. Latencies are in ns, rates a second, sizes in bytes; `None`
is no bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING, Final, Literal, get_args

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.trace import Trace

if TYPE_CHECKING:
    from drivelab.workloads.side_by_side import Part

Objective = Literal["cost", "latency", "watts"]
OBJECTIVES: Final[tuple[Objective, ...]] = get_args(Objective)
#: Of what a drive could serve of a workload; beyond it queues grow fast.
USUAL_UTILISATION: Final = 0.7


@dataclass(frozen=True)
class Bounds:
    """What has to hold of a workload on its drive.

    Attributes
    ----------
    latency_ns_mean, latency_ns_p99
        At most, over all its requests.
    iops, bytes_per_second
        At least.
    """

    latency_ns_mean: float | None = None
    latency_ns_p99: float | None = None
    iops: float | None = None
    bytes_per_second: float | None = None

    def given(self) -> dict[str, float]:
        """Return the bounds that there are, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Demand:
    """A workload, and what it needs.

    Attributes
    ----------
    part
        What it sends, and the bytes of a drive that it occupies.
    bounds
        The limits that must be met.
    """

    part: Part
    bounds: Bounds

    @property
    def name(self) -> str:
        """As the plan calls it."""
        return self.part.name

    @property
    def size_bytes(self) -> int:
        """Of a drive."""
        return self.part.size_bytes

    @cached_property
    def rate_iops(self) -> float | None:
        """Requests a second that arrive; ``None`` where some wait for the drive."""
        workload = self.part.workload
        if isinstance(workload, Characteristics):
            return self.part.rate_iops
        if isinstance(workload, Trace):
            lasting_ns = workload.lasting_ns
            return 1e9 * sum(workload.commands.values()) / lasting_ns if lasting_ns else None
        rates = [each.described()["rate_iops"] for each in workload.streams()]
        return None if None in rates else float(sum(rates))

    @cached_property
    def request_bytes(self) -> float:
        """Bytes of a request, the mean; of a scenario that of all its streams, by their rates."""
        workload = self.part.workload
        if isinstance(workload, Characteristics):
            return workload.mean_request_bytes
        if isinstance(workload, Trace):
            return _bytes_of(workload) / max(1, sum(workload.commands.values()))
        streams = [each.described() for each in workload.streams()]
        weights = [each["rate_iops"] or 1.0 for each in streams]
        sizes = [Characteristics(*each["workload"]).mean_request_bytes for each in streams]
        total: float = sum(map(mul, weights, sizes))
        return total / sum(weights)

    @property
    def lasting_ns(self) -> int | None:
        """Return its duration if it ends at its own times; else ``None``."""
        workload = self.part.workload
        return workload.lasting_ns if isinstance(workload, Trace) else None

    @property
    def ends_unknown(self) -> bool:
        """Return whether its end depends on the drive, as for a trace at full speed."""
        return isinstance(self.part.workload, Trace) and self.part.workload.speed is None

    def describe(self) -> str:
        """Say in a line what is sent."""
        workload = self.part.workload
        if not isinstance(workload, Characteristics) or self.part.rate_iops is None:
            return workload.describe()
        said = workload.describe().rpartition(", ")[0]
        return f"{said}, {self.part.rate_iops:,.6g} a second"


def _bytes_of(trace: Trace) -> int:
    return sum(size for *_, size in trace.requests) if trace.facts is None else trace.facts.bytes


@dataclass(frozen=True)
class Offer:
    """A kind of drive of the pool.

    Attributes
    ----------
    drive
        Its name, as on the command line.
    at_most
        How many there are.
    price, watts
        Of one; ``None`` where the plan does not say.
    """

    drive: str
    at_most: int
    price: float | None = None
    watts: float | None = None


@dataclass(frozen=True)
class PlacementPlan:
    """Everything that is asked.

    Attributes
    ----------
    demands
        The workloads, one at least.
    offers
        The pool, one kind of drive at least.
    objective
        What is to be least: the price of the drives that are used, the mean latency of all
        requests, or the watts of the drives that are used.
    cost_at_most, watts_at_most
        Of all drives that are used.
    utilisation_at_most
        Of each drive: the shares that its workloads take of what it could serve of each.
    """

    demands: tuple[Demand, ...]
    offers: tuple[Offer, ...]
    objective: Objective = "cost"
    cost_at_most: float | None = None
    watts_at_most: float | None = None
    utilisation_at_most: float = USUAL_UTILISATION

    @property
    def has_prices(self) -> bool:
        """Whether every drive has one."""
        return all(each.price is not None for each in self.offers)

    @property
    def has_watts(self) -> bool:
        """Whether they are known of every drive."""
        return all(each.watts is not None for each in self.offers)
