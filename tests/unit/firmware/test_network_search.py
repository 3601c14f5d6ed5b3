"""The search for a network: it never uses the workload that it predicts, and it resumes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_firmware_records import made_profiled

from drivelab.cli.run_kinds import kind_of_run
from drivelab.errors import RunError, UsageError
from drivelab.firmware import network_search
from drivelab.firmware.evaluation import evaluate
from drivelab.firmware.learners import NETWORK_SHAPES, NetworkShape
from drivelab.firmware.network_search import ROUNDS, NetworkSearch, parts_by_round
from drivelab.firmware.profiled import Dataset
from drivelab.store import RunStore

SHAPES = tuple(NetworkShape(4, 128, rate) for rate in (0.1, 0.2, 0.3, 0.4))


def dataset(workloads: int = 5) -> Dataset:
    return Dataset.of(
        [made_profiled(f"W{at}", at / workloads, records=6) for at in range(workloads)]
    )


class Made:
    """Stands for networks: a shape is off by its learning rate, or by what `off` says of it."""

    fits: list[tuple[NetworkShape, int, frozenset[int]]]
    data: Dataset
    off: np.ndarray | None

    def __init__(self, shape: NetworkShape, steps: int) -> None:
        self.shape, self.steps = shape, steps

    def fit(self, inputs: Any, times: Any, seed: int) -> Any:
        data = Made.data
        first = {
            int(at): data.inputs["events"][data.groups == at][0] for at in np.unique(data.groups)
        }
        seen = {at for at, row in first.items() if (inputs == row).all(axis=1).any()}
        Made.fits.append((self.shape, self.steps, frozenset(seen)))

        def predict(asked: Any) -> Any:
            (place,) = (at for at, row in first.items() if (asked[0] == row).all())
            rate = self.shape.learning_rate
            ratio = rate if Made.off is None else Made.off[SHAPES.index(self.shape), place]
            return data.target_ns[data.groups == place] * (1 + ratio)

        return predict


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> type[Made]:
    Made.fits, Made.data, Made.off = [], dataset(), None
    monkeypatch.setattr(network_search, "Network", Made)
    return Made


def search(path: Path | None = None, **more: Any) -> NetworkSearch:
    rounds = ((4, 10), (2, 30), (1, 30))
    return NetworkSearch(path, shapes=SHAPES, **{"rounds": rounds, **more})


def test_every_workload_is_left_out_with_others_in_each_round() -> None:
    for count in (3, 4, 5, 6, 7, 8, 15):
        for parts in parts_by_round(count, 3):
            assert {place for part in parts for place in part} == set(range(count))
            for part in parts:
                assert list(part) == sorted(set(part))
                # Somebody says something for it, and somebody is left to learn from.
                assert 2 <= len(part) < count
    first, second, third = parts_by_round(15, 3)
    for parts in (first, second, third):
        assert [len(part) for part in parts] == [5, 5, 5]
    assert not set(first) & set(second) & set(third)


def test_the_usual_rounds_are_a_small_part_of_all_fits() -> None:
    assert ROUNDS[0][0] == len(NETWORK_SHAPES) == 48
    # Every shape that anybody keeps, without every third.
    most = 3 * (48 * 300 + 48 * 1000 + 48 * 3000) + 15 * 3000
    assert most < 48 * 15 * 14 * 3000 / 40
    assert all(one >= other for (one, _), (other, _) in pairwise(ROUNDS))


def test_the_best_shape_is_found_and_never_saw_the_workload(made: type[Made]) -> None:
    found = search().left_out(made.data, "events", 0)
    assert set(found.shapes.values()) == {SHAPES[0]}
    assert found.ratio == pytest.approx(0.1)
    *_, last = (made.fits[-len(made.data.workloads) :],)
    for place, (shape, steps, seen) in enumerate(last):
        assert (shape, steps) == (SHAPES[0], 30)
        assert seen == frozenset(range(5)) - {place}
    # Two are left out of all others.
    assert all(len(seen) == 3 for _, _, seen in made.fits[:-5])


@pytest.mark.parametrize("workloads", [3, 5, 6, 8])
def test_no_network_is_trained_twice(made: type[Made], workloads: int) -> None:
    made.data = dataset(workloads)
    # Of the same length in every round, and of few workloads with the same parts.
    search(rounds=((4, 30), (4, 30), (2, 30))).left_out(made.data, "events", 0)
    assert len(made.fits) == len(set(made.fits))


@pytest.mark.parametrize(("workloads", "place"), [(5, at) for at in range(5)] + [(8, 0), (8, 5)])
def test_how_shapes_do_on_a_workload_has_no_say_in_what_is_chosen_for_it(
    made: type[Made], workloads: int, place: int
) -> None:
    """A shape that predicts a workload best is chosen for it only if others say so."""
    made.data = dataset(workloads)
    rng = np.random.default_rng(place)
    shape = (len(SHAPES), workloads)
    made.off = rng.uniform(0.1, 0.5, shape)
    before = search().left_out(made.data, "events", 0).shapes
    have_changed = set()
    for favourite in range(len(SHAPES)):
        made.off[:, place] = 5.0
        made.off[favourite, place] = 0.001
        after = search().left_out(made.data, "events", 0).shapes
        assert after[f"W{place}"] == before[f"W{place}"]
        have_changed |= {label for label in after if after[label] != before[label]}
    # It has one for the others, so the search looks at it.
    assert have_changed


def test_a_search_that_was_stopped_goes_on(
    made: type[Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = search(tmp_path / "whole").left_out(made.data, "events", 0)
    total = len(made.fits)
    made.fits.clear()
    fit = made.fit

    def stopping(self: Made, *given: Any) -> Any:
        if len(made.fits) == 7:
            raise RunError("the machine is wanted for something else")
        return fit(self, *given)

    monkeypatch.setattr(made, "fit", stopping)
    with pytest.raises(RunError, match="7 networks are saved"):
        search(tmp_path / "run", command="drivelab again").left_out(made.data, "events", 0)
    monkeypatch.setattr(made, "fit", fit)
    assert search(tmp_path / "run").left_out(made.data, "events", 0) == whole
    assert len(made.fits) == total
    with RunStore.open(tmp_path / "run") as store:
        kind = kind_of_run(store)
        standing = kind.standing(store)
        assert standing.is_complete
        assert standing.design == "networks for 5 workloads"
        columns = kind.rows(store).labels
        assert {len(column.cells) for column in columns} == {total}
        assert columns[0].cells[-1] == "W4"
    with pytest.raises(UsageError, match="seed"):
        search(tmp_path / "run").left_out(made.data, "events", 1)


def test_a_network_that_learns_is_evaluated() -> None:
    profiles = [made_profiled(f"W{at}", at / 5, records=20, seed=at) for at in range(4)]
    shapes = (NetworkShape(2, 32, 0.01), NetworkShape(2, 32, 0.001))
    asked = NetworkSearch(rounds=((2, 60), (1, 200)), shapes=shapes)
    left_out = evaluate(profiles, ["network"], search=asked).by_model["network"]
    # Those between others; a tenth is how far the answer of a neighbour is off.
    assert np.mean([each.ratio for each in left_out.errors[1:-1]]) < 0.05
    assert set(left_out.shapes) == {f"W{at}" for at in range(4)}
