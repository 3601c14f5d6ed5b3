"""A made report with every kind of exhibit, without a drive: values follow formulas."""

from __future__ import annotations

import math

from drivelab.exhibits import (
    Axis,
    BarFigure,
    Caution,
    ColumnFigure,
    HistogramFigure,
    Line,
    LineFigure,
    Page,
    Report,
    Table,
)

SIZES_KIB = (0.5, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 1024.0)
MIXES = ("100/0", "95/5", "65/35", "50/50", "35/65", "5/95", "0/100")
LEVELS = (50.0, 90.0, 99.0, 99.9, 99.99, 99.999)
LEVELS_US = (291.0, 440.1, 560.0, 650.0, 760.0, 4_212.5)
WAITS = (("wait 1 (5 s)", 3_000.0), ("wait 2 (10 s)", 4_100.0), ("wait 3 (15 s)", 5_200.0))
READS = (1.0, 0.95, 0.65, 0.5, 0.35, 0.05, 0.0)
SIZE_NAMES = ("0.5 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "1 MiB")
ROUNDS = tuple(float(number) for number in range(1, 9))
HEADER = (
    ("Test date", "2026-11-22"),
    ("Operator", "not known"),
    ("Specification", "PTS-E 2.0.1 (where its text is known)"),
    ("Test platform", "Intel Xeon E5-2680 v4, 2 cores, 8 GiB"),
    ("Operating system", "Linux 6.1.0-18-amd64 (Debian 12)"),
    ("Test software", "Drivelab 0.1.0"),
    ("Vendor", "not known"),
    ("Model", "sim:x25m"),
    ("Serial number", "none (simulated)"),
    ("Firmware", "none (simulated)"),
    ("User capacity", "80.0 GB"),
    ("Interface", "SATA 3 Gb/s"),
    ("Form factor", "2.5 inch"),
    ("Media", "MLC NAND flash"),
    ("Purge", "simulated: the drive as it left the factory"),
    ("Write cache", "disabled"),
    ("Active range", "100 % (all 80.0 GB)"),
    ("Outstanding I/O", "32 x 4 threads"),
    ("Data pattern", "random"),
    ("Numbers", "simulated: none was measured on a real drive"),
)


def iops(size_kib: float, reads: float, turn: float = 0.0) -> float:
    """Give the formula's rate of a cell in a round of exponential settling."""
    base = 24_000 / (0.6 + size_kib / 9) * (0.12 + 0.88 * reads**2)
    return base * (1 + 1.6 * math.exp(-turn)) * (1 + 0.01 * math.sin(7 * turn + size_kib))


def made_report(*, stamp: str = "", header: tuple[tuple[str, str], ...] = HEADER) -> Report:
    """Make a report with every kind of exhibit."""
    return Report(
        title="IOPS test (PTS-E)",
        header=header,
        stamp=stamp,
        pages=(
            Page("IOPS - steady-state convergence", (convergence(),)),
            Page(
                "IOPS - measurement window",
                (window(), window_table()),
                (
                    Caution(
                        seen="Steady state was not reached in 25 rounds: the last five are the "
                        "window."
                    ),
                ),
            ),
            Page("IOPS - all block sizes and mixes", (two_dimensions(), columns())),
            Page("Response times", (histogram(), course())),
            Page("Drives side by side", (bars(), long_table())),
        ),
        result={"test": "iops", "title": "IOPS test (PTS-E)"},
    )


def convergence() -> LineFigure:
    lines = [
        Line(name, ROUNDS, tuple(iops(size, 0.0, turn) for turn in ROUNDS))
        for name, size in zip(SIZE_NAMES, SIZES_KIB, strict=True)
    ]
    return LineFigure(
        "iops-convergence",
        "Random writes by round, all block sizes",
        Axis("round"),
        Axis("throughput (IOPS)", "log10"),
        tuple(lines),
    )


def window() -> LineFigure:
    rounds = ROUNDS[3:]
    values = tuple(iops(4.0, 0.0, turn) for turn in rounds)
    mean = sum(values) / len(values)
    ends = (rounds[0], rounds[-1])
    slope = (values[-1] - values[0]) / (rounds[-1] - rounds[0])
    return LineFigure(
        "iops-window",
        "4 KiB random writes in the measurement window",
        Axis("round"),
        Axis("throughput (IOPS)"),
        (
            Line("4 KiB, 0/100", rounds, values),
            Line("mean", ends, (mean, mean), "guide"),
            Line("90 % of the mean", ends, (0.9 * mean, 0.9 * mean), "guide"),
            Line("110 % of the mean", ends, (1.1 * mean, 1.1 * mean), "guide"),
            Line("least-squares line", ends, (mean - 2 * slope, mean + 2 * slope), "fit"),
        ),
    )


def window_table() -> Table:
    return Table(
        "iops-steady-state",
        ("", "allowed", "measured", "met"),
        (
            ("data excursion (IOPS)", 1_001.4, 612.75, "yes"),
            ("slope excursion (IOPS)", 500.7, 512.033, "no"),
            ("correlation coefficient", None, -0.98765, ""),
        ),
        title="Steady state",
    )


def two_dimensions() -> LineFigure:
    lines = [
        Line(
            mix, SIZES_KIB, tuple(iops(size, float(mix.split("/")[0]) / 100) for size in SIZES_KIB)
        )
        for mix in MIXES
    ]
    return LineFigure(
        "iops-2d",
        "IOPS by block size, a line a read/write mix",
        Axis("block size (KiB)", "log2"),
        Axis("throughput (IOPS)", "log10"),
        tuple(lines),
        "Means of the five rounds of the window.",
    )


def columns() -> ColumnFigure:
    values = [tuple(iops(size, reads) for reads in READS) for size in SIZES_KIB]
    return ColumnFigure(
        "iops-3d",
        "IOPS by block size and mix",
        Axis("read/write mix (%)", categories=MIXES),
        Axis("block size", categories=SIZE_NAMES),
        Axis("throughput (IOPS)"),
        (*values[:-1], (None, *values[-1][1:])),
    )


def histogram() -> HistogramFigure:
    bins = []
    for step in range(220):
        low = 90 * 1.03**step
        count = round(2e6 * math.exp(-(((step - 40) / 14) ** 2)) + 40 * math.exp(-step / 40))
        if count:
            bins.append((low, low * 1.03, count))
    return HistogramFigure(
        "latency-histogram",
        "Response times of 4 KiB random writes",
        tuple(bins),
        (
            (50.0, 291.0),
            (90.0, 440.1),
            (99.0, 560.0),
            (99.9, 650.0),
            (99.99, 760.0),
            (99.999, 4_212.5),
        ),
        mean_us=302.25,
        max_us=bins[-1][1],
        note="20 minutes after steady state.",
    )


def course() -> LineFigure:
    minutes = tuple(float(minute) for minute in range(600))
    lines = [
        Line(
            name,
            minutes,
            tuple(scale * (1 + 5 * math.exp(-at / 60) + 0.05 * math.sin(at)) for at in minutes),
            "trace",
        )
        for name, scale in (
            ("wait 1 (5 s)", 3_000.0),
            ("wait 2 (10 s)", 4_100.0),
            ("wait 3", 5_200.0),
        )
    ]
    return LineFigure(
        "course",
        "IOPS over time",
        Axis("time (min)"),
        Axis("last minute of a round of 4 KiB random writes, all of them (IOPS)"),
        tuple(lines),
    )


def bars() -> BarFigure:
    names = ("x25m (simulated)", "mlc-a (simulated)", "/dev/disk/by-id/nvme-SAMSUNG-MZ-1234 (real)")
    bars = []
    for place, name in enumerate(names):
        value = 1 + 0.7 * place
        bars.append((name, (value, 2.5 - value / 2), ((0.95 * value, 1.05 * value), None)))
    return BarFigure(
        "compare-bars",
        "Normalised to x25m",
        Axis("x25m = 1"),
        ("4 KiB random writes", "4 KiB random reads"),
        tuple(bars),
        "Bars are 95 % intervals.",
    )


def long_table() -> Table:
    rows = tuple(
        (minute, 4_000.0 / minute, 120.5 * minute, "random writes" if minute % 2 else "sequential")
        for minute in range(1, 71)
    )
    return Table(
        "minutes",
        ("minute", "IOPS", "mean (us)", "stimulus"),
        rows,
        title="Minute by minute",
    )
