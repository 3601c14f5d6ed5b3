"""Latency percentile curves: of a few typical workloads, and their spread over all workloads.

A mean hides the tail. A percentile curve shows how long the slowest requests take: at 99 %
one request in a hundred is slower than the curve.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from drivelab.exhibits import (
    Axis,
    Cell,
    Line,
    LineFigure,
    Multiples,
    Table,
    Text,
    number,
    numbers,
)
from drivelab.exhibits.quantities import PROVENANCE, latency_text, workload_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.exhibits.data import CampaignData
    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult

Direction = Literal["read", "write"]

#: 50 % to 99.99 %, evenly spaced in the number of nines, and round values.
PERCENTILES: Final = tuple(
    sorted(
        {round(100 * (1 - 10 ** -(step / 10)), 4) for step in range(4, 40)}
        | {50.0, 90.0, 99.0, 99.9, 99.99}
    )
)
#: A percentile is shown only if at least this many requests are slower.
REQUESTS_BEYOND: Final = 5
#: Typical workloads: those at these positions in the ranking by mean latency.
RANKS: Final = (0.1, 0.5, 0.9)
_READ_SO: Final = (
    "At 99 % one request in a hundred takes longer than the line says. Where a line rises steeply "
    "to the right, a few requests are much slower than the mean."
)
RULE: Final = (
    "Workloads are ranked by the mean latency of their reads or writes. The lines are the "
    "workloads at 10, 50 and 90 % of the ranking; the band contains the middle 80 % of all "
    f"workloads. A curve ends where fewer than {REQUESTS_BEYOND} requests are slower."
)


class Typical(NamedTuple):
    """A workload chosen as typical of a direction."""

    rank: float
    measurement: Measurement


def result_of(measurement: Measurement, direction: Direction) -> OperationResult | None:
    """Return the reads or the writes of a measurement; None if it had none."""
    result = measurement.read if direction == "read" else measurement.write
    return result if result is not None and result.requests > 0 else None


def typical(measurements: Sequence[Measurement], direction: Direction) -> list[Typical]:
    """Return the workloads at 10, 50 and 90 % of the ranking by mean latency.

    Ties are broken by index; each workload occurs only once.
    """
    ranked = sorted(
        (
            (result.latency_ns_mean, measurement.index, measurement)
            for measurement in measurements
            if (result := result_of(measurement, direction)) is not None
        ),
        key=lambda item: item[:2],
    )
    chosen: dict[int, Typical] = {}
    for rank in RANKS if ranked else ():
        _, index, measurement = ranked[round(rank * (len(ranked) - 1))]
        chosen.setdefault(index, Typical(rank, measurement))
    return list(chosen.values())


def supported(result: OperationResult, percentile: float) -> bool:
    """Return whether enough requests are slower than a percentile for it to be meaningful."""
    return result.requests * (100 - percentile) / 100 >= REQUESTS_BEYOND - 1e-9


def percentiles(run: CampaignData) -> Table:
    """Return the curves of the typical workloads and of the spread over all workloads.

    Columns are the direction, the line (``spread_p10``, ``spread_p50``, ``spread_p90`` for all
    workloads, or ``workload``), index and description of the workload, percentile and latency.
    """
    rows: list[tuple[Cell, ...]] = []
    for direction in ("read", "write"):
        results = [
            result
            for measurement in run.fitted
            if (result := result_of(measurement, direction)) is not None
        ]
        curve = _spread(results)
        for line, rank in (("spread_p10", 0.1), ("spread_p50", 0.5), ("spread_p90", 0.9)):
            for percentile, ranked in curve:
                latency_ns = ranked[math.floor(rank * (len(ranked) - 1) + 0.5)]
                rows.append((direction, line, None, None, percentile, latency_ns))
        for _, measurement in typical(run.fitted, direction):
            result = result_of(measurement, direction)
            if result is None:
                continue
            words = workload_text(measurement.characteristics)
            for percentile in PERCENTILES:
                if supported(result, percentile):
                    latency_ns = float(result.percentile_ns(percentile))
                    rows.append(
                        (direction, "workload", measurement.index, words, percentile, latency_ns)
                    )
    columns = ("direction", "line", "index", "workload", "percentile", "latency_ns")
    return Table("latency_percentiles", columns, tuple(rows))


def _spread(results: Sequence[OperationResult]) -> list[tuple[float, list[float]]]:
    """Return the latencies of all workloads at each percentile, rising."""
    # A percentile is shown if at most a tenth of the workloads lack the requests for it. With fewer
    # workloads, the band would depend on which ones had many requests, not on how slow they were.
    curve = []
    for percentile in PERCENTILES:
        ranked = sorted(
            float(result.percentile_ns(percentile))
            for result in results
            if supported(result, percentile)
        )
        if not ranked or len(ranked) < 0.9 * len(results):
            break
        curve.append((percentile, ranked))
    return curve


def tails(run: CampaignData) -> Multiples | Text:
    """Return latency over percentiles for reads and writes: typical workloads, and the spread."""
    table = percentiles(run)
    latencies = numbers(table.column("latency_ns"))
    if not latencies:
        return Text(
            (
                "None is shown: every workload has too few requests for a percentile to mean "
                "something.",
            )
        )
    adjective = PROVENANCE[run.kind].adjective
    ends = (min(latencies), max(latencies))
    y = Axis(f"{adjective} latency", "log10", quantity="duration", also=ends)
    figures = []
    for direction in ("read", "write"):
        rows = table.records(direction=direction)
        if rows:
            lines = (*_band(rows), *_typical_lines(run, direction, rows))
            x = Axis("percentile: requests that take no longer", "nines")
            figures.append(
                LineFigure(f"percentiles-{direction}", f"{direction.title()}s", x, y, lines)
            )
    return Multiples(
        "percentiles", "", tuple(figures), columns=2, note=f"{_READ_SO} {RULE}", saved=(table,)
    )


def _band(rows: Sequence[dict[str, Cell]]) -> list[Line]:
    low, high = (
        [row for row in rows if row["line"] == line] for line in ("spread_p10", "spread_p90")
    )
    if not (low and high):
        return []
    x = tuple(number(row["percentile"]) for row in low)
    ends = (tuple(number(row["latency_ns"]) for row in side) for side in (low, high))
    least, most = ends
    return [Line("the middle 80 % of all workloads", x, least, "band", low=least, high=most)]


def _typical_lines(
    run: CampaignData, direction: Direction, rows: Sequence[dict[str, Cell]]
) -> list[Line]:
    lines = []
    for rank, measurement in typical(run.fitted, direction):
        own = [row for row in rows if row["index"] == measurement.index]
        result = result_of(measurement, direction)
        mean = latency_text(result.latency_ns_mean) if result else ""
        text = workload_text(measurement.characteristics)
        label = f"at {100 * rank:.0f} %: {text} (number {measurement.index}, mean {mean})"
        x = tuple(number(row["percentile"]) for row in own)
        lines.append(Line(label, x, tuple(number(row["latency_ns"]) for row in own), "trace"))
    return lines
