"""The page of a forecast: what a trace would meet on a drive that it never ran on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.exhibits import (
    Axis,
    Card,
    Cards,
    Caution,
    Exhibit,
    Facts,
    First,
    Line,
    LineFigure,
    Page,
    Report,
    Table,
    Text,
    WhatIf,
)
from drivelab.exhibits.course import Course
from drivelab.exhibits.quantities import PROVENANCE, latency_text, listed, share_text
from drivelab.models.exhibits.forecast_words import outside_text, sureness_text
from drivelab.models.forecast_tables import forecast_table
from drivelab.units import format_iops
from drivelab.workloads.trace_notes import trace_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from drivelab.exhibits import Cell
    from drivelab.models.features import FloatArray
    from drivelab.models.trace_forecast import TraceForecast
    from drivelab.workloads.trace import Trace

#: Of the page's table; the files have every window.
_MOST_WINDOWS: Final = 2_000
_OPERATIONS: Final = ("read", "write")
_BEHIND: Final = "the drive falls behind"
_SATURATED: Final = (
    "In the marked windows more than 5 % of the requests that are due are sent more than 1 ms "
    "late. What completes there is what the drive can do, and latencies are those of a full queue. "
    "A latency counts from when the request is sent."
)
_SATURATED_SHORT: Final = "In the marked windows the drive cannot keep up with the recorded times."
_UNCORRECTED: Final = "The model's correction is left out there."
_SERVED: Final = (
    "The drive is modelled as a link, a write buffer and units that work in parallel, with costs "
    "that were fitted to measurements of closed loops. They serve the recorded requests at their "
    "times, twice: the first run shows how deep the queue of each window is, and the costs of the "
    "second are corrected by that."
)
_LEFT_OUT: Final = "Trims and flushes. At most as many requests are outstanding as in a replay."


def forecast_report(
    answer: Mapping[str, Any], trace: Trace, forecast: TraceForecast, error: float
) -> Report:
    """Make the report of a forecast.

    Parameters
    ----------
    answer
        What ``predict --trace --json`` prints.
    trace, forecast
        What was asked, and what was found.
    error
        The mean relative error of the model's latencies in closed loops.
    """
    drive = answer["drive"] or "a drive without a name"
    provenance = PROVENANCE.get(answer["kind"] or "")
    first, others = _first(answer, trace, forecast, drive, error)
    pages = [
        Page("What the trace asks for", tuple(others), anchor="asks"),
        Page("What is not known", (Text(_unknown(forecast)),), anchor="unknown"),
    ]
    saved = forecast_table(forecast)
    shows_all = 1 < len(saved.rows) <= _MOST_WINDOWS
    if shows_all:
        pages.append(Page("Every window", (_windows(forecast, saved),), anchor="windows"))
    pages.append(Page("How it was computed", (_facts(answer, trace, drive),), anchor="method"))
    name = "a trace" if trace.files is None else trace.files.name
    made = "" if provenance is None else f"{provenance.adjective} "
    return Report(
        f"{name} on {drive}, on which it never ran",
        first=first,
        pages=tuple(pages),
        result=dict(answer),
        tables=() if shows_all else (saved,),
        subject="forecast",
        what_if=WhatIf.of_drives([(drive, answer["kind"] or "")]),
        badge=("", "") if provenance is None else (answer["kind"], provenance.label),
        statement=(
            f"Every number on this page is a forecast. A model was fitted to {made}numbers of "
            "synthetic workloads on the drive; nothing of the trace was measured there."
        ),
    )


def _first(
    answer: Mapping[str, Any], trace: Trace, forecast: TraceForecast, drive: str, error: float
) -> tuple[First, list[Exhibit]]:
    """Return what comes first, and what is on the first page below it."""
    said, sure = _headline(answer, forecast, drive), _sure(error)
    notes = [f"{note[0].upper()}{note[1:].rstrip('.')}." for note in trace_notes(trace)]
    what = Text((f"The trace: {trace.describe()}.", *notes))
    if len(forecast.begin_ns) < 2:
        window = latency_text(forecast.window_ns)
        one = Text(
            (f"All requests are in one window of {window}; a shorter one shows their course.",)
        )
        return First(said, sure=sure), [what, _kinds(answer), one]
    course = Course.of(_numbers(forecast), forecast.window_ns, _end_ns(forecast))
    first = First(said, (_latency_figure(course, forecast),), _cards(answer, forecast), sure)
    return first, [what, _rate_figure(course, forecast), _kinds(answer)]


def _headline(answer: Mapping[str, Any], forecast: TraceForecast, drive: str) -> str:
    mean = latency_text(answer["latency_ns_mean"])
    behind = int(forecast.saturated.sum())
    if not behind:
        return (
            f"{drive} would keep up with the recorded times; the mean latency of a request would "
            f"be {mean}."
        )
    count = len(forecast.begin_ns)
    where = f"{behind:,} of {count:,} windows" if count > 1 else "its only window"
    return (
        f"{drive} would fall behind the recorded times in {where}: "
        f"{share_text(answer['late_ratio'])} of all requests would be sent more than 1 ms late. "
        f"The mean latency of a request would be {mean}."
    )


def _cards(answer: Mapping[str, Any], forecast: TraceForecast) -> Cards:
    """Return the few numbers that come first, from the least to the most of all windows."""
    done = forecast.completed > 0
    latency, rate = forecast.latency_ns[done], forecast.iops[done]
    seconds = forecast.window_ns / 1e9
    asked = forecast.asked_requests
    cards = [
        Card(
            "Mean latency of a window",
            *_ends(latency, latency_text),
            f"{latency_text(answer['latency_ns_mean'])} over all requests",
        ),
        Card(
            "Requests served",
            *_ends(rate, format_iops),
            f"{format_iops(float(asked.max()) / seconds)} are asked for at most",
        ),
    ]
    if answer["late_ratio"]:
        due = forecast.due_requests > 0
        shares = forecast.late_requests[due] / forecast.due_requests[due]
        cards.append(
            Card(
                "Sent late in a window",
                *_ends(shares, share_text),
                f"{latency_text(answer['late_ns_mean'])} late over all requests",
            )
        )
    return Cards(tuple(cards))


def _ends(values: FloatArray, text: Callable[[float], str]) -> tuple[str, str]:
    return text(float(values.min())), text(float(values.max()))


def _latency_figure(course: Course, forecast: TraceForecast) -> LineFigure:
    lines = []
    points = []
    behind = course.sums(forecast.saturated.astype(np.float64)) > 0
    for place, name in enumerate(_OPERATIONS):
        counts, means = forecast.requests[:, place], forecast.latency_ns_mean[:, place]
        if counts.any():
            line = course.line(f"{name}s", course.means(means, counts))
            lines.append(line)
            marked = zip(line.x, line.y, behind, strict=True)
            points += [(x, y) for x, y, is_behind in marked if is_behind]
    if points:
        x, y = zip(*points, strict=True)
        lines.append(Line(_BEHIND, x, y, "mean"))
    cautions = [Caution("Behind", _SATURATED, short=_SATURATED_SHORT)] if points else []
    outside = outside_text(forecast)
    if outside:
        cautions.append(Caution("Outside", f"{outside}.", _UNCORRECTED))
    return LineFigure(
        "latency",
        "Mean latency by window",
        Axis(f"time ({course.unit.name})"),
        Axis("latency", "log10", quantity="duration"),
        tuple(lines),
        note=course.note,
        cautions=tuple(cautions),
    )


def _rate_figure(course: Course, forecast: TraceForecast) -> LineFigure:
    """Show the served rate over the area of what is asked for: where both are equal, both show."""
    served = course.line("served", course.rate(forecast.completed))
    asked = course.line("asked for", course.rate(forecast.asked_requests), "band")
    return LineFigure(
        "rates",
        "Requests asked for, and served",
        Axis(f"time ({course.unit.name})"),
        Axis("requests a second", also=(0.0,)),
        (replace(asked, low=(0.0,) * len(asked.y), high=asked.y), served),
        note=course.note,
    )


def _kinds(answer: Mapping[str, Any]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in _OPERATIONS:
        one = answer[name]
        if one["requests"]:
            latency = latency_text(one["latency_ns_mean"])
            rows.append((f"{name}s", f"{one['requests']:,}", latency))
    return Table("kinds", ("", "requests", "mean latency"), tuple(rows), right=True)


def _sure(error: float) -> str:
    text = sureness_text(error)
    return f"{text[0].upper()}{text[1:]}"


def _unknown(forecast: TraceForecast) -> tuple[str, ...]:
    """Say what the first screen leaves out; a figure there names the windows outside."""
    outside = outside_text(forecast)
    is_shown = len(forecast.begin_ns) > 1
    return (
        *([f"{outside}. {_UNCORRECTED}"] if outside and not is_shown else []),
        "The size of the drive's write buffer is not known, because closed loops keep it full. "
        "Bursts of writes that fit into a larger buffer are forecast too slow.",
    )


def _windows(forecast: TraceForecast, saved: Table) -> Table:
    """Return every window for a page; sorted by what a reader asks."""
    seconds = forecast.window_ns / 1e9
    late = 100 * _ratio(forecast.late_requests, forecast.due_requests)
    shown = {
        "begins (s)": forecast.begin_ns / 1e9,
        "asked a second": forecast.asked_requests / seconds,
        "served a second": forecast.iops,
        "read latency (ms)": forecast.latency_ns_mean[:, 0] / 1e6,
        "write latency (ms)": forecast.latency_ns_mean[:, 1] / 1e6,
        "longest (ms)": np.fmax(*forecast.latency_ns_max.T) / 1e6,
        "queue depth": forecast.characteristics[:, 1],
        "sent late (%)": late,
    }
    kept = {name: values for name, values in shown.items() if not np.isnan(values).all()}
    cells = [
        [None if np.isnan(value) else float(value) for value in each] for each in kept.values()
    ]
    switches = {"falls behind": forecast.saturated, "not measured": forecast.outside}
    said = {
        name: ["yes" if each else "" for each in values]
        for name, values in switches.items()
        if values.any()
    }
    rows = tuple(zip(*cells, *said.values(), strict=True))
    keys = tuple(tuple(_key(cell) for cell in row) for row in rows)
    return Table("windows_shown", (*kept, *said), rows, keys=keys, saved=(saved,))


def _key(cell: Cell) -> float | None:
    """Return what a cell is sorted by."""
    if isinstance(cell, str):
        return float(bool(cell))
    return None if cell is None else float(cell)


def _facts(answer: Mapping[str, Any], trace: Trace, drive: str) -> Facts:
    facts = [
        ("Drive", drive),
        ("Model", answer["model"] or "in memory"),
        ("Trace", trace.describe()),
    ]
    if trace.files is not None:
        facts.append(("Files", listed(trace.files.paths)))
    facts += [
        ("Windows", f"{answer['window_count']:,} of {latency_text(answer['window_ns'])}"),
        ("How", _SERVED),
        ("Left out", _LEFT_OUT),
    ]
    return Facts("", tuple(facts))


def _numbers(forecast: TraceForecast) -> Any:
    return np.rint(forecast.begin_ns / forecast.window_ns).astype(np.int64)


def _end_ns(forecast: TraceForecast) -> float:
    return float(forecast.begin_ns[-1] + forecast.window_ns)


def _ratio(values: FloatArray, counts: FloatArray) -> FloatArray:
    known = counts > 0
    return np.where(known, values / np.where(known, counts, 1.0), np.nan)
