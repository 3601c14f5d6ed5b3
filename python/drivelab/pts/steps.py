"""Every stimulus of a test with its results, which windows, figures and tables leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.exhibits import Table
from drivelab.pts.cells import LEVELS, levels_json
from drivelab.pts.words import stimulus_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits import Cell
    from drivelab.pts.journal import Record, Step


def steps_json(record: Record) -> list[dict[str, Any]]:
    """Return steps as in docs/json-pts.md, in the order in which they were sent.

    Stimuli at the same time have the same step; one without completions has no latency.
    """
    return [_values(part) for step in record.steps for part in step.streams]


def steps_table(steps: Sequence[dict[str, Any]]) -> Table:
    """Return a row for each of `steps_json`, in units for people."""
    columns = (
        *("step", "phase", "section", "round", "stimulus", "read_ratio", "block_bytes"),
        *("seconds", "read_requests", "write_requests", "iops", "bandwidth_mb_s"),
        *("latency_ms_mean", "latency_ms_max"),
        *(f"latency_ms_p{percent:g}" for percent in LEVELS),
    )
    return Table(
        "steps",
        columns,
        tuple(_row(step) for step in steps),
        title="Steps",
    )


def _values(step: Step) -> dict[str, Any]:
    result, stimulus = step.result, step.stimulus
    sizes = stimulus.sizes
    return {
        "step": step.position,
        "phase": step.action.phase,
        "section": step.action.section,
        "round": step.action.round or None,
        "stimulus": stimulus_words(stimulus),
        "read_ratio": stimulus.read_ratio,
        "block_bytes": sizes[0][0] if len(sizes) == 1 else None,
        "seconds": result.duration_ns / 1e9,
        "read_requests": 0 if result.read is None else result.read.requests,
        "write_requests": 0 if result.write is None else result.write.requests,
        "iops": step.iops,
        "bandwidth_bytes_per_second": result.bandwidth_bytes_per_second,
        "latency_ns_mean": result.latency_ns_mean if result.requests else None,
        "latency_ns_max": result.latency_ns_max if result.requests else None,
        "latency_ns_percentiles": levels_json([step]),
    }


def _row(step: dict[str, Any]) -> tuple[Cell, ...]:
    values = dict(step)
    percentiles = values.pop("latency_ns_percentiles").values()
    times = (values.pop("latency_ns_mean"), values.pop("latency_ns_max"), *percentiles)
    megabytes = values.pop("bandwidth_bytes_per_second") / 1e6
    milliseconds = (None if each is None else each / 1e6 for each in times)
    return (*values.values(), megabytes, *milliseconds)
