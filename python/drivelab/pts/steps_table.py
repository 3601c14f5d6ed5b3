"""Every stimulus of a test with what the drive did, as rows: what figures and tables leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.pts.cells import percentile_ms
from drivelab.pts.exhibits import Table
from drivelab.pts.words import stimulus_words

if TYPE_CHECKING:
    from drivelab.pts.exhibits import Cell
    from drivelab.pts.journal import Record, Step

_PERCENT: Final = (50.0, 99.0, 99.9, 99.999)


def steps_table(record: Record) -> Table:
    """Give a row for each stimulus of a test's steps, in the order in which they were sent.

    Those that are sent at the same time have the same step; what completed none has no latency.
    """
    columns = (
        *("step", "phase", "section", "round", "stimulus", "read_ratio", "block_bytes"),
        *("seconds", "read_requests", "write_requests", "iops", "bandwidth_mb_s"),
        *("latency_ms_mean", "latency_ms_max"),
        *(f"latency_ms_p{percent:g}" for percent in _PERCENT),
    )
    rows = tuple(_row(part) for step in record.steps for part in step.streams)
    return Table("steps", "Steps", columns, rows)


def _row(step: Step) -> tuple[Cell, ...]:
    result, stimulus = step.result, step.stimulus
    sizes = stimulus.sizes
    return (
        step.position,
        step.action.phase,
        step.action.section,
        step.action.round or None,
        stimulus_words(stimulus),
        stimulus.read_ratio,
        sizes[0][0] if len(sizes) == 1 else None,
        result.duration_ns / 1e9,
        0 if result.read is None else result.read.requests,
        0 if result.write is None else result.write.requests,
        step.iops,
        step.megabytes_per_second,
        step.latency_ms_mean,
        step.latency_ms_max,
        *(percentile_ms([step], percent) for percent in _PERCENT),
    )
