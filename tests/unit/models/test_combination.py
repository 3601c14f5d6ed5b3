"""Weights of a combination: their values, and that the combination is no worse than a member."""

from __future__ import annotations

import numpy as np
import pytest

from drivelab.checked_json import MismatchError, Node
from drivelab.models.combination import Combination, combining_weights
from drivelab.models.features import FEATURE_SETS


def test_the_best_weights_are_found() -> None:
    random = np.random.default_rng(0)
    targets = random.normal(size=4000)
    # Independent errors: weights go with the inverse of their variances, 4 to 1.
    answers = {
        "boosted": targets + random.normal(0, 0.1, 4000),
        "kriging": targets + random.normal(0, 0.05, 4000),
    }
    weights = combining_weights(answers, targets)
    assert weights == pytest.approx({"boosted": 0.2, "kriging": 0.8}, abs=0.03)
    assert sum(weights.values()) == pytest.approx(1, abs=1e-12)


def test_who_adds_nothing_has_hardly_a_weight() -> None:
    random = np.random.default_rng(1)
    targets = random.normal(size=500)
    good = targets + random.normal(0, 0.05, 500)
    worse = good + random.normal(0, 1.0, 500)
    weights = combining_weights({"boosted": worse, "kriging": good}, targets)
    assert weights.get("boosted", 0) < 0.01
    # All exact: any weights do.
    exact = combining_weights({"boosted": targets, "kriging": targets}, targets)
    assert sum(exact.values()) == pytest.approx(1)


def test_few_that_are_far_off_do_not_decide() -> None:
    random = np.random.default_rng(2)
    targets = random.normal(size=300)
    often = targets + random.normal(0, 0.02, 300)
    rarely = targets + random.normal(0, 0.2, 300)
    often[:3] += 5.0
    weights = combining_weights({"boosted": rarely, "kriging": often}, targets)
    assert weights["kriging"] > 0.5


@pytest.mark.parametrize("weights", [{}, {"kriging": 0.5}, {"kriging": -1.0}, {"other": 1.0}])
def test_weights_that_are_none_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(MismatchError, match="weights above 0, 1 together"):
        Combination.from_json(Node({"weights": weights}, ""), FEATURE_SETS["basic"])
