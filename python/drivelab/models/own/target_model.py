"""Every estimator of one target of a table, how good each is, and which one answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.accuracy import Accuracy
from drivelab.models.evaluate import PREFERENCE
from drivelab.models.features import FloatArray
from drivelab.models.own.laws import Law
from drivelab.models.predictor import Predictor
from drivelab.models.predictors import ESTIMATORS
from drivelab.models.trained import BoolArray
from drivelab.near_names import meant

# Beyond the logarithm of any number that is read, and where squares are numbers still.
_HIGHEST_LOGARITHM: Final = 80.0


@dataclass(frozen=True)
class Importance:
    """By how much errors grow when a column is shuffled among the rows: mean and deviation.

    Of the mean relative error where the target is on the logarithm, else of the mean absolute one.
    """

    column: str
    increase: float
    deviation: float


@dataclass(frozen=True)
class TargetModel:
    """Every estimator of one target, and how good each is.

    Attributes
    ----------
    name
        Of the column.
    logarithm
        Whether predictors are of its natural logarithm.
    rows, left_out, groups
        Rows fitted to, rows without a value, and groups.
    low, high
        Smallest and largest value.
    predictors
        By estimator, fitted to all rows.
    cross_validated, in_sample
        By estimator, on rows of groups that a fit had not seen, and on those it was fitted to.
    half_widths
        By estimator and level, of intervals: on the logarithm where the target is; levels that
        there are too few groups for are missing.
    best
        The estimator that answers.
    importance
        Of the best; the most important column first.
    law
        How it follows from another target, whose models answer for it; None where it has its own.
    """

    name: str
    logarithm: bool
    rows: int
    left_out: int
    groups: int
    low: float
    high: float
    predictors: Mapping[str, Predictor]
    cross_validated: Mapping[str, Accuracy]
    in_sample: Mapping[str, Accuracy]
    half_widths: Mapping[str, Mapping[float, float]]
    best: str
    importance: tuple[Importance, ...]
    law: Law | None = None

    def error(self, estimator: str) -> float:
        """Return what estimators are compared by: MRE, or MAE of a target not above 0."""
        return error_of(self.cross_validated[estimator])

    def predict(self, table: FloatArray, estimator: str | None = None) -> FloatArray:
        """Return the target of each row, in its unit."""
        values = self.predictors[estimator or self.best].predict(table)
        return value_of(values) if self.logarithm else values

    def is_invalid(self, answers: FloatArray) -> BoolArray:
        """Tell which answers are below 0 although no value was; none is of a logarithm."""
        below: BoolArray = (answers < 0) & (self.low >= 0)
        return below

    def interval(
        self, answers: FloatArray, level: float, estimator: str | None = None
    ) -> FloatArray:
        """Return the ends of intervals around answers, shape (n, 2); NaN where there are none."""
        width = self.half_widths[estimator or self.best].get(level, np.nan)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self.logarithm:
                ends = np.column_stack([answers / np.exp(width), answers * np.exp(width)])
            else:
                ends = np.column_stack([answers - width, answers + width])
        # Wider than numbers reach is not an interval.
        ends[~np.isfinite(ends).all(axis=1)] = np.nan
        return ends


def value_of(logarithms: FloatArray) -> FloatArray:
    """Return the numbers of logarithms, held inside what double precision can square."""
    numbers: FloatArray = np.exp(np.clip(logarithms, -_HIGHEST_LOGARITHM, _HIGHEST_LOGARITHM))
    return numbers


def error_of(accuracy: Accuracy) -> float:
    """Return the mean relative error; the mean absolute one where there is none."""
    return accuracy.mae if np.isnan(accuracy.mre) else accuracy.mre


def best_of(accuracy: Mapping[str, Accuracy], estimator: str | None = None) -> str:
    """Return the estimator that is asked for, or the best.

    Raises
    ------
    UsageError
        When there is no such one.
    """
    if estimator is None:
        return best_for(accuracy)
    if estimator not in accuracy:
        raise UsageError(
            f"{estimator!r} is not an estimator of this model; "
            f"{meant(estimator, accuracy)}allowed: {', '.join(accuracy)}"
        )
    return estimator


def best_for(accuracy: Mapping[str, Accuracy]) -> str:
    """Return the one with the smallest error; a combination unless another is better by a tenth."""

    def error(name: str) -> float:
        preferred = PREFERENCE if ESTIMATORS[name].members else 1.0
        return preferred * error_of(accuracy[name])

    return min(accuracy, key=error)
