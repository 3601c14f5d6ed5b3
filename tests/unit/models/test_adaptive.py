"""What a model learnt, and what it would learn most from."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from synthetic_drive import measurements, spread_workloads

from drivelab.models import adaptive
from drivelab.models.adaptive import ExpectedError, Judge, choose, learn, limited_by_noise
from drivelab.models.features import FEATURE_SETS
from drivelab.models.gaussian_process import root_of, solved
from drivelab.models.kriging_surface import Inputs
from drivelab.models.measured import Rows, fitted_and_checked
from drivelab.workloads.parts import Parts

INPUTS = Inputs(FEATURE_SETS["extended"])


@pytest.fixture(scope="module")
def rows() -> Rows:
    measured = measurements(spread_workloads(60, 4), noise=0.02)
    return fitted_and_checked(measured, Parts(40, 12, chosen=8))[0]


@pytest.fixture(scope="module")
def learned(rows: Rows) -> adaptive.Learned:
    return learn(rows, INPUTS)


def test_errors_are_those_of_a_model_that_never_saw_the_row(
    rows: Rows, learned: adaptive.Learned
) -> None:
    kriging = learned.kriging
    noise = learned.noise_variances / kriging.target_scale_**2
    targets = np.log(rows.observed["latency_ns_mean"] / rows.table[:, 1])
    standard = (targets - kriging.target_centre_) / kriging.target_scale_
    for row in (0, 17, 59):
        others = np.arange(60) != row
        root = root_of(kriging.process_, kriging.rows_[others], noise[others])
        weights = solved(root, solved(root, standard[others]), transposed=True)
        shared = kriging.process_.covariance(kriging.rows_[[row]], kriging.rows_[others])
        error = kriging.target_scale_ * float(standard[row] - (shared @ weights)[0])
        assert learned.errors[row] == pytest.approx(error, rel=1e-5, abs=1e-8)


def test_repeats_of_a_workload_are_left_out_together(rows: Rows) -> None:
    twice = Rows(
        np.vstack([rows.table, rows.table[:5]]),
        {name: np.concatenate([of, of[:5]]) for name, of in rows.observed.items()},
        np.full(65, 1e-5),
        np.arange(65),
        [*rows.keys, *rows.keys[:5]],
        [*rows.parts, *["chosen"] * 5],
    )
    learned = learn(twice, INPUTS)
    assert learned.errors[:5] == pytest.approx(learned.errors[60:], rel=1e-6)
    # By its twin alone each would be known to its noise.
    assert np.abs(learned.errors[:5]).mean() > 0.02


def test_choices_are_distinct_and_lower_what_is_not_known(learned: adaptive.Learned) -> None:
    candidates, reference = spread_workloads(300, 5), spread_workloads(100, 6)
    chosen = choose(learned, candidates, reference, 12)
    assert len(set(chosen)) == 12
    assert chosen == choose(learned, candidates, reference, 12)
    assert chosen[:5] == choose(learned, candidates, reference, 5)

    def left(places: list[int]) -> float:
        kriging = learned.kriging
        both = np.vstack([INPUTS.of(candidates[places]), INPUTS.of(reference)])
        covariance = kriging.covariance(both)
        seen = covariance[:12, :12] + np.eye(12) * kriging.nugget_variance_
        shared = covariance[12:, :12]
        known = (shared * np.linalg.solve(seen, shared.T).T).sum(axis=1)
        return float((np.diagonal(covariance)[12:] - known).mean())

    draw = np.random.default_rng(1)
    at_random = [left(list(draw.permutation(300)[:12])) for _ in range(10)]
    assert left(chosen) < min(at_random)


def test_more_is_chosen_where_errors_are_larger_than_the_model_thinks(
    learned: adaptive.Learned,
) -> None:
    candidates, reference = spread_workloads(300, 5), spread_workloads(100, 6)
    writes = learned.table[:, 0] > 0.5
    off = dataclasses.replace(learned, errors=np.where(writes, 10.0, 0.1) * learned.errors)

    def share(model: adaptive.Learned) -> float:
        return float((candidates[choose(model, candidates, reference, 20), 0] > 0.5).mean())

    assert share(off) > share(learned)


@pytest.mark.long
def test_the_expected_error_is_of_workloads_that_stand_for_the_population(rows: Rows) -> None:
    found = Judge(3).judged(rows).expected
    assert found.workloads == 52
    assert 0.01 < found.ratio < 0.5
    assert 0 < found.deviation < found.ratio
    assert found == Judge(3).judged(rows).expected
    assert ExpectedError(0.061, 0.007, 50).describe() == "6.1 % ± 0.7"
    assert ExpectedError(2.2e23, 1e23, 50).describe() == "above 1,000 %"


def test_noise_limits_a_row_where_it_hides_the_rest(rows: Rows) -> None:
    def noisy(one: float) -> Rows:
        return dataclasses.replace(rows, noise=np.array([one, *[1e-7] * 59]))

    assert limited_by_noise(learn(noisy(4.0), INPUTS)).tolist() == [True] + [False] * 59
    assert not limited_by_noise(learn(noisy(1e-7), INPUTS)).any()
