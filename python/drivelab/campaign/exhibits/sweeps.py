"""Sweeps, which vary one characteristic: the data of figures 3 to 7 of Huang et al. 2011.

The workloads of these sweeps (`drivelab.workloads.huang2011_sweeps`) are looked up among all
measurements of a run, in any of its parts. A missing measurement gives an empty row, so that a
figure can show a gap instead of a zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.campaign.exhibits.series import knee
from drivelab.exhibits import Cell, Table, number
from drivelab.exhibits.quantities import METRICS
from drivelab.workloads.huang2011_sweeps import sweeps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.exhibits.series import Knee
    from drivelab.drives.measurement import Measurement

#: Figures of the paper, by what they vary.
WRITE_RATIO: Final = 3
QUEUE_DEPTH: Final = 4
SIZE: Final = 5
PATTERN_LATENCY: Final = 6
PATTERN_THROUGHPUT: Final = 7
#: Name of the figure that shows latency and throughput over queue depth.
LATENCY_THROUGHPUT: Final = "latency-throughput"
_KEYS: Final = ("figure", "panel", "series", "characteristic", "value", "index")
_COLUMNS: Final = (*_KEYS, *METRICS, "half_width_ratio")


@dataclass(frozen=True)
class Line:
    """One line of a figure; points that were not measured are listed separately.

    Attributes
    ----------
    figure, panel, series, characteristic
        As in `drivelab.workloads.huang2011_sweeps.Sweep`.
    values
        Values of the characteristic, rising.
    indices
        Index of each measurement.
    performance
        Value of each metric at each point.
    half_widths
        Relative half-width (95 %) of the mean latency at each point; 0 if unknown.
    missing
        Values without a measurement.
    """

    figure: int
    panel: str
    series: str
    characteristic: str
    values: tuple[float, ...]
    indices: tuple[int, ...]
    performance: dict[str, tuple[float, ...]]
    half_widths: tuple[float, ...]
    missing: tuple[float, ...]

    @property
    def label(self) -> str:
        """The kind of requests, such as ``Random reads``."""
        what = "reads and writes" if self.panel == "mixed" else self.panel
        return f"{self.series_label} {what}"

    @property
    def series_label(self) -> str:
        """The access pattern, such as ``Random``."""
        return "Strided" if self.series == "stride" else self.series.title()


def sweep_table(measurements: Sequence[Measurement]) -> Table:
    """Return one row per point of every sweep, with empty cells if it was not measured.

    Columns are the figure of the paper, its panel and series, the varied characteristic and its
    value (ratio, count or bytes), the measurement's index, the metrics and the relative half-width
    of the mean latency. Of equal workloads, the first measured one counts.
    """
    found: dict[object, Measurement] = {}
    for one in measurements:
        found.setdefault(one.characteristics.key(), one)
    rows: list[tuple[Cell, ...]] = []
    for sweep in sweeps():
        for workload in sweep.workloads:
            value = float(getattr(workload, sweep.characteristic))
            head = (sweep.figure, sweep.panel, sweep.series, sweep.characteristic, value)
            measured = found.get(workload.key())
            if measured is None:
                rows.append((*head, None, *(None for _ in METRICS), None))
            else:
                metrics = (float(getattr(measured, metric)) for metric in METRICS)
                rows.append((*head, measured.index, *metrics, measured.half_width_ratio))
    return Table("sweeps", _COLUMNS, tuple(rows))


def lines_of(table: Table, figure: int) -> list[Line]:
    """Return the lines of a figure, in the order of the table, including lines without points."""
    grouped: dict[tuple[Cell, ...], list[dict[str, Cell]]] = {}
    for row in table.records(figure=figure):
        grouped.setdefault(tuple(row[key] for key in _KEYS[:4]), []).append(row)
    return [_line(rows) for rows in grouped.values()]


def _line(rows: Sequence[dict[str, Cell]]) -> Line:
    measured = [row for row in rows if row["index"] is not None]
    return Line(
        figure=int(number(rows[0]["figure"])),
        panel=str(rows[0]["panel"]),
        series=str(rows[0]["series"]),
        characteristic=str(rows[0]["characteristic"]),
        values=tuple(number(row["value"]) for row in measured),
        indices=tuple(int(number(row["index"])) for row in measured),
        performance={metric: tuple(number(row[metric]) for row in measured) for metric in METRICS},
        half_widths=tuple(number(row["half_width_ratio"] or 0.0) for row in measured),
        missing=tuple(number(row["value"]) for row in rows if row["index"] is None),
    )


def saturation(line: Line) -> Knee | None:
    """Return the queue depth beyond which requests only wait longer; None if there is none."""
    return knee(line.values, line.performance["iops"], line.performance["latency_ns_mean"])
