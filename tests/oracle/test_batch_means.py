"""Batch means against numpy and scipy on the same latencies.

The half-width uses a series for Student's t (Abramowitz and Stegun, 26.7.5), off by less than
1e-6 from 15 degrees of freedom on; sums are exact, so everything else agrees to rounding.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal, stats

from drivelab import _core
from drivelab.drives.batches import MOST_BATCHES, LatencyBatches
from drivelab.errors import UsageError

LEAST_BATCHES = 16
LEVEL = 0.2

Numbers = NDArray[np.float64]


def batches_of(latencies: NDArray[np.int64]) -> LatencyBatches:
    batches = _core.BatchMeans()
    # In pieces, as a log is read.
    ends = np.arange(1, len(latencies) + 1) * 10
    for part in np.array_split(np.arange(len(latencies)), 3):
        batches.push(latencies[part].tolist(), ends[part].tolist())
    assert batches.requests == len(latencies)
    assert batches.mean_ns == pytest.approx(float(latencies.mean()), rel=1e-15)
    return LatencyBatches(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in batches.latency_batches().items()
        }
    )


def correlation(means: Numbers) -> float:
    """Return one minus half of von Neumann's ratio (Fishman 1978, section 5.6)."""
    squares = ((means - means.mean()) ** 2).sum()
    return float(1 - (np.diff(means) ** 2).sum() / (2 * squares)) if squares else 0.0


def is_correlated(means: Numbers) -> bool:
    count = len(means)
    score = correlation(means) * np.sqrt((count**2 - 1) / (count - 2))
    return bool(stats.norm.sf(score) <= LEVEL)


def expected(latencies: NDArray[np.int64]) -> tuple[int, Numbers]:
    """Return the size of a batch and the means of the shortest uncorrelated or longest batches."""
    size = 1
    while len(latencies) // size > MOST_BATCHES:
        size *= 2
    means = latencies[: len(latencies) // size * size].reshape(-1, size).mean(axis=1)
    while len(means) // 2 >= LEAST_BATCHES and is_correlated(means):
        means = means[: len(means) // 2 * 2].reshape(-1, 2).mean(axis=1)
        size *= 2
    return size, means


def half_width_of(means: Numbers) -> float | None:
    """Return what scipy makes of independent batches, widened for correlated ones."""
    if len(means) < LEAST_BATCHES:
        return None
    half_width = float(stats.t.ppf(0.975, len(means) - 1) * stats.sem(means))
    if is_correlated(means):
        half_width *= np.sqrt((1 + correlation(means)) / (1 - correlation(means)))
    return half_width


def series(name: str, count: int, seed: int) -> NDArray[np.int64]:
    random = np.random.default_rng(seed)
    noise = random.standard_normal(count)
    shapes = {
        "independent": random.exponential(1.0, count),
        "correlated": 5 + signal.lfilter([0.1], [1, -0.99], noise),
        "alternating": 5 + (-1.0) ** np.arange(count) + 0.1 * noise,
        "rising": 1 + np.arange(count) / count + 0.01 * noise,
        "two speeds": np.where(random.random(count) < 0.02, 50.0, 1.0),
    }
    return np.maximum(shapes[name] * 100_000, 0).astype(np.int64)


@pytest.mark.parametrize("count", [3, 15, 16, 40, 64, 65, 127, 128, 129, 5000, 20_011])
@pytest.mark.parametrize(
    "name", ["independent", "correlated", "alternating", "rising", "two speeds"]
)
def test_half_width_is_that_of_scipy(name: str, count: int) -> None:
    for seed in range(5):
        latencies = series(name, count, seed)
        found = batches_of(latencies)
        size, means = expected(latencies)
        assert found.requests_per_batch == size
        assert found.means_ns == pytest.approx(means, rel=1e-12)
        assert found.ends_ns == tuple(10 * size * (place + 1) for place in range(len(means)))
        assert found.correlation == pytest.approx(correlation(means), abs=1e-6)
        half_width = half_width_of(means)
        if half_width is None:
            assert found.half_width_ns is None
        else:
            assert found.half_width_ns == pytest.approx(half_width, rel=1e-6, abs=1e-6)


def test_as_many_times_as_latencies() -> None:
    with pytest.raises(UsageError, match="2 latencies have 1 times"):
        _core.BatchMeans().push([1, 2], [1])
