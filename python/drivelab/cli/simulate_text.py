"""A simulated run as a screen of text, at most 80 columns wide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from drivelab.cli.courses import (
    LABEL,
    course,
    durations_between,
    head,
    iops_between,
    line,
    rate,
    spans,
)
from drivelab.cli.drive_options import characteristics_json
from drivelab.cli.simulate_array import array_lines
from drivelab.cli.simulate_namespaces import namespace_lines
from drivelab.cli.simulate_placement import placement_lines
from drivelab.cli.simulate_zones import refusal_caution, zone_lines
from drivelab.cli.trace_text import in_width
from drivelab.drives.lateness import Lateness
from drivelab.drives.simulated.simulation import PERCENTILES
from drivelab.exhibits.quantities import NOTHING, listed, workload_text
from drivelab.units import format_duration_ns, format_size
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.trace import PLURALS, Trace

COLUMNS: Final = 80
# A channel with more units than fit on a line shows their range and mean.
_UNIT_CELL: Final = 4
_MOST_CHANNEL_LINES: Final = 16
# What the writes of a stream are sent as.
_SENT_AS: Final = {
    "forced_write": "forced writes",
    "trim": "trims",
    "write_zeroes": "writes of zeroes",
    "append": "appends",
}

Values = Mapping[str, Any]
# Each row of a table is one operation; the line below them is all together.
Cells = Callable[[Values], Sequence[Sequence[str]]]


def text(values: Values, *, title: str | None = None, notes: Sequence[str] = ()) -> str:
    """Return what `drivelab simulate` prints for people.

    Parameters
    ----------
    values
        What ``--json`` prints.
    title
        Title of a scenario.
    notes
        Other notes on what was asked.
    """
    streams: Sequence[Values] = values["streams"]
    lines = [*_cautions(values), *_head(values, title), "", *_streams(streams)]
    for note in notes:
        lines += in_width("", note, label_width=LABEL, columns=COLUMNS)
    lines += _lateness(streams)
    lines += ["", *_table("rate", ("requests", "IOPS", "MB/s"), streams, _rates, least=14)]
    if sum(len(stream["operations"]) for stream in streams) > 1:
        lines.append(_row("together", _rates(_together(values))[0], [14, 14, 14]))
    percentiles = tuple(f"{percent:g}%" for percent in PERCENTILES.values())
    latencies = ("mean", *percentiles, "max")
    lines += ["", *_table("latency", latencies, streams, _latencies, least=8)]
    if any(NOTHING in line for line in lines[-sum(len(s["operations"]) for s in streams) :]):
        lines.append(line("", f"{NOTHING} too few requests for this percentile"))
    lines += ["", *_table("mean of", _parts_of(streams), streams, _parts, least=9)]
    if values["series"] is not None:
        lines += ["", *_courses(values["series"], alone=len(streams) == 1)]
    if values["disk"] is not None:
        lines += ["", *_disk(values["disk"])]
    else:
        lines += ["", *_flash(values), *_own_counts(values.get("firmware_counts", {}))]
    lines += _placed(values)
    lines += array_lines(values.get("array"))
    if values["members"]:
        lines += ["", *_members(values["members"])]
    elif values["disk"] is None:
        lines += ["", *_busy(values)]
    if values["energy"] is not None:
        lines += ["", *_energy(values["energy"])]
    lines += ["", *_cost(values)]
    return "\n".join(line.rstrip() for line in lines)


def asked_of(plan: Mapping[str, Any], trace: Trace | None = None) -> dict[str, Any]:
    """Return what a stream asks for: in words, and its characteristics if it has any."""
    if trace is not None:
        return {"description": trace.describe()}
    workload = None
    if plan["workload"] is not None:
        workload = characteristics_json(Characteristics(*plan["workload"]))
        if plan["source"] != "closed":
            # In an open loop nothing waits for a completion.
            del workload["queue_depth"]
    return {"description": stream_text(plan), "workload": workload}


def stream_text(plan: Values) -> str:
    """Return what a stream asks for.

    Parameters
    ----------
    plan
        What `drivelab._core.Stream.described` returns.
    """
    said = _requests_text(plan)
    if plan["zones"] is not None:
        said += f", {_zones_text(plan['zones'])}"
    if plan["writes_as"] != "write":
        said += f", writes sent as {_SENT_AS[plan['writes_as']]}"
    if plan["ranges_per_trim"] is not None:
        said += f" of {plan['ranges_per_trim']} ranges each"
    if plan["writes_per_flush"]:
        said += f", a flush every {plan['writes_per_flush']:,} writes"
    if plan["namespace"] is not None:
        said += f", in namespace {plan['namespace']}"
    if plan["range"]:
        start, length = plan["range"]
        where = f"from {format_size(start)} on" if start else "from the start"
        said += f", in {format_size(length)} {where}"
    if plan["content"] != "random":
        said += f", content {plan['content']}"
    for key in ("placement", "reclaim_group"):
        if plan[key] is not None:
            said += f", {key.replace('_', ' ')} {plan[key]}"
    return said + _turns_text(plan)


def _zones_text(zones: int) -> str:
    return "one zone at a time" if zones == 1 else f"{zones:,} zones at a time"


def _requests_text(plan: Values) -> str:
    """Return what requests a stream sends, and when."""
    if plan["source"] == "windows":
        return "requests drawn window by window"
    if plan["mixture"] is not None:
        return _mixture_text(plan["mixture"], plan)
    if plan["workload"] is None:
        counts = {name: count for name, count in plan["listed"].items() if count}
        kinds = [
            PLURALS[name] if count > 1 else name.replace("_", " ") for name, count in counts.items()
        ]
        parts = [f"{count:,} {kind}" for count, kind in zip(counts.values(), kinds, strict=True)]
        return f"{listed(parts)}, each at its time"
    said = workload_text(Characteristics(*plan["workload"]))
    if plan["source"] == "closed":
        return said
    return f"{said.rpartition(', queue depth')[0]}, {_rate_text(plan)}"


def _rate_text(plan: Values) -> str:
    arrive = "at random" if plan["source"] == "poisson" else "evenly"
    return f"{plan['rate_iops']:,.12g} a second arriving {arrive}"


def _mixture_text(mixture: Values, plan: Values) -> str:
    """Return what a stream with sizes or places by shares asks for."""
    reads = mixture["read_ratio"]
    kinds = {0.0: "writes", 1.0: "reads"}
    what = kinds.get(reads, f"{100 * reads:.4g} % reads, else writes")
    sizes = sorted(size for size, _ in mixture["sizes"])
    size = format_size(sizes[0])
    if len(sizes) > 1:
        size += f" to {format_size(sizes[-1])}"
    said = f"{what} of {size} {'at random' if mixture['is_random'] else 'sequentially'}"
    if len(mixture["zones"]) > 1:
        accesses, part = mixture["zones"][0]
        said += f", {100 * accesses:.4g} % of them to the first {100 * part:.4g} %"
    if plan["source"] == "closed":
        return f"{said}, queue depth {mixture['queue_depth']}"
    return f"{said}, {_rate_text(plan)}"


def _turns_text(plan: Values) -> str:
    """Return when a stream goes first, and whether places come again."""
    said = ""
    for key in ("priority", "queue_pair", "share"):
        if plan[key]:
            said += f", {key.replace('_', ' ')} {plan[key]}"
    if plan["burst_requests"] > 1:
        said += f" in bursts of {plan['burst_requests']:,}"
    if plan["each_place_once"]:
        said += ", each place once"
    return said


def _head(values: Values, title: str | None) -> Iterator[str]:
    if title:
        yield line("scenario", title)
    facts = [values["drive"], values["condition"], format_size(values["capacity_bytes"])]
    drive = ", ".join(fact for fact in facts if fact is not None)
    variability = values["variability"]
    varies = "" if variability == "none" else f", variability {variability}"
    yield line("simulated", f"{drive}, seed {values['seed']}{varies}")
    if values["occupancy"] is not None:
        yield line("", values["occupancy"])
    if values["from_state"] is not None:
        yield line("", f"from the state in {values['from_state']}")
    warmup = values["warmup_requests"]
    after = f", after {warmup:,} of warm-up" if warmup else ""
    yield line(
        "counted",
        f"{_requests(values['counted_requests'])} in "
        f"{format_duration_ns(values['duration_ns'])} of simulated time{after}",
    )


def _placed(values: Values) -> Iterator[str]:
    """Return what a drive did whose host decides where data goes."""
    if "placement" in values:
        yield from placement_lines(values["placement"])
    if "namespaces" in values:
        yield from namespace_lines(values["namespaces"])
    if "zones" in values:
        yield from zone_lines(values["zones"])


def _cautions(values: Values) -> Iterator[str]:
    """Return first that a drive with zones refused commands, and that a replay was late."""
    refused = refusal_caution(values["zones"]) if "zones" in values else None
    if refused is not None:
        yield from in_width("caution", refused, label_width=LABEL, columns=COLUMNS)
        yield ""
    for stream in values["streams"]:
        caution = Lateness.from_json(stream["lateness"]).caution() if "lateness" in stream else None
        if caution is not None:
            yield from in_width("caution", caution, label_width=LABEL, columns=COLUMNS)
            yield ""


def _lateness(streams: Sequence[Values]) -> Iterator[str]:
    for stream in streams:
        if "lateness" in stream:
            yield line("sent late", Lateness.from_json(stream["lateness"]).describe())


def _requests(count: int) -> str:
    return f"{count:,} request{'' if count == 1 else 's'}"


def _streams(streams: Sequence[Values]) -> Iterator[str]:
    width = max(LABEL - 2, *(len(stream["name"]) for stream in streams))
    for stream in streams:
        if stream["source"] == "recorded":
            said = stream["description"]
            yield from in_width(stream["name"], said, label_width=width + 2, columns=COLUMNS)
        else:
            yield f"{stream['name']:<{width}}  {stream['description']}"


def _together(values: Values) -> dict[str, Any]:
    names = ("requests", "iops", "bandwidth_bytes_per_second")
    return {name: sum(stream[name] for stream in values["streams"]) for name in names}


def _rates(values: Values) -> list[list[str]]:
    rates = [
        f"{values['requests']:,}",
        rate(values["iops"], 0),
        rate(values["bandwidth_bytes_per_second"] / 1e6, 1),
    ]
    return [rates]


def _latencies(values: Values) -> list[list[str]]:
    found = [values[f"latency_ns_{name}"] for name in ("mean", *PERCENTILES, "max")]
    return [[NOTHING if each is None else format_duration_ns(each) for each in found]]


def _parts_of(streams: Sequence[Values]) -> tuple[str, ...]:
    operations = (each for stream in streams for each in stream["operations"].values())
    return tuple(next(operations)["latency_parts"])


def _parts(values: Values) -> list[list[str]]:
    means = [part["latency_ns_mean"] for part in values["latency_parts"].values()]
    whole = sum(means) or 1.0
    durations = [format_duration_ns(mean) if mean else NOTHING for mean in means]
    return [durations, [f"{100 * mean / whole:.1f} %" if mean else "" for mean in means]]


def _courses(series: Values, *, alone: bool) -> Iterator[str]:
    """Draw what completed over time, one or several intervals per character."""
    courses: dict[str, dict[str, list[Values]]] = {}
    for row in series["rows"]:
        courses.setdefault(row["stream"], {}).setdefault(row["operation"], []).append(row)
    intervals = max(len(course) for each in courses.values() for course in each.values())
    yield head(intervals, series["interval_ns"])
    for stream, operations in courses.items():
        if not alone:
            yield stream
        for operation, rows in operations.items():
            label = PLURALS[operation] if alone else f"  {PLURALS[operation]}"
            parts = [rows[span] for span in spans(intervals) if rows[span]]
            yield course(label, [_mean_iops(part) for part in parts], iops_between)
            yield course("", [_mean_latency(part) for part in parts], durations_between)


def _mean_iops(rows: Sequence[Values]) -> float:
    lasting = sum(row["end_ns"] - row["start_ns"] for row in rows)
    return float(sum(row["requests"] for row in rows) * 1e9 / lasting)


def _mean_latency(rows: Sequence[Values]) -> float:
    requests = sum(row["requests"] for row in rows)
    total = sum(row["requests"] * (row["latency_ns_mean"] or 0.0) for row in rows)
    return float(total / requests) if requests else 0.0


def _flash(values: Values) -> Iterator[str]:
    flash = values["flash"]
    ratio = flash["write_amplification_ratio"]
    yield line(
        "flash", f"{flash['page_reads']:,} page reads, {flash['block_erases']:,} block erases"
    )
    if flash["read_retries"] is not None:
        yield line("", f"{flash['read_retries']:,} read retries on worn blocks")
    if flash["collections"] or flash["collection_moves"]:
        collected, moved = flash["collections"], flash["collection_moves"]
        yield line(
            "",
            f"{collected:,} collection{'' if collected == 1 else 's'} moved "
            f"{moved:,} page{'' if moved == 1 else 's'}",
        )
    if flash["bad_blocks"] is not None:
        grown, bad = flash["retired_blocks"], flash["bad_blocks"]
        yield line(
            "", f"{grown:,} block{'' if grown == 1 else 's'} became bad, {bad:,} are at the end"
        )
    kinds = ("switch", "partial", "full")
    if any(flash[f"{kind}_merges"] for kind in kinds):
        merges = ", ".join(f"{flash[f'{kind}_merges']:,} {kind}" for kind in kinds)
        yield line("", f"merges of blocks: {merges}")
    yield from _of_mapping(flash)
    if flash["coalesced_pages"]:
        yield line("", f"{flash['coalesced_pages']:,} pages written again in the buffer")
    if flash["cache_hit_pages"] or flash["cache_miss_pages"]:
        yield line(
            "",
            f"read cache: {flash['cache_hit_pages']:,} hits, {flash['cache_miss_pages']:,} "
            f"misses, {flash['read_ahead_pages']:,} pages read ahead",
        )
    if flash["buffer_hit_pages"]:
        yield line("", f"{flash['buffer_hit_pages']:,} pages read from the write buffer")
    if ratio is not None:
        yield line(
            "",
            f"{flash['host_page_programs']:,} page programs for the host, "
            f"{flash['collection_page_programs']:,} for collection",
        )
        levelling = flash["wear_page_programs"]
        levelled = f", {levelling:,} programs to level wear" if levelling else ""
        yield line("", f"write amplification {ratio:.3f}{levelled}")
    if flash["copyback_page_programs"]:
        yield line("", f"{flash['copyback_page_programs']:,} pages moved by copyback")


def _own_counts(counts: Values) -> Iterator[str]:
    """Return your own firmware's counts, by its names."""
    for place, (name, count) in enumerate(counts.items()):
        yield line("firmware" if place == 0 else "", f"{count:,} {name}")


def _of_mapping(flash: Values) -> Iterator[str]:
    """Return what only some ways to map pages do."""
    if flash["refreshed_blocks"]:
        moved = flash["refresh_page_programs"]
        yield line("", f"{flash['refreshed_blocks']:,} blocks refreshed, {moved:,} pages moved")
    if flash["overdue_blocks"]:
        overdue = f"{flash['overdue_blocks']:,} blocks waited for a refresh when the run was over"
        yield line("", f"{overdue}: their data is older than refresh.retention_ns")
    if flash["fold_page_programs"]:
        yield line("", f"{flash['fold_page_programs']:,} pages folded from SLC blocks")
    if flash["map_hits"] or flash["map_misses"]:
        yield line(
            "",
            f"map on the flash: {flash['map_hits']:,} hits, {flash['map_misses']:,} misses, "
            f"{flash['map_page_reads']:,} page reads, {flash['map_page_programs']:,} programs",
        )
    if flash["packed_pages"] or flash["zero_pages"]:
        yield line(
            "",
            f"{flash['packed_pages']:,} pages packed with others, {flash['zero_pages']:,} "
            "all zeroes",
        )


def _disk(disk: Values) -> Iterator[str]:
    yield line(
        "platters",
        f"{disk['media_reads']:,} reads and {disk['media_writes']:,} writes, "
        f"{format_size(disk['media_bytes'])}, busy for {100 * disk['utilisation_ratio']:.1f} %",
    )
    ahead = format_size(disk["read_ahead_bytes"])
    hits = disk["cache_hit_reads"]
    yield line("cache", f"{hits:,} reads found all data in it, {ahead} read ahead")
    if disk["replaced_bytes"]:
        again = format_size(disk["replaced_bytes"])
        yield line("", f"{again} written again before they left the write cache")


def _members(members: Sequence[Values]) -> Iterator[str]:
    for place, member in enumerate(members):
        busy = f"{100 * member['utilisation_ratio']:.1f}"
        yield line("busy, %" if place == 0 else "", f"member {place}  {busy:>5}")


def _busy(values: Values) -> Iterator[str]:
    channels: Sequence[float] = values["channel_utilisation_ratio"]
    units: Sequence[float] = values["unit_utilisation_ratio"]
    # Channels come first in the order of units.
    of_channel = [units[channel :: len(channels)] for channel in range(len(channels))]
    plural = f"{values['unit']}s"
    if len(channels) > _MOST_CHANNEL_LINES:
        yield line("busy, %", f"channels {_spread(channels)}")
        yield line("", f"{plural} {_spread(units)}")
        return
    yield f"{'busy, %':<{LABEL}}channel  its {plural}"
    fits = (COLUMNS - LABEL - 9) // _UNIT_CELL
    for channel, (share, shares) in enumerate(zip(channels, of_channel, strict=True)):
        cells = "".join(f"{100 * each:<{_UNIT_CELL}.0f}" for each in shares)
        if len(shares) > fits:
            cells = _spread(shares)
        yield f"{channel:>{LABEL - 2}}  {100 * share:>7.1f}  {cells}"


def _spread(shares: Sequence[float]) -> str:
    mean = sum(shares) / len(shares)
    return (
        f"{100 * min(shares):.1f} to {100 * max(shares):.1f}, mean {100 * mean:.1f} "
        f"({len(shares)} of them)"
    )


def _energy(energy: Values) -> Iterator[str]:
    yield line(
        "energy",
        f"{energy['joules']:.4g} J: cells {energy['cell_joules']:.4g}, channels "
        f"{energy['channel_joules']:.4g}, idle {energy['idle_joules']:.4g}",
    )
    per_watt = rate(energy["iops_per_watt"], 0)
    yield line("", f"{energy['mean_watts']:.4g} W on average, {per_watt} IOPS/W")


def _cost(values: Values) -> Iterator[str]:
    seconds = values["loop_wall_seconds"]
    rates = [f"{values['requests'] / seconds / 1e6:.2f} million requests/s"]
    if values["page_programs"]:
        rates.append(f"{values['page_programs'] / seconds / 1e6:.2f} million page programs/s")
    yield line("this run", f"{_requests(values['requests'])} in {seconds:.3f} s of wall time")
    yield line("", ", ".join(rates))
    yield line(
        "",
        f"drive prepared in {values['preparation_wall_seconds']:.3f} s, peak memory "
        f"{format_size(values['peak_memory_bytes'])}",
    )


def _table(
    corner: str, titles: Sequence[str], streams: Sequence[Values], cells: Cells, *, least: int
) -> Iterator[str]:
    """Return one row per operation, and with several streams a line with the name of each."""
    widths = [max(least, len(title) + 1) for title in titles]
    yield _row(corner, titles, widths)
    for stream in streams:
        operations: Mapping[str, Values] = stream["operations"]
        alone = len(streams) == 1
        if not alone:
            yield stream["name"]
        for operation, values in operations.items():
            labels = (PLURALS[operation], f"{PLURALS[operation]} %")
            for label, row in zip(labels, cells(values), strict=False):
                yield _row(label if alone else f"  {label}", row, widths)


def _row(label: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"{label:<{LABEL}}" + "".join(padded)
