"""Percentiles of the histogram against numpy on the latencies themselves.

A bin is at most 1/64 of its value wide and answers with its middle, so a percentile may be off
by 1/128; in the bins of 1 ns below 128 ns it is exact. numpy's ``inverted_cdf`` is the nearest
rank, the definition that fio and we use.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from drivelab import _core
from drivelab.drives.operation_result import OperationResult

PERCENTS = (0, 0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100)
# A prime: no percentile falls on a whole rank, where numpy 2 takes the next one when, as with
# 99.9 / 100, the quotient is rounded up. Whole ranks have a test of their own.
SAMPLES = 20_011
TOLERANCE = 1 / 128

Latencies = NDArray[np.int64]


def distributions() -> dict[str, Latencies]:
    random = np.random.default_rng(20110523)
    fast = random.normal(85_000, 4_000, SAMPLES)
    slow = random.lognormal(math.log(4e6), 0.8, SAMPLES)
    return {
        "exponential": random.exponential(200_000, SAMPLES).astype(np.int64),
        "lognormal": random.lognormal(math.log(85_000), 1.2, SAMPLES).astype(np.int64),
        "uniform": random.integers(0, 10_000_000, SAMPLES),
        "pareto": (random.pareto(1.5, SAMPLES) * 50_000).clip(0, 2**34 - 1).astype(np.int64),
        "with a slow tail": np.where(random.random(SAMPLES) < 0.02, slow, fast).astype(np.int64),
        "two values": random.choice(np.array([85_000, 3_800_000]), SAMPLES),
        "constant": np.full(SAMPLES, 85_123),
        "tiny": random.integers(0, 128, SAMPLES),
        "octaves": 2 ** random.integers(0, 34, SAMPLES),
        "one": np.array([115_000]),
    }


def result_of(latencies: Latencies) -> OperationResult:
    bins, counts = np.unique(
        [_core.histogram_bin(int(each)) for each in latencies], return_counts=True
    )
    return OperationResult(
        requests=len(latencies),
        bytes=4096 * len(latencies),
        latency_ns_mean=float(latencies.mean()),
        latency_ns_min=int(latencies.min()),
        latency_ns_max=int(latencies.max()),
        histogram=dict(zip(bins.tolist(), counts.tolist(), strict=True)),
    )


@pytest.mark.parametrize("name", distributions())
def test_percentiles_against_numpy(name: str) -> None:
    latencies = distributions()[name]
    result = result_of(latencies)
    for percent in PERCENTS:
        exact = int(np.percentile(latencies, percent, method="inverted_cdf"))
        answer = result.percentile_ns(percent)
        assert abs(answer - exact) <= exact * TOLERANCE, (percent, answer, exact)
        if exact < 128:
            assert answer == exact
    assert result.percentile_ns(100) <= int(latencies.max())


@pytest.mark.parametrize("percent", [50, 90, 99])
def test_percentiles_against_the_exponential_law(percent: float) -> None:
    """Quantiles in closed form: -mean log(1 - p).

    The sampling error of a quantile is sqrt(p (1 - p) / n) over the density; five of these are
    allowed on top of the width of a bin.
    """
    mean, share = 200_000.0, percent / 100
    latencies = np.random.default_rng(1).exponential(mean, SAMPLES).astype(np.int64)
    exact = -mean * math.log(1 - share)
    density = (1 - share) / mean
    deviation = math.sqrt(share * (1 - share) / SAMPLES) / density
    answer = result_of(latencies).percentile_ns(percent)
    assert abs(answer - exact) <= exact * TOLERANCE + 5 * deviation + 1


@pytest.mark.parametrize("percent", ["0.1", "1", "7", "29", "57", "99", "99.9", "99.99"])
def test_whole_ranks_against_exact_fractions(percent: str) -> None:
    """Binary fractions must not move a whole rank: 99.9 % of 1000 is rank 999."""
    for count in (100, 1_000, 10_000, 20_000):
        # Latencies 0 to 99, each bin holding one value, in equal numbers.
        latencies = np.arange(count) * 100 // count
        rank = math.ceil(Fraction(percent) * count / 100)
        assert result_of(latencies).percentile_ns(float(percent)) == latencies[rank - 1]


def test_the_tolerance_is_reached() -> None:
    """The widest bin for its value is the first of an octave, off by almost 1/128 at its ends."""
    low, high = _core.histogram_range(_core.histogram_bin(2**20))
    worst = max(
        abs(_core.histogram_value(_core.histogram_bin(low)) - end) / end for end in (low, high)
    )
    assert 0.99 * TOLERANCE < worst <= TOLERANCE
