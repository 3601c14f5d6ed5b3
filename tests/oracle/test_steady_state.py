"""The steady-state rule against sums done by hand, and against scipy's least squares."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from drivelab.errors import UsageError
from drivelab.pts.steady_state import PTS, RULES, WHITE_PAPER, find_steady_state, judge_window


@pytest.mark.parametrize(
    ("values", "is_steady"),
    [
        # Mean 100: largest less smallest may be 20. The line of 90, 100, 100, 100, 110 rises
        # by (2 x 10 + 2 x 10) / 10 x 4 = 16, the others' by nothing: only the first drifts.
        ([90, 100, 100, 100, 110], False),
        ([100, 90, 100, 110, 100], True),
        ([100, 90, 100, 110.01, 99.99], False),
        ([0.1, 0.09, 0.1, 0.11, 0.1], True),
        # Mean 100, slope 2.5 a round: 10 over the window, exactly what is allowed.
        ([95, 97.5, 100, 102.5, 105], True),
        ([105, 102.5, 100, 97.5, 95], True),
        ([94.99, 97.5, 100, 102.5, 105.01], False),
        # Noise without drift: 103 - 85 = 18 of a mean of 97; the slope is (2 x 3 + 1 x -7) / 10.
        ([97, 103, 85, 96, 104], True),
        ([97, 103, 80, 96, 104], False),
        ([7, 7, 7, 7, 7], True),
        ([0, 0, 0, 0, 0], False),
        ([0, 0, 0, 0, 1], False),
    ],
)
def test_the_edges_of_the_specification_belong_to_the_steady_values(
    values: list[float], is_steady: bool
) -> None:
    assert judge_window(values).is_steady == is_steady
    # Neither the unit nor the direction of time matters.
    assert judge_window([value * 1024 for value in values]).is_steady == is_steady
    assert judge_window(values[::-1]).is_steady == is_steady


def test_the_table_of_a_window_by_hand() -> None:
    window = judge_window([10, 12, 11, 13, 14], first_round=3)
    assert (window.mean, window.data_excursion, window.allowed_data_excursion) == (12, 4, 2.4)
    # Sum of (round - 5) x value = -20 - 12 + 13 + 28 = 9, over 10.
    assert (window.slope, window.slope_excursion) == (0.9, 3.6)
    assert window.allowed_slope_excursion == 1.2
    assert window.intercept == 12 - 0.9 * 5
    assert (window.first_round, window.last_round) == (3, 7)
    assert not window.is_steady


@given(
    st.lists(st.floats(0, 1e9, allow_subnormal=False), min_size=10, max_size=10),
    st.integers(1, 25),
    st.sampled_from(sorted(RULES)),
)
def test_the_line_is_that_of_scipy(values: list[float], first: int, name: str) -> None:
    rule = RULES[name]
    values = values[: rule.window_rounds]
    window = judge_window(values, rule, first_round=first)
    rounds = np.arange(first, first + rule.window_rounds)
    scale = max(values)
    # scipy rounds, and its rounding is of the size of the largest value.
    line = stats.linregress(rounds, values)
    assert window.slope == pytest.approx(line.slope, rel=1e-9, abs=1e-12 * scale)
    assert window.intercept == pytest.approx(line.intercept, rel=1e-9, abs=1e-10 * scale)
    assert window.mean == pytest.approx(np.mean(values), rel=1e-12)
    assert window.data_excursion == pytest.approx(np.ptp(values), rel=1e-12)
    # scipy squares the differences, and squares of smaller ones are 0 to it.
    if np.ptp(values) > max(1e-3 * scale, 1e-100):
        assert window.correlation == pytest.approx(line.rvalue, abs=1e-9)
    if len(set(values)) == 1:
        assert window.correlation is None


def test_the_correlation_of_the_smallest_and_largest_rates_is_known() -> None:
    # Sums of products 2 v, of squares 10 and 4 v^2 / 5.
    for value in (1.0, 1e-200, 5e-324, 1.7e308):
        window = judge_window([0, 0, 0, 0, value])
        assert window.correlation == pytest.approx(2 / math.sqrt(8), rel=1e-15)


def test_the_first_steady_window_of_a_series_counts() -> None:
    falling = [200, 180, 150, 120, 101]
    series = [*falling, 100, 99, 101, 100, 100, 140]
    window = find_steady_state(series)
    assert window is not None
    assert (window.first_round, window.is_steady) == (5, True)
    assert window.values == (101, 100, 99, 101, 100)
    # Without one it is the last.
    never = find_steady_state([*falling, 150])
    assert never is not None
    assert (never.first_round, never.is_steady) == (2, False)
    assert find_steady_state(falling[:4]) is None


def test_the_white_paper_asks_for_more_rounds_and_less_excursion() -> None:
    # 5 % of a mean of 100 either way; the line over ten rounds rises by less.
    steady = [100, 97.5, 102.5, 100, 100, 100, 100, 97.5, 102.5, 100]
    assert judge_window(steady, WHITE_PAPER).is_steady
    assert not judge_window([*steady[:-1], 97.4], WHITE_PAPER).is_steady
    rising = [97.75 + 0.5 * place for place in range(10)]
    assert judge_window(rising, WHITE_PAPER).slope_excursion == 4.5
    assert judge_window(rising, WHITE_PAPER).is_steady
    assert judge_window(rising[:5], PTS).is_steady


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2, 3], "judges 5 rounds, but 3 are given"),
        ([1, 2, float("nan"), 4, 5], "round 3: nan"),
        ([1, 2, 3, 4, float("inf")], "round 5: inf"),
        ([-1, 2, 3, 4, 5], "round 1: -1"),
        ([1, "2", 3, 4, 5], "round 2: '2' is not a value to judge"),
        ([1, 2, 3, None, 5], "round 4: None is not a value to judge"),
    ],
)
def test_what_cannot_be_judged_is_one_line(values: list[float], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        judge_window(values)
