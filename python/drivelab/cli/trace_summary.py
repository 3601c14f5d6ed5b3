"""What `drivelab trace info` and `characterize` print for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from drivelab.exhibits.quantities import count_text, share_text
from drivelab.plain_text import escaped
from drivelab.report.terminal import table_lines
from drivelab.traces import tables
from drivelab.traces.words import (
    accuracy,
    caution_lines,
    devices_text,
    finding_lines,
    number_text,
    size_text,
    time_text,
)
from drivelab.units import format_duration_ns, format_rate

if TYPE_CHECKING:
    from drivelab.exhibits import Table
    from drivelab.traces.characterization import Characterization

_OTHERS: Final = ("trim", "flush", "other")
_MOST_ROWS: Final = 10


def info_text(trace: Characterization) -> str:
    """Return on one screen what a trace is."""
    lines = [*_head(trace), "", *_block(tables.characteristics_table(trace)), ""]
    lines += _footprint(trace)
    return "\n".join([*lines, *_checks(trace)])


def characterization_text(trace: Characterization, files: Mapping[str, str]) -> str:
    """Return everything that fits a terminal."""
    lines = [*_head(trace), ""]
    shown = [
        tables.characteristics_table(trace),
        tables.order_table(trace),
        tables.sizes_table(trace),
        tables.arrivals_table(trace),
        tables.times_table(trace),
    ]
    if len(trace.devices) > 1:
        shown.append(tables.devices_table(trace, _MOST_ROWS))
    for table in shown:
        if table.rows:
            lines += [*_block(table), ""]
    lines += _footprint(trace)
    lines += _hottest(trace)
    lines += ["", *_windows(trace)] if len(trace.windows["begin_ns"]) > 1 else []
    lines += _checks(trace)
    if files:
        lines += ["", *(f"wrote {escaped(path)}" for path in files.values())]
    return "\n".join(lines)


def _head(trace: Characterization) -> Iterator[str]:
    found = trace.found
    name = escaped(trace.name)
    yield f"{name}: {count_text(trace.requests, 'request')}, format {trace.checks['format']}"
    rate = trace.requests_per_second
    if rate is None:
        yield "  span      all requests arrive at the same time"
    else:
        moved = format_rate(trace.bytes_per_second or 0.0)
        yield (
            f"  span      {format_duration_ns(trace.span_ns)}, "
            f"{number_text(rate)} requests a second, {moved}"
        )
    others = [
        count_text(found[f"{name}_requests"], name) for name in _OTHERS if found[f"{name}_requests"]
    ]
    parts = [
        count_text(found["read_requests"], "read") + f" of {size_text(found['read_bytes'])}",
        count_text(found["write_requests"], "write") + f" of {size_text(found['write_bytes'])}",
    ]
    yield f"  requests  {', '.join([*parts, *others])}"
    count = count_text(found["device_count"], "device")
    ends = size_text(trace.checks["most_end_bytes"])
    yield f"  devices   {count}: {escaped(devices_text(trace))}; the last byte is at {ends}"
    variation = found["arrivals"]["gap_cv"]
    if variation is not None:
        yield (
            f"  arrivals  variation of the times between them {number_text(variation)} "
            "(0: steady pace, 1: random, more: bursts)"
        )


def _block(table: Table) -> list[str]:
    source = f" ({table.source})" if table.source else ""
    head, *rest = table_lines(table)
    return [f"{head}{source}", *(f"  {line}" for line in rest)]


def _footprint(trace: Characterization) -> Iterator[str]:
    found = trace.found["footprint"]
    parts = [
        f"{size_text(found['read_bytes'])} read",
        f"{size_text(found['written_bytes'])} written",
        f"{size_text(found['read_and_written_bytes'])} both",
    ]
    yield f"Footprint {size_text(found['bytes'])}: {', '.join(parts)}"
    yield f"  {accuracy(trace)}"


def _hottest(trace: Characterization) -> Iterator[str]:
    for share, part in trace.hottest:
        blocks = f"the hottest {share_text(share)} of the blocks"
        yield f"  {share_text(part)} of the accesses go to {blocks}"
    points = trace.held_ratio()
    if points:
        size, most = points[-1]
        half = next(each for each, held in points if held >= most / 2)
        smaller = f"; one of {size_text(half)}, half of them" if half < size else ""
        yield (
            f"  a cache of {size_text(size)} would serve {share_text(most)} of the "
            f"accesses{smaller}"
        )


def _windows(trace: Characterization) -> Iterator[str]:
    from drivelab.traces.figures import peak_rates

    least, most = peak_rates(trace)
    width = time_text(trace.window_ns or 0)
    count = count_text(len(trace.windows["begin_ns"]), "window")
    ends = dict.fromkeys((number_text(least), number_text(most)))
    yield f"{count} of {width} hold requests: {' to '.join(ends)} a second"


def _checks(trace: Characterization) -> list[str]:
    lines: list[str] = []
    findings, cautions = list(finding_lines(trace.checks)), list(caution_lines(trace))
    if findings:
        lines += ["", "Found while reading", *(f"- {line}" for line in findings)]
    if cautions:
        lines += ["", "Before you trust a number", *(f"- {line}" for line in cautions)]
    return lines
