"""Which drive is better, by how much, and which of these differences are significant.

Drives are compared repetition by repetition, because both had the same random numbers in each. The
logarithms of the ratios have a mean and a 95 % interval by Student's t. A statement is carried
(significant) if the interval of the ratio excludes 1. Each interval stands for its own statement:
of twenty statements about equal drives, one is carried by chance.

If both drives vary from run to run, their means are compared instead. Two simulated drives draw
their variation from the same random numbers, so it would cancel in pairs, although two separate
drives vary independently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

from drivelab.choose.candidate import QUALITIES, Candidate, Quality
from drivelab.drives.lateness import LATE_NS
from drivelab.exhibits.quantities import listed, share_text
from drivelab.student import Interval, mean_interval, ratio_interval
from drivelab.units import format_duration_ns

#: The rank of a drive that is not ranked.
UNRANKED: Final = "-"


@dataclass(frozen=True)
class Statement:
    """The statement that one drive is a number of times as good as another.

    Attributes
    ----------
    quality
        The quality.
    better, worse
        Names of the drives.
    ratio
        How many times as good, at least 1 (lower latency and higher rates are better), with its
        95 % interval; no interval if there were too few repetitions.
    """

    quality: Quality
    better: str
    worse: str
    ratio: Interval

    @property
    def is_carried(self) -> bool:
        """Whether the interval excludes that the drives are alike."""
        return self.ratio.low is not None and self.ratio.low > 1

    @property
    def per_cent(self) -> float:
        """How much better, in per cent of the worse one's rate or of the better one's latency."""
        return 100 * (self.ratio.mean - 1)


@dataclass(frozen=True)
class Choice:
    """Drives under one workload, ranked by a quality.

    Attributes
    ----------
    by
        The quality that ranks them.
    candidates
        The best first. Drives that cannot keep up come last: the one that serves most first; under
        a trace, the one with the fewest late requests first.
    ranks
        The rank of each: 1 plus the number of drives that are significantly better; `UNRANKED` for
        those that cannot keep up.
    statements
        One for each quality and each pair of drives that keep up, in that order.
    """

    by: Quality
    candidates: tuple[Candidate, ...]
    ranks: tuple[str, ...]
    statements: tuple[Statement, ...]

    @property
    def lacking(self) -> tuple[Candidate, ...]:
        """The drives that cannot keep up."""
        return tuple(one for one in self.candidates if one.shortfalls)

    def of(self, quality: Quality) -> tuple[Statement, ...]:
        """Return the statements about one quality."""
        return tuple(one for one in self.statements if one.quality is quality)

    def steps(self) -> list[Statement]:
        """Return how each ranked drive compares to the next, by the quality that ranks them."""
        names = [one.drive for one in self.candidates if not one.shortfalls]
        between = {frozenset((one.better, one.worse)): one for one in self.of(self.by)}
        return [between[frozenset(pair)] for pair in pairwise(names)]


def choose(candidates: Sequence[Candidate], by: Quality) -> Choice:
    """Rank drives.

    Parameters
    ----------
    candidates
        Two or more, measured alike: the same number of repetitions with the same random numbers,
        or a single one that stands for all.
    by
        The quality to rank by.
    """

    def place(one: Candidate) -> tuple[bool, float, float]:
        if one.shortfalls:
            return True, one.late_ratio or 0.0, -one.interval(QUALITIES["throughput"]).mean
        mean = one.interval(by).mean
        return False, mean if by.is_less_better else -mean, 0.0

    ordered = tuple(sorted(candidates, key=place))
    able = [one for one in ordered if not one.shortfalls]
    statements = tuple(
        statement(quality, *pair)
        for quality in QUALITIES.values()
        for pair in combinations(able, 2)
    )
    beaten = [one.worse for one in statements if one.quality is by and one.is_carried]
    ranks = tuple(
        UNRANKED if one.shortfalls else str(1 + beaten.count(one.drive)) for one in ordered
    )
    return Choice(by, ordered, ranks, statements)


def statement(quality: Quality, one: Candidate, other: Candidate) -> Statement:
    """Return which of two drives is better, and by how much."""
    better, worse = one, other
    found = _ratio(quality, one, other)
    if found.mean < 1:
        better, worse = other, one
        found = _ratio(quality, other, one)
    return Statement(quality, better.drive, worse.drive, found)


def _ratio(quality: Quality, one: Candidate, other: Candidate) -> Interval:
    """Return how many times as good `one` is as `other`."""
    count = max(len(one.measurements), len(other.measurements))
    values, others = (
        each.values(quality) * (count if each.is_exact else 1) for each in (one, other)
    )
    if quality.is_less_better:
        values, others = others, values
    if one.is_exact and other.is_exact:
        ratio = values[0] / others[0]
        return Interval(ratio, ratio, ratio)
    if one.varies and other.varies:
        return ratio_interval(values, others)
    # The logarithm exists: even a formula's latency is above 0.
    logarithms = [math.log(a / b) for a, b in zip(values, others, strict=True)]
    found = mean_interval(logarithms)
    low, high = (None if end is None else math.exp(end) for end in (found.low, found.high))
    return Interval(math.exp(found.mean), low, high)


def shortfall_text(one: Candidate) -> str:
    """Say that a drive cannot keep up, and with which streams."""
    first = one.shortfalls[0]
    if first.late_ratio is not None and first.late_ns_max is not None:
        return (
            f"{one.drive} cannot keep up with the recorded times: {share_text(first.late_ratio)} "
            f"of the requests were sent more than {format_duration_ns(LATE_NS)} late, the latest "
            f"by {format_duration_ns(first.late_ns_max)}. What it was asked is not what was "
            "recorded, so its latencies say nothing but that."
        )
    streams = [
        f"{short.stream} ({short.asked_iops:,.0f} requests a second arrive, "
        f"{short.served_iops:,.0f} are served)"
        for short in one.shortfalls
    ]
    return (
        f"{one.drive} cannot keep up with {listed(streams)}: requests queue up for as long as it "
        "runs, so its latencies say nothing but that."
    )
