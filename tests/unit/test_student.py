"""Means of a few rounds and their intervals, against SciPy and by hand."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from drivelab.student import mean_interval, ratio_interval, student_quantile


@pytest.mark.parametrize("freedom", [*range(1, 31), 100])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_quantile_is_scipys(freedom: int, level: float) -> None:
    expected = stats.t.ppf((1 + level) / 2, freedom)
    assert student_quantile(freedom, level) == pytest.approx(expected, rel=1e-9)


def test_interval_of_five_rounds_by_hand() -> None:
    # Deviations -2 to 2: variance 10 / 4, standard error sqrt(2.5 / 5).
    interval = mean_interval([98.0, 99.0, 100.0, 101.0, 102.0])
    half = 2.7764451 * math.sqrt(0.5)
    assert interval.mean == 100
    assert interval.ends == pytest.approx((100 - half, 100 + half), rel=1e-7)


def test_ratio_of_two_means_by_hand_and_as_wide_as_welch() -> None:
    one, other = [98.0, 99.0, 100.0, 101.0, 102.0], [49.0, 49.5, 50.0, 50.5, 51.0]
    # Relative standard errors of sqrt(0.5) % each: 1 % together, eight degrees of freedom.
    found = ratio_interval(one, other)
    assert found.mean == 2
    assert found.ends == pytest.approx((2 - 0.02 * 2.3060041, 2 + 0.02 * 2.3060041), rel=1e-7)
    # A reference that does not scatter leaves the interval of the rounds.
    half = 2.7764451 * math.sqrt(0.5)
    alone = ratio_interval(one, [50.0] * 5)
    assert alone.ends == pytest.approx((2 - half / 50, 2 + half / 50), rel=1e-7)
    # A reference that scatters more leaves its own degrees of freedom.
    wild = ratio_interval([50.0] * 5, one)
    assert wild.ends == pytest.approx((0.5 - half / 200, 0.5 + half / 200), rel=1e-7)
    assert ratio_interval([7.0], other).ends is None
    assert ratio_interval([7.0] * 2, [3.5] * 2).ends == (2.0, 2.0)


def test_interval_of_rounds_is_scipys() -> None:
    rounds = [1.3, 1.7, 1.1, 1.9, 1.2]
    low, high = stats.t.interval(0.95, 4, loc=stats.tmean(rounds), scale=stats.sem(rounds))
    assert mean_interval(rounds).ends == pytest.approx((low, high))


def test_equal_rounds_and_a_single_one() -> None:
    assert mean_interval([7.0] * 5).ends == (7.0, 7.0)
    single = mean_interval([7.0])
    assert (single.mean, single.ends) == (7.0, None)
