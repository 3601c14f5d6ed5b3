"""Figures 3 to 7 of Huang et al. 2011, for one drive or several."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final

from drivelab.campaign.exhibits import sweeps
from drivelab.campaign.exhibits.courses import BARS_FROM, noise_text, value_text
from drivelab.campaign.exhibits.sweep_words import missing_cautions, sweep_words
from drivelab.campaign.exhibits.sweeps import lines_of
from drivelab.exhibits import Line, LineFigure, Multiples
from drivelab.exhibits.metric_axes import characteristic_axis, metric_axis, on_axis
from drivelab.exhibits.quantities import CHARACTERISTICS, METRICS, PROVENANCE, Characteristic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.exhibits.data import CampaignData
    from drivelab.campaign.exhibits.sweep_words import SweepWords
    from drivelab.exhibits import Axis, Table

#: The metrics in each figure of the paper.
_METRICS: Final[dict[int, tuple[str, ...]]] = {
    sweeps.WRITE_RATIO: tuple(METRICS),
    sweeps.QUEUE_DEPTH: tuple(METRICS),
    sweeps.SIZE: tuple(METRICS),
    sweeps.PATTERN_LATENCY: ("latency_ns_mean",),
    sweeps.PATTERN_THROUGHPUT: ("iops",),
}
# The same for reads and writes.
_SIZE: Final = Characteristic("request_size", "Request size", "bytes")
#: Figures that are combined for a single drive, under the number of the first.
_TOGETHER: Final = {
    **{figure: (figure,) for figure in (sweeps.WRITE_RATIO, sweeps.QUEUE_DEPTH, sweeps.SIZE)},
    sweeps.PATTERN_LATENCY: (sweeps.PATTERN_LATENCY, sweeps.PATTERN_THROUGHPUT),
}


@dataclass(frozen=True)
class _Drawn:
    """A line with its name, and the kind of its drive if several drives are compared."""

    line: sweeps.Line
    label: str
    said: str
    origin: str = ""


@dataclass(frozen=True)
class _Panel:
    """One metric of several lines."""

    name: str
    title: str
    metric: str
    drawn: Sequence[_Drawn]


def missing_reason(run: CampaignData) -> str:
    """Say why points are missing from a run's sweeps, as the end of a sentence."""
    if len(run.measurements) + len(run.failures) < run.planned:
        return "the campaign is not finished, or the drive cannot run them"
    if run.failures:
        return "they failed, or the drive cannot run them"
    if not run.parts.sweeps:
        return "the run was made without sweeps"
    return "the drive cannot run them"


def one_drive(table: Table, adjective: str, reason: str) -> list[Multiples]:
    """Return the figures of one drive, with a line for reads, writes or each access pattern.

    Parameters
    ----------
    table
        As returned by `drivelab.campaign.exhibits.sweeps.sweep_table`.
    adjective
        Origin of the numbers: measured, simulated or calculated.
    reason
        Why points are missing.
    """
    found = []
    for first, together in _TOGETHER.items():
        by_pattern = first == sweeps.PATTERN_LATENCY
        panels = []
        # Another part of the run may contain a point by chance, which is not a curve.
        curves = [one for one in together if any(len(x.values) > 1 for x in lines_of(table, one))]
        for figure, metric in ((one, metric) for one in curves for metric in _METRICS[one]):
            lines = lines_of(table, figure)
            for panel in dict.fromkeys(line.panel for line in lines) if by_pattern else (None,):
                drawn = [
                    _Drawn(line, line.series_label if by_pattern else line.label, line.label)
                    for line in lines
                    if panel in (None, line.panel)
                ]
                title = METRICS[metric].label if panel is None else _title(panel, metric)
                panels.append(_panel(figure, metric, title, drawn, *([panel] if panel else [])))
        words = sweep_words(first, table, reason)
        columns = 2 if by_pattern else 3
        found.append(
            _multiples(first, panels, words, adjective=adjective, columns=columns, saved=table)
        )
    return found


@dataclass(frozen=True)
class DriveSweeps:
    """One of several drives: its label, its kind, its numbers, and why points are missing."""

    label: str
    kind: str
    table: Table
    reason: str


def several_drives(drives: Sequence[DriveSweeps], saved: Table) -> list[Multiples]:
    """Return the figures with a line per drive; reads, writes and patterns have their own panels.

    Parameters
    ----------
    drives
        At least one drive.
    saved
        Table with the numbers of all drives.
    """
    found = []
    kinds = {drive.kind for drive in drives}
    adjective = PROVENANCE[kinds.pop()].adjective if len(kinds) == 1 else ""
    for figure, metrics in _METRICS.items():
        panels = []
        by_drive = [lines_of(drive.table, figure) for drive in drives]
        # One row of panels per line, with its metrics side by side.
        for place, metric in product(range(len(by_drive[0])), metrics):
            drawn = [
                _Drawn(
                    lines[place],
                    f"{drive.label} ({PROVENANCE[drive.kind].adjective})",
                    drive.label,
                    drive.kind,
                )
                for drive, lines in zip(drives, by_drive, strict=True)
            ]
            line = by_drive[0][place]
            panels.append(_panel(figure, metric, line.label, drawn, line.panel, line.series))
        words = _words_of_several(figure, drives, by_drive)
        found.append(_multiples(figure, panels, words, adjective=adjective, columns=3, saved=saved))
    return found


def _words_of_several(
    figure: int, drives: Sequence[DriveSweeps], by_drive: Sequence[Sequence[sweeps.Line]]
) -> SweepWords:
    alone = sweep_words(figure, drives[0].table, drives[0].reason)
    return replace(
        alone,
        source="figure 6" if figure == sweeps.PATTERN_LATENCY else alone.source,
        missing=tuple(
            caution
            for drive, lines in zip(drives, by_drive, strict=True)
            for caution in missing_cautions(lines, drive.reason, drive.label)
        ),
        noise=noise_text([line for lines in by_drive for line in lines]),
    )


def _title(panel: str, metric: str) -> str:
    return f"{panel.title()}: {METRICS[metric].label.lower()}"


def _panel(figure: int, metric: str, title: str, drawn: Sequence[_Drawn], *of: str) -> _Panel:
    return _Panel("-".join(["sweep", str(figure), metric, *of]), title, metric, drawn)


def _multiples(
    figure: int,
    panels: Sequence[_Panel],
    words: SweepWords,
    *,
    adjective: str,
    columns: int,
    saved: Table,
) -> Multiples:
    """Combine panels; those of one metric share an axis of performance."""
    figures = []
    for one in panels:
        values = [
            value
            for other in panels
            if other.metric == one.metric
            for drawn in other.drawn
            for value in drawn.line.performance[one.metric]
        ]
        if values and any(drawn.line.values for drawn in one.drawn):
            figures.append(_figure(one, metric_axis(one.metric, values, adjective)))
    return Multiples(
        f"sweep-{figure}",
        words.title,
        tuple(figures),
        columns=columns,
        note=words.noise,
        lead=words.setting,
        source=words.source,
        cautions=words.missing,
        saved=(saved,),
    )


def _figure(one: _Panel, y: Axis) -> LineFigure:
    every = sorted(
        {value for drawn in one.drawn for value in (*drawn.line.values, *drawn.line.missing)}
    )
    item = CHARACTERISTICS[one.drawn[0].line.characteristic]
    x, places = characteristic_axis(_SIZE if item.kind == "bytes" else item, every)
    lines = tuple(_line(drawn, one.metric, places) for drawn in one.drawn)
    return LineFigure(one.name, one.title, x, y, lines)


def _line(drawn: _Drawn, metric: str, places: dict[float, float]) -> Line:
    """Return a line with a gap at each point that was not measured."""
    line = drawn.line
    found = {
        value: (on_axis(metric, y), ratio, text)
        for value, y, ratio, text in zip(
            line.values,
            line.performance[metric],
            line.half_widths,
            _texts(drawn, metric),
            strict=True,
        )
    }
    gap = (math.nan, 0.0, "")
    values = sorted((*line.values, *line.missing)) if line.values else []
    points = [found.get(value, gap) for value in values]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    if metric == "latency_ns_mean" and any(ratio >= BARS_FROM for _, ratio, _ in points):
        # A logarithmic axis cannot show values of 0 or below.
        reach = [ratio if ratio >= BARS_FROM else math.nan for _, ratio, _ in points]
        pairs = list(zip(points, reach, strict=True))
        low = tuple(y * max(1 - ratio, 1e-3) for (y, _, _), ratio in pairs)
        high = tuple(y * (1 + ratio) for (y, _, _), ratio in pairs)
    return Line(
        drawn.label,
        tuple(places[value] for value in values),
        tuple(y for y, _, _ in points),
        low=low,
        high=high,
        texts=tuple(text for _, _, text in points),
        origin=drawn.origin,
    )


def _texts(drawn: _Drawn, metric: str) -> list[str]:
    """Return the tooltips of the measured points."""
    line, item = drawn.line, METRICS[metric]
    points = zip(line.values, line.performance[metric], line.indices, strict=True)
    return [
        f"{drawn.said}, {value_text(line.characteristic, value)}\n{item.label}: {item.text(y)} "
        f"(number {index})"
        for value, y, index in points
    ]
