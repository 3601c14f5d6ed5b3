"""A placement as tables: each workload on its drive, each drive, what was tried."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from drivelab.exhibits import Table
from drivelab.place.words import drive_names

if TYPE_CHECKING:
    from drivelab.exhibits import Cell
    from drivelab.place.outcome import Outcome
    from drivelab.place.placing import Placement

_QUALITIES = ("latency_ns_mean", "latency_ns_p99", "iops", "bytes_per_second")


def workload_table(placement: Placement) -> Table:
    """Return a row per workload: where it is, what was predicted and what was simulated."""
    names = drive_names(placement.plan, [each.placed for each in placement.drives])
    rows: list[tuple[Cell, ...]] = []
    for name, each in zip(names, placement.drives, strict=True):
        for at in each.placed.group:
            demand = placement.plan.demands[at]
            said = (_values(one[at]) for one in (each.predicted, each.simulated))
            done = each.simulated[at]
            rows.append(
                (
                    *(demand.name, name, placement.plan.offers[each.placed.drive].drive),
                    *(demand.size_bytes, demand.rate_iops),
                    *chain(*zip(*said, strict=True)),
                    *(done.requests, int(done.keeps_up), int(at not in each.broken)),
                )
            )
    columns = [f"{of}_{name}" for name in _QUALITIES for of in ("predicted", "simulated")]
    return Table(
        "workloads",
        (
            *("workload", "drive", "drive_kind", "size_bytes", "rate_iops", *columns),
            *("requests", "keeps_up", "holds"),
        ),
        tuple(rows),
    )


def drive_table(placement: Placement) -> Table:
    """Give a row a drive that is used: its workloads, its costs, how full and busy it is."""
    plan = placement.plan
    names = drive_names(plan, [each.placed for each in placement.drives])
    rows: list[tuple[Cell, ...]] = []
    for name, each in zip(names, placement.drives, strict=True):
        behaviour = placement.behaviours[each.placed.behaviour]
        group = each.placed.group
        rows.append(
            (
                *(name, behaviour.offer.drive, ", ".join(plan.demands[at].name for at in group)),
                *(behaviour.offer.price, behaviour.offer.watts, behaviour.capacity_bytes),
                sum(plan.demands[at].size_bytes for at in group),
                behaviour.used(group),
            )
        )
    return Table(
        "drives",
        (
            *("drive", "drive_kind", "workloads", "price", "watts", "capacity_bytes"),
            *("size_bytes", "utilisation_ratio"),
        ),
        tuple(rows),
    )


def pair_table(placement: Placement) -> Table:
    """Return a row for each workload on each kind of drive, alone and next to another one."""
    names = [each.name for each in placement.plan.demands]
    rows: list[tuple[Cell, ...]] = []
    for behaviour in placement.behaviours:
        drive = behaviour.offer.drive
        for at, one in sorted(behaviour.tried.items()):
            used = behaviour.utilisation.get(at)
            how = (drive, behaviour.after)
            rows.append((*how, names[at], None, used, *_values(one), int(one.keeps_up)))
        for (at, other), one in sorted(behaviour.beside.items()):
            how = (drive, behaviour.after)
            beside = (names[at], names[other], None)
            rows.append((*how, *beside, *_values(one), int(one.keeps_up)))
    return Table(
        "pairs",
        (
            *("drive_kind", "written_before", "workload", "beside", "utilisation_ratio"),
            *(*_QUALITIES, "keeps_up"),
        ),
        tuple(rows),
    )


def _values(one: Outcome) -> tuple[float, float, float, float]:
    return one.latency_ns_mean, one.latency_ns_p99, one.iops, one.bytes_per_second
