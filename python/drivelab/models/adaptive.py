"""What a model has learnt of a drive so far, and which workloads it would learn most from.

One kriging model predicts the time of a request in a closed loop, ln(mean latency / queue depth),
from which mean latency, throughput and bandwidth follow. It is a model of the work of workloads, or
of the residual of the queueing model, whichever has the smaller error on workloads that it has not
seen. Each row's error is the model's error without that row (leave one workload out, in closed
form; Rasmussen and Williams 2006, equations 5.10 to 5.12).

Workloads are chosen by how much they lower the variance of the answers over a reference set that
represents the population (active learning by Cohn 1996, for Gaussian processes Seo et al. 2000). A
reference counts more where nearby errors are larger than the model's own estimate. After each
choice the model is updated as if it had seen the workload, whatever the value, so that a round is
spread out. Where a measurement's own noise limits the model, its workload is chosen again.

Pure: the same rows always give the same choices.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.exhibits.quantities import MOST_ERROR, mre_text
from drivelab.models.evaluate import fold_numbers
from drivelab.models.features import FEATURE_SETS, FloatArray
from drivelab.models.kriging_inputs import Inputs
from drivelab.models.kriging_surface import KrigingSurface
from drivelab.models.measured import Rows
from drivelab.models.predictor import IntArray, Predictor
from drivelab.models.predictors import ESTIMATORS
from drivelab.models.queueing import FEW_REQUESTS
from drivelab.models.trained import BoolArray
from drivelab.one_thread import one_thread
from drivelab.workloads.adaptive import START
from drivelab.workloads.parts import DRAWN

if TYPE_CHECKING:
    from drivelab.models.kriging import KrigingRegressor

#: Of the estimators that may answer in the end those that know how sure they are.
MODELS: Final = ("kriging", "queueing_kriging")
#: Local errors are averaged over this many nearest rows.
NEIGHBOURS: Final = 12
# Of the search for the likeliest process.
_STEPS: Final = 100
# How far errors may differ from what the model thinks, in variances: one surprise is not a law.
_LEAST_RATIO, _MOST_RATIO = 0.1, 10.0


@dataclass(frozen=True)
class Learned:
    """A model of everything that was measured so far.

    Attributes
    ----------
    kriging
        Values of ln(mean latency / queue depth), in ns, minus the mean of its inputs.
    inputs
        The model's inputs for each workload.
    table
        Workloads that it knows, shape (n, 8).
    errors
        Natural logarithm of what was observed over what the others say of it, shape (n,).
    variances
        What the model thinks of the squares of these.
    noise_variances
        Variance of each single measurement.
    """

    kriging: KrigingRegressor
    inputs: Inputs
    table: FloatArray
    errors: FloatArray
    variances: FloatArray
    noise_variances: FloatArray


@dataclass(frozen=True)
class ExpectedError:
    """How far a model is expected to be off on workloads of the population.

    Attributes
    ----------
    ratio
        Mean relative error, of the performance that it is worst at.
    deviation
        Standard deviation of `ratio`: how sure that is.
    workloads
        From how many workloads that is known.
    """

    ratio: float
    deviation: float
    workloads: int

    def describe(self) -> str:
        """Say it in words, without a full stop."""
        if self.ratio > MOST_ERROR:
            return mre_text(self.ratio)
        return f"{100 * self.ratio:.1f} % ± {100 * self.deviation:.1f}"


@dataclass(frozen=True)
class Judged:
    """The better of the models that may answer.

    Attributes
    ----------
    inputs
        The model's inputs for each workload.
    expected
        How far it is off on workloads of the population that it has not seen.
    """

    inputs: Inputs
    expected: ExpectedError


def learn(rows: Rows, inputs: Inputs) -> Learned:
    """Fit a model to all rows, and find how far it would be off without each.

    Parameters
    ----------
    rows
        The measurements for models.
    inputs
        The model's inputs for each workload.
    """
    from drivelab.models.kriging import KrigingRegressor

    kriging = KrigingRegressor(max_steps=_STEPS)
    with one_thread():
        seen = inputs.of(rows.table)
        left = _targets(rows) - inputs.mean(rows.table, seen)
        kriging.fit(seen, left, noise_variance=rows.noise)
        errors, variances = _left_out(kriging, rows.keys)
    return Learned(kriging, inputs, rows.table, errors, variances, rows.noise)


def _targets(rows: Rows) -> FloatArray:
    found: FloatArray = np.log(rows.observed["latency_ns_mean"] / rows.table[:, 1])
    return found


def _left_out(kriging: KrigingRegressor, keys: Sequence[object]) -> tuple[FloatArray, FloatArray]:
    """Return each row's error and its variance by all other workloads."""
    from drivelab.models.gaussian_process import solved

    inverse = solved(kriging.root_, np.eye(len(kriging.root_)))
    inverse = inverse.T @ inverse
    errors, variances = np.empty(len(inverse)), np.empty(len(inverse))
    places: dict[object, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    for of_one in places.values():
        block = np.linalg.inv(inverse[np.ix_(of_one, of_one)])
        errors[of_one] = block @ kriging.weights_[of_one]
        variances[of_one] = np.diagonal(block)
    unit = kriging.target_scale_ or 1.0
    return kriging.target_scale_ * errors, np.maximum(unit**2 * variances, 1e-12)


class Judge:
    """Fits the models that may answer, and says how far the better one is off, round after round.

    A model is searched for from the beginning each time that there are twice as many rows; in
    between it is fitted to all rows from where that search ended. Which rows a search saw depends
    on their number alone, so a run that goes on finds what one that never stopped finds.

    Parameters
    ----------
    seed
        Of the groups of cross-validation.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._searched: dict[str, tuple[int, Predictor]] = {}

    def judged(self, rows: Rows) -> Judged:
        """Return the better model of what was measured for models."""
        folds = fold_numbers(rows.keys, self._seed)
        with one_thread():
            return min((self._judged(name, rows, folds) for name in MODELS), key=_ratio)

    def _judged(self, name: str, rows: Rows, folds: IntArray) -> Judged:
        features, estimator = FEATURE_SETS["extended"], ESTIMATORS[name]
        targets, is_drawn = _targets(rows), rows.are(DRAWN)

        def fit(start: Predictor, seen: BoolArray) -> Predictor:
            given = features, rows.table[seen], targets[seen], rows.noise[seen]
            if estimator.refit is None:
                return estimator.fit(*given, self._seed)
            return estimator.refit(start, *given)

        count = _searched_rows(len(targets))
        held, found = self._searched.get(name, (0, None))
        if found is None or held != count:
            given = rows.table[:count], targets[:count], rows.noise[:count]
            found = estimator.fit(features, *given, self._seed)
            self._searched[name] = count, found
        whole = found if count == len(targets) else fit(found, np.full(len(targets), True))

        def errors_of(fold: int) -> FloatArray:
            asked = (folds == fold) & is_drawn
            left: FloatArray = targets[asked] - fit(whole, folds != fold).predict(rows.table[asked])
            return left

        # Each result is the same for any thread that computes it.
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            errors = np.concatenate(list(pool.map(errors_of, range(int(folds.max()) + 1))))
        off = max(
            # Mean latency, and what is inverse to it.
            (np.abs(np.expm1(-errors)), np.abs(np.expm1(errors))),
            key=lambda each: float(each.mean()),
        )
        deviation = float(off.std(ddof=1)) / math.sqrt(len(off)) if len(off) > 1 else math.inf
        if not isinstance(whole, KrigingSurface):
            raise TypeError(f"{name} is no kriging")
        return Judged(whole.inputs, ExpectedError(float(off.mean()), deviation, len(off)))


def _ratio(one: Judged) -> float:
    return one.expected.ratio


def _searched_rows(count: int) -> int:
    """Return from how many of the rows a model is searched: those of the start, doubled."""
    if count < START:
        return count
    doublings = int(math.log2(count / START))
    return START << doublings


def limited_by_noise(learned: Learned) -> BoolArray:
    """Tell of which rows the measurement's own noise hides more than the model does not know."""
    found: BoolArray = learned.noise_variances > learned.variances - learned.noise_variances
    return found


def choose(
    learned: Learned, candidates: FloatArray, reference: FloatArray, count: int
) -> list[int]:
    """Choose the workloads of which the model would learn most.

    Parameters
    ----------
    learned
        The model.
    candidates
        Workloads that may be chosen, shape (n, 8). A measured one may be among them.
    reference
        Workloads that stand for the population, shape (m, 8).
    count
        How many, at most n.

    Returns
    -------
    list of int
        Places among the candidates, in the order in which they were chosen.
    """
    with one_thread():
        asked, stand = (learned.inputs.of(table, FEW_REQUESTS) for table in (candidates, reference))
        return _chosen(learned, asked, stand, count)


def _chosen(learned: Learned, asked: FloatArray, stand: FloatArray, count: int) -> list[int]:
    kriging = learned.kriging
    shared: FloatArray = kriging.covariance(asked, stand)
    variance = _variances(kriging, asked)
    noise = np.full(
        len(asked), kriging.nugget_variance_ + float(np.median(learned.noise_variances))
    )
    weights = _local_ratios(learned, stand)
    chosen: list[int] = []
    lowered: list[FloatArray] = []
    free = np.ones(len(asked), dtype=bool)
    for _ in range(min(count, len(asked))):
        gains = (shared**2 @ weights) / (variance + noise)
        place = int(np.argmax(np.where(free, gains, -np.inf)))
        chosen.append(place)
        free[place] = False
        column = kriging.covariance(asked, asked[place : place + 1])[:, 0]
        column -= sum((each * each[place] for each in lowered), start=np.zeros(len(asked)))
        column /= math.sqrt(max(variance[place], 0.0) + noise[place])
        lowered.append(column)
        shared -= np.outer(column, shared[place] / math.sqrt(variance[place] + noise[place]))
        variance = np.maximum(variance - column**2, 0.0)
    return chosen


def _variances(kriging: KrigingRegressor, rows: FloatArray) -> FloatArray:
    """Return what is not known yet of rows, nugget left out."""
    _, deviations = kriging.predict(rows, return_std=True)
    found: FloatArray = np.maximum(deviations**2 - kriging.nugget_variance_, 0.0)
    return found


def _local_ratios(learned: Learned, stand: FloatArray) -> FloatArray:
    """Say how much larger errors near each reference are than the model thinks, as a factor."""
    kriging = learned.kriging
    scale = kriging.scale_ * kriging.process_.lengths
    known = learned.inputs.of(learned.table) / scale
    squares = learned.errors**2 / learned.variances
    count = min(NEIGHBOURS, len(known))
    ratios = np.empty(len(stand))
    for place, row in enumerate(stand / scale):
        distances = ((known - row) ** 2).sum(axis=1)
        nearest = np.argsort(distances, kind="stable")[:count]
        ratios[place] = squares[nearest].mean()
    found: FloatArray = np.clip(ratios / squares.mean(), _LEAST_RATIO, _MOST_RATIO)
    return found
