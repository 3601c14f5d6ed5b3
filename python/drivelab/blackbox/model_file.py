"""The file of a performance model: one JSON object, own format, nothing to execute.

``format`` and ``format_version`` come first; a reader refuses what is newer. Every number
is written so that it is read back to the bit. Reading checks names, types, lengths and
ranges, and the trees' own checks make sure that every tree ends, so that a file from
anywhere gives predictions or one clear line.
"""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from drivelab import _core
from drivelab.blackbox.accuracy import Accuracy
from drivelab.blackbox.effects import Effect, Importance
from drivelab.blackbox.evaluate import (
    FOLDS,
    METRICS,
    MODEL_KEYS,
    Evaluation,
    ModelKey,
    best_models,
)
from drivelab.blackbox.features import FEATURE_SETS, UNITS, FeatureSet, FloatArray
from drivelab.blackbox.predictors import LinearFunction, Predictor, Trees
from drivelab.errors import RunError, UsageError
from drivelab.whole_file import write_whole
from drivelab.workloads.characteristics import FIELDS

if TYPE_CHECKING:
    from drivelab.blackbox.model import PerformanceModel

FORMAT: Final = "drivelab performance model"
FORMAT_VERSION: Final = 1
# A model of a million measurements has less; a file beyond is not read into memory.
_LARGEST_BYTES: Final = 2**30


def write(path: Path, model: PerformanceModel) -> None:
    """Write `model` to `path`, which then holds either the old or the whole new file."""
    text = json.dumps(_to_json(model), allow_nan=False)
    try:
        write_whole(path, text)
    except OSError as error:
        raise RunError(
            f"cannot write the model {path}: {error.strerror or error}; what was measured is "
            "kept: make room or check the permissions, then run the same command again"
        ) from error


def read(path: Path) -> dict[str, Any]:
    """Return the arguments of the `PerformanceModel` that `path` holds."""
    try:
        status = path.stat()
        # Reading a pipe or a device may never end.
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise UsageError(f"{path} is no Drivelab model: it is no regular file")
        if status.st_size > _LARGEST_BYTES:
            raise UsageError(f"{path} is too large for a Drivelab model")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the model {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path} is no Drivelab model: it is not text") from error
    try:
        return _from_json(_Node(json.loads(text, parse_constant=_refuse_constant), ""))
    except _MismatchError as error:
        raise UsageError(f"{path} is no readable Drivelab model: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{path} is no Drivelab model: it is nested too deeply") from error
    except ValueError as error:
        raise UsageError(f"{path} is no Drivelab model: it is not JSON ({error})") from error


def _to_json(model: PerformanceModel) -> dict[str, Any]:
    evaluation = model.evaluation
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "provenance": model.provenance,
        "seed": model.seed,
        "features": {name: _inputs(chosen) for name, chosen in FEATURE_SETS.items()},
        "trained_ranges": {name: model.ranges[name] for name in FIELDS},
        "rows": {
            "measurement_index": evaluation.indices.tolist(),
            "fold": evaluation.folds.tolist(),
            "observed": {metric: evaluation.observed[metric].tolist() for metric in METRICS},
        },
        "models": [
            {
                **key._asdict(),
                "cross_validated": evaluation.cross_validated[key].to_json(),
                "in_sample": evaluation.in_sample[key].to_json(),
                "out_of_fold": evaluation.out_of_fold[key].tolist(),
                "predictor": model.predictors[key].to_json(),
            }
            for key in MODEL_KEYS
        ],
        "importance": {
            metric: [vars(one) for one in evaluation.importance[metric]] for metric in METRICS
        },
        "effects": {
            metric: [vars(one) for one in evaluation.effects[metric]] for metric in METRICS
        },
    }


def _inputs(features: FeatureSet) -> dict[str, list[str]]:
    return {"trees": list(features.features), "linear": list(features.linear_inputs)}


class _MismatchError(Exception):
    """What a file says differs from what a model says."""


def _refuse_constant(name: str) -> NoReturn:
    raise _MismatchError(f"it contains {name}")


class _Node:
    """A value of the file with its place in it; each reader checks what it returns."""

    def __init__(self, value: object, place: str) -> None:
        self.value = value
        self.place = place

    def refuse(self, wanted: str) -> NoReturn:
        raise _MismatchError(f"{self.place or 'the file'} is not {wanted}")

    def of(self, name: str) -> _Node:
        if not isinstance(self.value, dict) or name not in self.value:
            self.refuse(f"an object with {name!r}")
        return _Node(self.value[name], f"{self.place}.{name}" if self.place else name)

    def items(self) -> Iterator[_Node]:
        if not isinstance(self.value, list):
            self.refuse("a list")
        for number, value in enumerate(self.value):
            yield _Node(value, f"{self.place}[{number}]")

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.refuse("text")
        return self.value

    def choice(self, allowed: tuple[str, ...]) -> str:
        text = self.text()
        if text not in allowed:
            self.refuse(f"one of {', '.join(allowed)}")
        return text

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def integer(self, low: int, high: int) -> int:
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.refuse(f"a whole number from {low} to {high}")
        return value

    def number(self) -> float:
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool):
            self.refuse("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.refuse("a finite number")
        return number

    def numbers(self, length: int | None = None) -> FloatArray:
        numbers = np.array([item.number() for item in self.items()], dtype=np.float64)
        if length is not None and len(numbers) != length:
            self.refuse(f"a list of {length} numbers")
        return numbers

    def positive_numbers(self, length: int) -> FloatArray:
        numbers = self.numbers(length)
        if not (numbers > 0).all():
            self.refuse("a list of numbers above 0")
        return numbers


def _from_json(root: _Node) -> dict[str, Any]:
    if root.of("format").value != FORMAT:
        root.of("format").refuse(f"{FORMAT!r}")
    if root.of("format_version").integer(1, 2**31) > FORMAT_VERSION:
        raise _MismatchError("it was written by a newer Drivelab; update this one")
    for name, chosen in FEATURE_SETS.items():
        if root.of("features").of(name).value != _inputs(chosen):
            root.of("features").of(name).refuse("what this Drivelab sees of a workload")
    models = _models(root.of("models"))
    rows = root.of("rows")
    indices = [item.integer(0, 2**63 - 1) for item in rows.of("measurement_index").items()]
    count = len(indices)
    cross_validated = {key: _accuracy(models[key].of("cross_validated")) for key in MODEL_KEYS}
    provenance = root.of("provenance")
    if not isinstance(provenance.value, dict):
        provenance.refuse("an object")
    evaluation = Evaluation(
        indices=np.array(indices, dtype=np.int64),
        folds=_folds(rows.of("fold"), count),
        observed={
            metric: rows.of("observed").of(metric).positive_numbers(count) for metric in METRICS
        },
        out_of_fold={
            key: models[key].of("out_of_fold").positive_numbers(count) for key in MODEL_KEYS
        },
        cross_validated=cross_validated,
        in_sample={key: _accuracy(models[key].of("in_sample")) for key in MODEL_KEYS},
        best=best_models(cross_validated),
        best_extended=best_models(cross_validated, {"extended"}),
        importance={
            metric: tuple(_importance(one) for one in root.of("importance").of(metric).items())
            for metric in METRICS
        },
        effects={
            metric: tuple(_effect(one) for one in root.of("effects").of(metric).items())
            for metric in METRICS
        },
    )
    return {
        "predictors": {
            key: _predictor(models[key].of("predictor"), FEATURE_SETS[key.features])
            for key in MODEL_KEYS
        },
        "ranges": {name: _range(root.of("trained_ranges").of(name)) for name in FIELDS},
        "evaluation": evaluation,
        "seed": root.of("seed").integer(0, 2**64 - 1),
        "provenance": provenance.value,
    }


def _models(node: _Node) -> dict[ModelKey, _Node]:
    models = {
        ModelKey(*(one.of(name).text() for name in ModelKey._fields)): one for one in node.items()
    }
    for key in MODEL_KEYS:
        if key not in models:
            raise _MismatchError(f"it lacks the model {' '.join(key)}")
    return models


def _folds(node: _Node, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    folds = np.array([item.integer(0, FOLDS - 1) for item in node.items()], dtype=np.int64)
    if len(folds) != count:
        node.refuse(f"a list of {count} folds")
    return folds


def _range(node: _Node) -> tuple[float, float] | None:
    if node.value is None:
        return None
    low, high = node.numbers(2)
    if low > high:
        node.refuse("an ascending range")
    return float(low), float(high)


def _accuracy(node: _Node) -> Accuracy:
    r2 = node.of("r2")
    return Accuracy(
        r2=math.nan if r2.value is None else r2.number(),
        mae=node.of("mae").number(),
        mean=node.of("mean").number(),
        mre=node.of("mre_ratio").number(),
        rows=node.of("rows").integer(1, 2**63 - 1),
    )


def _importance(node: _Node) -> Importance:
    return Importance(
        characteristic=node.of("characteristic").choice(FIELDS),
        mre_increase=node.of("mre_increase").number(),
        mre_increase_deviation=node.of("mre_increase_deviation").number(),
    )


def _effect(node: _Node) -> Effect:
    characteristic = node.of("characteristic").choice(FIELDS)
    values = node.of("values").numbers()
    return Effect(
        characteristic=characteristic,
        unit=node.of("unit").choice((UNITS[characteristic],)),
        values=tuple(values.tolist()),
        performance=tuple(node.of("performance").positive_numbers(len(values)).tolist()),
    )


def _predictor(node: _Node, features: FeatureSet) -> Predictor:
    if node.of("kind").choice(("linear", "trees")) == "linear":
        return LinearFunction(
            features,
            intercept=node.of("intercept").number(),
            coefficients=node.of("coefficients").numbers(len(features.linear_inputs)),
        )
    columns = len(features.features)
    arrays = node.of("arrays")
    if not isinstance(arrays.value, dict):
        arrays.refuse("an object")
    if arrays.of("columns").integer(1, 2**31) != columns:
        arrays.of("columns").refuse(f"{columns}")
    try:
        ensemble = _core.TreeEnsemble.from_arrays(arrays.value)
    except (UsageError, TypeError, ValueError, OverflowError) as error:
        raise _MismatchError(f"{arrays.place}: {error}") from error
    return Trees(features, ensemble, single_precision=node.of("single_precision").boolean())
