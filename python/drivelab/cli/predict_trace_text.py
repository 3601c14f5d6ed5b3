"""A forecast of a trace as a screen of text, at most 80 columns wide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.cli.courses import (
    LABEL,
    bar_width,
    course,
    durations_between,
    head,
    iops_between,
    line,
)
from drivelab.cli.terminal import in_lines
from drivelab.cli.trace_text import in_width
from drivelab.exhibits.quantities import listed, share_text
from drivelab.models.exhibits.forecast_words import outside_text, sureness_text
from drivelab.units import format_duration_ns
from drivelab.workloads.trace_notes import trace_notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.models.features import FloatArray
    from drivelab.models.trace_forecast import TraceForecast
    from drivelab.workloads.trace import Trace

#: Files of a report, by the keys of the answer.
WRITTEN: Final = ("report", "tables", "result")
_COLUMNS: Final = 80
_MOST_TOLD: Final = 5


def forecast_text(
    answer: dict[str, Any], trace: Trace, forecast: TraceForecast, error: float
) -> str:
    """Return what `drivelab predict --trace` prints for people.

    Parameters
    ----------
    answer
        What ``--json`` prints.
    trace, forecast
        The question and the result.
    error
        The mean relative error of the model's latencies in closed loops.
    """
    labelled = [
        ("predicted", f"{answer['drive'] or 'a drive without a name'}, on which it never ran"),
        ("trace", trace.describe()),
    ]
    lines = [each for label, said in labelled for each in _paragraph(label, said)]
    lines += [each for note in trace_notes(trace) for each in _paragraph("", note)]
    lines += list(_cautions(forecast))
    lines.append("")
    lines += list(_latencies(answer))
    lines += ["", *_courses(forecast)]
    lines += ["", *_paragraph("how sure", sureness_text(error))]
    written = [answer[name] for name in WRITTEN if answer[name]]
    lines += ["", *(f"wrote {in_lines(name)}" for name in written)] if written else []
    return "\n".join(each.rstrip() for each in lines)


def _paragraph(label: str, said: str) -> Iterator[str]:
    return in_width(label, said, label_width=LABEL, columns=_COLUMNS)


def _latencies(answer: dict[str, Any]) -> Iterator[str]:
    yield line("latency", f"{format_duration_ns(answer['latency_ns_mean'])} on average")
    for name in ("read", "write"):
        one = answer[name]
        if one["requests"]:
            latency = format_duration_ns(one["latency_ns_mean"])
            plural = "" if one["requests"] == 1 else "s"
            yield line("", f"{one['requests']:,} {name}{plural}  {latency}")
    if answer["late_ratio"]:
        late = format_duration_ns(answer["late_ns_mean"])
        yield line(
            "sent late",
            f"{share_text(answer['late_ratio'])} more than 1 ms, all of them {late} on average",
        )
        yield line("", "a latency counts from when the request is sent")


def _cautions(forecast: TraceForecast) -> Iterator[str]:
    behind = forecast.begin_ns[forecast.saturated]
    count = len(forecast.begin_ns)
    if len(behind):
        first = [format_duration_ns(begin) if begin else "0 s" for begin in behind[:_MOST_TOLD]]
        more = len(behind) - _MOST_TOLD
        named = listed([*first, f"{more:,} more"] if more > 0 else first)
        yield from _paragraph(
            "saturated",
            f"{len(behind):,} of {count:,} windows: the drive falls behind the recorded times; "
            f"they begin at {named}",
        )
    else:
        yield from _paragraph("saturated", "nowhere: the drive keeps up with the recorded times")
    if outside := outside_text(forecast):
        yield from _paragraph("careful", outside)


def _courses(forecast: TraceForecast) -> Iterator[str]:
    """Draw all windows from the first to the last; each bar covers as many as a line needs."""
    numbers = np.rint(forecast.begin_ns / forecast.window_ns).astype(np.int64)
    count = int(numbers[-1]) + 1
    width = bar_width(count)
    bars = -(-count // width)

    def summed(values: FloatArray) -> FloatArray:
        return np.bincount(numbers // width, values, minlength=bars).astype(np.float64)

    requests = summed(forecast.completed)
    spent = summed(np.nan_to_num(forecast.latency_ns) * forecast.completed)
    # The last bar may cover fewer windows.
    windows = np.minimum(width, count - width * np.arange(bars))
    seconds = windows * forecast.window_ns / 1e9
    yield head(count, forecast.window_ns, "window")
    yield course("asked", (summed(forecast.asked_requests) / seconds).tolist(), iops_between)
    yield course("done", (requests / seconds).tolist(), iops_between)
    yield course("latency", (spent / np.maximum(requests, 1)).tolist(), durations_between)
