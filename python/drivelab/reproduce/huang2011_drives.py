"""What Huang et al. 2011 say when they compare their drives, checked on our presets.

Sections III.A and III.B compare SSD_I, SSD_S and HDD_S in figures 3 to 7: which drive wins where,
what rises and what stays flat. Each such sentence is an ordering here, named by its figure and in
our words. Sentences about SSD_I alone are in `huang2011_figures`. SSD_A has the limit of table I,
Array_I what section IV.C says. If a sentence is about a whole axis, the two numbers are those of
the point that comes closest to breaking it.

Sentences that give magnitudes ("about 2 milliseconds") are shown with our numbers in
`drive_remarks`. No preset was fitted to them, and none is checked.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.simulated.published import rotational_latency_ns
from drivelab.reproduce.claims import Claim, Ordering
from drivelab.reproduce.huang2011_figures import (
    LINEAR_R2,
    SMALL_RATIO,
    Points,
    bandwidth_mb,
    iops,
    latency_ms,
    steps,
)
from drivelab.workloads.huang2011_sweeps import QUEUE_DEPTHS, SIZES, WRITE_RATIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.workloads.huang2011_sweeps import Panel

#: Presets of the paper's devices, by their names in the paper.
DRIVES: Final = {
    "HDD_S": "sim:spinpoint-m7",
    "SSD_I": "sim:x25m",
    "SSD_A": "sim:apex",
    "SSD_S": "sim:samsung-slc-32gb",
    "Array_I": "sim:array-x25m",
}
# The paper measures each workload for a minute. Half a minute is longer than any cache here takes
# to fill, and 20,000 requests give a mean latency to one per cent.
SWEEP_PLAN: Final = MeasurementPlan(
    warmup_requests=0, warmup_seconds=3.0, requests=20_000, seconds=30.0
)
# Half a minute of the disk is some 1,500 requests, whose mean latency is known to 1 %.
_BACK_PERCENT: Final = 3.0
# "A large influence" is at least a doubling; the paper gives no number.
_LARGE_FACTOR: Final = 2.0
_PANELS: Final[tuple[Panel, Panel]] = ("reads", "writes")
_SSDS: Final = ("SSD_I", "SSD_S")


def rotation_claims(drive: str) -> list[Claim]:
    """Compare a disk's mean rotational wait with table I; nothing if the drive does not rotate.

    Parameters
    ----------
    drive
        The preset of ``HDD_S``.
    """
    with SimulatedDrive.open(drive) as disk:
        if disk.preset["kind"] != "hdd":
            return []
        wait_ns = rotational_latency_ns(disk)
    return [
        Claim(
            name="table I: mean rotational wait of single random reads of HDD_S",
            ours=wait_ns / 1e6,
            published=5.6,
            unit="ms",
            tolerance=0.15,
            reason="half of the last printed digit, and four standard errors of 20,000 waits that "
            "are uniform over a revolution of 11.1 ms",
        )
    ]


def drive_orderings(measured: Mapping[str, Sequence[Measurement]]) -> list[Ordering]:
    """Return the orderings between the drives that must be true.

    Parameters
    ----------
    measured
        The sweeps of figures 3 to 7 on each of `DRIVES`.

    Raises
    ------
    KeyError
        If a drive or a workload of the sweeps is missing.
    """
    drives = {name: Points(measurements) for name, measurements in measured.items()}
    return [
        *_write_ratio(drives),
        *_queue_depth(drives),
        *_write_sizes(drives),
        *_read_sizes(drives),
        *_disk_patterns(drives["HDD_S"]),
        *_flash_patterns(drives),
        *_beyond_the_figures(drives),
    ]


def drive_remarks(measured: Mapping[str, Sequence[Measurement]]) -> list[str]:
    """Return the magnitudes that the paper's text gives, ours, and where they come from."""
    mostly_reads = WRITE_RATIOS.index(0.1)
    ours = {name: Points(measured[name])(3, "mixed")[mostly_reads] for name in (*_SSDS, "HDD_S")}
    ours_in_words = "; ".join(
        f"{name} {latency_ms(one):.1f} ms and {bandwidth_mb(one):.0f} MB/s"
        for name, one in ours.items()
    )
    disk = [latency_ms(one) for one in Points(measured["HDD_S"])(3, "mixed")]
    return [
        "Figure 3, at 90 % reads: the paper gives about 2 ms and 100 to 150 MB/s for the SSDs, "
        f"five times that latency and about 20 MB/s for the disk. Here: {ours_in_words}. SSD_S "
        "sends a request's data after it has read all of its pages, and HDD_S seeks over all of "
        "its 500 GB with recalled seek times. Neither was fitted, and no number is checked.",
        "Figure 3: the paper finds that the write ratio changes the disk little. Here the changes "
        f"are smaller than the SSDs', but its writes take {100 * disk[-1] / disk[0]:.0f} % of the "
        "time of its reads, because its cache orders them.",
        "Figure 4: the paper finds SSD_S worst over the queue depth and does not say for which "
        "direction. This is true of writes here; for reads the disk is worst, as in figures 3 and "
        "5.",
        "Figure 6: the paper finds that the SSDs' latencies under sequential and random access "
        "differ, most of all for writes. Here only writes differ: no preset of these drives reads "
        "ahead, because nothing about that is published.",
    ]


def _everywhere(
    name: str,
    smaller: Sequence[float],
    larger: Sequence[float],
    unit: str,
    reason: str,
) -> Ordering:
    """Compare two curves at the point that comes closest to breaking the ordering."""
    tightest = max(zip(smaller, larger, strict=True), key=lambda pair: pair[0] / pair[1])
    return Ordering(name, *tightest, unit, reason)


def _curve(
    points: Points,
    value: Callable[[Measurement], float],
    figure: int,
    panel: Panel,
    series: str = "random",
) -> list[float]:
    return [value(one) for one in points(figure, panel, series)]


def _write_ratio(drives: Mapping[str, Points]) -> list[Ordering]:
    latencies = {name: _curve(drives[name], latency_ms, 3, "mixed") for name in (*_SSDS, "HDD_S")}
    rates = {name: _curve(drives[name], bandwidth_mb, 3, "mixed") for name in (*_SSDS, "HDD_S")}
    few, many = slice(0, 2), slice(-3, None)
    orderings = []
    for name in _SSDS:
        reason = "section III.A, figure 3: both SSDs outperform the disk when most requests read"
        orderings += [
            _everywhere(
                f"figure 3: latency of {name} below HDD_S's, to 10 % writes",
                latencies[name][few],
                latencies["HDD_S"][few],
                "ms",
                reason,
            ),
            _everywhere(
                f"figure 3: bandwidth of HDD_S below {name}'s, to 10 % writes",
                rates["HDD_S"][few],
                rates[name][few],
                "MB/s",
                reason,
            ),
            Ordering(
                f"figure 3: latency of {name} over the write ratio, last over first",
                _LARGE_FACTOR,
                latencies[name][-1] / latencies[name][0],
                "",
                "section III.A, figure 3: the write ratio has a large influence; the limit is ours",
            ),
            Ordering(
                f"figure 3: highest over lowest latency of HDD_S, and of {name}",
                max(latencies["HDD_S"]) / min(latencies["HDD_S"]),
                max(latencies[name]) / min(latencies[name]),
                "",
                "section III.A, figure 3: the disk shows small changes in contrast to the SSDs",
            ),
        ]
    swept = drives["SSD_S"](3, "mixed")
    reason = "section III.A, figure 3: with more writes latency rises, the others fall"
    orderings += [
        *steps("figure 3: latency of SSD_S over the write ratio", swept, latency_ms, "ms", reason),
        *steps("figure 3: bandwidth of SSD_S, falling", swept[::-1], bandwidth_mb, "MB/s", reason),
        *steps("figure 3: throughput of SSD_S, falling", swept[::-1], iops, "IOPS", reason),
        _everywhere(
            "figure 3: latency of HDD_S below SSD_S's, from 80 % writes",
            latencies["HDD_S"][many],
            latencies["SSD_S"][many],
            "ms",
            "section III.A, figure 3: with more writes the disk outperforms SSD_S",
        ),
    ]
    reason = "section III.A, figure 3: SSD_I outperforms the other two"
    for name in ("SSD_S", "HDD_S"):
        orderings += [
            _everywhere(
                f"figure 3: latency of SSD_I below {name}'s, all along",
                latencies["SSD_I"],
                latencies[name],
                "ms",
                reason,
            ),
            _everywhere(
                f"figure 3: bandwidth of {name} below SSD_I's, all along",
                rates[name],
                rates["SSD_I"],
                "MB/s",
                reason,
            ),
        ]
    return orderings


def _queue_depth(drives: Mapping[str, Points]) -> list[Ordering]:
    orderings = []
    for name in ("SSD_S", "HDD_S"):
        for panel in _PANELS:
            swept = drives[name](4, panel)
            orderings += steps(
                f"figure 4: latency of {panel} of {name} over the queue depth",
                swept,
                latency_ms,
                "ms",
                "section III.A, figure 4: queue depth significantly affects latency",
            )
            before, after = (bandwidth_mb(swept[QUEUE_DEPTHS.index(depth)]) for depth in (32, 64))
            orderings.append(
                Ordering(
                    f"figure 4: change of the bandwidth of {panel} of {name} from queue depth "
                    "32 to 64",
                    100 * abs(after / before - 1),
                    100 * SMALL_RATIO,
                    "%",
                    "section III.A, figure 4: minimal once saturated, which the disk is with the "
                    "32 commands that it orders; the limit is ours",
                )
            )
            orderings.append(
                _everywhere(
                    f"figure 4: latency of {panel} of SSD_I below {name}'s, all along",
                    _curve(drives["SSD_I"], latency_ms, 4, panel),
                    [latency_ms(one) for one in swept],
                    "ms",
                    "section III.A, figure 4: SSD_I is best",
                )
            )
    reason = "section III.A, figure 4: SSD_S is worst"
    return [*orderings, _disk_writes_faster(drives, 4, "all along", reason)]


def _write_sizes(drives: Mapping[str, Points]) -> list[Ordering]:
    orderings = []
    for name in ("SSD_S", "HDD_S"):
        orderings += _linear(drives[name], name, "writes")
    reason = "section III.B, figure 5: SSD_S writes more slowly than the disk"
    return [*orderings, _disk_writes_faster(drives, 5, "every size", reason)]


def _disk_writes_faster(
    drives: Mapping[str, Points], figure: int, where: str, reason: str
) -> Ordering:
    """Compare the disk's writes in a figure with SSD_S's."""
    disk, ssd = (_curve(drives[name], latency_ms, figure, "writes") for name in ("HDD_S", "SSD_S"))
    statement = f"figure {figure}: latency of writes of HDD_S below SSD_S's, {where}"
    return _everywhere(statement, disk, ssd, "ms", reason)


def _linear(points: Points, name: str, panel: Panel) -> list[Ordering]:
    """Compare a drive's latency over the size with a rising line."""
    swept = points(5, panel)
    latencies = [latency_ms(one) for one in swept]
    reason = "section III.B, figure 5: latency rises linearly with the size"
    return [
        *steps(
            f"figure 5: latency of {panel} of {name} over the size",
            swept,
            latency_ms,
            "ms",
            reason,
            back_percent=_BACK_PERCENT,
        ),
        Ordering(
            f"figure 5: share of the variance of the latency of {panel} of {name} that a line "
            "over the size leaves",
            1 - statistics.correlation(SIZES, latencies) ** 2,
            1 - LINEAR_R2,
            "",
            f"{reason}; the limit is ours",
        ),
    ]


def _read_sizes(drives: Mapping[str, Points]) -> list[Ordering]:
    reads = {name: _curve(drives[name], latency_ms, 5, "reads") for name in (*_SSDS, "HDD_S")}
    writes = {name: _curve(drives[name], latency_ms, 5, "writes") for name in (*_SSDS, "HDD_S")}
    orderings = []
    for name in ("SSD_S", "HDD_S"):
        swept = drives[name](5, "reads")
        reason = "section III.B, figure 5: with the read size bandwidth rises and throughput falls"
        orderings += [
            *_linear(drives[name], name, "reads"),
            *steps(
                f"figure 5: bandwidth of reads of {name} over the size",
                swept,
                bandwidth_mb,
                "MB/s",
                reason,
                back_percent=_BACK_PERCENT,
            ),
            *steps(
                f"figure 5: throughput of reads of {name}, falling",
                swept[::-1],
                iops,
                "IOPS",
                reason,
                back_percent=_BACK_PERCENT,
            ),
            Ordering(
                f"figure 5: rise of {name}'s latency over the read size below that over the write "
                "size",
                reads[name][-1] - reads[name][0],
                writes[name][-1] - writes[name][0],
                "ms",
                "section III.B, figure 5: with the read size latency rises at a slower rate",
            ),
        ]
    orderings += [
        _everywhere(
            f"figure 5: latency of reads of {name} below HDD_S's, every size",
            reads[name],
            reads["HDD_S"],
            "ms",
            "section III.B, figure 5: both SSDs have clear advantages for reads",
        )
        for name in _SSDS
    ]

    def ratios(of: Mapping[str, list[float]]) -> list[float]:
        return [slow / fast for slow, fast in zip(of["SSD_S"], of["SSD_I"], strict=True)]

    orderings.append(
        _everywhere(
            "figure 5: latency of SSD_S over that of SSD_I, reads below writes, every size",
            ratios(reads),
            ratios(writes),
            "",
            "section III.B, figure 5: the SSDs read alike but differ greatly in writes",
        )
    )
    return orderings


def _disk_patterns(disk: Points) -> list[Ordering]:
    orderings = []
    for panel in _PANELS:
        sequential, stride, drawn = (
            _curve(disk, latency_ms, 6, panel, series)
            for series in ("sequential", "stride", "random")
        )
        reason = "section III.B, figure 6: on the disk strides lie between sequential and random"
        orderings += [
            _everywhere(
                f"figure 6: latency of sequential {panel} of HDD_S below strided, every size",
                sequential,
                stride,
                "ms",
                reason,
            ),
            _everywhere(
                f"figure 6: latency of strided {panel} of HDD_S below random, every size",
                stride,
                drawn,
                "ms",
                reason,
            ),
            Ordering(
                f"figure 7: ten times the mean throughput of random {panel} of HDD_S below that "
                "of sequential ones",
                10 * statistics.fmean(_curve(disk, iops, 7, panel)),
                statistics.fmean(_curve(disk, iops, 7, panel, "sequential")),
                "IOPS",
                "section III.B, figure 7: on the disk sequential access is an order of magnitude "
                "better",
            ),
        ]
    return orderings


def _flash_patterns(drives: Mapping[str, Points]) -> list[Ordering]:
    means = {
        name: {
            series: statistics.fmean(_curve(drives[name], latency_ms, 6, "writes", series))
            for series in ("sequential", "random", "stride")
        }
        for name in _SSDS
    }
    slow, fast = means["SSD_S"], means["SSD_I"]
    strided, drawn = (
        _curve(drives["SSD_S"], latency_ms, 6, "reads", series) for series in ("stride", "random")
    )
    return [
        Ordering(
            "figure 6: mean latency of random over sequential writes, of SSD_I below SSD_S",
            fast["random"] / fast["sequential"],
            slow["random"] / slow["sequential"],
            "",
            "section III.B, figure 6: random writes degrade both SSDs, SSD_S most",
        ),
        Ordering(
            "figure 6: mean latency of sequential writes of SSD_S below that of random ones",
            slow["sequential"],
            slow["random"],
            "ms",
            "section III.B, figure 6: random writes are degraded",
        ),
        Ordering(
            "figure 6: mean latency of strided writes of SSD_S, above sequential below random ones",
            slow["stride"] - slow["sequential"],
            slow["random"] - slow["stride"],
            "ms",
            "section III.B, figure 6: strided writes perform close to sequential ones",
        ),
        Ordering(
            "figure 6: median difference of strided from random reads of SSD_S",
            100 * statistics.median(abs(a / b - 1) for a, b in zip(strided, drawn, strict=True)),
            100 * SMALL_RATIO,
            "%",
            "section III.B, figure 6: small for reads; the limit is ours",
        ),
        Ordering(
            "figure 7: mean throughput of random writes of SSD_S below that of sequential ones",
            statistics.fmean(_curve(drives["SSD_S"], iops, 7, "writes")),
            statistics.fmean(_curve(drives["SSD_S"], iops, 7, "writes", "sequential")),
            "IOPS",
            "section III.B, figure 7: even on SSDs sequential access tends to outperform random",
        ),
    ]


def _beyond_the_figures(drives: Mapping[str, Points]) -> list[Ordering]:
    page = SIZES.index(4096)
    orderings = [
        Ordering(
            f"table I: latency of {panel} of 4 KiB of SSD_A",
            1000 * latency_ms(drives["SSD_A"](5, panel)[page]),
            100.0,
            "us",
            "table I: below 100 us",
        )
        for panel in _PANELS
    ]
    orderings += [
        _everywhere(
            f"section IV.C: bandwidth of {panel} of SSD_I below Array_I's, every queue depth",
            _curve(drives["SSD_I"], bandwidth_mb, 4, panel),
            _curve(drives["Array_I"], bandwidth_mb, 4, panel),
            "MB/s",
            "section IV.C: the array provides the bandwidth of two SSDs together",
        )
        for panel in _PANELS
    ]
    return orderings
