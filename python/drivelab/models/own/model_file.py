"""The file of a model of somebody's own measurements: one JSON object, nothing to execute.

As with a drive's model (`drivelab.models.model_file`): format and version first, a sum at the end,
and every name, type and range checked, so that a file from anywhere gives answers or one line.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.checked_json import Node
from drivelab.models.accuracy import Accuracy
from drivelab.models.features import FeatureSet
from drivelab.models.intervals import LEVELS
from drivelab.models.own.columns import Column, Scale, are_workloads, feature_set
from drivelab.models.own.fitting import OWN_ESTIMATORS
from drivelab.models.own.laws import MOST_COLUMNS, Follower, Law, factor_names
from drivelab.models.own.model import OwnModel
from drivelab.models.own.target_model import Importance, TargetModel, best_of
from drivelab.models.predictor import Predictor
from drivelab.models.predictors import read_predictor
from drivelab.sealed_model import ModelFile
from drivelab.workloads.characteristics import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT: Final = "drivelab model of own measurements"
FORMAT_VERSION: Final = 2
#: Where its folder keeps it.
MODEL: Final = "model.json"
_FILE: Final = ModelFile(
    "model of own measurements",
    FORMAT,
    FORMAT_VERSION,
    version_key="format_version",
    made_by="`drivelab model --from`",
    missing="name a model, or its folder, as `drivelab model --from FILE` makes them",
    again="fit the model again: drivelab model --from FILE",
    kept="free some space or name another place",
)
_SCALES: Final[dict[str, Scale]] = {"plain": "plain", "log2": "log2", "words": "words"}


def is_own(path: Path) -> bool:
    """Return whether a file, or a folder's, is a model of somebody's own measurements."""
    try:
        with (path / MODEL if path.is_dir() else path).open("rb") as file:
            return FORMAT.encode() in file.read(100)
    except (OSError, ValueError):
        return False


def to_bytes(model: OwnModel) -> bytes:
    """Write a model as the text of its file."""
    return _FILE.to_bytes(
        {
            "files": [{"file": file, "rows": rows} for file, rows in model.files],
            "seed": model.seed,
            "group": model.group,
            "inputs": _inputs(model.features),
            "columns": [{**vars(one), "categories": list(one.categories)} for one in model.columns],
            "targets": [_target_json(one) for one in model.targets.values()],
        }
    )


def save(path: Path, model: OwnModel) -> None:
    """Write a model to a file, which then holds either the old or the whole new one.

    Raises
    ------
    RunError
        When it cannot be written.
    """
    _FILE.write(path, to_bytes(model))


def load(path: Path) -> OwnModel:
    """Load a model from its file or its folder.

    Raises
    ------
    UsageError
        When there is none, or one of another version.
    DamagedError
        When it is not what was written.
    """
    return _FILE.read(path / MODEL if path.is_dir() else path, _model)


def _inputs(features: FeatureSet) -> dict[str, list[str]]:
    return {"trees": list(features.features), "linear": list(features.linear_inputs)}


def _target_json(target: TargetModel) -> dict[str, Any]:
    return {
        "name": target.name,
        "logarithm": target.logarithm,
        "rows": target.rows,
        "left_out": target.left_out,
        "groups": target.groups,
        "low": target.low,
        "high": target.high,
        "law": None if target.law is None else target.law.to_json(),
        "importance": [vars(one) for one in target.importance],
        "estimators": [
            {
                "estimator": name,
                "cross_validated": target.cross_validated[name].to_json(),
                "in_sample": target.in_sample[name].to_json(),
                "half_widths": [
                    {"level": level, "width": width}
                    for level, width in target.half_widths[name].items()
                ],
                # Of what follows, the other target's.
                "predictor": None if target.law is not None else target.predictors[name].to_json(),
            }
            for name in target.cross_validated
        ],
    }


def _model(root: Node) -> OwnModel:
    columns = tuple(_column(one) for one in root.of("columns").items())
    if not columns or len({one.name for one in columns}) != len(columns):
        root.of("columns").refuse("a list of columns with different names")
    features = feature_set(columns)
    if root.of("inputs").value != _inputs(features):
        root.of("inputs").refuse("what this Drivelab sees of such columns")
    targets = _targets(root.of("targets"), features, columns)
    group = root.of("group")
    return OwnModel(
        columns=columns,
        targets=targets,
        group=None if group.value is None else group.text(),
        files=tuple(
            (one.of("file").text(), one.of("rows").integer(0, 2**63 - 1))
            for one in root.of("files").items()
        ),
        seed=root.of("seed").integer(0, 2**64 - 1),
    )


def _column(node: Node) -> Column:
    column = Column(
        name=node.of("name").text(),
        scale=_SCALES[node.of("scale").choice(tuple(_SCALES))],
        categories=tuple(one.text() for one in node.of("categories").items()),
        low=node.of("low").number(),
        median=node.of("median").number(),
        high=node.of("high").number(),
        may_miss=node.of("may_miss").boolean(),
    )
    if not column.low <= column.median <= column.high:
        node.of("median").refuse("between low and high")
    if column.scale == "log2" and column.low <= 0:
        node.of("low").refuse("above 0")
    if (column.scale == "words") != bool(column.categories):
        node.of("categories").refuse("there exactly where the scale is words")
    if len(set(column.categories)) != len(column.categories):
        node.of("categories").refuse("a list of different words")
    return column


def _targets(
    node: Node, features: FeatureSet, columns: tuple[Column, ...]
) -> dict[str, TargetModel]:
    each = list(node.items())
    nodes = {one.of("name").text(): one for one in each}
    if not nodes or len(nodes) != len(each):
        node.refuse("a list of targets with different names")
    own = {
        name: _target(one, features, columns)
        for name, one in nodes.items()
        if one.of("law").value is None
    }
    return {
        name: own[name] if name in own else _follower(one, own, columns)
        for name, one in nodes.items()
    }


def _follower(
    node: Node, own: Mapping[str, TargetModel], columns: tuple[Column, ...]
) -> TargetModel:
    """Read a target that follows from one of others."""
    law = _law(node.of("law"), own, columns)
    base = own[law.target]
    if not node.of("logarithm").boolean():
        node.of("logarithm").refuse("true of what follows from another target")
    stored = _estimators(node)
    if set(stored) != set(base.predictors):
        node.of("estimators").refuse(f"those of {law.target}")
    for one in stored.values():
        if one.of("predictor").value is not None:
            one.of("predictor").refuse(f"null, because {law.target} has them")
    predictors = {name: Follower(base.predictors[name], law, columns) for name in stored}
    return replace(_judged(node, stored, predictors, columns), best=base.best, law=law)


def _law(node: Node, own: Mapping[str, TargetModel], columns: tuple[Column, ...]) -> Law:
    powers = []
    for one in node.of("powers").items():
        power = one.of("power").integer(-1, 1)
        if not power:
            one.of("power").refuse("1 or -1")
        powers.append((_factor(one.of("column"), columns), power))
    if len({name for name, _ in powers}) != len(powers) or len(powers) > MOST_COLUMNS:
        node.of("powers").refuse(f"{MOST_COLUMNS} different columns at most")
    sign = node.of("sign").integer(-1, 1)
    if not sign:
        node.of("sign").refuse("1 or -1")
    target = node.of("target").choice(tuple(own))
    if not own[target].logarithm:
        node.of("target").refuse("a target that is fitted on the logarithm")
    return Law(target, sign, tuple(powers), node.of("constant").number())


def _factor(node: Node, columns: tuple[Column, ...]) -> str:
    """Read what a law multiplies by; earlier versions took one direction's size for all."""
    allowed = factor_names(columns)
    if are_workloads(columns) and node.value in FIELDS and node.value not in allowed:
        node.refuse(
            f"one of {', '.join(allowed)}: an older Drivelab found a law that does not hold where "
            f"reads and writes differ; {_FILE.again}"
        )
    return node.choice(allowed)


def _target(node: Node, features: FeatureSet, columns: tuple[Column, ...]) -> TargetModel:
    stored = _estimators(node)
    predictors: dict[str, Predictor] = {}
    for name, one in stored.items():
        # Members of a combination stand before it.
        predictors[name] = read_predictor(one.of("predictor"), features, predictors)
    return _judged(node, stored, predictors, columns)


def _estimators(node: Node) -> dict[str, Node]:
    stored = {
        one.of("estimator").choice(OWN_ESTIMATORS): one for one in node.of("estimators").items()
    }
    if not stored:
        node.of("estimators").refuse("a list of estimators")
    return stored


def _judged(
    node: Node,
    stored: Mapping[str, Node],
    predictors: Mapping[str, Predictor],
    columns: tuple[Column, ...],
) -> TargetModel:
    """Read how good predictors are, and what they were fitted to."""
    accuracy = {name: Accuracy.from_json(one.of("cross_validated")) for name, one in stored.items()}
    names = tuple(one.name for one in columns)
    return TargetModel(
        name=node.of("name").text(),
        logarithm=node.of("logarithm").boolean(),
        rows=node.of("rows").integer(1, 2**63 - 1),
        left_out=node.of("left_out").integer(0, 2**63 - 1),
        groups=node.of("groups").integer(1, 2**63 - 1),
        low=node.of("low").number(),
        high=node.of("high").number(),
        predictors=predictors,
        cross_validated=accuracy,
        in_sample={name: Accuracy.from_json(one.of("in_sample")) for name, one in stored.items()},
        half_widths={name: _half_widths(one.of("half_widths")) for name, one in stored.items()},
        best=best_of(accuracy),
        importance=tuple(
            Importance(
                one.of("column").choice(names),
                one.of("increase").number(),
                one.of("deviation").number(),
            )
            for one in node.of("importance").items()
        ),
    )


def _half_widths(node: Node) -> dict[float, float]:
    widths = {}
    for one in node.items():
        level, width = one.of("level").number(), one.of("width").number()
        if level not in LEVELS:
            one.of("level").refuse(f"one of {', '.join(map(str, LEVELS))}")
        if width < 0:
            one.of("width").refuse("0 or more")
        widths[level] = width
    return widths
