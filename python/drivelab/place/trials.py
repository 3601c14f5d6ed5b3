"""What has to be tried on a kind of drive before anything is placed there."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from drivelab.errors import CannotAnswerError
from drivelab.place.interference import Behaviour

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.place.measured import Bench
    from drivelab.place.outcome import Outcome
    from drivelab.place.plan import Demand, Offer

#: So many times a workload's load is tried, until a drive serves no more. What serves more than
#: the last of them counts as used by one part in so many.
_LOADS: Final = (4, 16, 64)
_MOST_STREAMS: Final = 64


def behaviour_of(bench: Bench, offer: Offer, demands: Sequence[Demand]) -> Behaviour:
    """Try workloads alone, at several times their load, and two by two.

    Parameters
    ----------
    bench
        The kind of drive.
    offer
        As the plan says it.
    demands
        The workloads of the plan.

    Raises
    ------
    RunError
        When a measurement fails.
    """
    sizes = {at: each.size_bytes for at, each in enumerate(demands)}
    fitting = [at for at, size in sizes.items() if size <= bench.capacity_bytes]
    bench.try_all((((at,), 1) for at in fitting), "workloads alone")
    tried = {at: bench.outcomes(((at,), 1))[at] for at in fitting}
    alone = {at: one for at, one in tried.items() if one.keeps_up}
    able = [at for at, one in alone.items() if not one.broken(demands[at])]
    used = _utilisation(bench, demands, alone, able)
    pairs = [
        pair
        for pair in combinations(able, 2)
        if sum(sizes[at] for at in pair) <= bench.capacity_bytes
        and sum(used[at] for at in pair) <= 1
    ]
    bench.try_all(((pair, 1) for pair in pairs), "pairs of workloads")
    beside: dict[tuple[int, int], Outcome] = {}
    for one, other in pairs:
        found = bench.outcomes(((one, other), 1))
        if all(each.keeps_up for each in found.values()):
            beside[one, other], beside[other, one] = found[one], found[other]
    return Behaviour(offer, bench.capacity_bytes, tried, alone, beside, used)


def _utilisation(
    bench: Bench,
    demands: Sequence[Demand],
    alone: Mapping[int, Outcome],
    able: Sequence[int],
) -> dict[int, float]:
    """Give the share of what a drive serves of each workload that it asks for."""
    used = dict.fromkeys(alone, 0.0)
    rates = {at: rate for at in able if (rate := demands[at].rate_iops) is not None}
    for copies in _LOADS:
        open_ones = [
            at for at in rates if len(demands[at].part.stream_names()) * copies <= _MOST_STREAMS
        ]
        bench.try_all((((at,), copies) for at in open_ones), f"workloads at {copies} times")
        for at in open_ones:
            found = bench.outcomes(((at,), copies))[at]
            used[at] = min(1.0, rates[at] / max(found.iops, rates[at]))
            if not found.keeps_up:
                del rates[at]
    return used


def refuse_fresh(bench: Bench, demands: Sequence[Demand]) -> None:
    """Raise `CannotAnswerError` when the drive cannot run one of the workloads at all."""
    for at, each in enumerate(demands):
        if each.size_bytes <= bench.capacity_bytes:
            try:
                bench.check(((at,), 1))
            except CannotAnswerError as error:
                raise CannotAnswerError(f"workload {each.name!r}: {error}") from error
