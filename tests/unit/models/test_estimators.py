"""Boosted linear trees against scikit-learn's contract and known functions."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator
from synthetic_drive import extended, latency_ns, spread_workloads

from drivelab.errors import UsageError
from drivelab.models.estimators import BoostedLinearTrees

# Of scikit-learn's checks those that need pandas or SciPy's array API mode.
NOT_RUN = {
    "check_array_api_input",
    "check_dataframe_column_names_consistency",
    "check_regressor_data_not_an_array",
}


def test_scikit_learn_contract() -> None:
    # Fewer rows a tree than there are, so that random_state matters; trees enough to fit.
    estimator = BoostedLinearTrees(n_estimators=50, row_fraction=0.8)
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    others = [result for result in results if result["status"] != "passed"]
    assert {result["check_name"] for result in others} <= NOT_RUN, others
    assert {result["status"] for result in others} <= {"skipped"}
    assert len(results) > 30


def drive(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    workloads = spread_workloads(rows, seed)
    return extended(workloads), np.log(latency_ns(workloads))


def test_a_drive_is_learned_across_folds() -> None:
    # Of what a straight line leaves unexplained at least nine tenths: the drive has kinks.
    features, targets = drive(600, 0)
    assert not np.isnan(features).any()
    linear = cross_val_score(LinearRegression(), features, targets, cv=5).mean()
    boosted = cross_val_score(BoostedLinearTrees(), features, targets, cv=5).mean()
    assert 1 - boosted < 0.1 * (1 - linear)


def test_pickled_trees_answer_the_same() -> None:
    features, targets = drive(200, 1)
    model = BoostedLinearTrees(n_estimators=5).fit(features, targets)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(copy.predict(features), model.predict(features))


def test_random_state_decides_the_rows() -> None:
    features, targets = drive(200, 2)

    def fit(seed: int) -> np.ndarray:
        model = BoostedLinearTrees(n_estimators=5, row_fraction=0.5, random_state=seed)
        return model.fit(features, targets).predict(features)

    assert np.array_equal(fit(3), fit(3))
    assert not np.array_equal(fit(3), fit(4))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("learning_rate", 0.0),
        ("max_leaves", 0),
        ("min_samples_leaf", 0),
        ("ridge", -1.0),
        ("max_bins", 1),
        ("row_fraction", 2.0),
    ],
)
def test_parameters_out_of_range_are_named(name: str, value: float) -> None:
    features, targets = drive(20, 3)
    with pytest.raises(UsageError, match="allowed"):
        BoostedLinearTrees(**{name: value}).fit(features, targets)
