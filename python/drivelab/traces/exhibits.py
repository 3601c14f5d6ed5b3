"""The page of a trace: what it asks of a drive, the most important first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.exhibits import (
    Card,
    Cards,
    Caution,
    Exhibit,
    Facts,
    First,
    Page,
    Report,
    Text,
    WhatIf,
)
from drivelab.exhibits.quantities import count_text, latency_text, share_text
from drivelab.traces import figures, tables
from drivelab.traces.characterization import DIRECTIONS
from drivelab.traces.words import (
    accuracy,
    caution_lines,
    counted,
    devices_text,
    finding_lines,
    number_text,
    size_text,
    summary,
    time_text,
)
from drivelab.units import format_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from drivelab.traces.characterization import Characterization

STATEMENT: Final = (
    "These requests were recorded. They show what was asked for, not what another drive would do."
)
_AT_ONCE: Final = "All requests arrive at the same time."
_DEVICE_MAPS: Final = 4
_MOST_CARDS: Final = 3


def trace_report(trace: Characterization, result: dict[str, Any]) -> Report:
    """Return the report of a trace whose windows are known; `result` is saved as JSON."""
    shown: list[Exhibit] = [figures.sizes_figure(trace), tables.sizes_table(trace)]
    pages = [
        _over_time(trace),
        Page("What it asks for", (tables.characteristics_table(trace),), anchor="asks"),
        _arrivals(trace),
        Page(
            "Sizes and order",
            (*shown, *_order(trace)),
            anchor="order",
        ),
        Page("Footprint and reuse", tuple(_reuse(trace)), anchor="reuse"),
    ]
    if trace.has_times("response") or trace.has_times("device"):
        table = tables.times_table(trace)
        # The page's heading says it already.
        times: list[Exhibit] = [replace(table, title=""), *figures.times_figures(trace)]
        pages.append(Page(table.title, tuple(times), anchor="times"))
    if len(trace.devices) > 1:
        pages.append(Page("Devices", tuple(_devices(trace)), anchor="devices"))
    windows = tables.windows_table(trace)
    if 1 < len(windows.rows) <= tables.MOST_WINDOWS:
        pages.append(Page("Every window", (windows,), anchor="windows"))
    pages.append(Page("The trace", (_identity(trace),), anchor="identity"))
    return Report(
        trace.name,
        first=_first(trace),
        pages=tuple(pages),
        result=result,
        subject="trace",
        # Of no drive: it asks the question that the page answers.
        what_if=WhatIf(),
        statement=STATEMENT,
    )


def _first(trace: Characterization) -> First:
    several = trace.found["device_count"] > 1
    heat = figures.heat_figure(
        trace,
        trace.found["heat"],
        name="addresses",
        title="Where requests go over time" + (", all devices together" if several else ""),
    )
    return First(
        summary(trace),
        (heat,),
        _cards(trace) if len(trace.windows["begin_ns"]) > 1 else None,
        cautions=tuple(Caution(seen=line) for line in caution_lines(trace)),
    )


def _cards(trace: Characterization) -> Cards:
    """Return the first few numbers, with their range over all windows."""
    window = time_text(trace.window_ns or 0)
    least, most = figures.peak_rates(trace)
    mean = number_text(trace.requests_per_second or 0.0)
    burst = trace.found["arrivals"]["gap_cv"]
    variation = (
        "" if burst is None else f"; times between requests vary by {burst:.3g} of their mean"
    )
    columns = trace.windows
    cards = [
        Card(
            "Requests a second",
            number_text(least),
            number_text(most),
            f"{mean} on average, by windows of {window}{variation}",
        )
    ]
    shares = _known(columns["write_ratio"])
    if len(shares) and shares.min() < shares.max():
        ratio = share_text(trace.found["write_ratio"])
        low, high = share_text(float(shares.min())), share_text(float(shares.max()))
        cards.append(Card("Share of writes", low, high, f"{ratio} on average"))
    responses = _known(columns["response_ns_mean"])
    if len(responses) and len(cards) < _MOST_CARDS - 1:
        low, high = (latency_text(float(end)) for end in (responses.min(), responses.max()))
        cards.append(Card("Mean response time", low, high, f"by windows of {window}"))
    if len(shares):
        touched = columns["footprint_bytes"]
        whole = size_text(trace.found["footprint"]["bytes"])
        low, high = (format_size(round(float(end))) for end in (touched.min(), touched.max()))
        cards.append(Card("Touched in a window", low, high, f"{whole} in all"))
    return Cards(tuple(cards))


def _known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]


def _over_time(trace: Characterization) -> Page:
    if len(trace.windows["begin_ns"]) < 2:
        window = time_text(trace.window_ns or 0)
        said = (
            f"All requests are in one window of {window}; a shorter `--window` shows their course."
            if trace.span_ns
            else _AT_ONCE
        )
        return Page("Over time", (Text((said,)),), anchor="time")
    shown: list[Exhibit] = [figures.windows_figures(trace)]
    service = figures.service_figures(trace)
    shown += [] if service is None else [service]
    return Page("Over time", tuple(shown), anchor="time")


def _arrivals(trace: Characterization) -> Page:
    exhibits: list[Exhibit] = []
    gaps = figures.gaps_figure(trace)
    if gaps is not None:
        exhibits.append(gaps)
    bursts = tables.arrivals_table(trace)
    if bursts.rows:
        exhibits.append(bursts)
    if not exhibits:
        one = "The trace has one request."
        exhibits.append(Text((one if trace.requests == 1 else _AT_ONCE,)))
    return Page("Arrivals", tuple(exhibits), anchor="arrivals")


def _order(trace: Characterization) -> list[Exhibit]:
    streams = figures.streams_figure(trace)
    return [tables.order_table(trace), *([] if streams is None else [streams])]


def _reuse(trace: Characterization) -> list[Exhibit]:
    reuse = figures.reuse_figure(trace)
    several = len(trace.windows["begin_ns"]) > 1
    working_set = [figures.working_set_figure(trace)] if several else []
    return [footprint_facts(trace), *working_set, *([] if reuse is None else [reuse])]


def footprint_facts(trace: Characterization) -> Facts:
    """Return how much is touched, and how evenly."""
    found = trace.found["footprint"]
    accesses = sum(trace.found[name]["block_accesses"] for name in DIRECTIONS)
    blocks = found["bytes"] / found["block_bytes"]
    facts = [
        ("Read or written", size_text(found["bytes"]) or ""),
        ("Read", size_text(found["read_bytes"]) or ""),
        ("Written", size_text(found["written_bytes"]) or ""),
        ("Read and written", size_text(found["read_and_written_bytes"]) or ""),
    ]
    if blocks:
        facts.append(("Accesses to a block", f"{accesses / blocks:,.1f} on average"))
    facts += [
        (f"The hottest {share_text(share)} of the blocks", f"{share_text(part)} of the accesses")
        for share, part in trace.hottest
    ]
    facts.append(("How sure", accuracy(trace)))
    return Facts("", tuple(facts))


def _devices(trace: Characterization) -> list[Exhibit]:
    exhibits: list[Exhibit] = [tables.devices_table(trace)]
    for place, device in enumerate(trace.found["devices"][:_DEVICE_MAPS]):
        if device["heat"] is not None:
            name = trace.devices[device["device"]]
            title = f"Where requests to {name} go"
            exhibits.append(
                figures.heat_figure(
                    trace, device["heat"], name=f"addresses_{place + 1}", title=title
                )
            )
    return exhibits


def _identity(trace: Characterization) -> Facts:
    checks = trace.checks
    facts = [
        ("Files", ", ".join(checks["files"])),
        ("Format", checks["format"]),
        ("Requests", f"{trace.requests:,}"),
        (
            "From the first to the last",
            latency_text(trace.span_ns) if trace.span_ns else "all at the same time",
        ),
        ("Devices", f"{count_text(trace.found['device_count'], 'device')}: {devices_text(trace)}"),
        ("Requests at the time of the previous one", f"{checks['ties']:,}"),
        ("Window", time_text(trace.window_ns or 0)),
        ("Found while reading", "; ".join(finding_lines(checks)) or "nothing wrong"),
        (
            "Sequential, strided",
            "A request is sequential if it begins at the end of one of the 32 streams of its "
            "device and direction that were used last. It is strided if its distance from a "
            "stream's end is that between the stream's last two requests.",
        ),
        ("Read", count_text(checks["lines"], counted(checks))),
    ]
    return Facts("", tuple(facts))
