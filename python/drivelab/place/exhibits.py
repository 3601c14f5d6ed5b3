"""The page of a placement: what goes where, how full drives are, what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits import (
    Axis,
    BarFigure,
    Card,
    Cards,
    Caution,
    Facts,
    First,
    Page,
    Report,
    Table,
    Text,
    WhatIf,
)
from drivelab.exhibits.quantities import NOTHING, PROVENANCE, latency_text, share_text
from drivelab.place import tables
from drivelab.place.answer import answer_of
from drivelab.place.solution import totals
from drivelab.place.words import (
    agreement_text,
    amount_text,
    broken_texts,
    drive_names,
    few_texts,
    headline,
    obstacle_texts,
    proof_text,
    total_text,
    value_text,
)
from drivelab.units import format_iops, format_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.exhibits import Cell, Exhibit
    from drivelab.place.placing import Placement, Shared

_PREDICTED: Final = (
    "Predicted: from pairs of workloads that may share a drive, each pair simulated alone. "
    "Simulated: all workloads of a drive together. Limits are checked against the simulated values."
)
_USED: Final = (
    "Utilisation: each workload's rate over the rate that the drive could serve of it alone, added "
    "up. Workloads that wait for the drive take what is left, and count as 0. The dashed line is "
    "the limit."
)
_CAPACITY: Final = "Capacity used: the share of the drive's capacity that its workloads take."
_ALONE: Final = (
    "What every workload did alone on each kind of drive. The 99 % latency is that of all its "
    "requests."
)


def placement_report(placement: Placement, name: str, seed: int, seconds: float) -> Report:
    """Make the report; the same measurements always give the same one."""
    pages = [_placement(placement)] if placement.drives else [_obstacles(placement)]
    if placement.drives:
        pages.append(_agreement(placement))
    pages.append(_alone(placement))
    facts = Facts("", _facts(placement, name, seed, seconds))
    pages.append(Page("What was asked", (_asked(placement), facts), anchor="facts"))
    return Report(
        f"Where the workloads of {name} go",
        first=_first(placement) if placement.drives else None,
        pages=tuple(pages),
        result=answer_of(placement, name, seed, seconds),
        tables=(tables.pair_table(placement),),
        subject="placement",
        badge=("simulated", PROVENANCE["simulated"].label),
        statement=PROVENANCE["simulated"].statement,
        what_if=WhatIf.of_drives((one.drive, "simulated") for one in placement.plan.offers),
    )


def _obstacles(placement: Placement) -> Page:
    said = (headline(placement), *obstacle_texts(placement))
    return Page("No placement", (Text(said, leads=True),), anchor="placement")


def _placement(placement: Placement) -> Page:
    return Page("What goes where", (_where(placement),), anchor="placement")


def _first(placement: Placement) -> First:
    """Say what came of it, how busy and full drives are, what they cost, and how sure that is."""
    plan = placement.plan
    sums = totals(plan, [each.placed for each in placement.drives])
    cards = [Card("Drives", str(len(placement.drives)))]
    cards += [] if sums["cost"] is None else [Card("Price", amount_text(sums["cost"]))]
    cards += [] if sums["watts"] is None else [Card("Power", f"{amount_text(sums['watts'])} W")]
    sure = [proof_text(placement)] if placement.holds else []
    agreement = agreement_text(placement)
    sure += [] if agreement is None else [agreement]
    cautions = tuple(Caution("A limit is not met", text) for text in broken_texts(placement))
    cautions += tuple(Caution("Few requests", text) for text in few_texts(placement))
    what = headline(placement)
    return First(what, (_used(placement),), Cards(tuple(cards)), " ".join(sure), cautions)


def _where(placement: Placement) -> Table:
    rows: list[tuple[Cell, ...]] = []
    groups = []
    plan = placement.plan
    names = drive_names(plan, [each.placed for each in placement.drives])
    for name, each in zip(names, placement.drives, strict=True):
        offer = plan.offers[each.placed.drive]
        costs = [] if offer.price is None else [f"price {amount_text(offer.price)}"]
        costs += [] if offer.watts is None else [f"{amount_text(offer.watts)} W"]
        groups.append((", ".join((name, *costs)), len(each.placed.group)))
        for at in each.placed.group:
            done = each.simulated[at]
            rows.append(
                (
                    plan.demands[at].name,
                    format_size(plan.demands[at].size_bytes),
                    latency_text(done.latency_ns_mean),
                    latency_text(done.latency_ns_p99),
                    format_iops(done.iops),
                    bounds_text(each, at, plan.demands[at].bounds.given()),
                )
            )
    return Table(
        "placement",
        ("workload", "space", "mean latency", "99 % latency", "throughput", "limits"),
        tuple(rows),
        title=f"{total_text(plan, [each.placed for each in placement.drives])}",
        groups=tuple(groups),
        note="Simulated: all workloads of a drive together.",
        right=True,
        saved=(tables.workload_table(placement), tables.drive_table(placement)),
    )


def bounds_text(shared: Shared, at: int, bounds: Mapping[str, float]) -> str:
    """Return whether the bounds of a workload hold: which does not, or what is asked."""
    broken = shared.broken.get(at, {})
    if "demand" in broken:
        return "does not keep up"
    if broken:
        name, (asked, _) = next(iter(broken.items()))
        return f"not met: {_bound_text(name, asked)}"
    if not bounds:
        return NOTHING
    return f"met: {', '.join(_bound_text(name, value) for name, value in bounds.items())}"


_SHORT: Final = {
    "latency_ns_mean": "mean at most",
    "latency_ns_p99": "99 % at most",
    "iops": "at least",
    "bytes_per_second": "at least",
}


def _bound_text(name: str, value: float) -> str:
    return f"{_SHORT[name]} {value_text(name, value)}"


def _used(placement: Placement) -> BarFigure:
    bars = []
    for row in tables.drive_table(placement).records():
        size, capacity = row["size_bytes"], row["capacity_bytes"]
        used = row["utilisation_ratio"]
        if not (isinstance(size, int) and isinstance(capacity, int) and isinstance(used, float)):
            raise TypeError(f"{row['drive']} has no utilisation")
        bars.append((str(row["drive"]), (used, size / capacity), (None, None)))
    return BarFigure(
        "utilisation",
        "How busy and how full the drives are",
        Axis("share", quantity="share", also=(placement.plan.utilisation_at_most,)),
        ("utilisation", "capacity used"),
        tuple(bars),
        note=f"{_USED} {_CAPACITY}",
        guides=(placement.plan.utilisation_at_most, 1.0),
    )


def _agreement(placement: Placement) -> Page:
    said = agreement_text(placement)
    rows: list[tuple[Cell, ...]] = []
    bars = []
    for each in placement.drives:
        for at in each.placed.group:
            name = placement.plan.demands[at].name
            predicted, simulated = each.predicted[at], each.simulated[at]
            pairs = [
                (getattr(predicted, of), getattr(simulated, of))
                for of in ("latency_ns_mean", "latency_ns_p99")
            ]
            cells = [
                text
                for one, other in pairs
                for text in (latency_text(one), latency_text(other), _off(one, other))
            ]
            rows.append((name, str(len(each.placed.group) - 1), *cells))
            for what, one in (("predicted", predicted), ("simulated", simulated)):
                values = (one.latency_ns_mean, one.latency_ns_p99)
                bars.append((f"{name}, {what}", values, (None, None), what))
    table = Table(
        "predicted",
        (
            *("workload", "neighbours", "mean, predicted", "mean, simulated", "mean, off"),
            *("99 %, predicted", "99 %, simulated", "99 %, off"),
        ),
        tuple(rows),
        note=_PREDICTED,
        right=True,
        saved=(),
    )
    figure = BarFigure(
        "predicted-and-simulated",
        "Predicted and simulated latencies",
        Axis("latency", quantity="duration"),
        ("mean latency", "99 % latency"),
        tuple(bar[:3] for bar in bars),
        kinds=tuple(bar[3] for bar in bars),
    )
    lead: list[Exhibit] = [Text((said,))] if said else []
    return Page("Predicted and simulated", (*lead, table, figure), anchor="predicted")


def _off(predicted: float, simulated: float) -> str:
    if not simulated:
        return NOTHING
    error = predicted / simulated - 1
    if abs(error) < 0.0005:
        return "0 %"
    sign = "+" if error > 0 else "\N{MINUS SIGN}"
    return f"{sign}{share_text(abs(error))}"


def _alone(placement: Placement) -> Page:
    rows: list[tuple[Cell, ...]] = []
    groups = []
    demands = placement.plan.demands
    for drive, offer in enumerate(placement.plan.offers):
        groups.append((offer.drive, len(demands)))
        of_drive = [each for each in placement.behaviours if each.drive == drive]
        for at, demand in enumerate(demands):
            # As its own writes leave the drive.
            behaviour = next((each for each in of_drive if at in each.tried), None)
            if behaviour is None:
                rows.append((demand.name, *[NOTHING] * 4, "does not fit"))
                continue
            one = behaviour.tried[at]
            used = behaviour.utilisation.get(at)
            is_open = demand.rate_iops is not None
            said = "keeps up" if one.keeps_up else "does not keep up"
            broken = one.broken(demand)
            if one.keeps_up and broken:
                name, (asked, _) = next(iter(broken.items()))
                said = f"not met: {_bound_text(name, asked)}"
            rows.append(
                (
                    demand.name,
                    latency_text(one.latency_ns_mean),
                    latency_text(one.latency_ns_p99),
                    format_iops(one.iops),
                    share_text(used) if used and is_open else NOTHING,
                    said,
                )
            )
    table = Table(
        "alone",
        ("workload", "mean latency", "99 % latency", "throughput", "utilisation", "alone"),
        tuple(rows),
        groups=tuple(groups),
        note=_ALONE,
        right=True,
        saved=(),
    )
    return Page("Every workload alone", (table,), anchor="alone")


def _asked(placement: Placement) -> Table:
    rows = tuple(
        (
            demand.name,
            demand.describe(),
            format_size(demand.size_bytes),
            ", ".join(_bound_text(name, value) for name, value in demand.bounds.given().items())
            or NOTHING,
        )
        for demand in placement.plan.demands
    )
    return Table("asked", ("workload", "what it sends", "space", "limits"), rows, saved=())


def _facts(
    placement: Placement, name: str, seed: int, seconds: float
) -> tuple[tuple[str, str], ...]:
    plan = placement.plan
    limits = [
        f"{noun} at most {amount_text(value)}"
        for noun, value in (("price", plan.cost_at_most), ("watts", plan.watts_at_most))
        if value is not None
    ]
    limits.append(f"utilisation at most {share_text(plan.utilisation_at_most)}")
    offers = [f"{each.at_most} {each.drive}" for each in plan.offers]
    return (
        ("Plan", name),
        ("Least", {"cost": "price", "watts": "watts", "latency": "mean latency"}[plan.objective]),
        ("Limits for all drives", ", ".join(limits)),
        ("Pool", ", ".join(offers)),
        ("Each measurement", f"{seconds:.3g} s of the drive's time, after a tenth of that"),
        ("Seed", str(seed)),
    )
