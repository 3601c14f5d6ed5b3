"""Rows in the order of time: learn from the first, and be judged on the last.

Random rows of a time series are easy to predict: each is between two that were learned from. For
the future, the last rows count. They are compared with two answers that need no model: the mean of
all earlier rows, and the previous row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.accuracy import measure_accuracy
from drivelab.models.evaluate import FOLDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.models.accuracy import Accuracy
    from drivelab.models.features import FloatArray
    from drivelab.models.own.target_model import TargetModel
    from drivelab.models.predictor import IntArray


@dataclass(frozen=True)
class LastRows:
    """How far answers for the last rows are off, which no model had seen.

    Attributes
    ----------
    accuracy
        By estimator.
    constant
        Error of the mean of the learned rows, the geometric one if logarithms are fitted.
    row_before
        Error of the value in the previous row.
    """

    accuracy: Mapping[str, Accuracy]
    constant: Accuracy
    row_before: Accuracy

    def to_json(self) -> dict[str, Any]:
        """Return the accuracies, by what answered."""
        return {
            "accuracy": [
                {"estimator": name, **one.to_json()} for name, one in self.accuracy.items()
            ],
            "constant": self.constant.to_json(),
            "row_before": self.row_before.to_json(),
        }


def learned_rows(rows: int, share: float | None) -> int:
    """Return how many rows are learned from, where the last `share` of them are not.

    Raises
    ------
    UsageError
        When too few are left on either side.
    """
    if share is None:
        return rows
    first = rows - round(rows * share)
    if first < FOLDS or first == rows:
        raise UsageError(
            f"the last {100 * share:g} % of {rows} rows leave {first} to learn from and "
            f"{rows - first} to be judged on; give at least {FOLDS} and 1"
        )
    return first


def stretches(rows: int) -> IntArray:
    """Return groups of consecutive rows, because neighbours in time are similar."""
    groups: IntArray = np.arange(rows, dtype=np.int64) * FOLDS // rows
    return groups


def judge_last(target: TargetModel, table: FloatArray, values: FloatArray) -> LastRows | None:
    """Say how far a target's models are off in the last rows; None where none has a value.

    Parameters
    ----------
    target
        Fitted to the rows before.
    table
        The settings of the last rows, shape (n, columns).
    values
        The target of all rows, NaN where there is none; those of the table last.
    """
    first = len(values) - len(table)
    kept = np.flatnonzero(~np.isnan(values[first:]))
    if not kept.size:
        return None
    observed = values[first:][kept]
    relative = target.logarithm and bool((observed > 0).all())

    def judged(said: FloatArray) -> Accuracy:
        return measure_accuracy(observed, said, relative=relative)

    learned = values[:first][~np.isnan(values[:first])]
    constant = np.exp(np.log(learned).mean()) if target.logarithm else learned.mean()
    # What was known when the row came.
    known = values[~np.isnan(values)]
    before = known[len(learned) - 1 : -1]
    return LastRows(
        {name: judged(target.predict(table[kept], name)) for name in target.cross_validated},
        judged(np.full(len(observed), constant)),
        judged(before),
    )
