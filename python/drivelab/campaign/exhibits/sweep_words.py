"""Sentences for each sweep: what varies, what stays the same, which points are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.campaign.exhibits.courses import noise_text, value_text
from drivelab.campaign.exhibits.sweeps import (
    PATTERN_LATENCY,
    PATTERN_THROUGHPUT,
    QUEUE_DEPTH,
    SIZE,
    WRITE_RATIO,
    lines_of,
)
from drivelab.exhibits import Caution
from drivelab.exhibits.quantities import listed
from drivelab.units import format_size
from drivelab.workloads.huang2011_sweeps import sweeps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.exhibits.sweeps import Line
    from drivelab.exhibits import Table


@dataclass(frozen=True)
class SweepWords:
    """The texts around one figure.

    Attributes
    ----------
    title
        Title for a reader who does not know the paper.
    source
        Number of the figure in the paper.
    setting
        What varies and what stays the same.
    missing
        Which points were not measured and why; empty if all were.
    noise
        How uncertain the means are, and how the figure shows it; empty if they are certain enough.
    """

    title: str
    source: str
    setting: str
    missing: tuple[Caution, ...]
    noise: str = ""


_TITLES: Final = {
    WRITE_RATIO: "More writes among the reads",
    QUEUE_DEPTH: "More requests at once",
    SIZE: "Larger requests",
    PATTERN_LATENCY: "Sequential, strided or random",
    PATTERN_THROUGHPUT: "Sequential, strided or random: throughput",
}
_SOURCES: Final = {
    WRITE_RATIO: "figure 3",
    QUEUE_DEPTH: "figure 4",
    SIZE: "figure 5",
    PATTERN_LATENCY: "figures 6 and 7",
    PATTERN_THROUGHPUT: "figure 7",
}
_VARIED: Final = {
    WRITE_RATIO: "Varied: the share of writes, from reads only to writes only.",
    QUEUE_DEPTH: "Varied: the queue depth.",
    SIZE: "Varied: how much each request reads or writes.",
    PATTERN_LATENCY: "Varied: the size of the requests, and where each goes: right after the "
    "previous one (sequential), a fixed gap further on (strided), or anywhere (random).",
    PATTERN_THROUGHPUT: "Varied: size and place of the requests, as above.",
}


def sweep_words(figure: int, table: Table, reason: str) -> SweepWords:
    """Return the texts of a figure.

    Parameters
    ----------
    figure
        Number of the figure in the paper, 3 to 7.
    table
        As returned by `drivelab.campaign.exhibits.sweeps.sweep_table`.
    reason
        Why points are missing, as the end of a sentence.
    """
    lines = lines_of(table, figure)
    return SweepWords(
        title=_TITLES[figure],
        source=_SOURCES[figure],
        setting=f"{_VARIED[figure]} {held(figure)}",
        missing=missing_cautions(lines, reason),
        noise=noise_text(lines),
    )


def held(figure: int) -> str:
    """Say what all workloads of a figure have in common."""
    workloads = [
        workload.canonical()
        for sweep in sweeps()
        if sweep.figure == figure
        for workload in sweep.workloads
    ]

    def common(*names: str) -> float | None:
        values = {values[name] for values in workloads for name in names} - {None}
        return values.pop() if len(values) == 1 else None

    parts = []
    size = common("read_size", "write_size")
    random = common("read_random", "write_random")
    depth = common("queue_depth")
    stride = {v for w in workloads for n in ("read_stride", "write_stride") if (v := w[n])}
    if size is not None:
        parts.append(f"requests of {format_size(round(size))}")
    if random == 1:
        parts.append("random places")
    if len(stride) == 1:
        parts.append(f"gaps of {format_size(round(stride.pop()))} where there are any")
    if depth is not None:
        parts.append("one request at a time" if depth == 1 else f"queue depth {depth:.0f}")
    alone = all(values["write_ratio"] in (0, 1) for values in workloads)
    if alone:
        parts.append("reads and writes each alone")
    return f"Kept the same: {listed(parts)}." if parts else ""


def missing_cautions(lines: Sequence[Line], reason: str, drive: str = "") -> tuple[Caution, ...]:
    """Warn of points that were not measured; `drive` names the drive if there are several."""
    text = missing_points(lines, reason)
    name = f"Missing points of {drive}" if drive else "Missing points"
    return (Caution(name, text),) if text else ()


def missing_points(lines: Sequence[Line], reason: str) -> str:
    """Say which points of some lines were not measured, and why; empty if all were."""
    missing = sum(len(line.missing) for line in lines)
    if not missing:
        return ""
    total = missing + sum(len(line.values) for line in lines)
    if missing == total:
        return f"None of the {total} points was measured: {reason}."
    parts = []
    for line in lines:
        if line.missing and not line.values:
            parts.append(f"all {line.label.lower()}")
        elif line.missing:
            few = len(line.missing) <= 3
            values = listed([value_text(line.characteristic, value) for value in line.missing])
            parts.append(
                f"{line.label.lower()} at {values if few else f'{len(line.missing)} points'}"
            )
    return f"{missing} of {total} points were not measured ({'; '.join(parts)}): {reason}."
