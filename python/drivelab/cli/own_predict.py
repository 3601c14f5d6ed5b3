"""Predictions by a model of your own measurements: one setting, or a file of them."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.models import AUTO, DEFAULT_LEVEL, asked_estimator
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import CannotAnswerError, UsageError

if TYPE_CHECKING:
    from drivelab.models.own.model import OwnModel
    from drivelab.models.own.target_model import TargetModel

#: Name of the last column in a file of predictions.
OUTSIDE: Final = "outside_training"


def setting(text: str) -> tuple[str, str]:
    """Read ``NAME=VALUE``, an argparse type."""
    name, is_given, value = text.partition("=")
    if not is_given or not name.strip():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not allowed; write NAME=VALUE, for example block_size=64KiB"
        )
    return name.strip(), value.strip()


def predict_own(args: argparse.Namespace) -> int:
    """Predict from ``--set``, from options of characteristics, or from ``--file``."""
    from drivelab.models.own.model_file import load

    if args.features != AUTO:
        raise UsageError(
            "--features is for models of a drive; each model of your own measurements sees the "
            "same columns"
        )
    model = load(args.model)
    if args.file is not None:
        return _predict_file(args, model)
    if args.out is not None:
        raise UsageError("--out is for the answers to --file; one setting is printed")
    given = _given(args)
    if not given:
        names = " ".join(f"{column.name}=VALUE" for column in model.columns)
        raise UsageError(f"nothing is asked; write --set {names}")
    answer = predict(model, given, asked_estimator(args))
    if args.json:
        print(json.dumps({"model": str(args.model)} | answer, indent=2))
    else:
        show(_text(in_lines(answer), int(args.level or DEFAULT_LEVEL) / 100))
    return 0


def _given(args: argparse.Namespace) -> dict[str, str]:
    from drivelab.workloads.characteristics import FIELDS

    given: dict[str, str] = {}
    options = [
        (name, f"{getattr(args, name)}") for name in FIELDS if getattr(args, name) is not None
    ]
    for name, value in [*(args.settings or []), *options]:
        if name in given:
            raise UsageError(f"{name} is given twice; give it once")
        given[name] = value
    return given


def predict(model: OwnModel, given: dict[str, str], estimator: str | None = None) -> dict[str, Any]:
    """Return what ``--json`` prints (docs/json-own.md)."""
    from drivelab.models.own.target_model import best_of

    table = model.settings(given)
    outside = model.outside(table[0])
    return {
        "settings": {
            column.name: column.value(value)
            for column, value in zip(model.columns, table[0].tolist(), strict=True)
        },
        "targets": [
            _answer(target, best_of(target.cross_validated, estimator), table, bool(outside))
            for target in model.targets.values()
        ],
        "outside_training": outside,
    }


def _answer(target: TargetModel, estimator: str, table: Any, is_outside: bool) -> dict[str, Any]:
    from drivelab.models.intervals import LEVELS

    said = target.predict(table, estimator)
    if not math.isfinite(said[0]):
        raise CannotAnswerError(
            f"{target.name} is larger than any number: the model cannot answer there"
        )
    accuracy = target.cross_validated[estimator].to_json()
    intervals = []
    for level in LEVELS:
        low, high = target.interval(said, level, estimator)[0].tolist()
        is_known = not (math.isnan(low) or is_outside)
        intervals.append(
            {
                "level_ratio": level,
                "low": low if is_known else None,
                "high": high if is_known else None,
            }
        )
    return {
        "name": target.name,
        "value": float(said[0]),
        "below_zero": bool(target.is_invalid(said)[0]),
        "intervals": intervals,
        "estimator": estimator,
        "mre_ratio": accuracy["mre_ratio"],
        "mae": accuracy["mae"],
        "groups": target.groups,
    }


def _text(answer: dict[str, Any], level: float) -> str:
    from drivelab.exhibits.quantities import mre_text
    from drivelab.models.intervals import workloads_needed
    from drivelab.models.own.exhibits import value_text

    said = ", ".join(
        f"{name} {value if isinstance(value, str) else f'{value:g}'}"
        for name, value in answer["settings"].items()
        if value is not None
    )
    width = 2 + max(12, *(len(one["name"]) for one in answer["targets"]))
    lines = [f"{'settings':<{width}}{said}"]
    is_unknown = False
    for one in answer["targets"]:
        name = one["name"]
        off = "error unknown"
        if not answer["outside_training"]:
            mre = one["mre_ratio"]
            error = value_text(name, one["mae"]) if mre is None else mre_text(mre)
            off = f"off by {error} on average"
            (row,) = (row for row in one["intervals"] if row["level_ratio"] == level)
            if row["low"] is None:
                is_unknown = True
            else:
                low, high = (value_text(name, row[end]) for end in ("low", "high"))
                off += f", {100 * level:g} %: {low} to {high}"
        lines.append(
            f"{name:<{width}}{value_text(name, one['value']):<14}  {off}  ({one['estimator']})"
        )
    lines += [
        f"{'careful':<{width}}{one['name']} is below 0, and no measured row was: the answer is "
        "invalid"
        for one in answer["targets"]
        if one["below_zero"]
    ]
    lines += [
        f"{'careful':<{width}}outside what was measured: {message}"
        for message in answer["outside_training"]
    ]
    if is_unknown:
        lines.append(
            f"{'no interval':<{width}}{100 * level:g} % needs {workloads_needed(level)} groups of "
            "rows"
        )
    elif not answer["outside_training"]:
        lines.append(
            f"{'interval':<{width}}holds {100 * level:g} % of new settings like those measured, "
            "on average"
        )
    return "\n".join(lines)


def _predict_file(args: argparse.Namespace, model: OwnModel) -> int:
    """Predict every row of a file and write ``--out``, whole or not at all."""
    import numpy as np

    from drivelab.cli.outputs import STANDARD
    from drivelab.cli.predict_file import answers_sink
    from drivelab.csv_text import csv_text
    from drivelab.models.own.reading import read_files
    from drivelab.models.own.target_model import best_of

    if _given(args):
        raise UsageError("--set and --file: the settings come from the file")
    if args.json:
        raise UsageError("--json is for one setting; the answers to --file are CSV")
    if args.file == STANDARD:
        raise UsageError(
            "--file needs a file's name; models of your own measurements read no standard input"
        )
    level = int(args.level or DEFAULT_LEVEL) / 100
    read = read_files([Path(args.file)])
    table = model.rows_of(read.named([]))
    outside = np.any(model.beyond(table), axis=1)
    invalid: dict[str, int] = {}
    columns: dict[str, list[Any]] = {}
    for place, column in enumerate(model.columns):
        columns[column.name] = [column.value(value) for value in table[:, place].tolist()]
    for target in model.targets.values():
        estimator = best_of(target.cross_validated, asked_estimator(args))
        said = target.predict(table, estimator)
        invalid[target.name] = int(target.is_invalid(said).sum())
        ends = target.interval(said, level, estimator)
        ends[outside] = np.nan
        columns[f"{target.name} predicted"] = said.tolist()
        for place, end in enumerate(("low", "high")):
            known = [None if np.isnan(value) else value for value in ends[:, place].tolist()]
            columns[f"{target.name} {end}_{100 * level:g}"] = known
    columns[OUTSIDE] = ["true" if one else "false" for one in outside.tolist()]
    text = csv_text(list(columns), zip(*columns.values(), strict=True), digits=6)
    with answers_sink(args) as file:
        file.write(text.encode())
    count, beyond = len(table), int(outside.sum())
    done = f"answered {count:,} row{'s' if count > 1 else ''}"
    if beyond:
        done += f", {beyond:,} of them outside what was measured: they have no interval"
    for name, rows in invalid.items():
        if rows:
            done += (
                f"; {name} is below 0 in {rows:,} rows and in no measured row: these are invalid"
            )
    print(f"drivelab: {done}", file=sys.stderr)
    return 0
