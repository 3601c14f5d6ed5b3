"""What has to be tried on a kind of drive before anything is placed on it."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from drivelab._core import MOST_STREAMS
from drivelab.drives.write_pattern import PIECE_BYTES, write_pattern
from drivelab.errors import CannotAnswerError
from drivelab.place.interference import Behaviour
from drivelab.place.measured import Group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.write_pattern import WritePattern
    from drivelab.place.measured import Bench
    from drivelab.place.outcome import Outcome
    from drivelab.place.plan import Demand, Offer

#: So many times a workload's load is tried, until a drive serves no more. What serves more than
#: the last of them counts as used by one part in so many.
_LOADS: Final = (4, 16, 64)


def behaviours_of(
    bench: Bench, drive: int, offer: Offer, demands: Sequence[Demand]
) -> list[Behaviour]:
    """Try workloads alone, at several times their load, and two by two.

    Parameters
    ----------
    bench
        The kind of drive.
    drive, offer
        Its place in the plan, and what the plan says of it.
    demands
        The workloads of the plan.

    Returns
    -------
    list
        A behaviour for each kind of writing of the plan, one at least; the first is of what leaves
        the least behind.

    Raises
    ------
    RunError
        When a measurement fails.
    """
    patterns = [write_pattern(each.part.workload) for each in demands]
    kinds: list[WritePattern | None] = [each for each in PIECE_BYTES if each in patterns]
    kinds = kinds or [None]
    fitting = [at for at, each in enumerate(demands) if each.size_bytes <= bench.capacity_bytes]
    found: list[Behaviour] = []
    for place, kind in enumerate(kinds):
        held = [at for at in fitting if patterns[at] is None or patterns[at] in kinds[: place + 1]]
        after = kind if place else None
        used = found[-1].utilisation if found else {}
        found.append(_behaviour(bench, (drive, offer), demands, held, after=after, known=used))
    return found


def _behaviour(
    bench: Bench,
    of: tuple[int, Offer],
    demands: Sequence[Demand],
    held: Sequence[int],
    *,
    after: WritePattern | None,
    known: Mapping[int, float],
) -> Behaviour:
    """Try what a drive may hold after a kind of writing; `known` is utilisation that is known."""
    sizes = {at: demands[at].size_bytes for at in held}
    bench.try_all((Group((at,), after=after) for at in held), "workloads alone")
    tried = {at: bench.outcomes(Group((at,), after=after))[at] for at in held}
    alone = {at: one for at, one in tried.items() if one.keeps_up}
    able = [at for at, one in alone.items() if not one.broken(demands[at])]
    used = _utilisation(bench, demands, [at for at in able if at not in known], after)
    used = {at: used.get(at, known.get(at, 0.0)) for at in alone}
    pairs = [
        pair
        for pair in combinations(able, 2)
        if sum(sizes[at] for at in pair) <= bench.capacity_bytes
        and sum(used[at] for at in pair) <= 1
    ]
    bench.try_all((Group(pair, after=after) for pair in pairs), "pairs of workloads")
    beside: dict[tuple[int, int], Outcome] = {}
    for one, other in pairs:
        found = bench.outcomes(Group((one, other), after=after))
        if all(each.keeps_up for each in found.values()):
            beside[one, other], beside[other, one] = found[one], found[other]
    return Behaviour(*of, bench.capacity_bytes, tried, alone, beside, used, after)


def _utilisation(
    bench: Bench, demands: Sequence[Demand], able: Sequence[int], after: WritePattern | None
) -> dict[int, float]:
    """Return the share of a drive's possible throughput that each workload asks for."""
    used = dict.fromkeys(able, 0.0)
    rates = {at: rate for at in able if (rate := demands[at].rate_iops) is not None}
    most = {at: MOST_STREAMS // len(demands[at].part.stream_names()) for at in rates}
    for load in _LOADS:
        # What has too many streams for the first load is tried at what a drive can run of it.
        groups = {
            at: Group((at,), copies, after)
            for at in rates
            if (copies := min(load, most[at]) if load == _LOADS[0] else load) <= most[at]
            and copies > 1
        }
        bench.try_all(groups.values(), f"workloads at {load} times")
        for at, group in groups.items():
            found = bench.outcomes(group)[at]
            if found.keeps_up and group.copies < load:
                # So few say only that it takes little.
                continue
            used[at] = min(1.0, rates[at] / max(found.iops, rates[at]))
            if not found.keeps_up:
                del rates[at]
    return used


def refuse_fresh(bench: Bench, demands: Sequence[Demand]) -> None:
    """Raise `CannotAnswerError` when the drive cannot run one of the workloads at all."""
    for at, each in enumerate(demands):
        if each.size_bytes <= bench.capacity_bytes:
            try:
                bench.check(Group((at,)))
            except CannotAnswerError as error:
                raise CannotAnswerError(f"workload {each.name!r}: {error}") from error
