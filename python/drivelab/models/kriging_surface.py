"""Kriging of a drive's workloads: how a surface is fitted, and how it stands in a model's file.

The inputs of extended features are the work of a workload (`drivelab.models.kriging_inputs`), those
of all others their linear inputs. Further inputs are added only if they make the measurements more
likely: the imbalance over parallel units, with the number and stripe that explain most of the rest;
and the bottleneck model's time and parts.

`kriging` predicts the logarithm itself. `bottleneck_kriging` predicts the residual of the
bottleneck model, so that far from measurements it answers like that model. `queueing_kriging`
predicts the residual of the queueing model (`drivelab.models.queueing`): several processes, which
see different inputs, each weighted by how well it predicts measurements from all others. A
measurement far from what all others predict, for example because the drive paused, counts for
little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from drivelab.checked_json import Node
from drivelab.models.bottleneck import Bottleneck, fit_bottleneck, stripes_json, stripes_of
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.kriging_inputs import Inputs
from drivelab.models.kriging_view import View
from drivelab.models.predictor import Estimator, IntArray, Predictor
from drivelab.models.queueing import FEW_REQUESTS, Queueing
from drivelab.models.queueing_search import fit_queueing, refit_queueing, trust_in
from drivelab.models.work import likely_stripes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from drivelab.models.gaussian_process import Process

#: Number of workloads, evenly spread, that make the surface: its time grows with their cube.
MOST_WORKLOADS: Final = 1200
# As in `drivelab.models.kriging`, which only fitting imports.
_MOST_ROWS: Final = 5_000
# The search for parameters uses this many of them; more hardly improve lengths.
_SEARCHED: Final = 500
# Candidates whose likelihood is compared.
_STRIPES: Final = 2
# Gain in the logarithm of the likelihood that another input must bring.
_WORTH: Final = 6.0
# Steps of a search, and of one that starts from the result for nearly the same rows.
_STEPS: Final = 60
_AGAIN: Final = 12
# Length of an input that is added to those of such a search.
_MORE: Final = 6.0
# A measurement whose residual is this many times the usual one is treated as an outlier.
_MISHAP: Final = 3.0
# To this power an error lowers a process's weight: one off by half as much again counts a fifth.
_SHARPNESS: Final = 4
# Ratio of a normal distribution's standard deviation to its median absolute deviation.
_NORMAL: Final = 1.4826
# So many entries of a covariance are computed at once.
_ENTRIES: Final = 2**18


class KrigingSurface:
    """Fitted processes of workloads, whose weighted mean answers.

    Parameters
    ----------
    inputs
        What they see.
    views
        The processes.
    requests
        About how many a queueing model replays for an answer; None for as many as its mean needs.
    """

    kind: ClassVar[str] = "kriging"

    def __init__(self, inputs: Inputs, views: Sequence[View], requests: int | None = None) -> None:
        self.inputs = inputs
        self.views = tuple(views)
        self._requests = requests

    def in_haste(self) -> KrigingSurface:
        """Return the same surface, for which fewer requests are replayed."""
        return KrigingSurface(self.inputs, self.views, FEW_REQUESTS)

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row."""
        found = np.empty(len(table))
        for rows, inputs in self._blocks(table):
            found[rows] = self.inputs.mean(table[rows], inputs)
            found[rows] += sum(view.weight * view.answers(inputs) for view in self.views)
        return found

    def deviation(self, table: FloatArray) -> FloatArray:
        """Return each value's standard deviation: the mean of what the processes say, shape (n,).

        Processes of the same measurements mostly err together, so their mean is hardly surer.
        """
        found = np.empty(len(table))
        for rows, inputs in self._blocks(table):
            found[rows] = sum(view.weight * view.deviation(inputs) for view in self.views)
        return found

    def _blocks(self, table: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield some rows at once, and their inputs."""
        size = max(1, _ENTRIES // len(self.views[0].numbers["rows"]))
        for begin in range(0, len(table), size):
            rows = slice(begin, begin + size)
            yield rows, self.inputs.of(table[rows], self._requests)

    def to_json(self) -> dict[str, Any]:
        """Return the inputs and every number of the processes."""
        bottleneck, queueing = self.inputs.bottleneck, self.inputs.queueing
        return {
            "kind": self.kind,
            "stripes": stripes_json(self.inputs.stripes),
            "bottleneck": None if bottleneck is None else bottleneck.to_json(),
            "is_mean": self.inputs.is_mean,
            "queueing": None if queueing is None else queueing.to_json(),
            "rivals": [each.to_json() for each in self.inputs.rivals],
            "trust": list(self.inputs.trust),
            "views": [view.to_json() for view in self.views],
        }

    @classmethod
    def from_json(cls, node: Node, features: FeatureSet) -> Self:
        """Read what `to_json` gave."""
        bottleneck, queueing = node.of("bottleneck"), node.of("queueing")
        rivals = tuple(Queueing.from_json(each) for each in node.of("rivals").items())
        trust = node.of("trust").numbers(1 + len(rivals))
        if not (trust >= 0).all() or not math.isclose(trust.sum(), 1.0, rel_tol=1e-9):
            node.of("trust").refuse("weights whose sum is 1")
        inputs = Inputs(
            features,
            stripes_of(node.of("stripes")),
            None if bottleneck.value is None else Bottleneck.from_json(bottleneck, features),
            node.of("is_mean").boolean(),
            None if queueing.value is None else Queueing.from_json(queueing),
            rivals,
            tuple(trust.tolist()),
        )
        count = len(inputs.kinds())
        views = [View.from_json(each, count) for each in node.of("views").items()]
        if not math.isclose(sum(view.weight for view in views), 1.0, rel_tol=1e-9):
            node.of("views").refuse("weights whose sum is 1")
        return cls(inputs, views)


@dataclass(frozen=True)
class _Seen:
    """What is fitted: workloads in effect, logarithms, and the known variance of each."""

    table: FloatArray
    targets: FloatArray
    noise: FloatArray

    @classmethod
    def of(cls, table: FloatArray, targets: FloatArray, noise: FloatArray) -> _Seen:
        """Take these, or as many as a surface is made of."""
        if len(table) > MOST_WORKLOADS:
            places = np.linspace(0, len(table) - 1, MOST_WORKLOADS).astype(int)
            return cls(table[places], targets[places], noise[places])
        return cls(table, targets, noise)


class _Tried:
    """One process: its inputs and how likely the logarithms are under it."""

    def __init__(
        self,
        inputs: Inputs,
        seen: _Seen,
        start: Process | None = None,
        steps: int = _STEPS,
        *,
        rows: FloatArray | None = None,
        columns: IntArray | None = None,
    ) -> None:
        from drivelab.models.kriging import KrigingRegressor

        self.inputs = inputs
        self.noise = seen.noise
        rows = inputs.of(seen.table) if rows is None else rows
        self.rows = rows
        self.columns = np.arange(rows.shape[1]) if columns is None else columns
        if start is not None and len(start.lengths) != len(self.columns):
            more = np.full(len(self.columns) - len(start.lengths), _MORE)
            start = replace(start, lengths=np.append(start.lengths, more))
        self.fitted = KrigingRegressor(max_steps=steps, max_search_rows=_SEARCHED, start=start)
        left = seen.targets - inputs.mean(seen.table, rows)
        self.fitted.fit(rows[:, self.columns], left, noise_variance=seen.noise)
        # Of the logarithms themselves: the smaller what is left, the likelier.
        unit = self.fitted.target_scale_ or 1.0
        self.likelihood = self.fitted.log_likelihood_ - min(len(left), _SEARCHED) * math.log(unit)

    def left(self) -> FloatArray:
        """Return how far each row's target is above the answer without it (Dubrule 1983)."""
        from drivelab.models.gaussian_process import solved

        root = self.fitted.root_
        inverse_root = solved(root, np.eye(len(root)))
        found: FloatArray = self.fitted.weights_ / (inverse_root**2).sum(axis=0)
        found *= self.fitted.target_scale_
        return found

    def view(self, weight: float) -> View:
        """Return what a model keeps of it."""
        return View.of(self.columns, weight, self.fitted, self.noise)


def _surface(every: Sequence[_Tried]) -> KrigingSurface:
    """Return the mean of processes, each weighted by how well it predicts rows from the others."""
    errors = np.array([float(np.abs(one.left()).mean()) for one in every])
    # Constant targets are predicted exactly.
    errors = np.maximum(errors, 1e-9)
    weights = (errors.min() / errors) ** _SHARPNESS
    shares = (weights / weights.sum()).tolist()
    views = [one.view(share) for one, share in zip(every, shares, strict=True)]
    return KrigingSurface(every[0].inputs, views)


def _striped(tried: _Tried, seen: _Seen) -> _Tried:
    """Return the likeliest fit with stripes, or the one without where these bring little."""
    first = tried
    for stripes in likely_stripes(seen.table, tried.left(), _STRIPES):
        other = _Tried(replace(first.inputs, stripes=stripes), seen, first.fitted.process_)
        if other.likelihood > tried.likelihood + _WORTH:
            tried = other
    return tried


def fit_kriging(
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    """Fit the process to the logarithms."""
    del seed  # nothing is drawn
    seen = _Seen.of(table, targets, noise)
    tried = _Tried(Inputs(features), seen)
    if features.name != "extended":
        return _surface([tried])
    tried = _striped(tried, seen)
    bottleneck = fit_bottleneck(seen.table, seen.targets, stripes=tried.inputs.stripes)
    inputs = replace(tried.inputs, bottleneck=bottleneck)
    other = _Tried(inputs, seen, tried.fitted.process_)
    if other.likelihood > tried.likelihood + _WORTH:
        tried = other
    return _surface([tried])


def fit_bottleneck_kriging(
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    """Fit the process to what the bottleneck model leaves of the logarithms."""
    del seed  # nothing is drawn
    seen = _Seen.of(table, targets, noise)
    bottleneck = fit_bottleneck(seen.table, seen.targets)
    inputs = Inputs(features, bottleneck=bottleneck, is_mean=True)
    return _surface([_striped(_Tried(inputs, seen), seen)])


def fit_queueing_kriging(
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    """Fit the process to what the queueing model leaves of the logarithms."""
    del seed  # nothing is drawn
    seen = _Seen.of(table, targets, noise)
    likeliest, *rivals = fit_queueing(seen.table, seen.targets)
    inputs = Inputs(features, queueing=likeliest, rivals=tuple(rivals))
    rows = inputs.of(seen.table)
    kinds = np.array(inputs.kinds())
    apart = np.column_stack([np.zeros(len(rows)), rows[:, kinds == "rivals"]])
    left = rows[:, kinds == "time"] + apart - seen.targets[:, np.newaxis]
    inputs = replace(inputs, trust=tuple(trust_in(left.T).tolist()))
    starts = ((columns, _of_what_is_left(len(columns))) for columns in inputs.views())
    return _viewed(inputs, seen, starts, _STEPS)


def _of_what_is_left(columns: int) -> Process:
    """Return where to search for a process of what a good mean leaves: much is noise at first."""
    from drivelab.models.gaussian_process import Process

    return Process(1.0, 0.1, 0.1, np.full(columns, 2.0 * math.sqrt(columns)))


def _robust(first: _Tried, seen: _Seen, start: Process, steps: int) -> _Tried:
    """Return a fit in which what is far off is taken to be as noisy as it is off."""
    left = first.left()
    far = np.abs(left) > _MISHAP * _NORMAL * float(np.median(np.abs(left)))
    if not far.any():
        return first
    noise = np.where(far, seen.noise + left**2, seen.noise)
    again = replace(seen, noise=noise)
    return _Tried(first.inputs, again, start, steps, rows=first.rows, columns=first.columns)


def _viewed(
    inputs: Inputs, seen: _Seen, starts: Iterable[tuple[IntArray, Process]], steps: int
) -> KrigingSurface:
    """Return a surface of processes that see these columns, and where to search for each."""
    rows = inputs.of(seen.table)
    found = []
    for columns, start in starts:
        first = _Tried(inputs, seen, start, steps, rows=rows, columns=columns)
        found.append(_robust(first, seen, start, steps))
    return _surface(found)


def refit_kriging(
    predictor: Predictor,
    features: FeatureSet,
    table: FloatArray,
    targets: FloatArray,
    noise: FloatArray,
) -> Predictor:
    """Fit to most of the rows of a fitted surface: the same inputs, everything else recomputed."""
    del features
    if not isinstance(predictor, KrigingSurface):
        raise TypeError("no surface")
    seen = _Seen.of(table, targets, noise)
    inputs = predictor.inputs
    if inputs.bottleneck is not None:
        again = fit_bottleneck(
            seen.table, seen.targets, stripes=inputs.bottleneck.stripes, start=inputs.bottleneck
        )
        inputs = replace(inputs, bottleneck=again)
    if inputs.queueing is not None:
        # The others stay: inputs like any other, whose few costs hardly know a tenth of the rows.
        inputs = replace(inputs, queueing=refit_queueing(seen.table, seen.targets, inputs.queueing))
        starts = ((view.columns, view.process) for view in predictor.views)
        return _viewed(inputs, seen, starts, _AGAIN)
    return _surface([_Tried(inputs, seen, predictor.views[0].process, _AGAIN)])


KRIGING: Final = Estimator(
    "kriging", fit_kriging, KrigingSurface, refit=refit_kriging, most_rows=_MOST_ROWS
)
BOTTLENECK_KRIGING: Final = Estimator(
    "kriging on the bottleneck model",
    fit_bottleneck_kriging,
    KrigingSurface,
    features=("extended",),
    refit=refit_kriging,
)
QUEUEING_KRIGING: Final = Estimator(
    "kriging on the queueing model",
    fit_queueing_kriging,
    KrigingSurface,
    features=("extended",),
    refit=refit_kriging,
)
