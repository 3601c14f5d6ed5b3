"""Means of a few rounds and their intervals, against SciPy and by hand."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from drivelab.pts.student import mean_interval, student_quantile


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
    assert interval.divided(50).ends == pytest.approx((2 - half / 50, 2 + half / 50))


def test_interval_of_rounds_is_scipys() -> None:
    rounds = [1.3, 1.7, 1.1, 1.9, 1.2]
    low, high = stats.t.interval(0.95, 4, loc=stats.tmean(rounds), scale=stats.sem(rounds))
    assert mean_interval(rounds).ends == pytest.approx((low, high))


def test_equal_rounds_and_a_single_one() -> None:
    assert mean_interval([7.0] * 5).ends == (7.0, 7.0)
    single = mean_interval([7.0])
    assert (single.mean, single.ends, single.divided(7).mean) == (7.0, None, 1.0)
