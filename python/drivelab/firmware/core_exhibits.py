"""How many cores a drive needs, as exhibits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits import (
    Axis,
    Card,
    Cards,
    First,
    Line,
    LineFigure,
    Page,
    Report,
    Table,
    WhatIf,
)
from drivelab.exhibits.quantities import PROVENANCE, listed
from drivelab.exhibits.what_if import settings_of
from drivelab.firmware.core_counts import ENOUGH

if TYPE_CHECKING:
    from drivelab.firmware.core_counts import CoresFound, CoresTried

_COLUMNS: Final = (
    "cores",
    "clock, MHz",
    "requests/s",
    "share of the flash's, %",
    "mean latency, µs",
    "of it in firmware, µs",
    "cores busy, %",
)


def cores_report(found: CoresFound) -> Report:
    """Make the report; the same runs always give the same one."""
    provenance = PROVENANCE["simulated"]
    best = max(found.tried, key=lambda one: one.throughput_iops)
    least = found.least
    cards = (
        Card("Enough", "none of those tried" if least is None else _named(least)),
        Card("The flash alone", f"{found.free.throughput_iops:,.0f} requests/s"),
        Card(
            "The most that was reached",
            f"{best.throughput_iops:,.0f} requests/s",
            said=f"{_named(best)}; firmware takes {best.firmware_ns / 1000:,.1f} µs of a request",
        ),
    )
    return Report(
        f"Cores of {found.asked.drive}",
        first=First(answer(found), (_figure(found),), Cards(cards), _sure(found)),
        pages=(Page("What was tried", (cores_table(found),), anchor="cores"),),
        result=cores_values(found),
        subject="cores",
        badge=("simulated", provenance.label),
        statement=provenance.statement,
        what_if=replace(
            WhatIf.of_drives([(found.asked.drive, "simulated")]) or WhatIf(),
            settings=settings_of(found.asked.workload),
        ),
    )


def _sure(found: CoresFound) -> str:
    return (
        f"How sure: each run counts {found.asked.requests:,} requests, all with the same random "
        "numbers. The costs of the firmware's work are those of a model, not of your controller."
    )


def answer(found: CoresFound) -> str:
    """Say in a sentence which is the least that is enough."""
    flash = f"{found.free.throughput_iops:,.0f} requests/s"
    least = found.least
    if least is None:
        best = max(found.tried, key=lambda one: one.throughput_iops)
        return (
            f"None of them reaches {ENOUGH:.0%} of the flash's {flash}; {_named(best)} come to "
            f"{found.ratio(best):.0%}. Try more cores (--cores) or a higher clock (--clocks)."
        ).replace("%", " %")
    return (
        f"{_named(least)} {'is' if least.cores == 1 else 'are'} the least that reach"
        f"{'es' if least.cores == 1 else ''} {ENOUGH:.0%} of the flash's {flash}."
        f"{_by_cores(found)}"
    ).replace("%", " %")


def _by_cores(found: CoresFound) -> str:
    """Say which clock is enough for each other number of cores."""
    lowest: dict[int, int] = {}
    for one in sorted(found.tried, key=lambda one: one.clock_mhz):
        if found.ratio(one) >= ENOUGH:
            lowest.setdefault(one.cores, one.clock_mhz)
    if found.least is not None:
        lowest.pop(found.least.cores, None)
    said = [f"{cores} at {lowest[cores]:,} MHz" for cores in sorted(lowest)]
    return f" {listed(said)} are enough too." if said else ""


def _named(one: CoresTried) -> str:
    return f"{one.cores} {'core' if one.cores == 1 else 'cores'} at {one.clock_mhz:,} MHz"


def _figure(found: CoresFound) -> LineFigure:
    counts = sorted({one.cores for one in found.tried})
    clocks = sorted({one.clock_mhz for one in found.tried})
    lines = []
    for cores in counts:
        of = sorted(
            (one for one in found.tried if one.cores == cores), key=lambda one: one.clock_mhz
        )
        lines.append(
            Line(
                "1 core" if cores == 1 else f"{cores} cores",
                tuple(float(one.clock_mhz) for one in of),
                tuple(one.throughput_iops for one in of),
                texts=tuple(
                    f"{_named(one)}\n{one.throughput_iops:,.0f} requests/s, "
                    f"{100 * found.ratio(one):.0f} % of the flash's"
                    for one in of
                ),
            )
        )
    ends = (float(clocks[0]), float(clocks[-1]))
    free = found.free.throughput_iops
    lines.append(Line("flash alone", ends, (free, free), role="guide"))
    lines.append(
        Line(f"{100 * ENOUGH:.0f} % of it", ends, (ENOUGH * free, ENOUGH * free), role="guide")
    )
    return LineFigure(
        "cores",
        "Throughput against the clock of the controller's cores",
        Axis("clock (MHz)", scale="log2", ticks=tuple(map(float, clocks))),
        Axis("throughput (requests/s)", also=(0.0,)),
        tuple(lines),
        note=f"Workload: {found.asked.workload.describe()}. Time of the firmware: {found.time}.",
    )


def cores_table(found: CoresFound) -> Table:
    """Return what every number of cores reached at every clock."""
    rows = tuple(
        (
            one.cores,
            one.clock_mhz,
            round(one.throughput_iops),
            100 * found.ratio(one),
            one.mean_latency_ns / 1000,
            one.firmware_ns / 1000,
            100 * one.busy_ratio,
        )
        for one in found.tried
    )
    return Table("tried", _COLUMNS, rows)


def cores_values(found: CoresFound) -> dict[str, Any]:
    """Return everything for programs (docs/json-firmware.md)."""
    least = found.least
    return {
        "drive": found.asked.drive,
        "workload": found.asked.workload.describe(),
        "time": found.time,
        "requests": found.asked.requests,
        "seed": found.asked.seed,
        "enough_ratio": ENOUGH,
        "flash_throughput_iops": found.free.throughput_iops,
        "flash_mean_latency_ns": found.free.mean_latency_ns,
        "least": None if least is None else {"cores": least.cores, "clock_mhz": least.clock_mhz},
        "tried": [
            {
                "cores": one.cores,
                "clock_mhz": one.clock_mhz,
                "throughput_iops": one.throughput_iops,
                "throughput_ratio": found.ratio(one),
                "mean_latency_ns": one.mean_latency_ns,
                "firmware_ns": one.firmware_ns,
                "busy_ratio": one.busy_ratio,
            }
            for one in found.tried
        ],
    }
