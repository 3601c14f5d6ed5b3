"""Tables of a sequentiality profile: what was measured, and what follows for every size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.profile.decision import Decision
    from drivelab.profile.profile import Profile

ORDERS: Final = {False: "sequential", True: "random"}


def ratio_table(found: Profile) -> Table:
    """Return size to ratio, as I/O schedulers read it: one row a size, one column a direction."""
    sizes = list(next(iter(found.ratios.values())).by_size)
    directions = list(found.ratios)
    return Table(
        "ratios",
        ("request_bytes", *(f"{direction}_ratio" for direction in directions)),
        tuple(
            (size, *(found.ratios[direction].by_size[size] for direction in directions))
            for size in sizes
        ),
        digits=6,
    )


def interval_table(found: Profile) -> Table:
    """Return the ratios with the ends of their 95 % intervals, a row for direction and size."""
    rows = []
    for direction, ratios in found.ratios.items():
        for size, ratio in ratios.by_size.items():
            low, high = ratios.bounds.get(size, (None, None))
            rows.append((direction, size, ratio, low, high))
    columns = ("direction", "request_bytes", "ratio", "low_ratio", "high_ratio")
    return Table("ratio_intervals", columns, tuple(rows))


def access_time_table(found: Profile) -> Table:
    """Return estimated access times with their 95 % intervals, and those that were measured."""
    rows = []
    for (direction, is_random), curve in found.curves.items():
        summed = found.centres[direction]
        test = (direction, is_random)
        measured, counts = summed.times_ns[test], summed.repetitions[test]
        for size, time in curve.times_ns.items():
            low = high = None
            if curve.variances:
                factor = math.exp(summed.reach() * math.sqrt(curve.variances[size]))
                low, high = time / factor, time * factor
            rows.append(
                (
                    direction,
                    ORDERS[is_random],
                    size,
                    time,
                    low,
                    high,
                    measured.get(size),
                    counts.get(size, 0),
                )
            )
    columns = (
        "direction",
        "order",
        "request_bytes",
        "access_time_ns",
        "low_ns",
        "high_ns",
        "measured_ns",
        "repetitions",
    )
    return Table("access_times", columns, tuple(rows))


def pass_table(found: Profile) -> Table:
    """Return every pass, in the order of measuring."""
    rows = tuple(
        (
            one.index,
            one.whole_pass.direction,
            ORDERS[one.whole_pass.is_random],
            one.whole_pass.request_bytes,
            one.whole_pass.requests,
            one.whole_pass.whole_requests,
            one.duration_ns,
            one.access_time_ns,
        )
        for one in found.measured
    )
    columns = (
        "index",
        "direction",
        "order",
        "request_bytes",
        "requests",
        "whole_requests",
        "duration_ns",
        "access_time_ns",
    )
    return Table("passes", columns, rows)


def decision_table(found: Sequence[Decision]) -> Table:
    """Return whether each optimisation pays, a row for direction, optimisation and size."""
    columns = (
        "direction",
        "optimisation",
        "request_bytes",
        "becomes_bytes",
        "gain_ratio",
        "low_ratio",
        "high_ratio",
        "needed_ratio",
        "answer",
    )
    rows = tuple(tuple(getattr(one, column) for column in columns) for one in found)
    return Table("decisions", columns, rows)
