"""The tree with linear leaves against scikit-learn's contract, numpy and known functions."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import QuantileRegressor
from sklearn.utils.estimator_checks import check_estimator
from synthetic_drive import extended, latency_ns, spread_workloads

from drivelab.errors import ParameterError, UsageError
from drivelab.models.linear_leaf_tree import LinearLeafTree

# Of scikit-learn's checks those that need SciPy's array API mode, and one that needs no pandas.
NOT_RUN = {
    "check_array_api_input",
    "check_dataframe_column_names_consistency",
    "check_regressor_data_not_an_array",
}


@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_scikit_learn_contract(loss: str) -> None:
    results = check_estimator(LinearLeafTree(loss=loss), on_skip=None, on_fail=None)
    others = [result for result in results if result["status"] != "passed"]
    assert {result["check_name"] for result in others} <= NOT_RUN, others
    assert {result["status"] for result in others} <= {"skipped"}
    names = {result["check_name"] for result in results}
    assert "check_sample_weight_equivalence_on_dense_data" in names
    assert len(results) > 30


def drive(rows: int, seed: int, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    workloads = spread_workloads(rows, seed)
    return extended(workloads), np.log(latency_ns(workloads, noise, seed))


def leaf_of(arrays: dict[str, list[float]], row: np.ndarray) -> int:
    node = 0
    while arrays["feature"][node] >= 0:
        value = row[int(arrays["feature"][node])]
        left = value <= arrays["threshold"][node]
        if np.isnan(value):
            left = bool(arrays["missing_left"][node])
        node = int(arrays["left"][node] if left else arrays["right"][node])
    return node


def test_each_leaf_is_least_squares_of_its_rows() -> None:
    features, targets = drive(600, 0, noise=0.03)
    model = LinearLeafTree().fit(features, targets)
    arrays = model.ensemble_.arrays()
    leaves = np.array([leaf_of(arrays, row) for row in features])
    assert 3 < model.n_leaves_ == len(np.unique(leaves))
    predicted = model.predict(features)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        inputs = np.column_stack([np.ones(rows.sum()), features[rows]])
        fitted = inputs @ np.linalg.lstsq(inputs, targets[rows], rcond=None)[0]
        np.testing.assert_allclose(predicted[rows], fitted, rtol=1e-8)
        assert model.nodes_["weight"][leaf] == rows.sum() >= 20
        assert model.nodes_["mean"][leaf] == pytest.approx(targets[rows].mean())
        loss = np.mean((targets[rows] - fitted) ** 2)
        assert model.nodes_["loss"][leaf] == pytest.approx(loss, rel=1e-6)


def test_one_quantile_leaf_is_that_of_scikit_learn() -> None:
    features, targets = drive(150, 1, noise=0.2)
    features = features[:, :3]
    for quantile in (0.2, 0.5, 0.9):
        model = LinearLeafTree(loss="quantile", quantile=quantile, max_depth=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            oracle = QuantileRegressor(quantile=quantile, alpha=0).fit(features, targets)
        ours = model.fit(features, targets).predict(features)
        np.testing.assert_allclose(ours, oracle.predict(features), atol=1e-5)


def test_it_learns_a_drive_and_prunes_what_is_noise() -> None:
    features, targets = drive(3000, 2, noise=0.03)
    unseen, truth = drive(1000, 1002)
    pruned = LinearLeafTree().fit(features, targets)
    grown = LinearLeafTree(prune_folds=0).fit(features, targets)
    assert pruned.n_leaves_ < grown.n_leaves_

    def error(model: LinearLeafTree) -> float:
        return float(np.mean(np.abs(model.predict(unseen) - truth)))

    assert error(pruned) < error(grown)
    assert error(pruned) < 0.1


def test_weights_of_nothing_and_repetitions() -> None:
    features, targets = drive(200, 3, noise=0.1)
    weights = np.random.default_rng(3).integers(0, 3, 200)
    weighted = LinearLeafTree().fit(features, targets, sample_weight=weights)
    repeated = LinearLeafTree().fit(
        np.repeat(features, weights, axis=0), np.repeat(targets, weights)
    )
    assert weighted.ensemble_.arrays() == repeated.ensemble_.arrays()
    with pytest.raises(ValueError, match=r"[Zz]ero|weights are 0|one is above 0"):
        LinearLeafTree().fit(features, targets, sample_weight=np.zeros(200))


def test_threads_change_nothing() -> None:
    features, targets = drive(300, 4, noise=0.1)
    one = LinearLeafTree().fit(features, targets)
    for jobs in (2, -1):
        many = LinearLeafTree(n_jobs=jobs).fit(features, targets)
        assert many.ensemble_.arrays() == one.ensemble_.arrays()
        assert np.array_equal(many.predict(features), one.predict(features))


def test_categories_by_place_mask_and_name() -> None:
    random = np.random.default_rng(5)
    kind = random.integers(0, 6, 400)
    x = random.uniform(0, 1, 400)
    targets = np.where(np.isin(kind, [0, 3, 5]), 4 * x, 2 - 3 * x)
    features = np.column_stack([x, kind]).astype(float)
    frame = pd.DataFrame(features, columns=["x", "kind"])
    models = [
        LinearLeafTree(categorical_features=[1]).fit(features, targets),
        LinearLeafTree(categorical_features=[False, True]).fit(features, targets),
        LinearLeafTree(categorical_features=["kind"]).fit(frame, targets),
    ]
    arrays = models[0].ensemble_.arrays()
    assert arrays["feature"] == [1, -1, -1]
    assert set(arrays["category"]) in ({0, 3, 5}, {1, 2, 4})
    assert all(model.ensemble_.arrays() == arrays for model in models)
    np.testing.assert_allclose(models[2].predict(frame), targets, atol=1e-9)
    copy = pickle.loads(pickle.dumps(models[0]))  # noqa: S301
    assert np.array_equal(copy.predict(features), models[0].predict(features))


def test_categories_that_are_texts_are_refused_by_column() -> None:
    kind = ["a", "b"] * 20
    targets = np.arange(40.0)
    frame = pd.DataFrame({"x": targets, "kind": kind})
    said = r"column 'kind' contains the text 'a'; give categories as numbers, the same"
    with pytest.raises(ParameterError, match=said):
        LinearLeafTree(categorical_features=["kind"]).fit(frame, targets)
    with pytest.raises(ParameterError, match="column 1 contains the text 'a'"):
        LinearLeafTree(categorical_features=[1]).fit(frame.to_numpy(), targets)
    codes = frame.assign(kind=pd.factorize(frame["kind"])[0])
    fitted = LinearLeafTree(categorical_features=["kind"]).fit(codes, targets)
    with pytest.raises(ParameterError, match=said):
        fitted.predict(frame)
    with pytest.raises(ValueError, match="Complex"):
        fitted.fit(codes.to_numpy() * 1j, targets)


def test_importances_of_what_matters() -> None:
    random = np.random.default_rng(6)
    features = random.uniform(-1, 1, (500, 3))
    straight = LinearLeafTree().fit(features, 3 * features[:, 0])
    np.testing.assert_allclose(straight.feature_importances_, [1, 0, 0], atol=1e-9)
    kinked = LinearLeafTree().fit(features, np.abs(features[:, 2]) + 0.2 * features[:, 0])
    assert list(np.argsort(kinked.feature_importances_)) == [1, 0, 2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("loss", "absolute"),
        ("max_depth", -1),
        ("max_depth", 2.5),
        ("min_samples_leaf", 0),
        ("ridge", -1.0),
        ("max_bins", 1),
        ("prune_folds", 1),
        ("prune_standard_errors", -0.5),
        ("prune_standard_errors", float("nan")),
        ("categorical_features", [8]),
        ("categorical_features", ["x"]),
        ("n_jobs", 0),
        ("n_jobs", -2),
    ],
)
def test_bad_parameters_are_value_errors(name: str, value: object) -> None:
    features, targets = drive(40, 7)
    with pytest.raises(ValueError, match="allowed") as caught:
        LinearLeafTree(**{name: value}).fit(features, targets)
    assert isinstance(caught.value, UsageError)
    assert name in str(caught.value)


@pytest.mark.parametrize("quantile", [0.0, 1.0, -3, "half"])
def test_bad_quantiles_are_value_errors(quantile: object) -> None:
    features, targets = drive(40, 7)
    with pytest.raises(ValueError, match=r"quantile is .*allowed"):
        LinearLeafTree(loss="quantile", quantile=quantile).fit(features, targets)


@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_odd_data(loss: str) -> None:
    model = LinearLeafTree(loss=loss)
    assert model.fit([[3.0]], [7.0]).predict([[9.0]]) == [7.0]
    constant = model.fit([[float(row)] for row in range(50)], [5.0] * 50)
    assert np.array_equal(constant.predict([[-3.0], [np.nan]]), [5.0, 5.0])
    assert not constant.feature_importances_.any()
    missing = model.fit([[np.nan, np.nan]] * 50, [1.0, 3.0] * 25)
    assert 1 <= missing.predict([[np.nan, 2.0]])[0] <= 3
    # Groups of one, duplicates, and a column that is the double of another.
    rows = np.repeat(np.arange(60.0), 2)
    doubled = model.fit(np.column_stack([rows, 2 * rows, rows]), rows**2)
    assert np.isfinite(doubled.predict(np.column_stack([rows, 2 * rows, rows]))).all()
