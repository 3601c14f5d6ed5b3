"""Accuracy against hand calculation and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    mean_absolute_error,
    mean_absolute_percentage_error,
    r2_score,
)

from drivelab.errors import UsageError
from drivelab.models.accuracy import measure_accuracy


def test_by_hand() -> None:
    # Errors 1, 0, 2 of 2, 4, 8: SSE 5, mean 14/3, SST 84 - 196/3 = 56/3.
    found = measure_accuracy([2, 4, 8], [1, 4, 10])
    assert found.r2 == pytest.approx(1 - 5 * 3 / 56, rel=1e-12)
    assert found.mae == pytest.approx(1, rel=1e-12)
    assert found.mean == pytest.approx(14 / 3, rel=1e-12)
    assert found.mre == pytest.approx((0.5 + 0 + 0.25) / 3, rel=1e-12)
    assert found.rows == 3


positive = st.floats(1e-3, 1e9)


@given(st.lists(st.tuples(positive, positive), min_size=2, max_size=50))
def test_equal_to_scikit_learn(pairs: list[tuple[float, float]]) -> None:
    observed, predicted = (np.array(column) for column in zip(*pairs, strict=True))
    found = measure_accuracy(observed, predicted)
    assert found.mae == pytest.approx(mean_absolute_error(observed, predicted), rel=1e-9)
    expected = mean_absolute_percentage_error(observed, predicted)
    assert found.mre == pytest.approx(expected, rel=1e-9)
    if np.ptp(observed) > 1e-3 * observed.max():
        # Closer together, both differ by the rounding of the mean.
        assert found.r2 == pytest.approx(r2_score(observed, predicted), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("observed", [[3.0], [0.1, 0.1, 0.1]])
def test_without_spread_there_is_no_r2(observed: list[float]) -> None:
    found = measure_accuracy(observed, [value * 1.5 for value in observed])
    assert math.isnan(found.r2)
    assert found.mre == pytest.approx(0.5, rel=1e-12)
    assert found.to_json()["r2"] is None


@pytest.mark.parametrize(
    ("observed", "predicted", "message"),
    [
        ([], [], "at least one"),
        ([1.0], [1.0, 2.0], "as many"),
        ([[1.0]], [[1.0]], "as many"),
        ([1.0, math.nan], [1.0, 1.0], "finite"),
        ([1.0, 1.0], [1.0, math.inf], "finite"),
        ([1.0, 0.0], [1.0, 1.0], "observation 1"),
    ],
)
def test_what_has_no_accuracy(observed: list[float], predicted: list[float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        measure_accuracy(observed, predicted)
