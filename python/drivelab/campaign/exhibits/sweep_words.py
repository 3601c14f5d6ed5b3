"""What is varied in each sweep, what is held, and what this drive does, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.campaign.exhibits.courses import (
    SAME,
    above,
    course,
    noise_text,
    times_text,
    value_text,
)
from drivelab.campaign.exhibits.sweeps import (
    PATTERN_LATENCY,
    PATTERN_THROUGHPUT,
    QUEUE_DEPTH,
    SIZE,
    WRITE_RATIO,
    lines_of,
    saturation,
)
from drivelab.exhibits.quantities import TIMES, listed
from drivelab.units import format_size
from drivelab.workloads.huang2011_sweeps import sweeps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from drivelab.campaign.exhibits.sweeps import Line
    from drivelab.exhibits import Table

_LATENCY: Final = "latency_ns_mean"
_BANDWIDTH: Final = "bandwidth_bytes_per_second"
_IOPS: Final = "iops"


@dataclass(frozen=True)
class SweepWords:
    """The texts around one figure.

    Attributes
    ----------
    title
        For a reader who has not seen the paper.
    source
        Which figure of the paper it is.
    setting
        What is varied and what is held.
    findings
        What this drive does, a sentence or two a line.
    missing
        Which points were not measured and why; empty where none is missing.
    noise
        How unsure the means are, and what shows it; empty where they are sure enough.
    """

    title: str
    source: str
    setting: str
    findings: tuple[str, ...]
    missing: str
    noise: str = ""


_TITLES: Final = {
    WRITE_RATIO: "More writes among the reads",
    QUEUE_DEPTH: "More requests at once",
    SIZE: "Larger requests",
    PATTERN_LATENCY: "In order, with gaps, or anywhere",
    PATTERN_THROUGHPUT: "In order, with gaps, or anywhere: throughput",
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
    QUEUE_DEPTH: "Varied: the queue depth, which is how many requests the drive has in "
    "hand at any time.",
    SIZE: "Varied: how much each request reads or writes.",
    PATTERN_LATENCY: "Varied: the size of the requests, and where each goes: right behind the one "
    "before (sequential), a fixed gap further on (strided), or anywhere (random).",
    PATTERN_THROUGHPUT: "Varied: size and place of the requests, as above.",
}


def sweep_words(figure: int, table: Table, reason: str) -> SweepWords:
    """Return the texts of a figure.

    Parameters
    ----------
    figure
        A number of the paper, 3 to 7.
    table
        As `drivelab.campaign.exhibits.sweeps.sweep_table` makes it.
    reason
        Why points are missing, as the end of a sentence.
    """
    lines = lines_of(table, figure)
    return SweepWords(
        title=_TITLES[figure],
        source=_SOURCES[figure],
        setting=f"{_VARIED[figure]} {held(figure)}",
        findings=tuple(_FINDINGS[figure](lines)),
        missing=missing_points(lines, reason),
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


def _on_write_ratio(lines: Sequence[Line]) -> list[str]:
    return [
        f"{_from_to(line)} the mean latency {course(line, _LATENCY)}; bandwidth, and with it "
        f"throughput, {course(line, _BANDWIDTH)}."
        for line in lines
        if len(line.values) > 1
    ]


def _from_to(line: Line) -> str:
    ends = (line.values[0], line.values[-1])
    if ends == (0, 1):
        return "From reads only to writes only"
    return f"From {' to '.join(value_text(line.characteristic, value) for value in ends)}"


def _on_queue_depth(lines: Sequence[Line]) -> list[str]:
    found = []
    for line in lines:
        if len(line.values) < 2:
            continue
        enough = saturation(line)
        if enough is None:
            verdict = "Deeper queues still give more."
        elif enough.depth == 1:
            verdict = "A deeper queue gives nothing here: requests only wait longer."
        else:
            verdict = f"Beyond queue depth {enough.depth:.0f} requests only wait longer."
        found.append(
            f"{line.label}: from queue depth {line.values[0]:.0f} to {line.values[-1]:.0f} "
            f"throughput {course(line, _IOPS)}, mean latency {course(line, _LATENCY)}. {verdict}"
        )
    return found


def _on_size(lines: Sequence[Line]) -> list[str]:
    found = []
    for line in lines:
        if len(line.values) > 1:
            larger = times_text(line.values[-1] / line.values[0])
            found.append(
                f"{line.label}: f{_from_to(line)[1:]}, {larger} as much, "
                f"the mean latency {course(line, _LATENCY)}; bandwidth "
                f"{course(line, _BANDWIDTH)}, throughput {course(line, _IOPS)}."
            )
    return found


def _on_pattern(lines: Sequence[Line]) -> list[str]:
    found = []
    for direction in ("reads", "writes"):
        by_series = {line.series: line for line in lines if line.panel == direction}
        for series in ("stride", "random"):
            found += _against(by_series["sequential"], by_series[series])
    return found


def _against(base: Line, other: Line) -> list[str]:
    """Compare a line with the sequential one at each size that both have."""
    sequential = _mean_latencies(base)
    ratios = []
    unsure = False
    for value, (latency, half_width) in _mean_latencies(other).items():
        if value in sequential:
            against = sequential[value]
            sure = above(latency, half_width, *against) or above(*against, latency, half_width)
            ratio = latency / against[0]
            hidden = not sure and not 1 / SAME < ratio < SAME
            ratios.append((1.0 if hidden else ratio, value))
            unsure |= hidden
    if not ratios:
        return []
    (least, at_least), (most, at_most) = min(ratios), max(ratios)
    if most < SAME and least * SAME > 1:
        noise = ", as far as the noise lets see" if unsure else ""
        return [f"{other.label} take as long as sequential ones, at every size{noise}."]
    if len(ratios) == 1 or most < SAME * least:
        return [f"{other.label} take {_longer(most)} as sequential ones."]
    first = f"{_longer(most)} as sequential ones at {value_text('size', at_most)}"
    second = f"{_longer(least)} at {value_text('size', at_least)}"
    return [f"{other.label} take {first} and {second}."]


def _mean_latencies(line: Line) -> dict[float, tuple[float, float]]:
    """Return mean latency and half-width at each value."""
    means = zip(line.performance[_LATENCY], line.half_widths, strict=True)
    return dict(zip(line.values, means, strict=True))


def _longer(ratio: float) -> str:
    if ratio * SAME > 1 and ratio < SAME:
        return "as long"
    return f"{times_text(ratio)} as long" if ratio >= 1 else f"{ratio:.2g}{TIMES} as long"


_FINDINGS: Final[Mapping[int, Callable[[Sequence[Line]], list[str]]]] = {
    WRITE_RATIO: _on_write_ratio,
    QUEUE_DEPTH: _on_queue_depth,
    SIZE: _on_size,
    PATTERN_LATENCY: _on_pattern,
    PATTERN_THROUGHPUT: _on_pattern,
}


def missing_points(lines: Sequence[Line], reason: str) -> str:
    """Say which points of some lines were not measured, and why; empty where all were."""
    missing = sum(len(line.missing) for line in lines)
    if not missing:
        return ""
    total = missing + sum(len(line.values) for line in lines)
    parts = []
    for line in lines:
        if line.missing and not line.values:
            parts.append(f"{line.label.lower()} at all")
        elif line.missing:
            few = len(line.missing) <= 3
            values = listed([value_text(line.characteristic, value) for value in line.missing])
            parts.append(
                f"{line.label.lower()} at {values if few else f'{len(line.missing)} points'}"
            )
    return f"{missing} of {total} points are not there ({'; '.join(parts)}): {reason}."
