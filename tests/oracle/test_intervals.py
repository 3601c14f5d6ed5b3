"""Intervals compared with brute force, and their coverage on known populations."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from drivelab.errors import CannotAnswerError, UsageError
from drivelab.models import intervals
from drivelab.models.intervals import LEVELS

EXACT = {0.8: Fraction(4, 5), 0.9: Fraction(9, 10), 0.95: Fraction(19, 20)}


def smallest_rank(count: int, share: Fraction) -> int | None:
    """The first of the ranks 1 to n that a new score reaches with the share, counted out.

    A new score is as likely to take any of n + 1 places among n others; at rank r it is no
    larger than the r-th of them in r of these places.
    """
    for rank in range(1, count + 1):
        if Fraction(rank, count + 1) >= share:
            return rank
    return None


@pytest.mark.parametrize("level", LEVELS)
def test_rank_by_brute_force(level: float) -> None:
    for count in range(1, 500):
        scores = np.arange(1.0, count + 1)
        rank = smallest_rank(count, EXACT[level])
        if rank is None:
            assert count < intervals.workloads_needed(level)
            with pytest.raises(CannotAnswerError):
                intervals.half_width(scores, level)
        else:
            assert count >= intervals.workloads_needed(level)
            assert intervals.half_width(scores, level) == rank


def test_how_many_workloads_a_level_needs() -> None:
    assert [intervals.workloads_needed(level) for level in LEVELS] == [4, 9, 19]
    assert intervals.levels_possible(3) == ()
    assert intervals.levels_possible(9) == (0.8, 0.9)
    with pytest.raises(CannotAnswerError, match=r"95 % needs 19 workloads .* the model has 18"):
        intervals.half_width(np.zeros(18), 0.95)


def test_other_levels_are_refused() -> None:
    for level in (0.0, 0.5, 0.99, 90.0):
        with pytest.raises(UsageError, match="allowed: 80 %, 90 %, 95 %"):
            intervals.check_level(level)


@given(
    st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=5),
    st.floats(0, 5),
    st.floats(-1, 1),
)
def test_an_error_of_the_half_width_lies_inside(
    predicted: list[float], width: float, part: float
) -> None:
    middle = np.array(predicted)
    ends = intervals.around(middle, width)
    # As far off as allowed, in logarithms, in either direction.
    observed = np.exp(np.log(middle) + part * width)
    assert ((ends[:, 0] <= observed) & (observed <= ends[:, 1])).all()
    beyond = np.exp(np.log(middle) + math.copysign(width + 1e-9, part))
    assert ((beyond < ends[:, 0]) | (ends[:, 1] < beyond)).all()


def test_an_interval_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(CannotAnswerError, match="wider than numbers reach"):
        intervals.around(np.array([1.0]), 1e6)


Draw = Callable[[np.random.Generator, int], np.ndarray]


def heteroscedastic(random: np.random.Generator, count: int) -> np.ndarray:
    return np.abs(random.normal(size=count) * np.exp(2 * random.normal(size=count)))


POPULATIONS: dict[str, tuple[Draw, bool]] = {
    "normal": (lambda random, count: np.abs(random.normal(size=count)), True),
    "heavy tails": (lambda random, count: np.abs(random.standard_cauchy(size=count)), True),
    "heteroscedastic": (heteroscedastic, True),
    "ties": (lambda random, count: random.integers(0, 4, count) / 10, False),
    "constant": (lambda random, count: np.full(count, 1e-15), False),
}


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("count", [19, 60, 400])
def test_coverage_is_what_theory_says(name: str, level: float, count: int) -> None:
    # Where scores have no ties, the number of `asked` new scores inside follows a beta-binomial
    # law, whatever the distribution (Vovk 2012); with ties more are inside. The mean over seeds
    # lies within five of its standard errors of the law's: one test in a million fails by
    # chance, and the seeds are fixed.
    draw, continuous = POPULATIONS[name]
    asked, seeds = 200, 400
    rank = intervals.conformal_rank(count, level)
    inside = np.empty(seeds)
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        scores = np.sort(draw(random, count))
        width = intervals.half_width(scores, level)
        inside[seed] = np.count_nonzero(draw(random, asked) <= width)
    law = betabinom(asked, rank, count + 1 - rank)
    tolerance = 5 * law.std() / math.sqrt(seeds)
    assert law.mean() / asked >= level
    assert inside.mean() >= law.mean() - tolerance
    if continuous:
        assert inside.mean() <= law.mean() + tolerance
