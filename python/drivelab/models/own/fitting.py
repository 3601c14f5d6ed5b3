"""Models fitted to a table that somebody measured: each target a surface of its own.

Targets that are all above 0 are fitted on the natural logarithm and judged by the mean relative
error; others as they are, and judged by the mean absolute error. Rows of one group are in one fold,
and where no column names groups, rows of equal settings are one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.accuracy import Accuracy, measure_accuracy
from drivelab.models.effects import shuffled_increases
from drivelab.models.evaluate import FEWEST_WORKLOADS, FOLDS, PREFERENCE, fold_numbers
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.intervals import LEVELS, grouped_half_width
from drivelab.models.predictor import IntArray, Predictor, predict_out_of_fold
from drivelab.models.predictors import ESTIMATORS
from drivelab.models.surfaces import Given, SurfaceKey, fit_surfaces
from drivelab.models.trained import BoolArray
from drivelab.near_names import meant
from drivelab.one_thread import one_thread

#: The estimators of a table, by name; combinations last.
OWN_ESTIMATORS: Final = tuple(
    sorted(
        (name for name, one in ESTIMATORS.items() if "own" in one.features),
        key=lambda name: bool(ESTIMATORS[name].members),
    )
)
#: From so many rows on a fold more tells nothing more.
MANY_ROWS: Final = 100_000
FEW_FOLDS: Final = 3
# Of more rows so many tell what a column is worth.
_IMPORTANCE_ROWS: Final = 5_000
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
        # Wider than numbers reach is no interval.
        ends[~np.isfinite(ends).all(axis=1)] = np.nan
        return ends


@dataclass(frozen=True)
class Settings:
    """What was measured under which settings.

    Attributes
    ----------
    table
        Of all rows, shape (n, columns).
    groups
        Of each row, from 0 on.
    features
        What estimators see of the table.
    columns
        Names of the table's columns.
    group
        The column that says which rows are a group; None where nobody named one.
    """

    table: FloatArray
    groups: IntArray
    features: FeatureSet
    columns: Sequence[str]
    group: str | None = None


@dataclass(frozen=True)
class FittedTarget:
    """A target's models, and what they said of the rows without having seen them.

    Attributes
    ----------
    model
        Which the file keeps.
    kept
        Places of its rows in the table.
    observed, out_of_fold
        Of these, and by estimator what was said.
    """

    model: TargetModel
    kept: IntArray
    observed: FloatArray
    out_of_fold: Mapping[str, FloatArray]


def value_of(logarithms: FloatArray) -> FloatArray:
    """Return the numbers of logarithms, held inside what double precision can square."""
    numbers: FloatArray = np.exp(np.clip(logarithms, -_HIGHEST_LOGARITHM, _HIGHEST_LOGARITHM))
    return numbers


def error_of(accuracy: Accuracy) -> float:
    """Return the mean relative error; the mean absolute one where there is none."""
    return accuracy.mae if np.isnan(accuracy.mre) else accuracy.mre


def refuse_few_groups(count: int, what: str, group: str | None = None) -> None:
    """Raise `UsageError` when there are too few groups of rows for a model.

    Parameters
    ----------
    count
        Of groups.
    what
        Whose they are.
    group
        The column that says which rows are one; None where nobody named one.
    """
    if count < FEWEST_WORKLOADS:
        usual = "of equal settings are one group, unless --group names a column"
        of = usual if group is None else f"with the same {group} are one group"
        raise UsageError(
            f"{what}: a model needs {FEWEST_WORKLOADS} groups of rows at least, to check it on "
            f"some that it has not seen; there {'is' if count == 1 else 'are'} {count} (rows {of})"
        )


def usable_estimators(rows: int, inputs: int) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the estimators for so many rows and inputs, and why each other one is left out."""
    left_out: dict[str, str] = {}
    for name in OWN_ESTIMATORS:
        one = ESTIMATORS[name]
        if one.most_rows is not None and rows > one.most_rows:
            left_out[name] = (
                f"{one.label} takes at most {one.most_rows:,} rows, there are {rows:,}; boosted "
                "trees take any number"
            )
        elif one.most_inputs is not None and inputs > one.most_inputs:
            left_out[name] = (
                f"{one.label} takes at most {one.most_inputs} inputs, there are {inputs}"
            )
    kept = [name for name in OWN_ESTIMATORS if name not in left_out]
    # A combination of one is that one.
    usable = [
        name
        for name in kept
        if not (members := ESTIMATORS[name].members) or len(set(members) & set(kept)) > 1
    ]
    return tuple(usable), left_out


def fit_target(
    name: str,
    values: FloatArray,
    settings: Settings,
    estimators: Sequence[str],
    *,
    seed: int,
) -> FittedTarget:
    """Fit every estimator to a target, and judge it on groups that a fit has not seen.

    Parameters
    ----------
    name
        Of the target.
    values
        Its numbers, NaN where there is none, shape (n,).
    settings
        Of the same rows.
    estimators
        Which, of `OWN_ESTIMATORS`.
    seed
        Of folds, estimators and shuffles.

    Raises
    ------
    UsageError
        When no row has a value, or too few groups have.
    """
    kept = np.flatnonzero(~np.isnan(values))
    if not kept.size:
        raise UsageError(f"column {name!r} is empty in every row; nothing can be learned of it")
    observed, rows = values[kept], settings.table[kept]
    codes = np.unique(settings.groups[kept], return_inverse=True)[1].astype(np.int64)
    refuse_few_groups(int(codes.max()) + 1, name, settings.group)
    logarithm = bool((observed > 0).all())
    targets = np.log(observed) if logarithm else observed
    folds = fold_numbers(codes.tolist(), seed, FOLDS if len(kept) < MANY_ROWS else FEW_FOLDS)
    given = Given(rows, targets, np.zeros(len(rows)), folds, seed)
    keys = [SurfaceKey("own", estimator) for estimator in estimators]

    def answers(said: FloatArray) -> FloatArray:
        return value_of(said) if logarithm else said

    def judged(said: FloatArray) -> Accuracy:
        return measure_accuracy(observed, answers(said), relative=logarithm)

    with one_thread(), ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        fitted = fit_surfaces(pool, keys, {"own": settings.features}, given)
        seen = {key.estimator: one.predict(rows) for key, one in fitted.whole.items()}
        unseen = {key.estimator: said for key, said in fitted.unseen.items()}
        cross_validated = {one: judged(unseen[one]) for one in estimators}
        best = _best(cross_validated)
        importance = _importance(
            fitted.of_folds[SurfaceKey("own", best)], given, observed, settings.columns, answers
        )
    model = TargetModel(
        name=name,
        logarithm=logarithm,
        rows=len(kept),
        left_out=len(values) - len(kept),
        groups=int(codes.max()) + 1,
        low=float(observed.min()),
        high=float(observed.max()),
        predictors={key.estimator: one for key, one in fitted.whole.items()},
        cross_validated=cross_validated,
        in_sample={one: judged(seen[one]) for one in estimators},
        half_widths={one: _half_widths(np.abs(targets - unseen[one]), codes) for one in estimators},
        best=best,
        importance=importance,
    )
    said = {one: answers(unseen[one]) for one in estimators}
    return FittedTarget(model, kept, observed, said)


def best_of(accuracy: Mapping[str, Accuracy], estimator: str | None = None) -> str:
    """Return the estimator that is asked for, or the best.

    Raises
    ------
    UsageError
        When there is no such one.
    """
    if estimator is None:
        return _best(accuracy)
    if estimator not in accuracy:
        raise UsageError(
            f"{estimator!r} is no estimator of this model; {meant(estimator, accuracy)}allowed: "
            f"{', '.join(accuracy)}"
        )
    return estimator


def _best(accuracy: Mapping[str, Accuracy]) -> str:
    """Return the one with the smallest error; a combination unless another is better by a tenth."""

    def error(name: str) -> float:
        preferred = PREFERENCE if ESTIMATORS[name].members else 1.0
        return preferred * error_of(accuracy[name])

    return min(accuracy, key=error)


def _half_widths(scores: FloatArray, groups: IntArray) -> dict[float, float]:
    widths = {level: grouped_half_width(scores, groups, level) for level in LEVELS}
    return {level: width for level, width in widths.items() if width is not None}


def _importance(
    predictors: Sequence[Predictor],
    given: Given,
    observed: FloatArray,
    columns: Sequence[str],
    answers: Callable[[FloatArray], FloatArray],
) -> tuple[Importance, ...]:
    """Say what each column is worth, out of fold, by some rows where there are many."""
    count = min(len(observed), _IMPORTANCE_ROWS)
    some = np.linspace(0, len(observed) - 1, count).astype(np.int64)
    relative = bool((observed > 0).all())

    def errors(table: FloatArray) -> FloatArray:
        said = answers(predict_out_of_fold(predictors, table, given.folds[some]))
        return np.array([error_of(measure_accuracy(observed[some], said, relative=relative))])

    found = [
        Importance(columns[place], float(means[0]), float(deviations[0]))
        for place, (means, deviations) in shuffled_increases(
            errors, given.table[some], given.seed
        ).items()
    ]
    return tuple(sorted(found, key=lambda one: -one.increase))
