"""A placement for programs: what ``place --json`` prints and ``result.json`` contains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.place import tables
from drivelab.place.solution import totals
from drivelab.place.words import (
    agreement_text,
    broken_texts,
    few_texts,
    headline,
    obstacle_text,
    proof_text,
)

if TYPE_CHECKING:
    from drivelab.place.placing import Placement

LAYOUT: Final = 1


def answer_of(placement: Placement, name: str, seed: int, seconds: float) -> dict[str, Any]:
    """Return everything that was found (docs/json-place.md)."""
    plan = placement.plan
    sums = totals(plan, [each.placed for each in placement.drives])
    is_placed = bool(placement.drives)
    broken = {
        plan.demands[at].name: each.broken[at] for each in placement.drives for at in each.broken
    }
    workloads = []
    for row in tables.workload_table(placement).records():
        bounds = broken.get(str(row["workload"]), {})
        flags = {key: bool(row[key]) for key in ("keeps_up", "holds")}
        limits = [
            {"bound": bound, "asked": asked, "found": found}
            for bound, (asked, found) in bounds.items()
        ]
        workloads.append({**row, **flags, "broken": limits})
    return {
        "kind": "placement",
        "layout": LAYOUT,
        "plan": name,
        "seed": seed,
        "seconds": seconds,
        "objective": plan.objective,
        "is_placed": is_placed,
        "holds": placement.holds,
        "headline": headline(placement),
        "proof": proof_text(placement) if placement.holds else None,
        "agreement": agreement_text(placement),
        "cautions": [*broken_texts(placement), *few_texts(placement)],
        "cost": sums["cost"] if is_placed else None,
        "watts": sums["watts"] if is_placed else None,
        "latency_ns_mean": placement.latency_ns_mean if is_placed else None,
        "gap_ratio": placement.gap if is_placed else None,
        "rounds": placement.rounds,
        "forbidden": [
            {
                "drive": plan.offers[each.drive].drive,
                "workloads": [plan.demands[at].name for at in each.group],
            }
            for each in placement.forbidden
        ],
        "workloads": workloads,
        "drives": tables.drive_table(placement).records(),
        "obstacles": [
            {
                "what": each.what,
                "workload": None
                if each.of is None or each.what == "drives"
                else plan.demands[each.of].name,
                "drive": None if each.drive is None else plan.offers[each.drive].drive,
                "asked": each.asked,
                "least": each.least,
                "text": obstacle_text(plan, each),
            }
            for each in placement.obstacles
        ],
    }
