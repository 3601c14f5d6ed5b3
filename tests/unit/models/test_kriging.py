"""Kriging: scikit-learn's process as the oracle, its conventions, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern
from sklearn.utils.estimator_checks import check_estimator

from drivelab.errors import ParameterError
from drivelab.models import gaussian_process
from drivelab.models.gaussian_process import CONSTANT, Process, likeliest
from drivelab.models.kriging import KrigingRegressor, after_measuring
from drivelab.models.linear_leaf_tree import LinearLeafTree


def surface(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    places = random.uniform(size=(rows, 4))
    values = np.sin(5 * places[:, 0]) + places[:, 1] * places[:, 2]
    return places, values + 0.01 * random.normal(size=rows)


def test_it_follows_scikit_learns_conventions() -> None:
    results = check_estimator(KrigingRegressor(max_steps=5), on_skip=None, on_fail=None)
    failed = [one for one in results if one["status"] not in ("passed", "skipped")]
    assert failed == []


def test_it_says_what_scikit_learns_process_says_under_the_same_parameters() -> None:
    places, values = surface(80)
    noise = np.random.default_rng(1).uniform(0, 1e-3, size=80)
    fitted = KrigingRegressor().fit(places, values, noise_variance=noise)
    process, scale = fitted.process_, fitted.target_scale_
    kernel = ConstantKernel(process.amplitude) * Matern(process.lengths, nu=2.5)
    # DotProduct's sigma_0 squared is the constant; it comes with the slopes' variance.
    sigma = np.sqrt(CONSTANT / process.slope)
    kernel += ConstantKernel(process.slope) * DotProduct(sigma)
    other = GaussianProcessRegressor(
        kernel, alpha=noise / scale**2 + process.nugget + 1e-9, optimizer=None
    )
    other.fit(fitted.rows_, (values - fitted.target_centre_) / scale)
    asked = surface(30, seed=2)[0]
    mean, std = other.predict((asked - fitted.centre_) / fitted.scale_, return_std=True)
    found_mean, found_std = fitted.predict(asked, return_std=True)
    assert found_mean == pytest.approx(mean * scale + fitted.target_centre_, abs=1e-8)
    assert found_std == pytest.approx(scale * np.sqrt(std**2 + process.nugget), rel=1e-6)


def test_the_search_ends_where_the_likelihood_is_flat() -> None:
    places, values = surface(60)
    fitted = KrigingRegressor().fit(places, values)
    targets = (values - fitted.target_centre_) / fitted.target_scale_

    def of(logarithms: np.ndarray) -> float:
        variances = np.exp(logarithms[:3])
        start = Process(*variances.tolist(), np.exp(logarithms[3:]))
        return likeliest(fitted.rows_, targets, np.zeros(60), start=start, steps=150)[1]

    best = fitted.process_
    place = np.log([best.amplitude, best.slope, best.nugget, *best.lengths])
    # Begun from elsewhere it comes to the same.
    assert of(place + 0.3) == pytest.approx(fitted.log_likelihood_, abs=0.05)


def test_the_gradient_is_that_of_the_likelihood() -> None:
    places, values = surface(40)
    likelihood = gaussian_process.Likelihood(
        places - 0.5, values - values.mean(), np.full(40, 1e-3)
    )
    place = np.array([0.1, -1.0, -3.0, 0.2, 0.5, 1.0, -0.4])
    differences = approx_fprime(place, lambda at: likelihood(at)[0], 1e-6)
    assert likelihood(place)[1] == pytest.approx(differences, abs=1e-4)


def test_an_answer_does_not_depend_on_the_other_rows() -> None:
    places, values = surface(70)
    fitted = KrigingRegressor().fit(places, values)
    asked = surface(50, seed=3)[0]
    together = fitted.predict(asked)
    assert [fitted.predict(row.reshape(1, -1))[0] for row in asked] == together.tolist()


def test_what_a_measurement_leaves_is_what_a_fit_with_it_knows() -> None:
    places, values = surface(50)
    fitted = KrigingRegressor(max_steps=1).fit(places, values)
    candidates = surface(20, seed=4)[0]
    before = fitted.covariance(candidates)
    assert before == pytest.approx(before.T, abs=1e-12)
    std = fitted.predict(candidates, return_std=True)[1]
    assert np.diagonal(before) + fitted.nugget_variance_ == pytest.approx(std**2, rel=1e-6)
    noise = fitted.nugget_variance_ + 1e-9 * fitted.target_scale_**2
    left = after_measuring(before, 7, noise)
    with_it = np.vstack([fitted.rows_, (candidates[7:8] - fitted.centre_) / fitted.scale_])
    rows = (candidates - fitted.centre_) / fitted.scale_
    process = fitted.process_
    seen = process.covariance(with_it, with_it) + (process.nugget + 1e-9) * np.eye(51)
    shared = process.covariance(with_it, rows)
    expected = process.covariance(rows, rows) - shared.T @ np.linalg.solve(seen, shared)
    assert left == pytest.approx(expected * fitted.target_scale_**2, abs=1e-8)


def test_a_noisy_row_counts_for_less() -> None:
    places, values = surface(60)
    wrong = values.copy()
    wrong[30] += 3.0
    noise = np.zeros(60)
    noise[30] = 9.0
    with_noise = (
        KrigingRegressor().fit(places, wrong, noise_variance=noise).predict(places[30:31])[0]
    )
    untold = KrigingRegressor().fit(places, wrong).predict(places[30:31])[0]
    assert abs(with_noise - values[30]) < 0.2 < abs(untold - values[30])


def test_more_rows_than_the_search_sees_all_count() -> None:
    places, values = surface(200)
    asked, truth = surface(100, seed=5)
    few = KrigingRegressor(max_search_rows=60).fit(places, values)
    error = np.abs(few.predict(asked) - truth).mean()
    alone = KrigingRegressor().fit(places[:60], values[:60])
    assert error < 0.7 * np.abs(alone.predict(asked) - truth).mean()


def test_constant_targets_and_equal_rows_are_answered() -> None:
    places = surface(12)[0]
    mean, std = KrigingRegressor().fit(places, np.full(12, 7.5)).predict(places, return_std=True)
    assert mean.tolist() == [7.5] * 12
    assert std.tolist() == [0.0] * 12
    twice = np.vstack([places, places])
    values = np.concatenate([places[:, 0], places[:, 0] + 0.01])
    answers = KrigingRegressor().fit(twice, values).predict(places)
    assert answers == pytest.approx(places[:, 0] + 0.005, abs=0.01)
    one = KrigingRegressor().fit([[1.0, 2.0]], [3.0])
    assert one.predict([[5.0, 5.0]]).tolist() == [3.0]


def test_what_it_cannot_hold_or_take_is_refused() -> None:
    places, values = surface(20)
    many = np.zeros((1_000_000, 1))
    with pytest.raises(ValueError, match=r"at most 5,000 rows, found 1,000,000: .* boosted trees"):
        KrigingRegressor().fit(many, many[:, 0])
    with pytest.raises(ValueError, match="max_steps is 0; allowed: a whole number from 1 on"):
        KrigingRegressor(max_steps=0).fit(places, values)
    with pytest.raises(ValueError, match="one value a row, 0 or more"):
        KrigingRegressor().fit(places, values, noise_variance=np.zeros(3))
    with pytest.raises(ValueError, match="one value a row, 0 or more"):
        KrigingRegressor().fit(places, values, noise_variance=np.full(20, -1.0))
    places[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        KrigingRegressor().fit(places, values)


def test_values_whose_squares_overflow_are_refused_as_trees_refuse_them() -> None:
    places, values = surface(30)
    for model in (KrigingRegressor(), LinearLeafTree()):
        with pytest.raises(ParameterError, match="the targets spread too widely for squared"):
            model.fit(places, values * 1e155)
        wide = places * [1, 1e155, 1, 1]
        with pytest.raises(ParameterError, match="the values of column 1 spread too widely"):
            model.fit(wide, values)
        large = model.fit(places, values * 1e150).predict(places)
        assert np.isfinite(large).all()
