"""Which drive is better, by how much, and which of these statements the repetitions carry.

Two drives are compared repetition by repetition, as both had the same random numbers in each. The
logarithms of the ratios have a mean and a 95 % interval by Student's t; a statement is carried
where the interval of the ratio leaves out 1. Each interval is for its own statement: of twenty
that say nothing, one is carried by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

from drivelab.choose.candidate import QUALITIES, Candidate, Quality
from drivelab.exhibits.quantities import listed
from drivelab.student import Interval, mean_interval

#: What is said of a drive that is not ranked by a quality.
UNRANKED: Final = "-"


@dataclass(frozen=True)
class Statement:
    """One drive is so many times as good as another.

    Attributes
    ----------
    quality
        In what.
    better, worse
        Names of the drives.
    ratio
        How many times as good, at least 1 (lower latency and higher rates are better), and its
        95 % interval; no interval where there were too few repetitions.
    """

    quality: Quality
    better: str
    worse: str
    ratio: Interval

    @property
    def is_carried(self) -> bool:
        """Whether the interval leaves out that the drives are alike."""
        return self.ratio.low is not None and self.ratio.low > 1

    @property
    def per_cent(self) -> float:
        """How much better, in per cent of the worse one's rate or of the better one's latency."""
        return 100 * (self.ratio.mean - 1)


@dataclass(frozen=True)
class Choice:
    """Drives under one workload, in the order of a quality.

    Attributes
    ----------
    by
        What they are ranked by.
    candidates
        The best first; those that cannot keep up last, the one that serves most first.
    ranks
        Of each: 1 and how many drives are better for sure; `UNRANKED` of those that cannot keep
        up.
    statements
        Of every quality and every two drives that keep up, in that order.
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
        """Give the statements about a quality."""
        return tuple(one for one in self.statements if one.quality is quality)

    def steps(self) -> list[Statement]:
        """Give how each ranked drive stands to the next one, by what they are ranked by."""
        names = [one.drive for one in self.candidates if not one.shortfalls]
        between = {frozenset((one.better, one.worse)): one for one in self.of(self.by)}
        return [between[frozenset(pair)] for pair in pairwise(names)]


def choose(candidates: Sequence[Candidate], by: Quality) -> Choice:
    """Rank drives.

    Parameters
    ----------
    candidates
        Two or more, measured alike: as many repetitions each, of the same random numbers.
    by
        What to rank by.
    """

    def place(one: Candidate) -> tuple[bool, float]:
        if one.shortfalls:
            return True, -one.interval(QUALITIES["throughput"]).mean
        mean = one.interval(by).mean
        return False, mean if by.is_less_better else -mean

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
    """Say which of two drives is the better one, and how much."""
    pairs = zip(one.values(quality), other.values(quality), strict=True)
    # Latencies of a formula may be 0 nowhere: every request takes time.
    logarithms = [math.log(b / a if quality.is_less_better else a / b) for a, b in pairs]
    found = mean_interval(logarithms)
    better, worse = one.drive, other.drive
    if found.mean < 0:
        better, worse = worse, better
        ends = (None, None) if found.ends is None else (-found.ends[1], -found.ends[0])
        found = Interval(-found.mean, *ends)
    low, high = (None if end is None else math.exp(end) for end in (found.low, found.high))
    return Statement(quality, better, worse, Interval(math.exp(found.mean), low, high))


def shortfall_text(one: Candidate) -> str:
    """Say that a drive cannot keep up, and with what."""
    streams = [
        f"{short.stream} ({short.asked_iops:,.0f} requests a second arrive, "
        f"{short.served_iops:,.0f} are served)"
        for short in one.shortfalls
    ]
    return (
        f"{one.drive} cannot keep up with {listed(streams)}: requests queue up for as long as it "
        "runs, so its latencies say nothing but that."
    )
