"""How far predictions of `drivelab place` are from simulations of groups of workloads."""

from __future__ import annotations

import random
from contextlib import ExitStack
from statistics import median
from typing import TYPE_CHECKING, Final

from drivelab.drives.naming import open_simulated
from drivelab.drives.plan import MeasurementPlan
from drivelab.place.measured import Bench, Group
from drivelab.place.placing import Placement, place
from drivelab.place.plan import Bounds, Demand, Offer, PlacementPlan
from drivelab.place.window import window_for
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.side_by_side import Part
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PLANS: Final = 10
_WORKLOADS: Final = 6
_GIB: Final = 2**30
_POOL: Final = (
    Offer("sim:bench-64gib", 2, 90.0, 4.0),
    Offer("sim:x25m", 2, 60.0, 2.5),
    Offer("sim:sas-15k", 2, 40.0, 12.0),
)
_QUALITIES: Final = {"mean latency": "latency_ns_mean", "99 % latency": "latency_ns_p99"}
# Of the mean latencies of workloads that share a drive with two others or more.
_MOST_MEDIAN: Final = 0.05
_MOST_ROUNDS: Final = 5


def random_plan(seed: int) -> PlacementPlan:
    """Draw a plan: reads and writes of several sizes, at random and in order, with bounds."""
    draw = random.Random(seed)  # noqa: S311
    return PlacementPlan(tuple(_demand(draw, place) for place in range(_WORKLOADS)), _POOL)


def _demand(draw: random.Random, place: int) -> Demand:
    kind = draw.random()
    write_ratio = 0.0 if kind < 0.45 else 1.0 if kind < 0.6 else draw.choice([0.1, 0.3])
    workload = Characteristics(
        write_ratio=write_ratio,
        read_size=draw.choice([4096, 8192, 16384, 65536]),
        write_size=draw.choice([4096, 16384]),
        read_random=draw.choice([1.0, 1.0, 1.0, 0.0]),
        write_random=draw.choice([1.0, 0.0]),
    )
    rate = float(draw.choice([10, 20, 50, 100] if write_ratio else [20, 50, 100, 300, 1000]))
    waits = draw.random() < 0.15
    size = draw.choice([2, 4, 8]) * _GIB
    bound = draw.choice([1e6, 3e6, 1e7, 3e7])
    part = Part(f"w{place}", workload, size, rate_iops=None if waits else rate)
    return Demand(part, Bounds() if waits else Bounds(latency_ns_mean=bound))


def _errors(
    placement: Placement, benches: Sequence[Bench], name: str
) -> Iterator[tuple[str, float]]:
    """Give how far each prediction is off where three or more share a drive, forbidden ones too."""
    sizes = {at: each.size_bytes for at, each in enumerate(placement.plan.demands)}
    groups = [(each.placed.drive, each.placed.group) for each in placement.drives]
    groups += [(each.drive, each.group) for each in placement.forbidden]
    for drive, group in groups:
        if len(group) < 3:
            continue
        behaviour = next(
            each
            for each in placement.behaviours
            if each.drive == drive and each.may_hold(group, sizes)
        )
        for at, done in benches[drive].outcomes(Group(group)).items():
            predicted = getattr(behaviour.predicted(at, group), name)
            yield behaviour.offer.drive, predicted / getattr(done, name) - 1


def placement() -> Section:
    """Place workloads of random plans, and compare."""
    found: list[Placement] = []
    errors: dict[str, list[tuple[str, float]]] = {each: [] for each in _QUALITIES}
    how = MeasurementPlan(warmup_requests=0, writes="sustained")
    with ExitStack() as stack:
        drives = [stack.enter_context(open_simulated(each.drive, varies=False)) for each in _POOL]
        for seed in range(_PLANS):
            plan = random_plan(seed)
            window = window_for(plan.demands)
            benches = [Bench(each, plan.demands, window, how, progress=False) for each in drives]
            found.append(place(plan, benches, rounds=20))
            for quality, name in _QUALITIES.items():
                errors[quality] += _errors(found[-1], benches, name)
            for bench in benches:
                bench.close()
    return section_of(found, errors)


def section_of(
    found: Sequence[Placement], errors: Mapping[str, Sequence[tuple[str, float]]]
) -> Section:
    """Show the results of the plans, and the errors of the predictions."""
    section = Section("Placements on a pool of drives", "python -m validation placement")
    pool = ", ".join(f"{each.at_most} {each.drive}" for each in _POOL)
    section.say(
        f"{len(found)} random plans of {_WORKLOADS} workloads on a pool of {pool}, with least cost "
        "and limits on mean latency. The comparison has every workload that shares a drive with "
        "two or more others, also in groups that were then forbidden: the prediction from pairs, "
        "divided by the simulation of the group, minus 1."
    )
    rows = []
    for quality, values in errors.items():
        kinds = sorted({drive for drive, _ in values})
        for kind in (*kinds, "all"):
            sizes = sorted(abs(error) for drive, error in values if kind in (drive, "all"))
            ninth = sizes[int(0.9 * len(sizes))]
            said = (f"{100 * each:.1f}" for each in (median(sizes), ninth, sizes[-1]))
            rows.append((quality, kind, len(sizes), *said))
    section.tabulate(
        ("quality", "drive", "workloads", "median (%)", "90th percentile (%)", "largest (%)"), rows
    )
    rounds = max(each.rounds for each in found)
    forbidden = sum(len(each.forbidden) for each in found)
    section.say(
        f"Groups that broke a limit in the simulation and were forbidden: {forbidden}. "
        f"Maximum number of rounds of a plan: {rounds}."
    )
    held = sum(each.holds for each in found)
    section.claim(
        f"every limit of {held} of {len(found)} plans holds in the simulation",
        holds=held == len(found),
    )
    section.claim(f"no plan takes more than {_MOST_ROUNDS} rounds", holds=rounds <= _MOST_ROUNDS)
    off = median(abs(error) for _, error in errors["mean latency"])
    section.claim(
        f"half of the predicted mean latencies are within {100 * _MOST_MEDIAN:.0f} %",
        holds=off <= _MOST_MEDIAN,
    )
    return section
