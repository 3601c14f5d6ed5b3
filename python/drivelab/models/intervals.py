"""Prediction intervals by cross-conformal prediction (Vovk 2015; Barber et al. 2021).

Some of a run's workloads are drawn at random from the population that the design states. The
cross-validation answers each by a fit that left it out; how far that is off is a score,
``|ln observed - ln predicted|``, over how hard the workload is (`drivelab.models.difficulty`). Of n
scores the one of rank ``ceil((n + 1) * level)``, times how hard the workload in question is, is the
half-width of its interval on the logarithm: if a new workload drawn at random from the same
population is answered as well as these were, it is as likely to have any rank among the n + 1.
It is answered a little better, as the model knows those too, so intervals hold the level or a
little more, on average over campaigns and questions, not for each question.

Workloads that a model chose train models and are never scores: they are harder than most, and
drawn from no population.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivelab.errors import CannotAnswerError, UsageError
from drivelab.models.features import FloatArray

IntArray = NDArray[np.int64]

LEVELS: Final = (0.8, 0.9, 0.95)
# Far more than logarithm and exponential round, far less than anybody measures.
_ROUNDING: Final = 1e-12


def conformal_rank(count: int, level: float) -> int:
    """Return the rank of the score that is the half-width, 1 to `count`; beyond it: infinite.

    Exact: 0.95 is nineteen twentieths here, not the float next to it.
    """
    return math.ceil((count + 1) * Fraction(str(level)))


def workloads_needed(level: float) -> int:
    """Return how few reserved workloads give an interval at that level."""
    count = 1
    while conformal_rank(count, level) > count:
        count += 1
    return count


def levels_possible(count: int) -> tuple[float, ...]:
    """Return the levels for which this many reserved workloads give an interval."""
    return tuple(level for level in LEVELS if conformal_rank(count, level) <= count)


def check_level(level: float) -> None:
    """Raise `UsageError` for a level that no interval is given at."""
    if level not in LEVELS:
        allowed = ", ".join(f"{100 * one:g} %" for one in LEVELS)
        raise UsageError(f"{100 * level:g} % is not a level of an interval; allowed: {allowed}")


def half_width(scores: FloatArray, level: float) -> float:
    """Return the half-width of an interval on the logarithm, of a workload as hard as 1.

    Parameters
    ----------
    scores
        Ascending, one a reserved workload.
    level
        One of `LEVELS`.

    Raises
    ------
    CannotAnswerError
        When there are too few scores for the level.
    """
    rank = conformal_rank(len(scores), level)
    if rank > len(scores):
        raise CannotAnswerError(
            f"an interval at {100 * level:g} % needs {workloads_needed(level)} workloads reserved "
            f"for calibration, the model has {len(scores)}: measure a larger design"
        )
    return float(scores[rank - 1])


def grouped_half_width(scores: FloatArray, groups: IntArray, level: float) -> float | None:
    """Return the half-width for a measurement of a setting that is in none of the groups.

    Repeats of a setting are off alike, so each group counts once, however many rows it has: a score
    counts as one over the rows of its group (Lee, Barber and Willett 2023). With a row a group it
    is the half-width of `half_width`.

    Parameters
    ----------
    scores
        How far each row's answer is off, by a fit without its group, shape (n,).
    groups
        Of each row, a number from 0 on.
    level
        One of `LEVELS`.

    Returns
    -------
    float or None
        None where there are too few groups for the level.
    """
    sizes = np.bincount(groups)
    order = np.argsort(scores, kind="stable")
    covered = np.cumsum(1 / sizes[groups[order]])
    needed = float((int(np.count_nonzero(sizes)) + 1) * Fraction(str(level)))
    # Sums of shares round; groups of one have none.
    place = int(np.searchsorted(covered, needed - 1e-9))
    return float(scores[order[place]]) if place < len(order) else None


def ends_around(predicted: FloatArray, width: FloatArray) -> FloatArray:
    """Return the ends of the intervals around predictions, shape (n, 2), NaN around NaN."""
    with np.errstate(over="ignore", under="ignore"):
        factor = np.exp(width) * (1 + _ROUNDING)
        return np.column_stack([predicted / factor, predicted * factor])


def around(predicted: FloatArray, width: FloatArray) -> FloatArray:
    """Return the ends of the intervals around predictions, shape (n, 2).

    Raises
    ------
    CannotAnswerError
        When an end would lie outside what a number can hold.
    """
    ends = ends_around(predicted, width)
    if not ((ends > 0) & (ends < np.inf)).all():
        raise CannotAnswerError("the interval is wider than numbers reach: the model knows nothing")
    return ends
