"""The results of a choice as tables: drives, statements, percentiles, streams, costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.choose.candidate import QUALITIES
from drivelab.choose.ranking import UNRANKED
from drivelab.drives.stream_result import OPERATIONS
from drivelab.exhibits import Table
from drivelab.workloads.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drivelab.choose.candidate import Candidate
    from drivelab.choose.costs import Cost
    from drivelab.choose.ranking import Choice
    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult
    from drivelab.exhibits import Cell
    from drivelab.student import Interval

#: Percentiles of the curves: 50 % to 99.99 %, evenly spaced in the number of nines, and round ones.
PERCENTILES: Final = tuple(
    sorted(
        {round(100 * (1 - 10 ** -(step / 10)), 4) for step in range(4, 40)}
        | {50.0, 90.0, 99.0, 99.9, 99.99}
    )
)
#: A percentile is shown only if at least this many requests of each repetition are slower.
REQUESTS_BEYOND: Final = 5
_ENDS: Final = ("low", "high")


def drive_table(choice: Choice) -> Table:
    """Return one row per drive: its rank, and each quality with its interval, in base units."""
    columns = [name for each in QUALITIES.values() for name in _with_ends(each.metric.name)]
    rows: list[tuple[Cell, ...]] = []
    for rank, one in zip(choice.ranks, choice.candidates, strict=True):
        cells = [cell for each in QUALITIES.values() for cell in _cells(one.interval(each))]
        place = None if rank == UNRANKED else int(rank)
        rows.append((place, one.drive, one.kind, int(not one.shortfalls), *cells))
    return Table("drives", ("rank", "drive", "kind", "keeps_up", *columns), tuple(rows))


def statement_table(choice: Choice) -> Table:
    """Return one row per statement: one drive is this many times as good as another."""
    columns = ("quality", "better", "worse", "ratio", "ratio_low", "ratio_high", "is_carried")
    rows = tuple(
        (one.quality.name, one.better, one.worse, *_cells(one.ratio), int(one.is_carried))
        for one in choice.statements
    )
    return Table("statements", columns, rows)


def repetition_table(choice: Choice) -> Table:
    """Return one row per repetition on each drive, in base units."""
    rows: list[tuple[Cell, ...]] = []
    for one in choice.candidates:
        values = zip(*map(one.values, QUALITIES.values()), strict=True)
        rows += [(one.drive, number, *cells) for number, cells in enumerate(values)]
    names = (each.metric.name for each in QUALITIES.values())
    return Table("repetitions", ("drive", "repetition", *names), tuple(rows))


def percentile_table(choice: Choice) -> Table:
    """Return percentiles of each drive's latency, with intervals."""
    rows: list[tuple[Cell, ...]] = []
    for one in choice.candidates:
        least = min(each.requests for each in one.measurements)
        for percent in PERCENTILES:
            if least * (100 - percent) / 100 < REQUESTS_BEYOND:
                break
            found = [float(each.percentile_ns(percent)) for each in one.measurements]
            rows.append((one.drive, percent, *_cells(one.interval_of(found))))
    return Table("percentiles", ("drive", "percentile", *_with_ends("latency_ns")), tuple(rows))


def stream_table(choice: Choice) -> Table:
    """Return latency and rates of each stream and kind of request on each drive."""
    qualities = ("latency_ns_mean", "latency_ns_p99", "iops")
    columns = [name for each in qualities for name in _with_ends(each)]
    rows: list[tuple[Cell, ...]] = []
    for stream, operation in _kinds(choice.candidates):
        for one in choice.candidates:
            pairs = [_result(each, stream, operation) for each in one.measurements]
            done = [(result, each) for result, each in pairs if result is not None]
            if len(done) < len(pairs):
                continue
            values = (
                [result.latency_ns_mean for result, _ in done],
                [float(result.percentile_ns(99)) for result, _ in done],
                [result.requests * 1e9 / each.duration_ns for result, each in done],
            )
            cells = [cell for each in values for cell in _cells(one.interval_of(each))]
            # A trace is one stream without a name.
            is_trace = isinstance(one.measurements[0].workload, Trace)
            rows.append(("" if is_trace else stream, operation, one.drive, *cells))
    return Table("streams", ("stream", "operation", "drive", *columns), tuple(rows))


def cost_table(costs: Sequence[Cost]) -> Table:
    """Return each drive's costs for its performance and for the required rate."""
    columns = (
        *("drive", "price", "watts", "iops_per_price", "iops_per_watt", "price_per_terabyte"),
        *("rate_iops", "drives_for_rate", "price_for_rate", "watts_for_rate"),
    )
    rows = tuple(
        (
            *(one.drive, one.price.price, one.price.watts, one.iops_per_price, one.iops_per_watt),
            *(one.price_per_terabyte, one.rate_iops, one.drives, one.rate_price, one.rate_watts),
        )
        for one in costs
    )
    return Table("costs", columns, rows)


def _kinds(candidates: Sequence[Candidate]) -> Iterator[tuple[str, str]]:
    """Yield each stream and kind of request that a drive completed; all requests are no stream."""
    first = candidates[0].measurements[0]
    streams = [one.name for one in first.streams] or [""]
    for stream in streams:
        for operation in OPERATIONS:
            every = (each for one in candidates for each in one.measurements)
            if any(_result(each, stream, operation)[0] is not None for each in every):
                yield stream, operation


def _result(
    measurement: Measurement, stream: str, operation: str
) -> tuple[OperationResult | None, Measurement]:
    if not measurement.streams:
        return getattr(measurement, operation, None), measurement
    found = next(one for one in measurement.streams if one.name == stream)
    return found.by_operation.get(operation), measurement


def _with_ends(name: str) -> tuple[str, ...]:
    return (name, *(f"{name}_{end}" for end in _ENDS))


def _cells(interval: Interval) -> tuple[float, float | None, float | None]:
    return interval.mean, interval.low, interval.high
