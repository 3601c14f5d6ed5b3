"""Kriging of a drive's workloads: its inputs, and the fitted surface in a model's file.

Extended features are the work of a workload (`drivelab.models.work`), all others their linear
inputs. Further inputs are added only if they make the measurements more likely: the imbalance over
parallel units, with the number and stripe that explain most of the rest; and the bottleneck model's
time and parts.

`kriging` predicts the logarithm itself. `bottleneck_kriging` predicts the residual of the
bottleneck model, so that far from measurements it answers like that model. `queueing_kriging`
predicts the residual of the queueing model (`drivelab.models.queueing`), from its time and the
parts of that time. A measurement far from what all others predict, for example because the drive
paused, counts for little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from drivelab.checked_json import Node
from drivelab.models.bottleneck import Bottleneck, fit_bottleneck, stripes_json, stripes_of
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.predictor import Estimator, Predictor
from drivelab.models.queueing import Queueing
from drivelab.models.queueing_search import fit_queueing, refit_queueing
from drivelab.models.work import Stripes, likely_stripes, work_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.models.gaussian_process import Process
    from drivelab.models.kriging import KrigingRegressor

#: Requests that a queueing model replays where no single answer must be exact.
FEW_REQUESTS: Final = 384
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
_MISHAP: Final = 6.0
# Ratio of a normal distribution's standard deviation to its median absolute deviation.
_NORMAL: Final = 1.4826
# Standard deviations of an input beyond those trained on that slopes follow.
_BEYOND: Final = 2.0
# So many entries of a covariance are computed at once.
_ENTRIES: Final = 2**18


@dataclass(frozen=True)
class Inputs:
    """What the process sees of a workload.

    Attributes
    ----------
    features
        Whose.
    stripes
        Over which units accesses spread; None where that explains nothing.
    bottleneck
        Whose answers are inputs too; None where they are not.
    is_mean
        Whether the process is of what the bottleneck model leaves.
    queueing
        Whose time the process is around, and whose shares are inputs; None where there is none.
    rivals
        Other queueing models of the same measurements; how far their times are from that one's are
        inputs too.
    """

    features: FeatureSet
    stripes: Stripes | None = None
    bottleneck: Bottleneck | None = None
    is_mean: bool = False
    queueing: Queueing | None = None
    rivals: tuple[Queueing, ...] = ()

    def of(self, table: FloatArray, requests: int | None = None) -> FloatArray:
        """Return the inputs of workloads in effect, finite, shape (n, d).

        Parameters
        ----------
        table
            Workloads in effect, shape (n, 8).
        requests
            About how many a queueing model replays; None for as many as its mean needs.
        """
        if self.features.name != "extended":
            return self.features.project_linear(table)
        columns = [work_inputs(table)]
        # Stripes last where they are found last: a search begins with the lengths before it.
        if self.bottleneck is not None and self.is_mean:
            columns.append(self.bottleneck.parts(table).T)
        if self.stripes is not None:
            columns.append(self.stripes.inputs(table))
        if self.bottleneck is not None and not self.is_mean:
            columns.append(self.bottleneck.parts(table).T)
        if self.queueing is not None:
            own = self.queueing.inputs(table, requests)
            columns += [own, *(each.time(table, requests) - own[:, 0] for each in self.rivals)]
        return np.column_stack(columns)

    @property
    def count(self) -> int:
        """Number of inputs."""
        if self.features.name != "extended":
            return len(self.features.linear_inputs)
        anything = np.array([[0.0, 1.0, 4096.0, np.nan, 1.0, *[np.nan] * 3]])
        return int(self.of(anything).shape[1])

    def mean(self, table: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return what the process is around, of workloads and their inputs, shape (n,)."""
        if self.queueing is not None:
            return inputs[:, -1 - len(self.queueing.told) - len(self.rivals)].copy()
        if self.bottleneck is None or not self.is_mean:
            return np.zeros(len(table))
        return self.bottleneck.predict(table)


class KrigingSurface:
    """A fitted process of workloads.

    Parameters
    ----------
    inputs
        What it sees.
    numbers
        Of the fitted `KrigingRegressor`, as `_NUMBERS` and `_ARRAYS` name them.
    requests
        About how many a queueing model replays for an answer; None for as many as its mean needs.
    """

    kind: ClassVar[str] = "kriging"

    def __init__(
        self, inputs: Inputs, numbers: dict[str, Any], requests: int | None = None
    ) -> None:
        from drivelab.models.gaussian_process import Process

        self.inputs = inputs
        self._requests = requests
        self.numbers = numbers
        self.process = Process(
            numbers["amplitude"], numbers["slope"], numbers["nugget"], numbers["lengths"]
        )

    @classmethod
    def of(cls, inputs: Inputs, fitted: KrigingRegressor, noise: FloatArray) -> Self:
        """Take what a fitted regressor found."""
        process = fitted.process_
        numbers = {
            "amplitude": process.amplitude,
            "slope": process.slope,
            "nugget": process.nugget,
            "target_centre": fitted.target_centre_,
            "target_scale": fitted.target_scale_,
            "lengths": process.lengths,
            "centre": fitted.centre_,
            "scale": fitted.scale_,
            "weights": fitted.weights_,
            "noise": noise,
            "rows": fitted.rows_,
        }
        return cls(inputs, numbers)

    def in_haste(self) -> KrigingSurface:
        """Return the same surface, for which fewer requests are replayed."""
        return KrigingSurface(self.inputs, self.numbers, FEW_REQUESTS)

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row."""
        from drivelab.models.gaussian_process import answers

        numbers = self.numbers
        found = np.empty(len(table))
        for rows, inputs in self._blocks(table):
            asked = self._standard(inputs)
            standard = answers(self.process, asked, numbers["rows"], numbers["weights"])
            found[rows] = self.inputs.mean(table[rows], inputs)
            found[rows] += numbers["target_centre"] + numbers["target_scale"] * standard
        return found

    def deviation(self, table: FloatArray) -> FloatArray:
        """Return the standard deviation of each row's value as the process sees it, shape (n,)."""
        from drivelab.models.gaussian_process import root_of, solved

        noise = self.numbers["noise"] / (self.numbers["target_scale"] or 1.0) ** 2
        root = root_of(self.process, self.numbers["rows"], noise)
        found = np.empty(len(table))
        for rows, inputs in self._blocks(table):
            asked = self._standard(inputs)
            shared = self.process.covariance(self.numbers["rows"], asked)
            explained = (solved(root, shared) ** 2).sum(axis=0)
            variance = np.maximum(self.process.variance(asked) - explained, 0.0)
            variance += self.process.nugget
            found[rows] = self.numbers["target_scale"] * np.sqrt(variance)
        return found

    def _standard(self, inputs: FloatArray) -> FloatArray:
        """Return standardised inputs, those far beyond what was trained taken for the nearest.

        An input that hardly varied in training may be a thousand standard deviations off, and
        slopes would follow it.
        """
        numbers = self.numbers
        low, high = numbers["rows"].min(axis=0), numbers["rows"].max(axis=0)
        found: FloatArray = (inputs - numbers["centre"]) / numbers["scale"]
        return np.clip(found, low - _BEYOND, high + _BEYOND)

    def _blocks(self, table: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield some rows at once, and their inputs."""
        size = max(1, _ENTRIES // len(self.numbers["rows"]))
        for begin in range(0, len(table), size):
            rows = slice(begin, begin + size)
            yield rows, self.inputs.of(table[rows], self._requests)

    def to_json(self) -> dict[str, Any]:
        """Return the inputs and every number of the process."""
        bottleneck, queueing = self.inputs.bottleneck, self.inputs.queueing
        return {
            "kind": self.kind,
            "stripes": stripes_json(self.inputs.stripes),
            "bottleneck": None if bottleneck is None else bottleneck.to_json(),
            "is_mean": self.inputs.is_mean,
            "queueing": None if queueing is None else queueing.to_json(),
            "rivals": [each.to_json() for each in self.inputs.rivals],
            **{name: np.asarray(self.numbers[name]).tolist() for name in (*_NUMBERS, *_ARRAYS)},
            "rows": self.numbers["rows"].tolist(),
        }

    @classmethod
    def from_json(cls, node: Node, features: FeatureSet) -> Self:
        """Read what `to_json` gave."""
        bottleneck, queueing = node.of("bottleneck"), node.of("queueing")
        inputs = Inputs(
            features,
            stripes_of(node.of("stripes")),
            None if bottleneck.value is None else Bottleneck.from_json(bottleneck, features),
            node.of("is_mean").boolean(),
            None if queueing.value is None else Queueing.from_json(queueing),
            tuple(Queueing.from_json(each) for each in node.of("rivals").items()),
        )
        numbers: dict[str, Any] = {name: node.of(name).number() for name in _NUMBERS}
        rows = [row.numbers() for row in node.of("rows").items()]
        columns = inputs.count
        if not rows or {len(row) for row in rows} != {columns}:
            node.of("rows").refuse(f"rows of {columns} inputs")
        numbers["rows"] = np.array(rows)
        for name, count in _ARRAYS.items():
            numbers[name] = node.of(name).numbers(columns if count == "inputs" else len(rows))
        for name in ("amplitude", "slope", "nugget", "lengths", "scale"):
            if not (np.asarray(numbers[name]) > 0).all():
                node.of(name).refuse("above 0")
        if not (numbers["noise"] >= 0).all() or numbers["target_scale"] < 0:
            node.of("noise").refuse("0 or more")
        return cls(inputs, numbers)


_NUMBERS: Final = ("amplitude", "slope", "nugget", "target_centre", "target_scale")
_ARRAYS: Final = {
    "lengths": "inputs",
    "centre": "inputs",
    "scale": "inputs",
    "weights": "rows",
    "noise": "rows",
}


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
    """One fit: its inputs and how likely the logarithms are under it."""

    def __init__(
        self,
        inputs: Inputs,
        seen: _Seen,
        start: Process | None = None,
        steps: int = _STEPS,
        rows: FloatArray | None = None,
    ) -> None:
        from drivelab.models.kriging import KrigingRegressor

        self.inputs = inputs
        self.noise = seen.noise
        rows = inputs.of(seen.table) if rows is None else rows
        self.rows = rows
        if start is not None and len(start.lengths) != rows.shape[1]:
            more = np.full(rows.shape[1] - len(start.lengths), _MORE)
            start = replace(start, lengths=np.append(start.lengths, more))
        self.fitted = KrigingRegressor(max_steps=steps, max_search_rows=_SEARCHED, start=start)
        left = seen.targets - inputs.mean(seen.table, rows)
        self.fitted.fit(rows, left, noise_variance=seen.noise)
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

    def surface(self) -> KrigingSurface:
        """Return what a model keeps of it."""
        return KrigingSurface.of(self.inputs, self.fitted, self.noise)


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
        return tried.surface()
    tried = _striped(tried, seen)
    bottleneck = fit_bottleneck(seen.table, seen.targets, stripes=tried.inputs.stripes)
    inputs = replace(tried.inputs, bottleneck=bottleneck)
    other = _Tried(inputs, seen, tried.fitted.process_)
    if other.likelihood > tried.likelihood + _WORTH:
        tried = other
    return tried.surface()


def fit_bottleneck_kriging(
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    """Fit the process to what the bottleneck model leaves of the logarithms."""
    del seed  # nothing is drawn
    seen = _Seen.of(table, targets, noise)
    bottleneck = fit_bottleneck(seen.table, seen.targets)
    inputs = Inputs(features, bottleneck=bottleneck, is_mean=True)
    return _striped(_Tried(inputs, seen), seen).surface()


def fit_queueing_kriging(
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    """Fit the process to what the queueing model leaves of the logarithms."""
    del seed  # nothing is drawn
    seen = _Seen.of(table, targets, noise)
    likeliest, *rivals = fit_queueing(seen.table, seen.targets)
    inputs = Inputs(features, queueing=likeliest, rivals=tuple(rivals))
    tried = _Tried(inputs, seen, _of_what_is_left(inputs, table))
    return _without_mishaps(tried, seen, _of_what_is_left(inputs, table), _STEPS).surface()


def _of_what_is_left(inputs: Inputs, table: FloatArray) -> Process:
    """Return where to search for a process of what a good mean leaves: much is noise at first."""
    from drivelab.models.gaussian_process import Process

    columns = inputs.of(table[:1]).shape[1]
    return Process(1.0, 0.1, 0.1, np.full(columns, 2.0 * math.sqrt(columns)))


def _without_mishaps(tried: _Tried, seen: _Seen, start: Process, steps: int) -> _Tried:
    """Return a fit in which what is far off is taken to be as noisy as it is off."""
    left = tried.left()
    far = np.abs(left) > _MISHAP * _NORMAL * float(np.median(np.abs(left)))
    if not far.any():
        return tried
    noise = np.where(far, seen.noise + left**2, seen.noise)
    return _Tried(tried.inputs, replace(seen, noise=noise), start, steps, tried.rows)


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
        tried = _Tried(inputs, seen, predictor.process, _AGAIN)
        return _without_mishaps(tried, seen, predictor.process, _AGAIN).surface()
    return _Tried(inputs, seen, predictor.process, _AGAIN).surface()


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
