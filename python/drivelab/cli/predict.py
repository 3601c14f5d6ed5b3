"""Predict the performance of workloads from the models of a run.

Each metric is predicted by the model that was best in cross-validation, or by the one that you
choose. Its interval is calibrated on workloads that no model has seen. A question outside the
measured range gets a warning and the nearest measured workloads, and no error is claimed. --file
answers a CSV of workloads, row by row.

--trace predicts a recorded trace window by window, on a drive that it never ran on: how long
requests take at their recorded times, and where the drive falls behind.

Models of your own measurements (`drivelab model --from`) take --set with the names of their
columns.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_characteristics, add_json
from drivelab.cli.drive_options import characteristics_json, characteristics_of
from drivelab.cli.models import AUTO, DEFAULT_LEVEL, asked_estimator, asked_features
from drivelab.cli.outputs import add_force
from drivelab.cli.own_predict import predict_own, setting
from drivelab.cli.predict_trace import add_trace_arguments, predict_trace, refuse_without_trace
from drivelab.cli.terminal import show
from drivelab.errors import CannotAnswerError, UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.models.evaluate import ModelKey
    from drivelab.models.model import PerformanceModel
    from drivelab.workloads.characteristics import Characteristics

LEVELS_PERCENT: Final = ("80", "90", "95")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab predict`."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        type=Path,
        help="the folder of a run or of a model of your own measurements, or its model.json",
    )
    add_characteristics(parser)
    group = parser.add_argument_group("models of your own measurements")
    group.add_argument(
        "--set",
        dest="settings",
        type=setting,
        nargs="+",
        action="extend",
        metavar="NAME=VALUE",
        help="settings, by the columns' names, such as block_size=64KiB",
    )
    group = parser.add_argument_group("how it is answered")
    group.add_argument(
        "--level",
        choices=LEVELS_PERCENT,
        help=f"percentage of workloads that the interval contains [{DEFAULT_LEVEL}]",
    )
    group.add_argument(
        "--features",
        choices=(AUTO, "basic", "extended"),
        default=AUTO,
        help="the characteristics that the model sees: the four of disk models, or all eight "
        "[auto: the better]",
    )
    group.add_argument(
        "--estimator",
        metavar="NAME",
        default=AUTO,
        help="the model: combined, kriging, bottleneck_kriging, queueing_kriging, bottleneck, "
        "boosted, guide (tree with linear leaves), cart (regression tree) or ols (least "
        "squares) [auto: the best]",
    )
    group = parser.add_argument_group("many workloads")
    group.add_argument(
        "--file",
        metavar="CSV",
        help="a CSV file with one workload per row and columns named as the characteristics; - "
        "is standard input",
    )
    group.add_argument(
        "--out", metavar="CSV", help="output file for the answers [-, which is standard output]"
    )
    add_trace_arguments(parser)
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Predict and print."""
    from drivelab.models.own.model_file import is_own

    if args.trace is not None:
        return predict_trace(args)
    refuse_without_trace(args)
    if is_own(args.model):
        return predict_own(args)
    if args.settings:
        raise UsageError(
            "--set is for models of your own measurements; a workload is asked by its options, "
            "such as --queue-depth"
        )
    if args.file is not None:
        from drivelab.cli.predict_file import predict_file

        return predict_file(args)
    if args.out is not None:
        raise UsageError("--out is for the answers to --file or --trace; one workload is printed")
    from drivelab.models.of_run import load_model

    workload = characteristics_of(args)
    workload.validate()
    model = load_model(args.model)
    answer = predict(model, workload, asked_features(args), asked_estimator(args))
    if args.json:
        print(json.dumps({"model": str(args.model)} | answer, indent=2))
    else:
        from drivelab.cli.predict_text import answer_text

        show(answer_text(answer, workload, int(args.level or DEFAULT_LEVEL) / 100))
    return 0


def predict(
    model: PerformanceModel,
    workload: Characteristics,
    features: str | None = None,
    estimator: str | None = None,
) -> dict[str, Any]:
    """Return what ``--json`` prints (docs/json-model.md)."""
    from drivelab.models.measured import METRICS

    keys = {metric: model.key(metric, features, estimator) for metric in METRICS}
    answers = {
        metric: float(model.predict([workload], metric=metric, **_named(key))[0])
        for metric, key in keys.items()
    }
    return {
        **_origin(model),
        "workload": characteristics_json(workload),
        **answers,
        "intervals": {metric: _intervals(model, workload, key) for metric, key in keys.items()},
        "used": {
            metric: {
                **_named(key),
                **_errors(model, key),
                "chosen": _chosen(key, features, estimator),
            }
            for metric, key in keys.items()
        },
        "candidates": [
            {**key._asdict(), **_errors(model, key)}
            for key in sorted(
                model.evaluation.cross_validated,
                key=lambda key: (METRICS.index(key.metric), _errors(model, key)["mre_ratio"]),
            )
        ],
        "outside_training": model.outside_training(workload),
        "nearest": [
            {
                "index": near.index,
                "distance": near.distance,
                "workload": characteristics_json(near.characteristics),
                **near.performance,
            }
            for near in model.nearest(workload)
        ],
    }


def _origin(model: PerformanceModel) -> dict[str, Any]:
    """Return which drive a model is of; the file may contain anything here."""
    from drivelab.exhibits.quantities import PROVENANCE

    def named(where: str, key: str) -> str | None:
        part = model.provenance.get(where)
        value = part.get(key) if isinstance(part, dict) else None
        return value if isinstance(value, str) else None

    kind = named("drive", "kind")
    return {
        "drive": named("drive", "name"),
        "kind": kind if kind in PROVENANCE else None,
        "design": named("design", "name"),
        "population": named("design", "population"),
    }


def _named(key: ModelKey) -> dict[str, str]:
    return {"features": key.features, "estimator": key.estimator}


def _chosen(key: ModelKey, features: str | None, estimator: str | None) -> str:
    from drivelab.models.predictors import ESTIMATORS

    if features is not None and estimator is not None:
        return "as asked"
    why = "the smallest cross-validated error"
    if estimator is None and ESTIMATORS[key.estimator].members:
        why = "no other has a cross-validated error smaller by a tenth"
    asked = features or estimator
    return why + (f" of {asked} models, as asked" if asked else "")


def _errors(model: PerformanceModel, key: ModelKey) -> dict[str, float | None]:
    check = model.evaluation.check
    return {
        "mre_ratio": model.evaluation.cross_validated[key].mre,
        "off_grid_mre_ratio": None if check is None else check[key].mre,
    }


def _intervals(
    model: PerformanceModel, workload: Characteristics, key: ModelKey
) -> list[dict[str, float | None]]:
    from drivelab.models.intervals import LEVELS

    coverage = model.evaluation.check_coverage
    # Known only for the best models.
    held = {} if coverage is None or model.best[key.metric] != key else coverage[key.metric]
    rows: list[dict[str, float | None]] = []
    for level in LEVELS:
        low = high = None
        try:
            ends = model.interval([workload], metric=key.metric, level=level, **_named(key))[0]
        except CannotAnswerError:
            ends = (float("nan"), float("nan"))
        if ends[0] == ends[0]:
            low, high = float(ends[0]), float(ends[1])
        rows.append(
            {"level_ratio": level, "low": low, "high": high, "off_grid_held_ratio": held.get(level)}
        )
    return rows
