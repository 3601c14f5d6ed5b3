"""How a drive is built, found again by comparison; and values that change nothing."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import sobol_indices, uniform

from drivelab.drives.in_order import measured_in_order
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import preset_at, read_preset
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.preset_fit.bench import Bench
from drivelab.preset_fit.candidate import Base, brief
from drivelab.preset_fit.choosing import choose_builds, compare_bases
from drivelab.preset_fit.fitting import base_of
from drivelab.preset_fit.observed import Observed, Run
from drivelab.preset_fit.parameters import Parameter, chosen_parameters, parameters_of
from drivelab.preset_fit.screening import FAR, NOTHING, screen
from drivelab.workloads.design import parse_design

PLAN = MeasurementPlan.of_kind("simulated", seed=3, requests=1200, warmup_requests=600)
SMALL = Path(__file__).parents[2] / "small_drive.toml"


def run_of(name: str, text: str, count: int = 24) -> Run:
    """Measure a drive that is another one with something changed."""
    source = preset_at(f"{name}-other.toml", f'name = "other"\nbase = "{name}"\n{text}')
    drive = SimulatedDrive("sim:other", source, varies=False)
    workloads = parse_design(f"sobol:{count}").select(1, block_bytes=512).workloads
    observed = Observed.of(list(measured_in_order(drive, workloads, PLAN)))
    return Run("sim:other", Path("other"), PLAN, observed, observed)


def seeks(base: Base) -> tuple[Parameter, ...]:
    return chosen_parameters(parameters_of(base.kind, base.values), ["seeks"], [])


@pytest.fixture(scope="module")
def in_another_order() -> Run:
    return run_of("sas-15k", '[scheduling]\norder = "fcfs"\n')


def test_an_order_of_service_is_found(in_another_order: Run) -> None:
    base = base_of(read_preset("sas-15k"))
    found, tried = choose_builds(in_another_order, base, seeks, lambda _: None)
    assert found.built["scheduling.order"] == "fcfs"
    assert tried[0].name == "scheduling.order = fcfs"
    assert tried[0].is_kept
    # Everything that was tried is listed, impossible ones too.
    assert len(tried) > 10


def test_the_nearest_preset_is_found_whatever_the_order(in_another_order: Run) -> None:
    names = ["spinpoint-m7", "sas-15k"]
    bases = [base_of(read_preset(name)) for name in names]
    for some in (bases, bases[::-1]):
        nearest, _ = compare_bases(in_another_order, some, seeks, lambda _: None)[0]
        assert nearest.reference == "sas-15k"


def test_what_is_held_is_what_sobol_indices_call_nothing() -> None:
    source = preset_at(str(SMALL), SMALL.read_text())
    base = base_of(source)
    parameters = parameters_of(base.kind, base.values)
    drive = SimulatedDrive("sim:small", source, varies=False)
    workloads = parse_design("sobol:8").select(1, block_bytes=512).workloads
    plan = brief(PLAN, 100)
    observed = Observed.of(list(measured_in_order(drive, workloads, plan)))
    with closing(Bench(base, parameters, observed, PLAN, [plan] * 8)) as bench:

        def mean(places: np.ndarray) -> np.ndarray:
            """Return each latency's answer, shape (latencies, candidates)."""
            return np.column_stack([bench.left(one) for one in places.T])

        every = sobol_indices(
            func=mean,
            n=16,
            dists=[uniform(-FAR, 2 * FAR)] * len(parameters),
            rng=np.random.default_rng(1),
        )
        screen(bench, seed=1)
        total = np.nan_to_num(np.atleast_2d(every.total_order)).max(axis=0)
        held = [place for place in range(len(parameters)) if place not in bench.active]
        assert held
        assert all(total[place] < NOTHING for place in held)
        assert all(total[place] > 0 for place in bench.active)


def test_a_burst_has_as_many_bytes_on_a_drive_of_another_capacity(in_another_order: Run) -> None:
    plan = MeasurementPlan.of_kind("simulated")
    assert plan.burst_ratio == 0.01
    known = replace(in_another_order, plan=plan, capacity_bytes=80_000)
    assert known.plan_on(80_000) == plan
    assert known.plan_on(20_000).burst_ratio == 0.04
    assert known.plan_on(400).burst_ratio == 1.0
    assert replace(known, capacity_bytes=None).plan_on(20_000) == plan
    assert known.plan_on(160_000) == replace(plan, burst_ratio=0.005)
