"""Exhibits of how long requests took: histograms with confidence levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from drivelab._core import HISTOGRAM_BINS, histogram_range
from drivelab.exhibits import HistogramFigure, Table
from drivelab.pts.cells import LEVELS, CellResult, levels_json, merged_histogram, percentile_ms
from drivelab.pts.journal import Step


def response_time_figure(name: str, title: str, steps: Sequence[Step]) -> HistogramFigure | None:
    """Show the response times of several steps; ``None`` if nothing completed."""
    mean, longest = (
        CellResult(tuple(steps)).latency_ms_mean,
        CellResult(tuple(steps)).latency_ms_max,
    )
    histogram = merged_histogram(steps)
    if not histogram or mean is None or longest is None:
        return None
    bins = []
    for number, count in histogram.items():
        low, high = histogram_range(number)
        if number == HISTOGRAM_BINS - 1:
            # The last bin has no upper end.
            high = min(high, math.ceil(longest * 1e6))
        bins.append((low / 1e3, high / 1e3, count))
    return HistogramFigure(
        name,
        title,
        tuple(bins),
        tuple((level, (percentile_ms(steps, level) or 0.0) * 1e3) for level in LEVELS),
        _mean_ms(steps) * 1e3,
        longest * 1e3,
    )


def levels_table(name: str, title: str, rows: Sequence[tuple[str, Sequence[Step]]]) -> Table:
    """Return confidence levels of response times, one row per group of steps."""
    return Table(
        name,
        (
            "stimulus",
            "mean (ms)",
            *(f"{level:g} % (ms)" for level in LEVELS),
            "maximum (ms)",
        ),
        tuple(
            (
                label,
                _mean_ms(steps),
                *(percentile_ms(steps, level) for level in LEVELS),
                CellResult(tuple(steps)).latency_ms_max,
            )
            for label, steps in rows
            if any(step.result.requests for step in steps)
        ),
        title=title,
    )


def response_times_json(steps: Sequence[Step]) -> dict[str, Any]:
    """Return response times as in docs/json-pts.md."""
    requests = sum(step.result.requests for step in steps)
    longest = CellResult(tuple(steps)).latency_ms_max
    return {
        "requests": requests,
        "iops_mean": CellResult(tuple(steps)).iops,
        "latency_ns_mean": _mean_ms(steps) * 1e6 if requests else None,
        "latency_ns_max": None if longest is None else longest * 1e6,
        "latency_ns_percentiles": levels_json(steps),
        "latency_ns_histogram": {
            str(number): count for number, count in merged_histogram(steps).items()
        },
    }


def _mean_ms(steps: Sequence[Step]) -> float:
    """Return the mean over all requests of several steps."""
    requests = sum(step.result.requests for step in steps)
    total = sum(step.result.requests * (step.latency_ms_mean or 0.0) for step in steps)
    return total / requests if requests else 0.0
