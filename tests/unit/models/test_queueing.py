"""The queueing model: it finds a drive of its own kind; kriging on it answers and is saved."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drivelab.checked_json import MismatchError, Node
from drivelab.models import queueing, queueing_search
from drivelab.models.combination import Combination
from drivelab.models.features import FEATURE_SETS, FloatArray, workload_table
from drivelab.models.kriging_surface import (
    KrigingSurface,
    fit_kriging,
    fit_queueing_kriging,
    refit_kriging,
)
from drivelab.models.predictor import in_haste
from drivelab.models.queueing import COSTS, Layout, Queueing
from drivelab.models.queueing_search import fit_queueing, refit_queueing, trust_in
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.ranges import workload_at
from drivelab.workloads.sobol_points import sobol_points

EXTENDED = FEATURE_SETS["extended"]
DRIVE = Queueing(
    Layout(12, 8192, buffer_pages=16),
    np.log(
        [
            *(20e3, 30e3, 5e3, 6e3, 8e3, 9e3, 1e3, 70e3),
            *(60e3, 800e3, 700e3, 70e3, 50e3, 1e3, 1e6, 1, 1),
        ],
    ),
)


def workloads(count: int) -> FloatArray:
    points = sobol_points("queueing")
    return workload_table([workload_at(next(points), 512) for _ in range(count)])


def time_of(drive: Queueing, table: FloatArray) -> FloatArray:
    time: FloatArray = drive.inputs(table)[:, 0]
    return time


@pytest.fixture(scope="module")
def seen() -> tuple[FloatArray, FloatArray]:
    table = workloads(260)
    return table, time_of(DRIVE, table) + np.random.default_rng(0).normal(0, 0.01, len(table))


@pytest.fixture(scope="module")
def found(seen: tuple[FloatArray, FloatArray]) -> KrigingSurface:
    fitted = fit_queueing_kriging(EXTENDED, *seen, np.full(len(seen[0]), 1e-4), 0)
    assert isinstance(fitted, KrigingSurface)
    return fitted


def test_a_drive_that_is_one_is_found(found: KrigingSurface) -> None:
    drive = found.inputs.queueing
    assert drive is not None
    assert (drive.layout.units, drive.layout.page_bytes) == (12, 8192)
    assert drive.cost_ns("program") == pytest.approx(800e3, rel=0.1)
    assert drive.cost_ns("link_write_page") == pytest.approx(9e3, rel=0.2)
    asked = workloads(900)[260:]
    error = np.abs(np.expm1(time_of(drive, asked) - time_of(DRIVE, asked)))
    # Noise has a sigma of 1 %, and what is in the buffer at first differs.
    assert error.mean() < 0.05
    kriged = np.abs(np.expm1(found.predict(asked) - time_of(DRIVE, asked)))
    assert kriged.mean() < 0.04


def test_kriging_on_it_errs_less_than_kriging(
    seen: tuple[FloatArray, FloatArray], found: KrigingSurface
) -> None:
    asked = workloads(900)[260:]
    truth = time_of(DRIVE, asked)
    alone = fit_kriging(EXTENDED, *seen, np.zeros(len(seen[0])), 0)
    error = np.abs(found.predict(asked) - truth).mean()
    assert error < 0.7 * np.abs(alone.predict(asked) - truth).mean()


def test_the_shares_of_the_time_are_all_of_it() -> None:
    table = workloads(50)
    shares = DRIVE.inputs(table)[:, 1:]
    # The last two are of how much longer programs take, which are among the others.
    assert shares[:, :-2].sum(axis=1) == pytest.approx(np.ones(50), abs=1e-4)


def test_programs_of_a_drive_that_was_written_anywhere_take_longer() -> None:
    settled = DRIVE.parameters.copy()
    settled[[COSTS.index("small_anywhere"), COSTS.index("large_anywhere")]] = np.log([12, 3])
    drive = replace(DRIVE, parameters=settled)
    one = Characteristics(write_ratio=1, write_size=8192, queue_depth=32, write_random=0)

    def slower(**changes: float) -> float:
        table = workload_table([replace(one, **changes)])
        return float(np.exp(time_of(drive, table) - time_of(DRIVE, table))[0])

    assert slower() == 1
    assert slower(write_random=1) == pytest.approx(12, rel=0.1)
    # A drive that is written anywhere once in a while is in that state for all its writes.
    assert slower(write_random=0.01) == pytest.approx(12, rel=0.1)
    assert slower(write_random=1, write_size=1 << 20) == pytest.approx(3, rel=0.1)
    assert slower(write_ratio=0) == 1
    table = workloads(260)
    near = settled.copy()
    near[-2:] = np.log([9, 4])
    found = refit_queueing(table, time_of(drive, table), replace(drive, parameters=near))
    assert found.cost_ns("small_anywhere") == pytest.approx(12, rel=0.2)
    assert found.cost_ns("large_anywhere") == pytest.approx(3, rel=0.2)


@pytest.mark.long
def test_a_drive_that_was_written_anywhere_is_found_from_its_times() -> None:
    settled = DRIVE.parameters.copy()
    settled[-2:] = np.log([12, 8])
    drive = replace(DRIVE, parameters=settled)
    table = workloads(900)
    seen = table[:260]
    noise = np.random.default_rng(0).normal(0, 0.01, len(seen))
    likeliest, *rivals = fit_queueing(seen, time_of(drive, seen) + noise)
    assert (likeliest.layout.units, likeliest.layout.page_bytes) == (12, 8192)
    # A search that begins without factors ends with random programs twelve times as long, and is
    # off by a fifth where writes are only partly random.
    assert likeliest.cost_ns("small_anywhere") == pytest.approx(12, rel=0.15)
    assert likeliest.cost_ns("large_anywhere") == pytest.approx(8, rel=0.15)
    left = np.abs(np.expm1(time_of(likeliest, table[260:]) - time_of(drive, table[260:])))
    assert left.mean() < 0.04
    assert all(rival.layout != likeliest.layout for rival in rivals)


def test_a_drive_that_maps_blocks_is_found_from_its_times(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_FOLLOWED", 1), ("_FINISHED", 1)):
        monkeypatch.setattr(queueing_search, name, value)
    parameters = DRIVE.parameters.copy()
    parameters[COSTS.index("merge")] = np.log(20e6)
    layout = replace(DRIVE.layout, buffer_pages=0, log_blocks=1, block_pages=32)
    drive = Queueing(layout, parameters)
    seen = workloads(200)
    noise = np.random.default_rng(0).normal(0, 0.01, len(seen))
    (found,) = fit_queueing(seen, time_of(drive, seen) + noise)
    assert (found.layout.units, found.layout.page_bytes) == (12, 8192)
    assert (found.layout.log_blocks, found.layout.block_pages) == (1, 32)
    assert found.cost_ns("merge") == pytest.approx(20e6, rel=0.05)
    asked = workloads(400)[200:]
    left = np.abs(np.expm1(time_of(found, asked) - time_of(drive, asked)))
    assert left.mean() < 0.05
    # Without log blocks, several times as far.
    monkeypatch.setattr(queueing_search, "_UNEXPLAINED", np.inf)
    (other,) = fit_queueing(seen, time_of(drive, seen) + noise)
    assert np.abs(np.expm1(time_of(other, asked) - time_of(drive, asked))).mean() > 0.15


@pytest.mark.long
def test_a_drive_that_varies_is_not_taken_for_one_that_maps_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queueing_search, "_FOLLOWED", 1)
    table = workloads(60)
    seen = time_of(DRIVE, table) + np.random.default_rng(0).normal(0, 0.4, len(table))
    assert all(found.layout.log_blocks == 0 for found in fit_queueing(table, seen))
    # By chance layouts with log blocks are among the likeliest.
    monkeypatch.setattr(queueing_search, "_DECISIVE", np.inf)
    assert any(found.layout.log_blocks > 0 for found in fit_queueing(table, seen))


def test_costs_are_fitted_anew_from_where_they_were(seen: tuple[FloatArray, FloatArray]) -> None:
    table, targets = seen
    start = replace(DRIVE, parameters=DRIVE.parameters + 0.1, told=("read", "program"))
    again = refit_queueing(table, targets, start)
    assert (again.layout, again.told) == (DRIVE.layout, ("read", "program"))
    assert np.abs(time_of(again, table) - targets).mean() < 0.03


def test_a_mishap_counts_for_little(
    seen: tuple[FloatArray, FloatArray], found: KrigingSurface
) -> None:
    table, targets = seen
    wrong = targets.copy()
    wrong[40] += 2.5
    fitted = refit_kriging(found, EXTENDED, table, wrong, np.full(len(table), 1e-4))
    assert abs(fitted.predict(table[40:41])[0] - targets[40]) < 0.1


def test_any_workload_is_answered_whatever_else_is_asked(found: KrigingSurface) -> None:
    table = workload_table(
        [
            Characteristics(),
            Characteristics(write_ratio=1, write_size=512, write_random=0, queue_depth=128),
            Characteristics(write_ratio=0.5, read_size=2**20, write_size=2**22, queue_depth=512),
        ]
    )
    strange = np.array([[0.5, 1e12, 1.0, 1e15, 0.5, 0.0, 1e15, 3.0]])
    table = np.vstack([table, workload_table(strange)])
    together = found.predict(table)
    assert np.isfinite(together).all()
    assert [found.predict(table[row : row + 1])[0] for row in range(4)] == together.tolist()
    assert np.isfinite(found.deviation(table)).all()


def test_answers_in_haste_are_nearly_the_same(found: KrigingSurface) -> None:
    asked = workloads(300)[100:]
    exact = found.predict(asked)
    both = Combination({"queueing_kriging": found}, {"queueing_kriging": 1.0})
    for one in (found, both):
        apart = np.abs(in_haste(one).predict(asked) - exact)
        # Of means of 384 requests, where exact answers are those of up to 6,144.
        assert 0 < apart.mean() < 0.02
    assert found.predict(asked).tolist() == exact.tolist()
    line = fit_kriging(FEATURE_SETS["basic"], asked, exact, np.zeros(len(asked)), 0)
    assert in_haste(line).predict(asked).tolist() == line.predict(asked).tolist()


def test_each_workload_is_replayed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = workloads(30)
    drive = replace(DRIVE)
    first = drive.time(table[:20])
    given = []
    replayed = queueing.replayed

    def counted(rows: FloatArray, *others: Any) -> tuple[FloatArray, FloatArray]:
        given.append(len(rows))
        return replayed(rows, *others)

    monkeypatch.setattr(queueing, "replayed", counted)
    assert drive.time(table[::-1])[-20:].tolist() == first[::-1].tolist()
    assert drive.inputs(table[:5], 96)[:, 0].tolist() == time_in_haste(table[:5])
    # Ten that were not known, five of another length, and five of a drive that knows nothing.
    assert given == [10, 5, 5]


def time_in_haste(table: FloatArray) -> list[float]:
    found: list[float] = replace(DRIVE).time(table, 96).tolist()
    return found


def test_several_processes_see_different_inputs(found: KrigingSurface) -> None:
    assert found.inputs.rivals
    kinds = np.array(found.inputs.kinds())
    seen = [set(kinds[view.columns]) for view in found.views]
    assert seen == [
        {"work", "time", "shares", "rivals", "elsewhere"},
        {"time", "shares", "rivals"},
        {"work", "time", "shares"},
        {"work", "time", "rivals"},
    ]
    assert sum(view.weight for view in found.views) == pytest.approx(1)
    asked = workloads(300)[260:]
    inputs = found.inputs.of(asked)
    answers = np.array([view.answers(inputs) for view in found.views])
    mean = found.predict(asked) - found.inputs.mean(asked, inputs)
    assert (answers.min(axis=0) <= mean + 1e-12).all()
    assert (mean <= answers.max(axis=0) + 1e-12).all()
    # Without rivals there is nothing to leave out of the first and third.
    assert len(replace(found.inputs, rivals=(), trust=(1.0,)).views()) == 3


def test_a_model_is_trusted_by_what_it_leaves() -> None:
    left = np.array([[0.01, -0.01], [0.02, 0.02], [0.01, 0.01]])
    # With hardly any bend, twice the residual is four times the loss; to the sixth power.
    assert trust_in(left) == pytest.approx([0.5, 0.5 / 4**6, 0.5], rel=0.1)
    assert trust_in(np.zeros((2, 3))).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["trust", 0], 2.0, "trust is not weights whose sum is 1"),
        (["views", 0, "weight"], 1.0, "views is not weights whose sum is 1"),
        (["views", 0, "columns", 1], 0, "columns is not numbers of inputs in their order"),
        (["views", 1, "columns"], [0], r"rows is not rows of 1 inputs"),
        (["views", 1, "columns", 0], 10_000, "columns"),
        (["views", 1, "lengths", 0], 0.0, "lengths is not above 0"),
    ],
)
def test_a_damaged_surface_is_refused(
    found: KrigingSurface, place: list[Any], value: Any, message: str
) -> None:
    written = json.loads(json.dumps(found.to_json()))
    *path, last = place
    inside = written
    for key in path:
        inside = inside[key]
    inside[last] = value
    with pytest.raises(MismatchError, match=message):
        KrigingSurface.from_json(Node(written, ""), EXTENDED)


def test_few_and_equal_workloads_are_fitted() -> None:
    table = workloads(5)
    few = fit_queueing_kriging(EXTENDED, table, np.log([1e5, 2e5, 1e5, 3e5, 1e5]), np.zeros(5), 0)
    assert np.isfinite(few.predict(workloads(20))).all()
    same = np.repeat(table[:1], 6, axis=0)
    (equal,) = fit_queueing(same, np.full(6, 11.0))
    assert time_of(equal, same) == pytest.approx(np.full(6, 11.0), abs=0.05)


def test_it_is_read_as_it_was_written(found: KrigingSurface) -> None:
    node = Node(json.loads(json.dumps(found.to_json())), "")
    read = KrigingSurface.from_json(node, EXTENDED)
    asked = workloads(40)
    assert read.predict(asked).tolist() == found.predict(asked).tolist()
    written = DRIVE.to_json()
    for name, value, message in (
        ("layout", {}, "an object with 'page_bytes'"),
        ("layout", {**written["layout"], "units": 7}, "one that is tried"),
        ("layout", {**written["layout"], "units": 3, "members": 2}, "a divisor of the units"),
        ("layout", {**written["layout"], "merges": 1}, "true or false"),
        ("parameters", dict.fromkeys(COSTS, 1e3), "from -100 to 100"),
        ("told", ["program", "read"], "in their order, each once"),
        ("told", ["other"], "one of path_read"),
    ):
        with pytest.raises(MismatchError, match=message):
            Queueing.from_json(Node(written | {name: value}, ""))
