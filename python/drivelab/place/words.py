"""A placement in sentences: what it minimises, which limits are met, what prevents one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits.quantities import latency_text, listed, share_text
from drivelab.place.solution import totals
from drivelab.units import format_iops, format_rate, format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.place.obstacles import Obstacle
    from drivelab.place.placing import Placement, Shared
    from drivelab.place.plan import PlacementPlan
    from drivelab.place.solution import Placed

#: Bounds of a workload: what they are of, and the key of the plan.
_NOUNS: Final = {
    "latency_ns_mean": ("mean latency", "latency_ms_mean_at_most"),
    "latency_ns_p99": ("99 % latency", "latency_ms_p99_at_most"),
    "iops": ("throughput", "iops_at_least"),
    "bytes_per_second": ("bandwidth", "mb_per_second_at_least"),
}
#: With fewer requests the slowest one in a hundred is uncertain; if a limit depends on it, more are
#: measured.
_FEW_REQUESTS: Final = 500
_FEW_FOR_BOUNDS: Final = 1000
#: With fewer requests the rate of random arrivals is off by a tenth and more.
_FEW_FOR_RATES: Final = 100


def amount_text(value: float | None) -> str:
    """Write a price or watts: four digits, or all before the point."""
    if value is None:
        return "\N{EN DASH}"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.4g}"


def value_text(name: str, value: float) -> str:
    """Write what a bound is of."""
    if name.startswith("latency"):
        return latency_text(value)
    return format_rate(value) if name == "bytes_per_second" else format_iops(value)


def _rate_text(rate: float) -> str:
    """Write requests a second: whole ones, or three digits of few."""
    return f"{rate:,.0f}" if rate >= 99.5 else f"{rate:.3g}"


def drive_names(plan: PlacementPlan, placed: Sequence[Placed]) -> list[str]:
    """Call each drive that is used: several of a kind have numbers."""
    kinds = [each.drive for each in placed]
    names = []
    for place, kind in enumerate(kinds):
        name = plan.offers[kind].drive
        number = kinds[: place + 1].count(kind)
        names.append(f"{name} #{number}" if kinds.count(kind) > 1 else name)
    return names


def pool_text(plan: PlacementPlan, placed: Sequence[Placed]) -> str:
    """Count the drives that are used: ``2 sim:x25m and 1 sim:sas-15k``."""
    kinds = [each.drive for each in placed]
    counted = {plan.offers[kind].drive: kinds.count(kind) for kind in kinds}
    return listed([f"{count} {name}" for name, count in counted.items()])


def total_text(plan: PlacementPlan, placed: Sequence[Placed]) -> str:
    """Say how many drives are used, what they cost and draw."""
    sums = totals(plan, placed)
    parts = [f"{len(placed)} drive{'s' if len(placed) > 1 else ''}"]
    parts += [] if sums["cost"] is None else [f"price {amount_text(sums['cost'])}"]
    parts += [] if sums["watts"] is None else [f"{amount_text(sums['watts'])} W"]
    return ", ".join(parts)


def broken_texts(placement: Placement) -> list[str]:
    """Return the limits that are not met in the simulation, one sentence each."""
    placed = [each.placed for each in placement.drives]
    said = []
    for name, each in zip(drive_names(placement.plan, placed), placement.drives, strict=True):
        for at, bounds in each.broken.items():
            demand = placement.plan.demands[at].name
            said += [
                f"{demand} on {name}: {broken_text(what, asked, found)}."
                for what, (asked, found) in bounds.items()
            ]
    return said


def broken_text(what: str, asked: float, found: float) -> str:
    """Say that a bound does not hold."""
    if what == "demand":
        return (
            f"{_rate_text(asked)} requests a second arrive and {_rate_text(found)} are served, so "
            "they queue up"
        )
    noun, key = _NOUNS[what]
    side = "at most" if key.endswith("at_most") else "at least"
    return (
        f"the {noun} is {value_text(what, found)}, and allowed is {side} {value_text(what, asked)}"
    )


def headline(placement: Placement) -> str:
    """Return the result in a sentence or two."""
    plan = placement.plan
    if not placement.drives:
        return "No placement meets every limit."
    placed = [each.placed for each in placement.drives]
    sums = totals(plan, placed)
    found = " found" if placement.gap > 0 else ""
    least = {
        "cost": f"The least cost{found} is {amount_text(sums['cost'])}",
        "watts": f"The least power{found} is {amount_text(sums['watts'])} W",
        "latency": f"The least mean latency{found} is {latency_text(placement.latency_ns_mean)}",
    }[plan.objective]
    if placement.holds:
        held = "Every limit is met when the workloads of each drive are simulated together."
    else:
        count = len(broken_texts(placement))
        bounds = "1 limit is" if count == 1 else f"{count} limits are"
        held = f"{bounds} not met when the workloads of each drive are simulated together."
        return (
            f"{held} That is the placement of the last round, on {pool_text(plan, placed)}; more "
            "--rounds look for another one."
        )
    return f"{least}, with {pool_text(plan, placed)}. {held}"


def proof_text(placement: Placement) -> str:
    """Say what is known of other placements, and how it was come by."""
    noun = {"cost": "cheaper", "watts": "more sparing", "latency": "quicker"}
    parts = []
    if placement.gap > 0:
        parts.append(
            "The solver stopped at its time limit: the least may be up to "
            f"{share_text(placement.gap)} lower."
        )
    else:
        parts.append(
            "Judged by how pairs of workloads affect each other, no "
            f"{noun[placement.plan.objective]} placement meets every limit."
        )
    count = len(placement.forbidden)
    if count:
        groups = "1 group" if count == 1 else f"{count} groups"
        parts.append(
            f"It took {placement.rounds} rounds: {groups} of workloads broke a limit when they "
            "were simulated together."
        )
    return " ".join(parts)


def agreement_text(placement: Placement) -> str | None:
    """Return how far predictions are from the simulation; empty if no three share a drive."""
    shared = [each for each in placement.drives if len(each.placed.group) > 2]
    if not shared:
        return None
    errors = [
        (abs(error), error, at)
        for each in shared
        for at in each.placed.group
        if (error := error_of(each, at, "latency_ns_mean")) is not None
    ]
    if not errors:
        return None
    size, error, at = max(errors)
    side = "above" if error > 0 else "below"
    return (
        f"Where three or more workloads share a drive, predicted mean latencies are within "
        f"{share_text(size)} of the simulated ones; the largest difference is that of "
        f"{placement.plan.demands[at].name}, predicted {share_text(size)} {side}."
    )


def error_of(shared: Shared, at: int, name: str) -> float | None:
    """Return by how much a prediction is too high, as a share of what was simulated."""
    predicted: float = getattr(shared.predicted[at], name)
    simulated: float = getattr(shared.simulated[at], name)
    return predicted / simulated - 1 if simulated else None


def few_texts(placement: Placement) -> list[str]:
    """Return which workloads had so few requests that their results are rough."""
    demands = placement.plan.demands
    few = {
        demands[at].name: one.requests
        for each in placement.drives
        for at, one in each.simulated.items()
        if one.requests
        < (_FEW_REQUESTS if demands[at].bounds.latency_ns_p99 is None else _FEW_FOR_BOUNDS)
    }
    if not few:
        return []
    counted = listed([f"{name} {count:,}" for name, count in few.items()])
    least = min(few.values())
    rough = "99 % latencies" if least >= _FEW_FOR_RATES else "99 % latencies, means and rates"
    longer = "--seconds makes every measurement longer."
    if any(each.ends_unknown or each.lasting_ns is not None for each in demands):
        longer = "--seconds makes every measurement longer, up to the length of the shortest trace."
    return [f"Few requests were counted ({counted}). Their {rough} are rough. {longer}"]


def obstacle_texts(placement: Placement) -> list[str]:
    """Say what is in the way, a sentence each; the first says how they go together."""
    found = placement.obstacles
    said = [obstacle_text(placement.plan, each) for each in found]
    if not found:
        return ["No single limit was found that is in the way."]
    if any(each.placed and each.what != "together" for each in found):
        if len(found) == 1:
            return ["One limit is in the way:", *said]
        return ["Each of these limits is in the way; changing one of them is enough:", *said]
    return said


def obstacle_text(plan: PlacementPlan, one: Obstacle) -> str:
    """Say one obstacle."""
    if one.what == "together":
        cost = "" if not plan.has_prices else f" costs {amount_text(one.least)}:"
        return (
            "Changing one limit is not enough. With as many drives as needed, the cheapest "
            f"placement{cost or ' is'} {pool_text(plan, one.placed)}."
        )
    if one.what == "drives" or one.of is None:
        return _whole_text(plan, one)
    return _bound_text(plan, one) if one.what in _NOUNS else _workload_text(plan, one)


def _whole_text(plan: PlacementPlan, one: Obstacle) -> str:
    """Say a bound of the whole, or of how many drives there are."""
    asked, least = amount_text(one.asked), amount_text(one.least)
    if one.what == "cost":
        return f"cost_at_most = {asked}: the cheapest placement costs {least}."
    if one.what == "watts":
        return f"watts_at_most = {asked}: the most sparing placement draws {least} W."
    if one.what == "utilisation":
        return f"utilisation_at_most = {one.asked:g}: with {one.least:.2g} there is a placement."
    drive = "" if one.drive is None else plan.offers[one.drive].drive
    return f"{drive}: at_most = {asked}; with {least} there is a placement."


def _workload_text(plan: PlacementPlan, one: Obstacle) -> str:
    """Return why no drive can take a workload, whatever its limits are."""
    name = plan.demands[one.of or 0].name
    drive = "" if one.drive is None else plan.offers[one.drive].drive
    if one.what == "utilisation":
        return (
            f"{name} alone takes {share_text(one.least)} of what {drive} could serve of it, and "
            f"utilisation_at_most is {share_text(one.asked)}."
        )
    if one.what == "size":
        return (
            f"{name} takes {format_size(round(one.asked))} of a drive, and the largest of the "
            f"pool, {drive}, has {format_size(round(one.least))}."
        )
    return (
        f"No drive of the pool keeps up with {name}: {_rate_text(one.asked)} requests a second "
        f"arrive, and {drive} serves the most, {_rate_text(one.least)}."
    )


def _bound_text(plan: PlacementPlan, one: Obstacle) -> str:
    noun, key = _NOUNS[one.what]
    name = plan.demands[one.of or 0].name
    is_most = key.endswith("at_most")
    asked, least = (value_text(one.what, each) for each in (one.asked, one.least))
    bound = f"the {noun} of {name} ({'at most' if is_most else 'at least'} {asked}, {key})"
    if one.is_of_several and one.drive is not None:
        return (
            f"No drive of the pool meets all limits of {name}, even alone: on "
            f"{plan.offers[one.drive].drive} {broken_text(one.what, one.asked, one.least)} "
            f"({key})."
        )
    if one.drive is not None:
        best = "least" if is_most else "most"
        drive = plan.offers[one.drive].drive
        return (
            f"No drive of the pool meets the limit on {bound}, even alone: the {best} is "
            f"{least}, on {drive}."
        )
    return f"The limit on {bound}: with {least} there is a placement."
