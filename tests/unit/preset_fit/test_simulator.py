"""Candidates that others simulate: the same to the last digit, whoever does it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from fake_ray import FakeRay

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import preset_at
from drivelab.drives.protocol import Drive
from drivelab.errors import RunError, UsageError
from drivelab.preset_fit import choosing
from drivelab.preset_fit.candidate import Base, Behaviour, brief
from drivelab.preset_fit.fitting import base_of
from drivelab.preset_fit.observed import Observed, Run
from drivelab.preset_fit.parameters import BLOCKS, Parameter
from drivelab.preset_fit.simulator import NobodySimulatesError, Simulators
from drivelab.runs.executor import TurningExecutor
from drivelab.runs.workers import pool
from drivelab.runs.workers.place import Place, ProcessPlace
from drivelab.runs.workers.pool import WorkersExecutor
from drivelab.runs.workers.ray_place import RayPlace
from drivelab.workloads.characteristics import Characteristics

SMALL = Path(__file__).parents[2] / "small_drive.toml"
PLAN = MeasurementPlan.of_kind("simulated", seed=3, requests=400, warmup_requests=100)
PLANS = [brief(PLAN, 200), brief(PLAN, 300), PLAN, brief(PLAN, 200)]
WORK = [(number, Characteristics(write_ratio=number / 3, queue_depth=4)) for number in range(4)]


def base() -> Base:
    return base_of(preset_at(str(SMALL), SMALL.read_text()))


def candidates() -> list[tuple[dict[str, int], int | None]]:
    """Values, and blocks where they are others: there and back, so that states are kept."""
    blocks = base().values[BLOCKS]
    read = base().values["timing.read_cell_ns"]
    return [
        ({}, None),
        ({"timing.read_cell_ns": 2 * read}, None),
        ({BLOCKS: blocks + 8}, blocks + 8),
        ({BLOCKS: blocks + 16}, blocks + 16),
        ({BLOCKS: blocks + 16, "timing.read_cell_ns": 2 * read}, blocks + 16),
        ({"timing.read_cell_ns": 3 * read}, None),
    ]


def behaviours(simulators: Simulators) -> list[Behaviour]:
    """Simulate every candidate, by two simulators in turn."""
    found, source = [], base()
    with simulators, simulators.simulator() as first, simulators.simulator() as second:
        for one in (first, second, first):
            for values, blocks in candidates():
                found.append(one.behaviour(source.changed(values), WORK, PLANS, blocks))
    return found


def same(one: Behaviour, other: Behaviour) -> bool:
    return all(
        np.array_equal(getattr(one, part), getattr(other, part), equal_nan=True)
        for part in ("mean", "p99", "read", "write")
    )


@pytest.fixture(scope="module")
def here() -> list[Behaviour]:
    return behaviours(Simulators())


def by(places: list[Place]) -> Callable[[Drive], AbstractContextManager[TurningExecutor]]:
    return lambda drive: WorkersExecutor(drive, places)


def test_candidates_differ_and_those_that_begin_alike_begin_alike(here: list[Behaviour]) -> None:
    one = here[:6]
    assert not any(same(one[at], one[at + 1]) for at in (0, 3, 4))
    assert all(
        same(*pair) for turn in (here[6:12], here[12:]) for pair in zip(one, turn, strict=True)
    )


def test_processes_simulate_as_threads_do(here: list[Behaviour]) -> None:
    found = behaviours(Simulators(by([ProcessPlace(1), ProcessPlace(2)])))
    assert all(same(*pair) for pair in zip(found, here, strict=True))


def test_actors_simulate_as_threads_do(
    here: list[Behaviour], monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = FakeRay(nodes=("a", "b"))
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(pool, "_PAUSES", (0.0,) * 20)
    seen = 0

    def killing(drive: Drive) -> AbstractContextManager[TurningExecutor]:
        class Killing(WorkersExecutor):
            def turn_to(self, drive: Drive, family: tuple[int, object]) -> None:
                nonlocal seen
                seen += 1
                # Its worker starts anew, at the candidate that is asked for then.
                if seen in (3, 8):
                    ray.kill(ray.actors[-1])
                super().turn_to(drive, family)

        return Killing(drive, [RayPlace(1, 0), RayPlace(2, 0)])

    found = behaviours(Simulators(killing))
    assert all(same(*pair) for pair in zip(found, here, strict=True))
    assert seen == 18
    assert len(ray.actors) > 2


def test_workers_start_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def noted(drive: Drive) -> AbstractContextManager[TurningExecutor]:
        made.append(drive.name)
        return WorkersExecutor(drive, [ProcessPlace(1)])

    with Simulators(noted) as simulators:
        for _ in range(3):
            with simulators.simulator() as one:
                one.behaviour(base().changed({}), WORK[:1], PLANS[:1])
                with pytest.raises(UsageError, match=r"read_cell_ns = -1 is not possible"):
                    one.behaviour(base().changed({"timing.read_cell_ns": -1}), WORK[:1], PLANS[:1])
    assert made == ["sim:fitted"]


class BrokenPlace(ProcessPlace):
    """Where nothing starts."""

    def command(self) -> list[str]:
        return [sys.executable, "-c", "raise SystemExit(3)"]


def test_a_cluster_that_is_gone_is_no_matter_of_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "_PAUSES", (0.0,) * 4)
    with Simulators(by([BrokenPlace(1)])) as simulators, simulators.simulator() as one:
        with pytest.raises(NobodySimulatesError, match=r"no worker is left: worker 1 ended with"):
            one.behaviour(base().changed({}), WORK, PLANS)
        # No other preset is tried in its place.
        observed = Observed([each for _, each in WORK], Behaviour(*[np.zeros(4)] * 4), np.ones(4))
        run = Run("sim:small", Path("small"), PLAN, observed, observed)

        def chosen(_: Base) -> tuple[Parameter, ...]:
            return ()

        with pytest.raises(RunError, match="no worker is left"):
            choosing.compare_bases(run, [base(), base()], chosen, lambda _: None, simulators)
