"""A forecast of a trace as a screen of text, at most 80 columns wide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.cli.courses import LABEL, course, durations_between, head, iops_between, line, spans
from drivelab.cli.trace_text import in_width, trace_notes
from drivelab.exhibits.quantities import listed, share_text
from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.models.trace_forecast import TraceForecast
    from drivelab.workloads.trace import Trace

_COLUMNS: Final = 80
_MOST_TOLD: Final = 5


def forecast_text(
    answer: dict[str, Any], trace: Trace, forecast: TraceForecast, error: float
) -> str:
    """Write what `drivelab predict --trace` prints for people.

    Parameters
    ----------
    answer
        What it prints as JSON.
    trace, forecast
        What was asked, and what was found.
    error
        The mean relative error of the model's latencies in closed loops.
    """
    told = [
        ("predicted", f"{answer['drive'] or 'a drive without a name'}, on which it never ran"),
        ("trace", trace.describe()),
    ]
    lines = [each for label, said in told for each in _paragraph(label, said)]
    lines += [each for note in trace_notes(trace) for each in _paragraph("", note)]
    lines += list(_cautions(forecast))
    lines.append("")
    lines += list(_latencies(answer))
    lines += ["", *_courses(forecast)]
    lines += [
        "",
        *_paragraph(
            "how sure",
            f"the model is off by {share_text(error)} on average in closed loops. A trace is none "
            "of the workloads that it was tested on, so there is no interval; VALIDATION.md says "
            "how far forecasts of recorded traces were off.",
        ),
    ]
    return "\n".join(each.rstrip() for each in lines)


def _paragraph(label: str, said: str) -> Iterator[str]:
    return in_width(label, said, label_width=LABEL, columns=_COLUMNS)


def _latencies(answer: dict[str, Any]) -> Iterator[str]:
    yield line("latency", f"{format_duration_ns(answer['latency_ns_mean'])} on average")
    for name in ("read", "write"):
        one = answer[name]
        if one["requests"]:
            latency = format_duration_ns(one["latency_ns_mean"])
            yield line("", f"{one['requests']:,} {name}s  {latency}")


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
    if outside := int(forecast.outside.sum()):
        yield from _paragraph(
            "careful",
            f"{outside:,} of {count:,} windows ask for something else than was measured; their "
            "error is unknown",
        )


def _courses(forecast: TraceForecast) -> Iterator[str]:
    """Draw the windows that hold something, as many a bar as a line needs."""
    requests = forecast.completed
    spent = np.nan_to_num(forecast.latency_ns) * requests
    asked = forecast.asked_requests
    seconds = forecast.window_ns / 1e9
    parts = spans(len(requests))
    yield head(len(requests), forecast.window_ns, "window")
    for label, counts in (("asked", asked), ("done", requests)):
        rates = [float(counts[part].mean()) / seconds for part in parts]
        yield course(label, rates, iops_between)
    totals = [float(requests[part].sum()) for part in parts]
    means = [
        float(spent[part].sum()) / total if total else 0.0
        for part, total in zip(parts, totals, strict=True)
    ]
    yield course("latency", means, durations_between)
