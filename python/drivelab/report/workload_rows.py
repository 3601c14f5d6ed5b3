"""The table of all workloads: texts for people, and the numbers that it is sorted by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.report import latency
from drivelab.report.quantities import CHARACTERISTICS, METRICS, NOTHING, latency_text, share_text

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.report.inputs import RunData

#: Rows that a page shows at first; sorting is over all of them.
SHOWN_ROWS: Final = 100
COLUMNS: Final = (
    "No.",
    "For",
    *(item.label for item in CHARACTERISTICS.values()),
    *(item.label for item in METRICS.values()),
    "Known within",
    "Reads, 99 %",
    "Writes, 99 %",
)
#: What a measurement is for, by the part of the run that it belongs to.
PARTS: Final = {
    "training": "model",
    "calibration": "interval",
    "check": "check",
    "sweeps": "curve",
}


def texts(run: RunData, measurement: Measurement) -> list[str]:
    """Return the cells of a row."""
    canonical = measurement.characteristics.canonical()
    row = [str(measurement.index), PARTS[run.parts.part_of(measurement.index)]]
    for name, item in CHARACTERISTICS.items():
        value = canonical[name]
        row.append(NOTHING if value is None else item.text(value))
    row += [item.text(float(getattr(measurement, name))) for name, item in METRICS.items()]
    row.append(_known_within(run, measurement))
    for tail in _tails(measurement):
        row.append(NOTHING if tail is None else latency_text(tail))
    return row


def _known_within(run: RunData, measurement: Measurement) -> str:
    ratio = measurement.half_width_ratio
    if ratio is None:
        return NOTHING
    asked = run.header["plan"].get("half_width_ratio")
    # Marked: it is kept, but it did not become as sure as it was asked to be.
    missed = asked is not None and measurement.stopped_by != "half_width"
    text = share_text(ratio)
    sign = "" if text.startswith("<") else "\N{PLUS-MINUS SIGN}"
    return f"{sign}{text}{' *' if missed else ''}"


def numbers(run: RunData, measurement: Measurement) -> list[float | None]:
    """Return what a row is sorted by, in column order; None where a cell is empty."""
    canonical = measurement.characteristics.canonical()
    values: list[float | None] = [measurement.index]
    values.append(list(PARTS).index(run.parts.part_of(measurement.index)))
    values += [canonical[name] for name in CHARACTERISTICS]
    values += [float(getattr(measurement, name)) for name in METRICS]
    values += [measurement.half_width_ratio, *_tails(measurement)]
    return [None if value is None else float(f"{value:.6g}") for value in values]


def _tails(measurement: Measurement) -> list[float | None]:
    return [
        float(result.percentile_ns(99)) if result and latency.supported(result, 99) else None
        for result in (measurement.read, measurement.write)
    ]
