"""What Huang et al. 2011 say of their Intel X25-M in figures 3 to 7, checked in the sweeps.

The paper does not print the figures' points as numbers. Its text (sections III.A and III.B) says
what rises, what falls and what is close to what. Each such sentence is an ordering here. It is a
remark if it is about another drive, or if the simulated drive is known to differ.
"""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from drivelab.reproduce.claims import Ordering
from drivelab.workloads.huang2011_sweeps import PATTERNS, QUEUE_DEPTHS, SIZES, sweeps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.workloads.huang2011_sweeps import Panel

_PANELS: Final[tuple[Panel, Panel]] = ("reads", "writes")
# The paper says that bandwidth and throughput hardly change once they are saturated, and that
# strided and random reads hardly differ; it gives no number for "hardly".
SMALL_RATIO: Final = 0.10
# "A linear trend" is a line that explains this share of the variance.
LINEAR_R2: Final = 0.95
_NANOSECONDS: Final = 1e6


class Points:
    """Measurements of one drive by figure, panel and series.

    Raises
    ------
    KeyError
        If a curve was not measured whole.
    """

    def __init__(self, measurements: Iterable[Measurement]) -> None:
        self._by_key = {one.characteristics.key(): one for one in measurements}

    def __call__(self, figure: int, panel: Panel, series: str = "random") -> list[Measurement]:
        """Return a curve in the order of its axis."""
        wanted = (figure, panel, series)
        (sweep,) = (each for each in sweeps() if (each.figure, each.panel, each.series) == wanted)
        return [self._by_key[workload.key()] for workload in sweep.workloads]


def figure_orderings(measurements: Sequence[Measurement]) -> list[Ordering]:
    """Return the orderings that must be true in the sweeps of a run.

    Parameters
    ----------
    measurements
        Measurements of a run with the sweeps of figures 3 to 7.

    Raises
    ------
    KeyError
        If the run lacks a workload of the sweeps.
    """
    points = Points(measurements)
    return [
        *_write_ratio(points),
        *_queue_depth(points),
        *_sizes(points),
        *_patterns(points),
    ]


def figure_remarks(measurements: Sequence[Measurement]) -> list[str]:
    """Return what the paper says but the simulated drive is known not to do, with numbers."""
    points = Points(measurements)
    strided, sequential = (points(6, "writes", name) for name in ("stride", "sequential"))
    ratios = [
        stride.latency_ns_mean / plain.latency_ns_mean
        for stride, plain in zip(strided, sequential, strict=True)
    ]
    worst = ratios.index(max(ratios))
    return [
        "Figure 6: the paper finds strided writes close to sequential ones. Here they take "
        f"{statistics.median(ratios):.2f} times as long at the median of the sizes and "
        f"{max(ratios):.1f} times at {SIZES[worst] // 1024} KiB. The simulated drive places pages "
        "by their number, so a stride may reach few dies. This is not checked.",
        "Figures 3 to 7 print no numbers for their points: only what the text says of them is "
        "asserted.",
    ]


def _write_ratio(points: Points) -> list[Ordering]:
    swept = points(3, "mixed")
    reason = "section III.A, figure 3: with more writes latency rises, the others fall"
    return [
        *steps("figure 3: latency over the write ratio", swept, latency_ms, "ms", reason),
        *steps("figure 3: bandwidth, falling", swept[::-1], bandwidth_mb, "MB/s", reason),
        *steps("figure 3: throughput, falling", swept[::-1], iops, "IOPS", reason),
    ]


def _queue_depth(points: Points) -> list[Ordering]:
    orderings = []
    for name in _PANELS:
        swept = points(4, name)
        orderings += steps(
            f"figure 4: latency of {name} over the queue depth",
            swept,
            latency_ms,
            "ms",
            "section III.A, figure 4: queue depth significantly affects latency",
        )
        before, after = (bandwidth_mb(swept[QUEUE_DEPTHS.index(depth)]) for depth in (16, 64))
        orderings.append(
            Ordering(
                f"figure 4: change of the bandwidth of {name} from queue depth 16 to 64",
                100 * abs(after / before - 1),
                100 * SMALL_RATIO,
                "%",
                "section III.A, figure 4: minimal once saturated; the limit is ours",
            )
        )
    return orderings


def _sizes(points: Points) -> list[Ordering]:
    reads, writes = (points(5, name) for name in _PANELS)
    orderings = []
    for name, swept in (("read", reads), ("write", writes)):
        latencies = [latency_ms(one) for one in swept]
        orderings.append(
            Ordering(
                f"figure 5: share of the variance of {name} latency that a line over the {name} "
                "size leaves",
                1 - statistics.correlation(SIZES, latencies) ** 2,
                1 - LINEAR_R2,
                "",
                "section III.B, figure 5: latency rises linearly with the size; the limit is ours",
            )
        )
        orderings += steps(
            f"figure 5: latency over the {name} size",
            swept,
            latency_ms,
            "ms",
            "section III.B, figure 5",
        )
    reason = "section III.B, figure 5: with the read size bandwidth rises and throughput falls"
    orderings += steps(
        "figure 5: bandwidth over the read size", reads, bandwidth_mb, "MB/s", reason
    )
    orderings += steps("figure 5: throughput, falling", reads[::-1], iops, "IOPS", reason)
    # The paper: both change with the read size at a slower rate than with the write size.
    orderings.append(
        Ordering(
            "figure 5: latency of 256 KiB reads below that of writes",
            latency_ms(reads[-1]),
            latency_ms(writes[-1]),
            "ms",
            "section III.B, figure 5: latency rises at a slower rate with the read size",
        )
    )
    return orderings


def _patterns(points: Points) -> list[Ordering]:
    reads, writes = ({series: points(6, panel, series) for series in PATTERNS} for panel in _PANELS)
    differences = [
        abs(strided.latency_ns_mean / drawn.latency_ns_mean - 1)
        for strided, drawn in zip(reads["stride"], reads["random"], strict=True)
    ]
    return [
        Ordering(
            "figure 6: mean latency of sequential writes below that of random ones",
            statistics.fmean(map(latency_ms, writes["sequential"])),
            statistics.fmean(map(latency_ms, writes["random"])),
            "ms",
            "section III.B, figure 6: random writes are degraded",
        ),
        Ordering(
            "figure 6: median difference of strided from random reads",
            100 * statistics.median(differences),
            100 * SMALL_RATIO,
            "%",
            "section III.B, figure 6: small for reads; the limit is ours",
        ),
        Ordering(
            "figure 7: mean throughput of random writes below that of sequential ones",
            statistics.fmean(map(iops, writes["random"])),
            statistics.fmean(map(iops, writes["sequential"])),
            "IOPS",
            "section III.B, figure 7: sequential access tends to outperform random",
        ),
    ]


def steps(
    name: str,
    swept: Sequence[Measurement],
    value: Callable[[Measurement], float],
    unit: str,
    reason: str,
    *,
    back_percent: float = 1.0,
) -> list[Ordering]:
    """Compare the ends of a sweep, and its largest step back with what is allowed.

    A step of a sweep may be level, like bandwidth once a drive is saturated. It must not go back by
    more than `back_percent`.
    """
    values = [value(one) for one in swept]
    worst = max(before / after - 1 for before, after in pairwise(values))
    return [
        Ordering(f"{name}, end to end", values[0], values[-1], unit, reason),
        Ordering(f"{name}, largest step back", 100 * worst, back_percent, "%", reason),
    ]


def latency_ms(measurement: Measurement) -> float:
    """Return the mean latency in ms."""
    return measurement.latency_ns_mean / _NANOSECONDS


def bandwidth_mb(measurement: Measurement) -> float:
    """Return the bandwidth in MB/s."""
    return measurement.bandwidth_bytes_per_second / 1e6


def iops(measurement: Measurement) -> float:
    """Return the throughput in requests per second."""
    return measurement.iops
