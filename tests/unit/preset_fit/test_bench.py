"""Brief simulations of candidates, as long as full ones say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from drivelab.drives.in_order import measured_in_order
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import read_preset
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.preset_fit.bench import Bench
from drivelab.preset_fit.fitting import base_of
from drivelab.preset_fit.observed import Observed
from drivelab.preset_fit.parameters import chosen_parameters, parameters_of
from drivelab.workloads.characteristics import Characteristics

BUFFER = "buffer.write_buffer_bytes"
PLAN = MeasurementPlan.of_kind("simulated", seed=3)
WRITES = Characteristics(write_ratio=1.0, queue_depth=8)
READS = Characteristics(write_ratio=0.0, queue_depth=8)


def bench_with(plan: MeasurementPlan) -> Bench:
    source = read_preset("x25m")
    base = base_of(source)
    parameters = chosen_parameters(parameters_of(base.kind, base.values), [BUFFER], [])
    drive = SimulatedDrive("sim:x25m", source, varies=False)
    observed = Observed.of(list(measured_in_order(drive, [WRITES, READS], plan)))
    return Bench(base, parameters, observed, plan)


@pytest.fixture
def bench() -> Iterator[Bench]:
    with closing(bench_with(PLAN)) as one:
        yield one


def test_simulations_become_as_long_as_a_candidate_needs(bench: Bench) -> None:
    brief = bench.requests
    assert brief < 4_000
    # A buffer of 4 MiB takes half of what they write, but little of what long ones write.
    large = np.array([np.log(16.0)])

    def off(logarithms: np.ndarray) -> float:
        """Compare with a full simulation."""
        left = bench.left(logarithms)
        assert left is not None
        whole = bench.whole(logarithms, bench.observed).write[0]
        return abs(float(left[2] - (whole - bench.observed.behaviour.write[0])))

    bench.correct(large)
    assert off(large) < 1e-9
    assert off(large - 1.5) > 0.1
    bench.lengthen(large)
    assert bench.requests > 2 * brief
    assert off(large) < 1e-9
    assert off(large - 1.5) < 0.05
    # Of the base preset brief ones were enough, but they stay as long as they are.
    longer = bench.requests
    bench.lengthen(np.zeros(1))
    assert bench.requests == longer


def test_latencies_that_vary_are_simulated_longer_and_weigh_less(bench: Bench) -> None:
    nothing = np.zeros(1)
    brief = bench.requests
    # Of the reads' latency and of the writes', in the two workloads.
    scatter = np.array([0.0, 0.0, 0.06, 0.0])
    bench.lengthen_varying(scatter)
    assert bench.requests > 4 * brief
    before = bench.left(nothing + 0.2)
    bench.trust(scatter)
    after = bench.left(nothing + 0.2)
    assert before is not None
    assert after is not None
    # Half of the variation counts, beside 1 %.
    share = 0.01 / np.hypot(0.01, 0.03)
    assert after == pytest.approx(before * [1.0, 1.0, share, 1.0])
    # What varies as before is seen with the smaller weight, and keeps it.
    bench.trust(scatter * share)
    assert bench.left(nothing + 0.2) == pytest.approx(after)
    bench.trust(np.zeros(4))
    assert bench.left(nothing + 0.2) == pytest.approx(before)


def test_a_brief_simulation_ends_before_the_burst_does() -> None:
    # A thousand writes of 4 KiB.
    plan = replace(PLAN, burst_ratio=1_000 * 4096 / 80e9)
    with closing(bench_with(plan)) as bench:
        bench.lengthen_varying(np.array([0.0, 0.0, 0.03, 0.0]))
        # The writes have become a full simulation: a correction there changes nothing elsewhere.
        bench.correct(np.zeros(1))
        larger = np.array([1.0])
        left = bench.left(larger)
        assert left is not None
        whole = bench.whole(larger, bench.observed).write[0]
        assert left[2] == pytest.approx(whole - bench.observed.behaviour.write[0], abs=1e-12)
