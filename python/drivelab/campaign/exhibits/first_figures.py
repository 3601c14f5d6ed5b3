"""The figures at the top of a campaign's page: what the drive does, at a glance.

Latency against throughput, as the queue gets deeper, shows what a drive can give and at what cost.
A heat map of sizes by access pattern shows which requests suit it. For several drives, the curves
share a figure, and a heat map shows where each drive is faster, and by how much. A run without
sweeps has no curves: it shows every workload as a dot.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.campaign.exhibits.courses import SAME
from drivelab.campaign.exhibits.sweep_words import held, missing_cautions
from drivelab.campaign.exhibits.sweeps import (
    LATENCY_THROUGHPUT,
    PATTERN_THROUGHPUT,
    QUEUE_DEPTH,
    WRITE_RATIO,
    lines_of,
)
from drivelab.exhibits import Axis, CellFigure, LineFigure, Multiples
from drivelab.exhibits import Line as Drawn
from drivelab.exhibits.metric_axes import metric_axis, on_axis
from drivelab.exhibits.number_text import size_text
from drivelab.exhibits.quantities import METRICS, PROVENANCE, workload_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.exhibits.sweep_figures import DriveSweeps
    from drivelab.campaign.exhibits.sweeps import Line
    from drivelab.drives.measurement import Measurement
    from drivelab.exhibits import Table

_LATENCY: Final = "latency_ns_mean"
_IOPS: Final = "iops"
_BANDWIDTH: Final = "bandwidth_bytes_per_second"
_TITLE: Final = "Latency against throughput, queue depth 1 to {deepest}"
_LABELS: Final = {"reads": "Reads", "writes": "Writes"}
#: Names of workloads by what they do.
_MIXES: Final = ("reads only", "reads and writes", "writes only")
#: Rows of the map of sizes by pattern, from the easiest for drives to the hardest.
_PATTERNS: Final = ("sequential", "stride", "random")
_ALONE: Final = (
    (PATTERN_THROUGHPUT, "random", 4096.0, "4 KiB random {panel}"),
    (PATTERN_THROUGHPUT, "sequential", 4096.0, "4 KiB sequential {panel}"),
    (QUEUE_DEPTH, "random", 1.0, "256 KiB random {panel}"),
    (QUEUE_DEPTH, "random", 64.0, "256 KiB random {panel}, depth 64"),
    (PATTERN_THROUGHPUT, "sequential", 262144.0, "256 KiB sequential {panel}"),
)
#: Points of comparison: figure, panel, line, value on its axis, and name.
_PLACES: Final = (
    *(
        (figure, panel, series, value, label.format(panel=panel))
        for panel in ("reads", "writes")
        for figure, series, value, label in _ALONE
    ),
    (WRITE_RATIO, "mixed", "random", 0.5, "256 KiB random, half of it writes"),
)


def latency_throughput(table: Table, adjective: str) -> LineFigure | None:
    """Return latency against throughput over queue depth, with a line for reads and for writes.

    Parameters
    ----------
    table
        As returned by `drivelab.campaign.exhibits.sweeps.sweep_table`.
    adjective
        Origin of the numbers: measured, simulated or calculated.

    Returns
    -------
    LineFigure or None
        None if no queue depth was varied.
    """
    lines = [line for line in lines_of(table, QUEUE_DEPTH) if len(line.values) > 1]
    if not lines:
        return None
    return LineFigure(
        LATENCY_THROUGHPUT,
        _TITLE.format(deepest=_deepest(lines)),
        *_axes(lines, adjective, air=1.4),
        tuple(_curve(line, _LABELS.get(line.panel, line.label), named=True) for line in lines),
        lead=held(QUEUE_DEPTH),
        saved=(table,),
    )


def latency_throughput_of(drives: Sequence[DriveSweeps], saved: Table) -> Multiples | None:
    """Return the same figure for several drives: panels for reads and writes, a line per drive."""
    by_drive = [lines_of(drive.table, QUEUE_DEPTH) for drive in drives]
    every = [line for lines in by_drive for line in lines if line.values]
    if not every:
        return None
    kinds = {drive.kind for drive in drives}
    adjective = PROVENANCE[kinds.pop()].adjective if len(kinds) == 1 else ""
    figures = []
    for place, line in enumerate(by_drive[0]):
        of_panel = [lines[place] for lines in by_drive]
        if any(one.values for one in of_panel):
            name = f"{LATENCY_THROUGHPUT}-{line.panel}"
            curves = tuple(
                _curve(one, drive.label, origin=drive.kind, drive=drive.label)
                for one, drive in zip(of_panel, drives, strict=True)
            )
            title = _LABELS.get(line.panel, line.label)
            figures.append(LineFigure(name, title, *_axes(every, adjective), curves))
    return Multiples(
        LATENCY_THROUGHPUT,
        _TITLE.format(deepest=_deepest(every)),
        tuple(figures),
        columns=2,
        lead=held(QUEUE_DEPTH),
        saved=(saved,),
    )


def every_workload(measurements: Sequence[Measurement], adjective: str) -> LineFigure | None:
    """Return latency against throughput of every workload, for a run without sweeps.

    None without any measurement.
    """
    if not measurements:
        return None
    by_label: dict[str, list[Measurement]] = {label: [] for label in _MIXES}
    for one in measurements:
        by_label[_mix(one.characteristics.write_ratio)].append(one)
    axes = (
        metric_axis(metric, [float(getattr(one, metric)) for one in measurements], adjective)
        for metric in (_IOPS, _LATENCY)
    )
    x, y = (replace(axis, scale="log10") for axis in axes)
    return LineFigure(
        "every-workload",
        "Latency against throughput of every workload",
        x,
        y,
        tuple(_dots(label, of) for label, of in by_label.items()),
        lead="Workloads differ in request size, queue depth and access pattern. Higher is slower; "
        "further right is more requests per second.",
    )


def _mix(write_ratio: float) -> str:
    if write_ratio in (0, 1):
        return _MIXES[0 if write_ratio == 0 else 2]
    return _MIXES[1]


def _dots(label: str, measurements: Sequence[Measurement]) -> Drawn:
    return Drawn(
        label,
        tuple(on_axis(_IOPS, float(one.iops)) for one in measurements),
        tuple(on_axis(_LATENCY, float(one.latency_ns_mean)) for one in measurements),
        "dots",
        texts=tuple(
            f"{workload_text(one.characteristics)}\n{METRICS[_IOPS].text(float(one.iops))}, "
            f"{METRICS[_LATENCY].text(float(one.latency_ns_mean))} (number {one.index})"
            for one in measurements
        ),
    )


def sizes_by_pattern(table: Table, adjective: str, reason: str) -> CellFigure | None:
    """Return the bandwidth of every size under every access pattern.

    None if no size was varied, or if most values are missing: a run without sweeps may have a few
    of these workloads by chance.
    """
    found = {
        (line.panel, line.series): dict(zip(line.values, line.performance[_BANDWIDTH], strict=True))
        for line in lines_of(table, PATTERN_THROUGHPUT)
    }
    lines = lines_of(table, PATTERN_THROUGHPUT)
    sizes = sorted({value for line in lines for value in (*line.values, *line.missing)})
    count = sum(map(len, found.values()))
    is_mostly_missing = 2 * count < len(sizes) * len(found)
    if is_mostly_missing or not any(len(by_size) > 1 for by_size in found.values()):
        return None
    labels = {(line.panel, line.series): line.label for line in lines}
    rows = [
        (panel, series) for panel in _LABELS for series in _PATTERNS if (panel, series) in found
    ]
    return CellFigure(
        "sizes-by-pattern",
        "Bandwidth by request size and access pattern",
        Axis("request size", categories=tuple(map(size_text, sizes))),
        Axis("requests", categories=tuple(labels[row] for row in rows)),
        Axis(f"{adjective} bandwidth (MB/s)", "log10"),
        tuple(tuple(_mega(found[row].get(size)) for size in sizes) for row in rows),
        lead=f"In MB/s, {adjective}; the darker, the more. One request at a time.",
        cautions=missing_cautions(lines, reason),
        saved=(table,),
    )


def faster_where(drives: Sequence[DriveSweeps], saved: Table) -> CellFigure | None:
    """Return how many times as fast each drive is as the first one, under typical requests.

    In a closed loop at a queue depth, throughput grows in proportion to speed. If the 95 %
    intervals of two means overlap, or the means are less than a tenth apart, the cell says "same".
    """
    found = [[_at(drive, *place[:4]) for drive in drives] for place in _PLACES]
    counts = [sum(row[at] is not None for row in found) for at in range(len(drives))]
    base = counts.index(max(counts))
    kept = [
        (place[4], row)
        for place, row in zip(_PLACES, found, strict=True)
        if row[base] is not None and sum(one is not None for one in row) > 1
    ]
    if not kept:
        return None
    against = drives[base].label
    return CellFigure(
        "faster",
        "Faster by how much, and where",
        Axis("drive", categories=tuple(drive.label for drive in drives)),
        Axis("requests", categories=tuple(label for label, _ in kept)),
        Axis(f"throughput over that of {against}", quantity="times"),
        tuple(tuple(_ratio(one, row[base]) for one in row) for _, row in kept),
        texts=tuple(tuple(_text(one, row[base]) for one in row) for _, row in kept),
        lead=f"How many times the throughput of {against}: blue is faster, orange slower. Queue "
        "depth 1 unless it is named. Less than a tenth, or what may be noise, is “same”.",
        saved=(saved,),
    )


_Point = tuple[float, float]


def _at(drive: DriveSweeps, figure: int, panel: str, series: str, value: float) -> _Point | None:
    """Return throughput and its relative half-width; None if the point was not measured."""
    for line in lines_of(drive.table, figure):
        if (line.panel, line.series) == (panel, series) and value in line.values:
            place = line.values.index(value)
            return line.performance[_IOPS][place], line.half_widths[place]
    return None


def _ratio(one: _Point | None, base: _Point | None) -> float | None:
    return None if one is None or base is None else one[0] / base[0]


def _text(one: _Point | None, base: _Point | None) -> str:
    """Return "same" for two values that cannot be distinguished; otherwise an empty text."""
    if one is None or base is None:
        return ""
    if one is base:
        return "1\N{MULTIPLICATION SIGN}"
    (low, low_half), (high, high_half) = sorted((one, base))
    is_clear = high >= SAME * low and high * (1 - high_half) > low * (1 + low_half)
    return "" if is_clear else "same"


def _axes(lines: Sequence[Line], adjective: str, *, air: float = 1.0) -> tuple[Axis, Axis]:
    """Return the common axes of throughput and latency for several curves.

    `air` is the factor of space below the least latency, for the name of a point.
    """
    rates, latencies = (
        [value for line in lines for value in line.performance[metric]]
        for metric in (_IOPS, _LATENCY)
    )
    up = metric_axis(_LATENCY, latencies, adjective)
    if up.scale == "log10":
        up = replace(up, also=(*up.also, min(latencies) / air))
    return metric_axis(_IOPS, rates, adjective), up


def _curve(
    line: Line, label: str, *, origin: str = "", drive: str = "", named: bool = False
) -> Drawn:
    iops, latency = METRICS[_IOPS], METRICS[_LATENCY]
    rates, latencies = line.performance[_IOPS], line.performance[_LATENCY]
    whose = drive or line.label
    last = len(line.values) - 1
    return Drawn(
        label,
        tuple(on_axis(_IOPS, value) for value in rates),
        tuple(on_axis(_LATENCY, value) for value in latencies),
        texts=tuple(
            f"{whose}, queue depth {depth:.0f}\n{iops.text(rate)}, {latency.text(mean)}"
            for depth, rate, mean in zip(line.values, rates, latencies, strict=True)
        ),
        names=tuple(
            f"{'depth ' if at == 0 else ''}{depth:.0f}" if at in (0, last) else ""
            for at, depth in enumerate(line.values)
        )
        if named
        else (),
        origin=origin,
    )


def _deepest(lines: Sequence[Line]) -> str:
    return f"{max(value for line in lines for value in line.values):.0f}"


def _mega(value: float | None) -> float | None:
    return None if value is None else value / 1e6
