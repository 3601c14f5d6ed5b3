"""What a model says matters: permutation importance and partial dependence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivelab.models.accuracy import measure_accuracy
from drivelab.models.answers import of_surface
from drivelab.models.features import UNITS, FloatArray, effective_table
from drivelab.models.predictor import IntArray, Predictor, in_haste, predict_out_of_fold
from drivelab.workloads.characteristics import FIELDS

_SHUFFLES: Final = 5
_EFFECT_POINTS: Final = 17
_EFFECT_ROWS: Final = 50
_COLUMN: Final = {name: number for number, name in enumerate(FIELDS)}


@dataclass(frozen=True)
class Importance:
    """What a characteristic is worth to a model.

    Attributes
    ----------
    characteristic
        Its name.
    mre_increase
        By how much the cross-validated MRE (a ratio) grows when the characteristic's values
        are shuffled among the workloads in which it is in effect; mean over shuffles. About
        0, or a little below, where it does not matter.
    mre_increase_deviation
        Standard deviation over the shuffles.
    """

    characteristic: str
    mre_increase: float
    mre_increase_deviation: float


@dataclass(frozen=True)
class Effect:
    """Partial dependence of a performance on one characteristic.

    Attributes
    ----------
    characteristic, unit
        Name and unit.
    values
        Ascending, from the smallest to the largest trained value.
    performance
        Geometric mean of the predictions with the characteristic at each value and the
        others as measured, in the metric's unit; the geometric mean because models are
        fitted to the logarithm.
    """

    characteristic: str
    unit: str
    values: tuple[float, ...]
    performance: tuple[float, ...]


def permutation_importance(
    predictors: Sequence[Predictor],
    table: FloatArray,
    folds: IntArray,
    observed: Mapping[str, FloatArray],
    seed: int,
) -> dict[str, tuple[Importance, ...]]:
    """Return by metric what each characteristic is worth, out of fold, the most important first.

    Parameters
    ----------
    predictors
        Surfaces (`drivelab.models.answers`) from extended features, one a fold, fitted to the
        others.
    table
        Workloads in effect, shape (n, 8).
    folds
        Each row's.
    observed
        By metric, each row's performance.
    seed
        Of the shuffles.
    """
    hasty = [in_haste(each) for each in predictors]

    def errors(of: FloatArray) -> FloatArray:
        values = predict_out_of_fold(hasty, of, folds)
        return np.array(
            [
                measure_accuracy(found, np.exp(of_surface(values, of, metric))).mre
                for metric, found in observed.items()
            ]
        )

    result: dict[str, list[Importance]] = {metric: [] for metric in observed}
    for column, (means, deviations) in shuffled_increases(errors, table, seed).items():
        for metric, mean, deviation in zip(observed, means, deviations, strict=True):
            found = Importance(FIELDS[column], float(mean), float(deviation))
            result[metric].append(found)
    return {
        metric: tuple(sorted(found, key=lambda one: -one.mre_increase))
        for metric, found in result.items()
    }


def shuffled_increases(
    errors: Callable[[FloatArray], FloatArray], table: FloatArray, seed: int
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return by how much errors grow when each column is shuffled among the rows that have it.

    Parameters
    ----------
    errors
        Of the answers for such a table, one or several.
    table
        Shape (n, columns), NaN where a row has no value.
    seed
        Of the shuffles.

    Returns
    -------
    dict
        By column, those without any value left out: means and standard deviations over shuffles.
    """
    unshuffled = errors(table)
    result: dict[int, tuple[FloatArray, FloatArray]] = {}
    for column in range(table.shape[1]):
        effective = np.flatnonzero(~np.isnan(table[:, column]))
        if effective.size == 0:
            continue
        increases = []
        for shuffle in range(_SHUFFLES):
            random = np.random.default_rng((seed, column, shuffle))
            shuffled = table.copy()
            # Not blanked anew: a workload that only read and now only writes would have no size.
            shuffled[effective, column] = table[random.permutation(effective), column]
            increases.append(errors(shuffled) - unshuffled)
        result[column] = np.mean(increases, axis=0), np.std(increases, axis=0)
    return result


def partial_dependence(
    predictor: Predictor, table: FloatArray, metrics: Sequence[str]
) -> dict[str, tuple[Effect, ...]]:
    """Return by metric the effect of each characteristic that varies, in their order.

    The other characteristics keep the values of measured workloads, of at most 50 that are
    spread evenly from the fastest to the slowest. Where changing one characteristic brings others
    into effect (the write size once something is written), only workloads are taken that have
    values for them.

    Parameters
    ----------
    predictor
        A surface (`drivelab.models.answers`), from extended features.
    table
        Workloads in effect, shape (n, 8).
    metrics
        Of which performances.
    """
    predictor = in_haste(predictor)
    result: dict[str, list[Effect]] = {metric: [] for metric in metrics}
    for name, column in _COLUMN.items():
        rows = table[_complete_rows(table, name)]
        trained = np.unique(table[~np.isnan(table[:, column]), column])
        if trained.size < 2 or len(rows) == 0:
            continue
        if len(rows) > _EFFECT_ROWS:
            order = np.argsort(predictor.predict(rows), kind="stable")
            places = (np.arange(_EFFECT_ROWS) + 0.5) * (len(rows) / _EFFECT_ROWS)
            rows = rows[order[places.astype(int)]]
        values = _effect_values(name, trained)
        performance: dict[str, list[float]] = {metric: [] for metric in metrics}
        for value in values:
            changed = rows.copy()
            changed[:, column] = value
            changed = effective_table(changed)
            answers = predictor.predict(changed)
            for metric, means in performance.items():
                means.append(float(np.exp(of_surface(answers, changed, metric).mean())))
        for metric, means in performance.items():
            result[metric].append(Effect(name, UNITS[name], tuple(values.tolist()), tuple(means)))
    return {metric: tuple(found) for metric, found in result.items()}


def _complete_rows(table: FloatArray, name: str) -> NDArray[np.bool_]:
    """Tell the rows that have all that is in effect at any value of a characteristic."""
    needed = [name]
    if name == "write_ratio":
        needed = ["read_size", "write_size"]
    elif name.endswith("_random"):
        # Where every access is random there is no stride; such a row cannot be made partly
        # sequential, unless no row can.
        stride = f"{name.removesuffix('_random')}_stride"
        if not np.isnan(table[:, _COLUMN[stride]]).all():
            needed = [name, stride]
    columns = [_COLUMN[needed_name] for needed_name in needed]
    return np.logical_not(np.isnan(table[:, columns]).any(axis=1))


def _effect_values(name: str, trained: FloatArray) -> FloatArray:
    """Return the trained values where they are few, else points even in the feature's scale."""
    if trained.size <= _EFFECT_POINTS:
        return trained
    low, high = trained[0], trained[-1]
    if UNITS[name] == "ratio":
        return np.linspace(low, high, _EFFECT_POINTS)
    if low == 0:
        return np.concatenate([[0.0], np.geomspace(trained[1], high, _EFFECT_POINTS - 1)])
    values: FloatArray = np.geomspace(low, high, _EFFECT_POINTS)
    return values
