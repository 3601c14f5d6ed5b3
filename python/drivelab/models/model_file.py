"""The file of a performance model: one JSON object, own format, nothing to execute.

``format`` and ``format_version`` come first; a reader refuses any other version, because a
model is fitted again from its run in seconds. Every number is written so that it is read back
to the bit. The sum at the end tells a file of which a bit was changed. Reading checks names,
types, lengths and ranges too, and the trees' own checks make sure that every tree ends, so that a
file from anywhere gives predictions or one clear line.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import numpy as np

from drivelab.checked_json import MismatchError, Node
from drivelab.errors import UsageError
from drivelab.models.accuracy import Accuracy
from drivelab.models.answers import Answer
from drivelab.models.contents import ModelContents
from drivelab.models.effects import Effect, Importance
from drivelab.models.evaluate import (
    FOLDS,
    MODEL_KEYS,
    SURFACE_KEYS,
    Evaluation,
    ModelKey,
    best_models,
)
from drivelab.models.features import (
    FEATURE_SETS,
    UNITS,
    FeatureSet,
    FloatArray,
    characteristics_of,
    workload_table,
)
from drivelab.models.intervals import LEVELS
from drivelab.models.measured import METRICS
from drivelab.models.mixes import between_ratios
from drivelab.models.predictor import Predictor
from drivelab.models.predictors import read_predictor
from drivelab.models.surfaces import SurfaceKey
from drivelab.models.trained import TrainedWorkloads
from drivelab.sealed_model import ModelFile
from drivelab.workloads.characteristics import FIELDS

FORMAT: Final = "drivelab performance model"
FORMAT_VERSION: Final = 7
_FILE: Final = ModelFile(
    "Drivelab model",
    FORMAT,
    FORMAT_VERSION,
    version_key="format_version",
    made_by="`drivelab model`",
    missing="a model is a run's folder, or its model.json, as `drivelab model` makes them",
    again="fit the model again from its run: drivelab report RUN",
    kept="what was measured is saved: free some space or check the permissions, then run the "
    "same command again",
)


def write(path: Path, model: ModelContents) -> None:
    """Write `model` to `path`, which then holds either the old or the whole new file.

    Raises
    ------
    RunError
        When it cannot be written.
    """
    _FILE.write(path, _FILE.to_bytes(_to_json(model)))


def read(path: Path) -> dict[str, Any]:
    """Return the arguments of the `PerformanceModel` that `path` holds.

    Raises
    ------
    UsageError
        When it holds no model, or one of another version.
    DamagedError
        When it is not what was written.
    """
    return _FILE.read(path, _from_json)


def _to_json(model: ModelContents) -> dict[str, Any]:
    evaluation = model.evaluation
    return {
        "provenance": model.provenance,
        "seed": model.seed,
        "features": {name: _inputs(chosen) for name, chosen in FEATURE_SETS.items()},
        "rows": {
            "workloads": {
                name: _with_null(model.trained.table[:, column])
                for column, name in enumerate(FIELDS)
            },
            "measurement_index": evaluation.indices.tolist(),
            "fold": evaluation.folds.tolist(),
            "observed": {metric: evaluation.observed[metric].tolist() for metric in METRICS},
        },
        "surfaces": [
            {
                **key._asdict(),
                "predictor": model.predictors[ModelKey(METRICS[0], *key)].to_json(),
            }
            for key in SURFACE_KEYS
        ],
        "models": [
            {
                **key._asdict(),
                "cross_validated": evaluation.cross_validated[key].to_json(),
                "in_sample": evaluation.in_sample[key].to_json(),
                "check": None if evaluation.check is None else evaluation.check[key].to_json(),
                "interval_scores": model.scores[key].tolist(),
                "out_of_fold": evaluation.out_of_fold[key].tolist(),
            }
            for key in MODEL_KEYS
        ],
        "importance": {
            metric: [vars(one) for one in evaluation.importance[metric]] for metric in METRICS
        },
        "effects": {
            metric: [vars(one) for one in evaluation.effects[metric]] for metric in METRICS
        },
        "check": {
            "outside": evaluation.check_outside,
            "coverage": None
            if evaluation.check_coverage is None
            else {
                metric: [{"level": level, "ratio": ratio} for level, ratio in of_metric.items()]
                for metric, of_metric in evaluation.check_coverage.items()
            },
        },
    }


def _with_null(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _inputs(features: FeatureSet) -> dict[str, list[str]]:
    return {"trees": list(features.features), "linear": list(features.linear_inputs)}


def _from_json(root: Node) -> dict[str, Any]:
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
        **_check(root.of("check"), models),
    )
    trained = _trained(rows.of("workloads"), count)
    surfaces = _surfaces(root.of("surfaces"), trained.table)
    return {
        "predictors": {key: Answer(surfaces[key.surface], key.metric) for key in MODEL_KEYS},
        "trained": trained,
        "evaluation": evaluation,
        "scores": {key: _scores(models[key].of("interval_scores")) for key in MODEL_KEYS},
        "seed": root.of("seed").integer(0, 2**64 - 1),
        "provenance": provenance.value,
    }


def _models(node: Node) -> dict[ModelKey, Node]:
    models = {
        ModelKey(*(one.of(name).text() for name in ModelKey._fields)): one for one in node.items()
    }
    for key in MODEL_KEYS:
        if key not in models:
            raise MismatchError(f"it lacks the model {' '.join(key)}")
    return models


def _surfaces(node: Node, trained: FloatArray) -> dict[SurfaceKey, Predictor]:
    stored = {
        SurfaceKey(*(one.of(name).text() for name in SurfaceKey._fields)): one
        for one in node.items()
    }
    surfaces: dict[SurfaceKey, Predictor] = {}
    for key in SURFACE_KEYS:
        if key not in stored:
            raise MismatchError(f"it lacks the surface {' '.join(key)}")
        # Members of a combination stand before it.
        members = {other.estimator: one for other, one in surfaces.items() if other[0] == key[0]}
        features = FEATURE_SETS[key.features]
        predictor = read_predictor(stored[key].of("predictor"), features, members)
        surfaces[key] = between_ratios(predictor, trained)
    return surfaces


def _folds(node: Node, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    folds = np.array([item.integer(0, FOLDS - 1) for item in node.items()], dtype=np.int64)
    if len(folds) != count:
        node.refuse(f"a list of {count} folds")
    return folds


def _trained(node: Node, count: int) -> TrainedWorkloads:
    columns = [node.of(name).numbers_or_null(count) for name in FIELDS]
    try:
        table = workload_table(np.column_stack(columns))
        for row in table:
            characteristics_of(row).validate()
    except UsageError as error:
        raise MismatchError(f"{node.place}: {error}") from error
    if count == 0:
        node.refuse("about any workload")
    return TrainedWorkloads(table)


def _scores(node: Node) -> FloatArray:
    scores = node.numbers()
    if not ((scores >= 0).all() and (np.diff(scores) >= 0).all()):
        node.refuse("a list of ascending numbers from 0 on")
    return scores


def _check(node: Node, models: dict[ModelKey, Node]) -> dict[str, Any]:
    """Return what an evaluation says about the check part."""
    coverage = node.of("coverage")
    absent = coverage.value is None
    accuracy = {key: models[key].of("check") for key in MODEL_KEYS}
    for each in accuracy.values():
        if (each.value is None) != absent:
            each.refuse("there exactly where check.coverage is")
    return {
        "check": None if absent else {key: _accuracy(each) for key, each in accuracy.items()},
        "check_outside": node.of("outside").integer(0, 2**63 - 1),
        "check_coverage": None
        if absent
        else {metric: _coverage(coverage.of(metric)) for metric in METRICS},
    }


def _coverage(node: Node) -> dict[float, float]:
    shares = {}
    for one in node.items():
        level, ratio = one.of("level").number(), one.of("ratio").number()
        if level not in LEVELS:
            one.of("level").refuse(f"one of {', '.join(map(str, LEVELS))}")
        if not 0 <= ratio <= 1:
            one.of("ratio").refuse("a number from 0 to 1")
        shares[level] = ratio
    return shares


def _accuracy(node: Node) -> Accuracy:
    accuracy = Accuracy.from_json(node)
    if math.isnan(accuracy.mre):
        node.of("mre_ratio").refuse("a number")
    return accuracy


def _importance(node: Node) -> Importance:
    return Importance(
        characteristic=node.of("characteristic").choice(FIELDS),
        mre_increase=node.of("mre_increase").number(),
        mre_increase_deviation=node.of("mre_increase_deviation").number(),
    )


def _effect(node: Node) -> Effect:
    characteristic = node.of("characteristic").choice(FIELDS)
    values = node.of("values").numbers()
    return Effect(
        characteristic=characteristic,
        unit=node.of("unit").choice((UNITS[characteristic],)),
        values=tuple(values.tolist()),
        performance=tuple(node.of("performance").positive_numbers(len(values)).tolist()),
    )
