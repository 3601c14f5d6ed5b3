"""The results of a stimulus over the rounds of the measurement window."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from drivelab._core import histogram_range
from drivelab.drives.operation_result import percentile_ns
from drivelab.pts.journal import Step

#: Confidence levels of response times, in per cent.
LEVELS: Final = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999)


@dataclass(frozen=True)
class CellResult:
    """One stimulus, and its steps in the window's rounds.

    Attributes
    ----------
    steps
        One step of the same stimulus per round.
    """

    steps: tuple[Step, ...]

    @property
    def iops(self) -> float:
        """Return the mean of the rounds."""
        return fmean(step.iops for step in self.steps)

    @property
    def megabytes_per_second(self) -> float:
        """Return the mean of the rounds, decimal MB/s."""
        return fmean(step.megabytes_per_second for step in self.steps)

    @property
    def latency_ms_mean(self) -> float | None:
        """Return the mean of the rounds' means; ``None`` if nothing completed."""
        means = [step.latency_ms_mean for step in self.steps if step.latency_ms_mean is not None]
        return fmean(means) if means else None

    @property
    def latency_ms_max(self) -> float | None:
        """Return the longest latency of all rounds; ``None`` if nothing completed."""
        longest = [step.latency_ms_max for step in self.steps if step.latency_ms_max is not None]
        return max(longest, default=None)

    def latency_ms(self, percent: float) -> float | None:
        """Return a percentile over all rounds' requests; ``None`` if nothing completed."""
        return percentile_ms(self.steps, percent)

    @property
    def iops_per_watt(self) -> float | None:
        """Return requests per joule; ``None`` if the drive does not report its energy."""
        joules = [step.result.extra.get("energy_joules") for step in self.steps]
        if not joules or any(each is None or each <= 0 for each in joules):
            return None
        requests = sum(step.result.requests for step in self.steps)
        return requests / sum(each for each in joules if each is not None)

    def to_json(self) -> dict[str, Any]:
        """Return a cell as in docs/json-pts.md."""
        stimulus = self.steps[0].stimulus
        sizes = [[size, share] for size, share in stimulus.sizes]
        return {
            "block_bytes": stimulus.sizes[0][0] if len(sizes) == 1 else None,
            "sizes": sizes,
            "read_ratio": stimulus.read_ratio,
            "is_random": stimulus.is_random,
            "threads": stimulus.threads,
            "queue_depth": stimulus.queue_depth,
            **self.figures_json(),
        }

    def figures_json(self) -> dict[str, Any]:
        """Return the results without the stimulus."""
        return {
            "iops_mean": self.iops,
            "iops_rounds": [step.iops for step in self.steps],
            "bandwidth_bytes_per_second_mean": self.megabytes_per_second * 1e6,
            "bandwidth_bytes_per_second_rounds": [
                step.result.bandwidth_bytes_per_second for step in self.steps
            ],
            "latency_ns_mean": _nanoseconds(self.latency_ms_mean),
            "latency_ns_mean_rounds": [_nanoseconds(step.latency_ms_mean) for step in self.steps],
            "latency_ns_max": _nanoseconds(self.latency_ms_max),
            "latency_ns_percentiles": levels_json(self.steps),
            "iops_per_watt": self.iops_per_watt,
        }


def cell_results(rounds: Sequence[Sequence[Step]]) -> list[CellResult]:
    """Return one result for each position in a round."""
    return [CellResult(tuple(steps)) for steps in zip(*rounds, strict=True)]


def merged_histogram(steps: Sequence[Step]) -> dict[int, int]:
    """Add up the histograms of several steps, in fio's layout, bins rising."""
    merged: dict[int, int] = {}
    for step in steps:
        for number, count in step.result.histogram.items():
            merged[number] = merged.get(number, 0) + count
    return {number: merged[number] for number in sorted(merged) if merged[number]}


def percentile_ms(steps: Sequence[Step], percent: float) -> float | None:
    """Return a percentile over the requests of several steps; ``None`` without requests."""
    return next(_percentiles_ms(steps, (percent,)))


def _percentiles_ms(steps: Sequence[Step], percents: Sequence[float]) -> Iterator[float | None]:
    parts = [part for step in steps for part in step.result.operations]
    if not parts:
        yield from (None for _ in percents)
        return
    low = min(part.latency_ns_min for part in parts)
    high = max(part.latency_ns_max for part in parts)
    histogram = merged_histogram(steps)
    total = math.fsum(part.latency_ns_mean * part.requests for part in parts)
    bins = [
        (max(first, low), min(last, high), here)
        for (first, last), here in ((histogram_range(each), histogram[each]) for each in histogram)
    ]
    for percent in percents:
        least, most = _bounds_ns(bins, percent, total)
        yield min(max(percentile_ns(histogram, percent, low, high), least), most) / 1e6


def _bounds_ns(
    bins: Sequence[tuple[int, int, int]], percent: float, total: float
) -> tuple[float, float]:
    """Return the limits that the exact sum of all latencies sets to a percentile.

    Of n sorted latencies the percentile is the k-th. The k latencies up to it are at most as long,
    and those beyond it at most as long as the upper ends of their bins. So k times the percentile
    is at least the rest of the sum. The upper limit follows in the same way. A bin's middle alone
    may be below the mean of equal latencies. Bins are the shortest and the longest latency in ns
    and the number of latencies.
    """
    count = sum(here for _, _, here in bins)
    # Multiplied before divided, as where the bin is found.
    place = min(max(math.ceil(percent * count / 100), 1), count)
    below = above = 0.0
    passed = 0
    for first, last, here in bins:
        before = min(max(place - 1 - passed, 0), here)
        after = min(max(passed + here - place, 0), here)
        below += before * first
        above += after * last
        passed += here
    return (total - above) / place, (total - below) / (count - place + 1)


def levels_json(steps: Sequence[Step]) -> dict[str, float | None]:
    """Return the confidence levels of response times in ns, by per cent."""
    found = zip(LEVELS, _percentiles_ms(steps, LEVELS), strict=True)
    return {f"{level:g}": _nanoseconds(each) for level, each in found}


def _nanoseconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds * 1e6
