"""Every estimator fitted to everything there is, and to all but each fold: in and out of fold.

The same for the workloads of a run and for the rows of a table that somebody else measured: what
differs is what features they have, and what is done to a predictor once it is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from drivelab.models.combination import Combination, combining_weights
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.predictor import IntArray, Predictor
from drivelab.models.predictors import ESTIMATORS

_Answer = TypeVar("_Answer")


class FitWatch:
    """Is told how far fits are, by the thread that asked for them; this one ignores it."""

    def begins(self, estimators: Sequence[str]) -> None:
        """Take the estimator of every fit that follows, in their order."""

    def fitted(self) -> None:
        """Take that the next of them is done."""


class SurfaceKey(NamedTuple):
    """What is fitted: from which features, by which estimator."""

    features: str
    estimator: str


@dataclass(frozen=True)
class Given:
    """What surfaces are fitted to.

    Attributes
    ----------
    table
        Rows as the features take them, shape (n, columns).
    targets
        Of each row, shape (n,).
    noise
        The known variance of each target, 0 where nothing is known.
    folds
        Of each row, from 0 on; rows that must not be on both sides have the same.
    seed
        Of the estimators.
    """

    table: FloatArray
    targets: FloatArray
    noise: FloatArray
    folds: IntArray
    seed: int


@dataclass(frozen=True)
class Surfaces:
    """What was fitted.

    Attributes
    ----------
    whole
        Fitted to all rows.
    of_folds
        One a fold, fitted to all others.
    unseen
        What the latter say of the rows of their fold, shape (n,).
    folds
        Of each row.
    """

    whole: dict[SurfaceKey, Predictor]
    of_folds: dict[SurfaceKey, list[Predictor]]
    unseen: dict[SurfaceKey, FloatArray]
    folds: IntArray


def _as_it_is(predictor: Predictor, trained: FloatArray) -> Predictor:
    del trained
    return predictor


def fit_surfaces(
    pool: ThreadPoolExecutor,
    keys: Sequence[SurfaceKey],
    feature_sets: Mapping[str, FeatureSet],
    given: Given,
    *,
    finish: Callable[[Predictor, FloatArray], Predictor] = _as_it_is,
    like: Mapping[SurfaceKey, Predictor] | None = None,
    watch: FitWatch | None = None,
) -> Surfaces:
    """Fit every surface to all rows, and to all but each fold; return the latter's predictions.

    Parameters
    ----------
    pool
        Its threads do the fitting; results are the same for any number.
    keys
        The surfaces to fit.
    feature_sets
        Features, by the name in the keys.
    given
        The data that they are fitted to.
    finish
        Turns a fitted predictor and the rows that it was fitted to into one that answers.
    like
        Surfaces of other rows of the same data: an estimator that searches starts from their
        results, and keeps what only a long search finds.
    watch
        Is told of every fit.
    """
    # Threads that import parts of a package at once may find one that is half imported.
    import sklearn.linear_model
    import sklearn.tree  # noqa: F401

    table, targets, folds, seed = given.table, given.targets, given.folds, given.seed
    alone = [key for key in keys if not ESTIMATORS[key.estimator].members]

    def fit(key: SurfaceKey) -> Predictor:
        estimator, features = ESTIMATORS[key.estimator], feature_sets[key.features]
        if like is None or estimator.refit is None:
            fitted = estimator.fit(features, table, targets, given.noise, seed)
        else:
            fitted = estimator.refit(like[key], features, table, targets, given.noise)
        return finish(fitted, table)

    count = int(folds.max()) + 1
    # A fold after the other, so that the first fits take as long as the others in the mean.
    tasks = [(key, fold) for fold in range(count) for key in alone]
    watch = watch or FitWatch()
    watch.begins([key.estimator for key in [*alone, *(key for key, _ in tasks)]])
    whole = dict(zip(alone, _counted(pool.map(fit, alone), watch), strict=True))

    def fit_fold(task: tuple[SurfaceKey, int]) -> tuple[Predictor, FloatArray]:
        key, fold = task
        estimator, features = ESTIMATORS[key.estimator], feature_sets[key.features]
        kept = folds != fold
        rows = table[kept], targets[kept], given.noise[kept]
        if estimator.refit is None:
            fitted = estimator.fit(features, *rows, seed)
        else:
            fitted = estimator.refit(whole[key], features, *rows)
        fitted = finish(fitted, table[kept])
        return fitted, fitted.predict(table[~kept])

    found = dict(zip(tasks, _counted(pool.map(fit_fold, tasks), watch), strict=True))
    of_folds = {key: [found[key, fold][0] for fold in range(count)] for key in alone}
    unseen = {key: np.empty(len(table)) for key in alone}
    for (key, fold), (_, answers) in found.items():
        unseen[key][folds == fold] = answers
    for key in keys:
        if key not in whole:
            members = {
                name: SurfaceKey(key.features, name)
                for name in ESTIMATORS[key.estimator].members
                if SurfaceKey(key.features, name) in whole
            }
            weights, unseen[key] = _weigh(
                {name: unseen[member] for name, member in members.items()}, targets, folds
            )
            of_folds[key] = [
                Combination({name: of_folds[members[name]][fold] for name in found}, found)
                for fold, found in enumerate(weights[:count])
            ]
            every = weights[count]
            whole[key] = Combination({name: whole[members[name]] for name in every}, every)
    return Surfaces(whole, of_folds, unseen, folds)


def _counted(answers: Iterable[_Answer], watch: FitWatch) -> Iterator[_Answer]:
    """Give the results of fits, and tell who watches of each."""
    for answer in answers:
        watch.fitted()
        yield answer


def _weigh(
    answers: Mapping[str, FloatArray], targets: FloatArray, folds: IntArray
) -> tuple[list[dict[str, float]], FloatArray]:
    """Weigh members by all rows but each fold's, last by all; return the former's predictions.

    The answers for a fold's rows must not set the weights for these rows.
    """

    def weights(kept: NDArray[np.bool_]) -> dict[str, float]:
        return combining_weights({name: one[kept] for name, one in answers.items()}, targets[kept])

    found = [weights(folds != fold) for fold in range(int(folds.max()) + 1)]
    said = np.zeros(len(targets))
    for fold, of_fold in enumerate(found):
        its = folds == fold
        said[its] = sum(weight * answers[name][its] for name, weight in of_fold.items())
    return [*found, weights(np.ones(len(targets), dtype=bool))], said
