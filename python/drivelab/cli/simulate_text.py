"""A simulated run as a screen of text, at most 80 columns wide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from drivelab.drives.simulation import PERCENTILES
from drivelab.report.quantities import NOTHING
from drivelab.units import format_duration_ns, format_size

COLUMNS: Final = 80
_LABEL: Final = 10
_NAMES: Final = {"read": "reads", "write": "writes", "trim": "trims", "flush": "flushes"}
# Channels with more units than fit on a line are told by their ends and their mean.
_UNIT_CELL: Final = 4
_MOST_CHANNEL_LINES: Final = 16


def text(values: Mapping[str, Any]) -> str:
    """Write what `drivelab simulate` prints for people."""
    streams: Sequence[Mapping[str, Any]] = values["streams"]
    lines = list(_head(values))
    for stream in streams:
        lines += ["", *_stream(stream)]
    lines += ["", *_flash(values), "", *_busy(values), "", *_cost(values)]
    return "\n".join(line.rstrip() for line in lines)


def _head(values: Mapping[str, Any]) -> Iterator[str]:
    drive = f"{values['drive']}, {values['condition']}, {format_size(values['capacity_bytes'])}"
    yield _line("simulated", f"{drive}, seed {values['seed']}")
    warmup = values["warmup_requests"]
    after = f", after {warmup:,} of warm-up" if warmup else ""
    yield _line(
        "counted",
        f"{values['counted_requests']:,} requests in "
        f"{format_duration_ns(values['duration_ns'])} of simulated time{after}",
    )


def _stream(stream: Mapping[str, Any]) -> Iterator[str]:
    operations: Mapping[str, Mapping[str, Any]] = stream["operations"]
    yield _line(stream["name"], stream["description"])
    yield ""
    rows = {_NAMES[name]: _rates(each) for name, each in operations.items()}
    if len(rows) > 1:
        rows["together"] = _rates(stream)
    yield from _table("rate", ("requests", "IOPS", "MB/s"), rows, least=14)
    yield ""
    yield from _table(
        "latency",
        ("mean", *(f"{percent:g}%" for percent in PERCENTILES.values()), "max"),
        {_NAMES[name]: _latencies(each) for name, each in operations.items()},
        least=8,
    )
    if any(NOTHING in _latencies(each) for each in operations.values()):
        yield f"{'':{_LABEL}}{NOTHING} too few requests for this percentile"
    yield ""
    parts = next(iter(operations.values()))["latency_parts"]
    split = {}
    for name, each in operations.items():
        split[_NAMES[name]], split[f"{_NAMES[name]} %"] = _parts(each)
    yield from _table("mean of", tuple(parts), split, least=9)


def _rates(values: Mapping[str, Any]) -> list[str]:
    return [
        f"{values['requests']:,}",
        f"{values['iops']:,.0f}",
        f"{values['bandwidth_bytes_per_second'] / 1e6:,.1f}",
    ]


def _latencies(values: Mapping[str, Any]) -> list[str]:
    names = ("mean", *PERCENTILES, "max")
    found = [values[f"latency_ns_{name}"] for name in names]
    return [NOTHING if each is None else format_duration_ns(each) for each in found]


def _parts(values: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    means = [part["latency_ns_mean"] for part in values["latency_parts"].values()]
    whole = sum(means) or 1.0
    durations = [format_duration_ns(mean) if mean else NOTHING for mean in means]
    return durations, [f"{100 * mean / whole:.1f} %" if mean else "" for mean in means]


def _flash(values: Mapping[str, Any]) -> Iterator[str]:
    flash = values["flash"]
    ratio = flash["write_amplification_ratio"]
    yield _line(
        "flash",
        f"{flash['page_reads']:,} page reads, {flash['block_erases']:,} block erases, "
        f"{flash['buffer_hit_pages']:,} buffer hits",
    )
    if ratio is not None:
        yield _line(
            "",
            f"{flash['host_page_programs']:,} page programs for the host, "
            f"{flash['collection_page_programs']:,} for collection",
        )
        yield _line("", f"write amplification {ratio:.3f}")


def _busy(values: Mapping[str, Any]) -> Iterator[str]:
    channels: Sequence[float] = values["channel_utilisation_ratio"]
    units: Sequence[float] = values["unit_utilisation_ratio"]
    # Channels come first in the order of units.
    of_channel = [units[channel :: len(channels)] for channel in range(len(channels))]
    plural = f"{values['unit']}s"
    if len(channels) > _MOST_CHANNEL_LINES:
        yield _line("busy", f"channels {_spread(channels)}")
        yield _line("", f"{plural} {_spread(units)}")
        return
    yield f"{'busy, %':<{_LABEL}}channel  its {plural}"
    fits = (COLUMNS - _LABEL - 9) // _UNIT_CELL
    for channel, (share, shares) in enumerate(zip(channels, of_channel, strict=True)):
        told = "".join(f"{100 * each:<{_UNIT_CELL}.0f}" for each in shares)
        if len(shares) > fits:
            told = _spread(shares)
        yield f"{channel:>{_LABEL - 2}}  {100 * share:>7.1f}  {told}"


def _spread(shares: Sequence[float]) -> str:
    mean = sum(shares) / len(shares)
    return (
        f"{100 * min(shares):.1f} to {100 * max(shares):.1f}, mean {100 * mean:.1f} "
        f"({len(shares)} of them)"
    )


def _cost(values: Mapping[str, Any]) -> Iterator[str]:
    seconds = values["loop_wall_seconds"]
    rates = [f"{values['requests'] / seconds / 1e6:.2f} million requests/s"]
    if values["page_programs"]:
        rates.append(f"{values['page_programs'] / seconds / 1e6:.2f} million page programs/s")
    yield _line("this run", f"{values['requests']:,} requests in {seconds:.3f} s of wall time")
    yield _line("", ", ".join(rates))
    yield _line(
        "",
        f"drive prepared in {values['preparation_wall_seconds']:.3f} s, peak memory "
        f"{format_size(values['peak_memory_bytes'])}",
    )


def _line(label: str, said: str) -> str:
    return f"{label:<{_LABEL}}{said}"


def _table(
    corner: str, titles: Sequence[str], rows: Mapping[str, Sequence[str]], *, least: int
) -> Iterator[str]:
    widths = [max(least, len(title) + 1) for title in titles]
    for label, cells in {corner: titles, **rows}.items():
        row = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        yield f"{label:<{_LABEL}}" + "".join(row)
