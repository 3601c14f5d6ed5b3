"""Models fitted to a table that somebody measured: a surface a target, or one for several.

A target that follows from another (`drivelab.models.own.laws`) is answered by the models of that
one, so that answers never contradict each other. Targets that are all above 0 are fitted on the
natural logarithm and judged by the mean relative error; others as they are, and judged by the mean
absolute error. Rows of one group are in one fold, and where no column names groups, rows of equal
settings are one.
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
from drivelab.models.evaluate import FEWEST_WORKLOADS, FOLDS, fold_numbers
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.intervals import LEVELS, grouped_half_width
from drivelab.models.own.columns import Column, feature_set
from drivelab.models.own.laws import (
    FEWEST_GROUPS,
    Follower,
    Law,
    defined_law,
    find_law,
    followed,
    may_follow,
)
from drivelab.models.own.target_model import (
    Importance,
    TargetModel,
    best_for,
    error_of,
    value_of,
)
from drivelab.models.predictor import IntArray, Predictor, predict_out_of_fold
from drivelab.models.predictors import ESTIMATORS
from drivelab.models.surfaces import FitWatch, Given, SurfaceKey, Surfaces, fit_surfaces
from drivelab.one_thread import one_thread

#: The estimators of a table, by name; combinations last.
OWN_ESTIMATORS: Final = tuple(
    sorted(
        (name for name, one in ESTIMATORS.items() if "own" in one.features),
        key=lambda name: bool(ESTIMATORS[name].members),
    )
)
#: From this many rows on, a fold with more rows adds nothing.
MANY_ROWS: Final = 100_000
FEW_FOLDS: Final = 3
# Up to this many rows are used to compute what a column is worth.
_IMPORTANCE_ROWS: Final = 5_000


class TableWatch(FitWatch):
    """Is told how far fits to a table are; this one ignores it."""

    def table(self, rows: int, left_out: Sequence[str]) -> None:
        """Take how many rows there are, and which estimators are left out, a line each."""

    def target(self, name: str) -> None:
        """Take the name of the target that is fitted next."""


@dataclass(frozen=True)
class Settings:
    """What was measured under which settings.

    Attributes
    ----------
    table
        Of all rows, shape (n, columns).
    groups
        Of each row, from 0 on.
    columns
        Of the table.
    group
        The column that says which rows are a group; None where nobody named one.
    """

    table: FloatArray
    groups: IntArray
    columns: Sequence[Column]
    group: str | None = None

    @property
    def features(self) -> FeatureSet:
        """What estimators see of the table."""
        return feature_set(self.columns)


@dataclass(frozen=True)
class FittedTarget:
    """A target's models, and their predictions for rows that they had not seen.

    Attributes
    ----------
    model
        Which the file keeps.
    kept
        Places of its rows in the table.
    observed, out_of_fold
        Of these, and by estimator what was said.
    surfaces
        What was fitted.
    """

    model: TargetModel
    kept: IntArray
    observed: FloatArray
    out_of_fold: Mapping[str, FloatArray]
    surfaces: Surfaces


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


def left_out_lines(rows: Sequence[int], inputs: int) -> list[str]:
    """Say which estimators take fewer rows or inputs than some target has, a line each."""
    found: dict[str, None] = {}
    for count in rows:
        found |= dict.fromkeys(usable_estimators(count, inputs)[1].values())
    return list(found)


def law_of(
    name: str, values: FloatArray, fitted: Mapping[str, FittedTarget], settings: Settings
) -> Law | None:
    """Return how a target follows from one that is fitted already; None where it does not.

    Parameters
    ----------
    name
        Of the target.
    values
        Its numbers, NaN where there is none, shape (n,).
    fitted
        The others, by name.
    settings
        Of the same rows.
    """
    kept = np.flatnonzero(~np.isnan(values))
    groups = len(np.unique(settings.groups[kept]))
    if not (values[kept] > 0).all() or groups < FEWEST_WORKLOADS:
        return None
    bases = {
        base: one
        for base, one in fitted.items()
        if may_follow(base)
        and one.model.law is None
        and one.model.logarithm
        and np.array_equal(one.kept, kept)
    }
    other, rows = np.log(values[kept]), settings.table[kept]
    for base, one in bases.items():
        law = defined_law((base, name), np.log(one.observed), other, settings.columns, rows)
        if law is not None:
            return law
    if groups < FEWEST_GROUPS:
        return None
    for base, one in bases.items():
        law = find_law(base, np.log(one.observed), other, settings.columns, rows)
        if law is not None:
            return law
    return None


def fit_target(
    name: str,
    values: FloatArray,
    settings: Settings,
    estimators: Sequence[str],
    *,
    seed: int,
    watch: FitWatch | None = None,
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
    watch
        Is told of every fit.

    Raises
    ------
    UsageError
        When no row has a value, or too few groups have.
    """
    rows = _rows(name, values, settings)
    folds = fold_numbers(
        rows.codes.tolist(), seed, FOLDS if len(rows.kept) < MANY_ROWS else FEW_FOLDS
    )
    given = Given(rows.table, rows.targets, np.zeros(len(rows.kept)), folds, seed)
    keys = [SurfaceKey("own", estimator) for estimator in estimators]
    with one_thread(), ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        surfaces = fit_surfaces(pool, keys, {"own": settings.features}, given, watch=watch)
        return _judged(rows, given, surfaces, settings)


def follow_target(
    name: str, values: FloatArray, settings: Settings, law: Law, base: FittedTarget, *, seed: int
) -> FittedTarget:
    """Judge what follows for a target from the models of another.

    Parameters
    ----------
    name
        Of the target.
    values
        Its numbers, NaN where the other has none either, shape (n,).
    settings
        Of the same rows.
    law
        How it follows, from `law_of`.
    base
        The other.
    seed
        As of the other.
    """
    rows = _rows(name, values, settings)
    given = Given(rows.table, rows.targets, np.zeros(len(rows.kept)), base.surfaces.folds, seed)
    columns = settings.columns
    surfaces = Surfaces(
        {key: Follower(one, law, columns) for key, one in base.surfaces.whole.items()},
        {
            key: [Follower(one, law, columns) for one in each]
            for key, each in base.surfaces.of_folds.items()
        },
        {
            key: followed(law, columns, rows.table, said)
            for key, said in base.surfaces.unseen.items()
        },
        base.surfaces.folds,
    )
    with one_thread():
        # One that is better here by a hair would contradict the other's.
        return _judged(rows, given, surfaces, settings, law=law, best=base.model.best)


@dataclass(frozen=True)
class _Rows:
    """The rows that have a value of a target.

    Attributes
    ----------
    name
        Of the target.
    kept
        Places of the rows in the table.
    left_out
        How many have none.
    table
        Their settings.
    codes
        Their groups, from 0 on.
    observed
        The values.
    targets
        What is fitted: their logarithms where all are above 0.
    """

    name: str
    kept: IntArray
    left_out: int
    table: FloatArray
    codes: IntArray
    observed: FloatArray
    targets: FloatArray

    @property
    def logarithm(self) -> bool:
        """Whether all are above 0."""
        return self.targets is not self.observed

    def answers(self, said: FloatArray) -> FloatArray:
        """Return values of what predictors say."""
        return value_of(said) if self.logarithm else said

    def judged(self, said: FloatArray) -> Accuracy:
        """Return how far off what predictors say is."""
        return measure_accuracy(self.observed, self.answers(said), relative=self.logarithm)


def _rows(name: str, values: FloatArray, settings: Settings) -> _Rows:
    kept = np.flatnonzero(~np.isnan(values))
    if not kept.size:
        raise UsageError(f"column {name!r} is empty in every row; nothing can be learned of it")
    observed = values[kept]
    codes = np.unique(settings.groups[kept], return_inverse=True)[1].astype(np.int64)
    refuse_few_groups(int(codes.max()) + 1, name, settings.group)
    targets = np.log(observed) if (observed > 0).all() else observed
    left_out = len(values) - len(kept)
    return _Rows(name, kept, left_out, settings.table[kept], codes, observed, targets)


def _judged(
    rows: _Rows,
    given: Given,
    surfaces: Surfaces,
    settings: Settings,
    *,
    law: Law | None = None,
    best: str | None = None,
) -> FittedTarget:
    seen = {key.estimator: one.predict(rows.table) for key, one in surfaces.whole.items()}
    unseen = {key.estimator: said for key, said in surfaces.unseen.items()}
    cross_validated = {one: rows.judged(said) for one, said in unseen.items()}
    best = best or best_for(cross_validated)
    importance = _importance(
        surfaces.of_folds[SurfaceKey("own", best)],
        given,
        rows.observed,
        [column.name for column in settings.columns],
        rows.answers,
    )
    model = TargetModel(
        name=rows.name,
        logarithm=rows.logarithm,
        rows=len(rows.kept),
        left_out=rows.left_out,
        groups=int(rows.codes.max()) + 1,
        low=float(rows.observed.min()),
        high=float(rows.observed.max()),
        predictors={key.estimator: one for key, one in surfaces.whole.items()},
        cross_validated=cross_validated,
        in_sample={one: rows.judged(said) for one, said in seen.items()},
        half_widths={
            one: _half_widths(np.abs(rows.targets - said), rows.codes)
            for one, said in unseen.items()
        },
        best=best,
        importance=importance,
        law=law,
    )
    said = {one: rows.answers(each) for one, each in unseen.items()}
    return FittedTarget(model, rows.kept, rows.observed, said, surfaces)


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
