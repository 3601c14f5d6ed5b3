"""Numbers of a trace as tables, for terminals, pages and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.exhibits import Table
from drivelab.exhibits.quantities import latency_text, share_and_rest, share_text
from drivelab.plain_text import escaped
from drivelab.traces.characterization import CHARACTERISTICS, DIRECTIONS
from drivelab.traces.words import number_text, size_text, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from drivelab.exhibits import Cell
    from drivelab.traces.characterization import Characterization

_ORDERS: Final = (
    ("sequential", "sequential: where one of the 32 streams used last ended"),
    ("strided", "strided: at the distance forward that one of them has"),
    ("backward", "backward at its distance, or the same place again"),
    ("random", "none of these"),
)
_ADJACENT: Final = "for comparison: where the previous request ended"
#: Parts of a request's time, and their names for people.
PARTS: Final = (
    ("response", "response"),
    ("queue", "in the queue (Q2D)"),
    ("device", "in the device (D2C)"),
)
_PERCENTILES: Final = (("p50", "median"), ("p90", "90 %"), ("p99", "99 %"), ("p99_9", "99.9 %"))
#: Fewer intervals than this cannot show how arrivals cluster.
_LEAST_INTERVALS: Final = 10
_MOST_SIZES: Final = 8
_MOST_DEVICES: Final = 20
#: Rows of a page's table; the files contain every window.
MOST_WINDOWS: Final = 2_000


def characteristics_table(trace: Characterization) -> Table:
    """Return the eight characteristics: seven for reads and writes separately, one for both."""
    values = trace.characteristics
    ratio = values["write_ratio"]
    shares = (None, None) if ratio is None else share_and_rest(1 - ratio)
    rows: list[tuple[Cell, ...]] = [("share of requests", *shares)]
    for label, name, text in (
        ("mean size", "size_bytes", size_text),
        ("random", "random", lambda value: None if value is None else share_text(value)),
        ("mean stride", "stride_bytes", size_text),
    ):
        rows.append((label, *(text(values[f"{each}_{name}"]) for each in DIRECTIONS)))
    raw = Table(
        "characteristics", CHARACTERISTICS, (tuple(values[key] for key in CHARACTERISTICS),)
    )
    return Table(
        "characteristics",
        ("", "reads", "writes"),
        tuple(rows),
        title="The eight characteristics",
        source="Huang et al. 2011, equation 4",
        note=_depth_text(trace),
        right=True,
        saved=(raw,),
    )


def _depth_text(trace: Characterization) -> str:
    depth = trace.characteristics["queue_depth"]
    if depth is not None:
        return (
            f"Queue depth {number_text(depth)}: the mean number of requests outstanding while any "
            "is, reads and writes together."
        )
    why = "" if trace.checks["responses"] else ": the trace has no response times"
    return f"Queue depth not known{why}."


def order_table(trace: Characterization) -> Table:
    """Return how requests follow each other."""
    rows: list[tuple[Cell, ...]] = []
    for key, label in (*_ORDERS, ("adjacent", _ADJACENT)):
        shares = [_share_of_moves(trace, name, f"{name}_{key}_requests") for name in DIRECTIONS]
        rows.append((label, *shares))
    return Table(
        "order",
        ("a request begins", "reads", "writes"),
        tuple(rows),
        title="How requests follow each other",
        note="In the eight characteristics, the third and the fourth row count as random.",
        right=True,
    )


def _share_of_moves(trace: Characterization, direction: str, key: str) -> str | None:
    whole = trace.found[f"{direction}_requests"]
    return share_text(trace.found[key] / whole) if whole else None


def arrivals_table(trace: Characterization) -> Table:
    """Return how arrivals cluster, over several lengths of time."""
    rows = []
    for counted in trace.found["arrivals"]["counted"]:
        if counted["intervals"] < _LEAST_INTERVALS:
            continue
        rows.append(
            (
                time_text(counted["width_ns"]),
                counted["mean"],
                counted["most"],
                counted["most"] / counted["mean"],
                counted["dispersion"],
            )
        )
    return Table(
        "bursts",
        ("over", "mean requests", "most requests", "peak to mean", "index of dispersion"),
        tuple(rows),
        title="How arrivals gather",
        note="Index of dispersion: variance over mean of the requests in each interval; 1 for "
        "random (Poisson) arrivals, 0 for a steady pace, more for bursts.",
    )


def times_table(trace: Characterization) -> Table:
    """Return how long requests took, if the trace has it."""
    rows: list[tuple[Cell, ...]] = []
    for part, label in PARTS:
        for direction in DIRECTIONS:
            times = trace.times(direction, part)
            if times is not None:
                texts = [latency_text(times[key]) for key, _ in _PERCENTILES]
                mean, most = latency_text(times["mean"]), latency_text(times["max"])
                rows.append((f"{direction}s, {label}", times["count"], mean, *texts, most))
    heads = ("", "requests", "mean", *(label for _, label in _PERCENTILES), "longest")
    return Table("times", heads, tuple(rows), title="How long requests took", right=True)


def sizes_table(trace: Characterization) -> Table:
    """Return the most common sizes."""
    counts: dict[int, list[int]] = {}
    for place, direction in enumerate(DIRECTIONS):
        for size, count in trace.found[direction]["sizes"]["exact"]:
            counts.setdefault(size, [0, 0])[place] = count
    ordered = sorted(counts, key=lambda size: (-sum(counts[size]), size))[:_MOST_SIZES]
    whole = trace.found["read_requests"] + trace.found["write_requests"]
    rows = [
        (size_text(size), *counts[size], share_text(sum(counts[size]) / whole)) for size in ordered
    ]
    return Table(
        "usual_sizes",
        ("size", "reads", "writes", "of all"),
        tuple(rows),
        title="The sizes asked for most",
        note=f"{len(counts):,} sizes in all." if len(counts) > len(rows) else "",
        right=True,
    )


def devices_table(trace: Characterization, most: int = _MOST_DEVICES) -> Table:
    """Return the busiest devices, and all others as one row."""
    found = trace.found
    shown = found["devices"][:most]
    rows: list[tuple[Cell, ...]] = [
        (escaped(trace.devices[one["device"]]), *_device_cells(one, trace)) for one in shown
    ]
    others = _summed([*found["devices"][most:], found["other_devices"]])
    if others["requests"]:
        count = found["device_count"] - len(shown)
        cells = (others["requests"], *(others[name] for name in ("share", "bytes")))
        rows.append((f"{count:,} others", *cells, None, None, None, None))
    heads = (
        "device",
        "requests",
        "writes",
        "moved",
        "random",
        "ends at",
        "queue depth",
        "response",
    )
    # What the trace does not have gets no column.
    kept = [place for place in range(len(heads)) if any(row[place] is not None for row in rows)]
    return Table(
        "devices",
        tuple(heads[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in rows),
        title="Devices, the busiest first",
        right=True,
    )


def _device_cells(one: dict[str, float], trace: Characterization) -> tuple[Cell, ...]:
    total = _summed([one])
    moves = one["read_requests"] + one["write_requests"]
    random = one["read_random_requests"] + one["write_random_requests"]
    random += one["read_backward_requests"] + one["write_backward_requests"]
    depth = one["queue_depth"] if trace.has_depth else None
    response = one["response_ns_mean"]
    return (
        total["requests"],
        total["share"],
        total["bytes"],
        share_text(random / moves) if moves else None,
        size_text(one["end_bytes"]),
        None if depth is None else number_text(depth),
        None if response is None else latency_text(response),
    )


def _summed(tallies: Sequence[dict[str, float]]) -> dict[str, Cell]:
    requests = sum(
        int(tally[f"{name}_requests"])
        for tally in tallies
        for name in ("read", "write", "trim", "flush", "other")
    )
    reads, writes = (sum(tally[f"{name}_requests"] for tally in tallies) for name in DIRECTIONS)
    moved = sum(tally[f"{name}_bytes"] for tally in tallies for name in DIRECTIONS)
    share = share_text(writes / (reads + writes)) if reads + writes else None
    return {"requests": requests, "share": share, "bytes": size_text(moved)}


def windows_table(trace: Characterization) -> Table:
    """Return every window for a page, with columns by a reader's questions."""
    columns = trace.windows
    seconds = columns["duration_ns"] / 1e9
    moves = columns["read_requests"] + columns["write_requests"]
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(seconds > 0, window_requests(trace) / seconds, np.nan)
        moved = (columns["read_bytes"] + columns["write_bytes"]) / seconds / 1e6
        random = _random_ratio(trace, moves)
    shown = {
        "begins (s)": columns["begin_ns"] / 1e9,
        "requests": window_requests(trace),
        "a second": rates,
        "MB/s": np.where(seconds > 0, moved, np.nan),
        "writes (%)": 100 * columns["write_ratio"],
        "random (%)": 100 * random,
        "touched (MiB)": columns["footprint_bytes"] / 2**20,
        "burst (dispersion)": columns["dispersion"],
        "queue depth": columns["queue_depth"],
        "response (ms)": columns["response_ns_mean"] / 1e6,
        "99 % (ms)": columns["response_ns_p99"] / 1e6,
    }
    kept = {name: values for name, values in shown.items() if not np.isnan(values).all()}
    numbers = [[_cell(value, name) for value in values] for name, values in kept.items()]
    rows = tuple(zip(*numbers, strict=True))
    keys = tuple(tuple(None if cell is None else float(cell) for cell in row) for row in rows)
    return Table("windows_shown", tuple(kept), rows, title="", keys=keys)


def _cell(value: float, name: str) -> float | int | None:
    if np.isnan(value):
        return None
    return int(value) if name == "requests" else float(value)


def window_requests(trace: Characterization) -> NDArray[np.float64]:
    """Return the requests of each window."""
    names = ("read", "write", "trim", "flush", "other")
    counts = [trace.windows[f"{name}_requests"] for name in names]
    return np.asarray(np.sum(counts, axis=0), np.float64)


def _random_ratio(trace: Characterization, moves: NDArray[np.float64]) -> NDArray[np.float64]:
    columns = trace.windows
    parts = [
        np.nan_to_num(columns[f"{name}_random"]) * columns[f"{name}_requests"]
        for name in DIRECTIONS
    ]
    return np.where(moves > 0, np.sum(parts, axis=0) / moves, np.nan)
