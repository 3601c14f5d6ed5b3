"""A trace in pictures: where requests go, how many, how large, how far apart, how soon again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab._core import histogram_range
from drivelab.exhibits import Axis, HeatFigure, HistogramFigure, Line, LineFigure, Multiples
from drivelab.exhibits.course import MOST_POINTS, Course, Unit
from drivelab.traces.characterization import DIRECTIONS
from drivelab.traces.tables import PARTS, window_requests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drivelab.traces.characterization import Characterization

_LEVELS: Final = (("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99_9", 99.9))


def heat_figure(
    trace: Characterization, heat: Mapping[str, Any], *, name: str, title: str
) -> HeatFigure:
    """Show where requests go over time, reads and writes together."""
    counts = sum(
        np.frombuffer(heat[direction], np.uint32).astype(np.int64) for direction in DIRECTIONS
    )
    grid = np.asarray(counts).reshape(heat["columns"], heat["rows"])
    cells = tuple(
        (int(column), int(row), int(grid[column, row])) for column, row in np.argwhere(grid)
    )
    across = (max((column for column, *_ in cells), default=0) + 1) * heat["column_ns"]
    up = (max((row for _, row, _ in cells), default=0) + 1) * heat["row_bytes"]
    time = Unit.of_time(across)
    place = Unit.of_bytes(up)
    return HeatFigure(
        name,
        title,
        Axis(f"time ({time.name})"),
        Axis(f"address ({place.name})"),
        Axis("requests per cell", "log10"),
        heat["column_ns"] / time.factor,
        heat["row_bytes"] / place.factor,
        (min(across, max(trace.span_ns, heat["column_ns"])) / time.factor, up / place.factor),
        cells,
    )


def windows_figures(trace: Characterization) -> Multiples:
    """Show what changes from window to window."""
    course = _course(trace)
    columns = trace.windows
    rate = "requests a second"
    rates = [
        (f"{name}s", course.rate(columns[f"{name}_requests"]))
        for name in ("read", "write", "trim", "flush", "other")
        if columns[f"{name}_requests"].any()
    ]
    moved = [
        (f"{name}s", course.rate(columns[f"{name}_bytes"]) / 1e6)
        for name in DIRECTIONS
        if columns[f"{name}_bytes"].any()
    ]
    random = [
        (f"{name}s", course.means(columns[f"{name}_random"]))
        for name in DIRECTIONS
        if columns[f"{name}_requests"].any()
    ]
    share = Axis("random share", quantity="share", also=(0.0, 1.0))
    figures = (
        course.figure("rates", "Arrival rate", Axis(rate, also=(0.0,)), rates),
        course.figure("bandwidth", "Data asked for", Axis("MB/s", also=(0.0,)), moved),
        course.figure("randomness", "Random requests", share, random),
    )
    return Multiples("over_time", "", figures, columns=3, note=course.note)


def service_figures(trace: Characterization) -> Multiples | None:
    """Show per window how many requests are outstanding and how long they take, if known."""
    course, columns = _course(trace), trace.windows
    figures = []
    if trace.has_depth:
        depth = [("mean", course.means(columns["queue_depth"]))]
        figures.append(
            course.figure("depth", "Queue depth", Axis("requests outstanding", also=(0.0,)), depth)
        )
    if trace.has_times("response"):
        times = [
            (label, course.means(columns[f"response_ns_{key}"]))
            for key, label in (("mean", "mean"), ("p99", "99 %"))
        ]
        axis = Axis("response time", "log10", quantity="duration")
        figures.append(course.figure("responses", "Response time", axis, times))
    if not figures:
        return None
    return Multiples("service_over_time", "", tuple(figures), columns=2)


def working_set_figure(trace: Characterization) -> LineFigure:
    """Show how much is touched in each window, and since the beginning."""
    course, columns = _course(trace), trace.windows
    touched = [
        ("in the window", course.means(columns["footprint_bytes"]) / 2**20),
        ("since the beginning", course.means(columns["footprint_so_far_bytes"]) / 2**20),
    ]
    return course.figure("working_set", "Working set", Axis("touched (MiB)", "log10"), touched)


def _course(trace: Characterization) -> Course:
    width = trace.window_ns or 1
    numbers = (trace.windows["begin_ns"] // np.uint64(width)).astype(np.int64)
    return Course.of(numbers, width, trace.span_ns)


def gaps_figure(trace: Characterization) -> HistogramFigure | None:
    """Show the times between arrivals; nothing if there are none."""
    gaps = trace.found["arrivals"]["gaps"]
    if gaps is None or gaps["max"] == 0:
        return None
    variation = trace.found["arrivals"]["gap_cv"]
    together = trace.checks["ties"]
    notes = (
        [] if variation is None else [f"The standard deviation is {variation:.3g} times the mean."]
    )
    notes += [f"{together:,} arrive at the same time as the previous one."] if together else []
    note = " ".join(notes)
    return _histogram("gaps", "Times between arrivals", gaps, "time between arrivals", note)


def times_figures(trace: Characterization) -> Iterator[HistogramFigure]:
    """Show how long requests took, for reads and for writes, if the trace has it."""
    for part, label in PARTS:
        for direction in DIRECTIONS:
            times = trace.times(direction, part)
            if times is not None:
                title = f"{direction.title()}s: time {label}".replace(
                    "time response", "response time"
                )
                what = "response time" if part == "response" else f"time {label}"
                yield _histogram(f"{direction}_{part}", title, times, what)


def _histogram(
    name: str, title: str, times: Mapping[str, Any], what: str, note: str = ""
) -> HistogramFigure:
    bins = []
    for place, count in times["bins"]:
        low, high = histogram_range(place)
        bins.append((low / 1e3, (min(high, times["max"]) + 1) / 1e3, count))
    return HistogramFigure(
        name,
        title,
        tuple(bins),
        tuple((level, times[key] / 1e3) for key, level in _LEVELS),
        times["mean"] / 1e3,
        times["max"] / 1e3,
        note,
        what=what,
    )


def sizes_figure(trace: Characterization) -> LineFigure:
    """Show which share of the requests is no larger than a size."""
    lines = []
    for direction in DIRECTIONS:
        sizes = trace.found[direction]["sizes"]
        if sizes["histogram"] is None:
            continue
        pairs = sizes["exact"]
        if sizes["others"]:
            pairs = [
                (histogram_range(place)[1], count) for place, count in sizes["histogram"]["bins"]
            ]
        whole = sum(count for _, count in pairs)
        shares = np.cumsum([count for _, count in pairs]) / whole
        points = _thinned([float(size) for size, _ in pairs], shares.tolist())
        lines.append(Line(f"{direction}s", *points, "trace"))
    return LineFigure(
        "sizes",
        "How large requests are",
        Axis("request size (bytes)", "log2"),
        Axis("share of requests up to this size", quantity="share", also=(0.0, 1.0)),
        tuple(lines),
    )


def _thinned(x: Sequence[float], y: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    step = max(1, math.ceil(len(x) / MOST_POINTS))
    places = sorted({*range(0, len(x), step), len(x) - 1})
    return tuple(x[place] for place in places), tuple(y[place] for place in places)


def streams_figure(trace: Characterization) -> LineFigure | None:
    """Show how many interleaved streams must be distinguished to see sequential access."""
    lines = []
    for direction in DIRECTIONS:
        ranks = np.asarray(trace.found[direction]["ranks"], np.float64)
        whole = trace.found[f"{direction}_requests"]
        if ranks.sum():
            shares = np.cumsum(ranks) / whole
            streams = tuple(float(place + 1) for place in range(len(ranks)))
            lines.append(Line(f"{direction}s", streams, tuple(shares.tolist()), "trace"))
    if not lines:
        return None
    return LineFigure(
        "streams",
        "Sequential access, by how many streams are distinguished",
        Axis("streams of a device and direction", "log2"),
        Axis(
            "share of sequential, strided or backward requests", quantity="share", also=(0.0, 1.0)
        ),
        tuple(lines),
        note="How many streams must be followed at the same time to see which requests are not "
        "random.",
    )


def reuse_figure(trace: Characterization) -> LineFigure | None:
    """Show which share of the accesses a cache of a size would serve."""
    points = trace.held_ratio()
    if not points:
        return None
    sizes, shares = zip(*points, strict=True)
    return LineFigure(
        "reuse",
        "What a cache would serve",
        Axis("cache (bytes)", "log2"),
        Axis("share of accesses to blocks", quantity="share", also=(0.0, 1.0)),
        (Line("most recently used blocks, read or written", sizes, shares, "trace"),),
        note="Accesses to blocks of 4 KiB that are in a cache of this size when they arrive, if it "
        "keeps the most recently used blocks.",
    )


def peak_rates(trace: Characterization) -> tuple[float, float]:
    """Return the least and the largest rate of full windows, requests per second."""
    requests, durations = window_requests(trace), trace.windows["duration_ns"].astype(np.float64)
    is_full = durations >= durations.max() / 2
    rates = requests[is_full] / np.maximum(durations[is_full], 1.0) * 1e9
    return float(rates.min()), float(rates.max())
