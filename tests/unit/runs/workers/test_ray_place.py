"""Workers that are actors, with processes in the place of Ray; `tests/faults` has real clusters."""

from __future__ import annotations

import random
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fake_ray import FakeRay

from drivelab.cli.main import main
from drivelab.drives.measurement import Measurement
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import RunError, UsageError
from drivelab.runs.executor import DriveExecutor, Work
from drivelab.runs.workers import pool
from drivelab.runs.workers.pool import WorkersExecutor
from drivelab.runs.workers.ray_place import ray_places
from drivelab.workloads.characteristics import Characteristics

SMALL = f"sim:{Path(__file__).parents[3] / 'small_drive.toml'}"
PLAN = MeasurementPlan(requests=300, warmup_requests=50, seed=3)
WORK: list[Work] = [
    (index, Characteristics(write_ratio=index % 3 / 2, queue_depth=1 + index))
    for index in range(30)
]
IS_OLD = "import drivelab.runs.workers.worker as worker; worker.this_version = lambda: '0.0.1'"


@pytest.fixture
def address() -> Iterator[str]:
    """Give an address at which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def measured(
    ray: FakeRay, address: str, *, killed: int = 0, workers: int | None = None
) -> dict[int, Measurement]:
    """Measure on actors, of which some are killed on the way."""
    drawn = random.Random(2)
    found: dict[int, Measurement] = {}
    with (
        open_drive(SMALL) as drive,
        ray_places(address, workers, 1000) as places,
        WorkersExecutor(drive, places) as executor,
        closing(executor.measure(WORK, PLAN)) as answers,
    ):
        for answer in answers:
            assert isinstance(answer, Measurement)
            found[answer.index] = answer
            if len(found) % 5 == 0 and killed:
                killed -= 1
                ray.kill(drawn.choice([one for one in ray.actors if one.process.poll() is None]))
    assert not ray.is_connected
    assert not ray.prints
    assert all(actor.process.wait(10) is not None for actor in ray.actors)
    return found


def here() -> dict[int, Measurement]:
    with open_drive(SMALL) as drive:
        answers = list(DriveExecutor(drive).measure(WORK, PLAN))
    return {one.index: one for one in answers if isinstance(one, Measurement)}


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    found = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", found)
    monkeypatch.setattr(pool, "_PAUSES", (0.0,) * 20)
    return found


def test_actors_answer_as_threads_do(
    ray: FakeRay, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = here()
    again: list[int] = []

    class Counted(DriveExecutor):
        def measure(self, work: Any, plan: MeasurementPlan) -> Any:
            again.extend(index for index, _ in work)
            return super().measure(work, plan)

    monkeypatch.setattr(pool, "DriveExecutor", Counted)
    assert measured(ray, address, workers=4) == expected
    assert len(ray.actors) == 4
    assert {one["num_cpus"] for one in ray.asked} == {1}
    assert {one["memory"] for one in ray.asked} == {1000}
    # One answer of each of three nodes was made here too; two actors share the first. A node that
    # starts when the others have answered everything has none.
    assert 1 <= len(again) <= 3
    assert len(set(again)) == len(again)


def test_killed_actors_are_not_missed(ray: FakeRay, address: str) -> None:
    assert measured(ray, address, killed=3) == here()
    assert len(ray.actors) > 3


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (IS_OLD, "actor 1: it has Drivelab 0.0.1, and this is .*: install the same on every node"),
        ("raise SystemExit(3)", "no worker is left: actor 1 was lost: The actor died unexpectedly"),
    ],
)
def test_nobody_left_is_a_line(
    before: str, said: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = FakeRay(("a",), before)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(pool, "_PAUSES", (0.0, 0.0))
    with pytest.raises((RunError, UsageError), match=said) as refused:
        measured(ray, address)
    assert "\n" not in str(refused.value)


def test_a_node_without_drivelab_is_named() -> None:
    from drivelab.runs.workers.ray_place import _loss

    error = Exception("The actor died\nModuleNotFoundError: No module named 'drivelab'")
    assert "its node has no Drivelab: install Drivelab" in str(_loss("actor 1", error))
    assert isinstance(_loss("actor 1", error), UsageError)


def refusing(text: str) -> FakeRay:
    ray = FakeRay()

    def init(*_: Any, **__: Any) -> None:
        raise RuntimeError(text)

    ray.init = init  # type: ignore[method-assign]
    return ray


def old() -> FakeRay:
    ray = FakeRay()
    ray.__version__ = "1.13.0"  # type: ignore[misc]
    return ray


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ((None, ""), "--executor ray needs Ray: pip install 'drivelab[ray]'"),
        ((old(), ""), "--executor ray needs Ray from 2.40 on, and not 3; here is 1.13.0: pip inst"),
        ((FakeRay(), "127.0.0.1:1"), "no Ray cluster answers at 127.0.0.1:1 (Connection refused)"),
        ((FakeRay(), "nonsense"), "'nonsense' is not an address of a Ray cluster: write HOST:PORT"),
        ((refusing("Version mismatch:\nRay 2.9"), ""), "no Ray cluster takes work on this machine"),
    ],
)
def test_a_cluster_that_is_not_there_is_a_line(
    cluster: tuple[ModuleType | None, str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    ray, address = cluster
    monkeypatch.setitem(sys.modules, "ray", ray)
    asked = ["model", SMALL, "--design", "huang2011:60", "--out", "run", "--executor", "ray"]
    assert main([*asked, *(["--address", address] if address else [])]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not Path("run").exists()


def test_an_address_is_for_ray_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", SMALL, "--address", "x:1", "--out", "none"]) == 2
    assert "--address is for --executor ray, and not for threads" in capsys.readouterr().err
