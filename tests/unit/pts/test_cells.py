"""Percentiles of response times from bins, with the exact mean, minimum and maximum."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from drivelab._core import histogram_bin, histogram_range
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.session import StepPlan, step_measurement
from drivelab.drives.stream_result import StreamResult
from drivelab.pts.cells import LEVELS, percentile_ms
from drivelab.pts.journal import Action, Step
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus


def step_of(latencies: list[int]) -> Step:
    part = OperationResult(
        len(latencies),
        512 * len(latencies),
        math.fsum(latencies) / len(latencies),
        min(latencies),
        max(latencies),
        dict(Counter(map(histogram_bin, latencies))),
    )
    stimulus = Stimulus.of_size(4096, 1.0, 2**20)
    work, plan = Stimuli((stimulus,)), StepPlan(seconds=1)
    done = step_measurement(
        0, work, work.streams(), 10**9, [StreamResult("stream 0", 10**9, part)], plan=plan
    )
    return Step(0, Action("run", "rounds"), stimulus, done)


def test_no_percentile_of_almost_equal_latencies_is_below_their_mean() -> None:
    low, high = histogram_range(histogram_bin(1_000_000))
    # All in one bin, above its middle but for one at its lower end.
    latencies = [low] + [high - 1] * 99
    mean = sum(latencies) / 100 / 1e6
    most = percentile_ms([step_of(latencies)], 99.999)
    assert most is not None
    assert most >= mean
    # The middle one is at least what is left when all beyond are as long as the bin is high.
    middle = percentile_ms([step_of(latencies)], 50)
    assert middle is not None
    assert middle > (low + high) / 2 / 1e6


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spread", [0.001, 0.1, 2.0])
def test_a_percentile_stays_in_the_bin_of_the_exact_one(seed: int, spread: float) -> None:
    drawn = random.Random(seed)
    latencies = [int(1e5 * drawn.lognormvariate(0, spread)) for _ in range(1000)]
    ordered = sorted(latencies)
    for level in LEVELS:
        exact = ordered[math.ceil(level * 10) - 1]
        low, high = histogram_range(histogram_bin(exact))
        found = percentile_ms([step_of(latencies)], level)
        assert found is not None
        assert low <= found * 1e6 * (1 + 1e-12)
        assert found * 1e6 <= high * (1 + 1e-12)
