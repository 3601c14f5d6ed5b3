"""Figures 3 to 7 of Huang et al. 2011 as a page shows them, for one drive or for several."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from drivelab.report import sweeps
from drivelab.report.compared_words import compared_words
from drivelab.report.line_styles import LineStyle, drive_style, variant_style
from drivelab.report.quantities import METRICS, PROVENANCE
from drivelab.report.sweep_figures import Drawn, SweepPanel, point_texts, sweep_panels
from drivelab.report.sweep_words import SweepWords, sweep_words
from drivelab.report.sweeps import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.report.figures import Panel
    from drivelab.report.inputs import RunData
    from drivelab.report.table import Table

#: The metrics that each figure of the paper shows.
_METRICS: Final[dict[int, tuple[str, ...]]] = {
    sweeps.WRITE_RATIO: tuple(METRICS),
    sweeps.QUEUE_DEPTH: tuple(METRICS),
    sweeps.SIZE: tuple(METRICS),
    sweeps.PATTERN_LATENCY: ("latency_ns_mean",),
    sweeps.PATTERN_THROUGHPUT: ("iops",),
}
#: Figures that one drive shows as one, named after the first.
_TOGETHER: Final = {
    **{figure: (figure,) for figure in (sweeps.WRITE_RATIO, sweeps.QUEUE_DEPTH, sweeps.SIZE)},
    sweeps.PATTERN_LATENCY: (sweeps.PATTERN_LATENCY, sweeps.PATTERN_THROUGHPUT),
}


@dataclass(frozen=True)
class SweepFigure:
    """A figure with its texts.

    Attributes
    ----------
    words
        Around it.
    legend
        Looks of the lines and what each is.
    panels
        The drawings; empty where nothing was measured.
    columns
        The page's class for how many panels stand side by side.
    """

    words: SweepWords
    legend: tuple[tuple[LineStyle, str], ...]
    panels: tuple[Panel, ...]
    columns: str


@dataclass(frozen=True)
class SweepSection:
    """All figures, and what is said at their points, by panel."""

    figures: tuple[SweepFigure, ...]
    tips: dict[str, list[str]]


def missing_reason(run: RunData) -> str:
    """Say why points of a run's sweeps are missing, as the end of a sentence."""
    if len(run.measurements) + len(run.failures) < run.planned:
        return "the campaign is not finished, or the drive cannot run them"
    if run.failures:
        return "they failed, or the drive cannot run them"
    if not run.parts.sweeps:
        return "the run was made without these sweeps"
    return "the drive cannot run them"


def one_drive(table: Table, adjective: str, reason: str) -> SweepSection:
    """Return the figures of one drive, with a line for reads, writes or each access pattern.

    Parameters
    ----------
    table
        As `drivelab.report.sweeps.sweep_table` makes it.
    adjective
        What the numbers are: measured, simulated or calculated.
    reason
        Why points are missing.
    """
    figures = []
    tips: dict[str, list[str]] = {}
    for first, together in _TOGETHER.items():
        by_pattern = first == sweeps.PATTERN_LATENCY
        labels: list[str] = []
        panels = []
        # Another part of the run may hold a point by chance: that is no curve.
        curves = [one for one in together if any(len(x.values) > 1 for x in lines_of(table, one))]
        for figure, metric in ((one, metric) for one in curves for metric in _METRICS[one]):
            lines = lines_of(table, figure)
            for panel in dict.fromkeys(line.panel for line in lines) if by_pattern else (None,):
                chosen = [line for line in lines if panel in (None, line.panel)]
                labels = [line.series_label if by_pattern else line.label for line in chosen]
                drawn = [Drawn(line, variant_style(place)) for place, line in enumerate(chosen)]
                title = METRICS[metric].label if panel is None else _title(panel, metric)
                panels.append(_panel(figure, metric, title, drawn, *([panel] if panel else [])))
                tips[panels[-1].identifier] = point_texts(
                    panels[-1], [line.label for line in chosen]
                )
        drawings = sweep_panels(panels, adjective)
        legend = [(variant_style(place), label) for place, label in enumerate(labels)]
        figures.append(
            SweepFigure(
                words=sweep_words(first, table, reason),
                legend=tuple(legend) if len(legend) > 1 else (),
                panels=tuple(drawings),
                columns="pairs" if by_pattern else "columns-3",
            )
        )
    return SweepSection(tuple(figures), tips)


@dataclass(frozen=True)
class DriveSweeps:
    """One drive among several: what it is called, its kind, its numbers, what is missing."""

    label: str
    kind: str
    table: Table
    reason: str

    def style(self, place: int) -> LineStyle:
        """Return the look of its lines at a place of the list."""
        return drive_style(place, self.kind)


def several_drives(drives: Sequence[DriveSweeps]) -> SweepSection:
    """Return the figures with a line a drive; reads, writes and patterns have their panels."""
    figures = []
    tips: dict[str, list[str]] = {}
    kinds = {drive.kind for drive in drives}
    adjective = PROVENANCE[kinds.pop()].adjective if len(kinds) == 1 else ""
    legend = tuple(
        (drive.style(place), f"{drive.label} ({PROVENANCE[drive.kind].adjective})")
        for place, drive in enumerate(drives)
    )
    for figure, metrics in _METRICS.items():
        panels = []
        by_drive = [lines_of(drive.table, figure) for drive in drives]
        # A row of panels for each line, its metrics side by side.
        for place, metric in product(range(len(by_drive[0])), metrics):
            drawn = [
                (drive, Drawn(lines[place], drive.style(at)))
                for at, (drive, lines) in enumerate(zip(drives, by_drive, strict=True))
                if lines[place].values
            ]
            line = by_drive[0][place]
            lines_drawn = [each for _, each in drawn]
            one = _panel(figure, metric, line.label, lines_drawn, line.panel, line.series)
            panels.append(one)
            tips[one.identifier] = point_texts(one, [drive.label for drive, _ in drawn])
        figures.append(
            SweepFigure(
                words=compared_words(
                    figure, [(drive.label, drive.table, drive.reason) for drive in drives]
                ),
                legend=legend,
                panels=tuple(sweep_panels(panels, adjective)),
                columns="columns-3",
            )
        )
    return SweepSection(tuple(figures), tips)


def _title(panel: str, metric: str) -> str:
    return f"{panel.title()}: {METRICS[metric].label.lower()}"


def _panel(figure: int, metric: str, title: str, drawn: Sequence[Drawn], *of: str) -> SweepPanel:
    item = METRICS[metric]
    return SweepPanel(
        identifier="-".join(["sweep", str(figure), metric, *of]),
        title=title,
        label=f"{item.label} over {_AXES[figure]}{_of(drawn)}",
        metric=metric,
        drawn=drawn,
    )


_AXES: Final = {
    sweeps.WRITE_RATIO: "share of writes",
    sweeps.QUEUE_DEPTH: "queue depth",
    sweeps.SIZE: "request size",
    sweeps.PATTERN_LATENCY: "request size",
    sweeps.PATTERN_THROUGHPUT: "request size",
}


def _of(drawn: Sequence[Drawn]) -> str:
    names = list(dict.fromkeys(one.line.label.lower() for one in drawn))
    return f": {', '.join(names)}" if names else ""
