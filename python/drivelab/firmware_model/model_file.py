"""The file of a model of firmware: one JSON object, sealed, nothing to execute.

Names, types and ranges of everything are checked, so that a file from anywhere gives a model or one
line that says what is wrong and where. What the package ships is found by its name.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from drivelab.checked_json import Node
from drivelab.errors import UsageError
from drivelab.firmware_model.costs import (
    CLOCKS_MHZ,
    COUNTS,
    MOST_CORES,
    MOST_OF_ONE,
    Cost,
    Costs,
)
from drivelab.firmware_model.model import (
    FirmwareModel,
    LeftOutAccuracy,
    TrainedFirmware,
    TrainedTarget,
)
from drivelab.near_names import meant
from drivelab.sealed_model import ModelFile

FORMAT: Final = "drivelab-firmware-model"
VERSION: Final = 1
#: What is said of a model in each of these.
ACCURACIES: Final = ("learned", "static", "records")
_SHIPPED: Final = Path(__file__).with_name("shipped")
_SUFFIX: Final = ".json"
_FILE: Final = ModelFile(
    "model of firmware",
    FORMAT,
    VERSION,
    version_key="version",
    made_by="`drivelab firmware train`",
    missing="make a model of firmware: drivelab firmware train RUN --out MODEL.json",
    again="train it again: drivelab firmware train RUN --out MODEL.json",
    kept="name another place",
    # A record model of 400 records has less than 1 MiB.
    largest_bytes=1 << 26,
)
_LARGEST_COUNT: Final = 1 << 62
_LONGEST_NAME: Final = 200
_GEOMETRY: Final = re.compile(r"[0-9]{1,10}(x[0-9]{1,10}){4}")


def shipped_models() -> tuple[str, ...]:
    """Return the names of the models that the package ships."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob(f"*{_SUFFIX}")))


def find_firmware_model(name: str, folder: Path | None = None) -> FirmwareModel:
    """Read a model by its name or file.

    Parameters
    ----------
    name
        One of `shipped_models`, or a path. A path ends in ``.json`` or holds a slash.
    folder
        What a relative path starts from; the working directory without one.

    Raises
    ------
    UsageError
        When there is none, or it cannot be read.
    DamagedError
        When it is not what was written.
    """
    if name.endswith(_SUFFIX) or "/" in name:
        return read_firmware_model(Path(name) if folder is None else folder / name)
    known = shipped_models()
    if name not in known:
        raise UsageError(
            f"there is no model of firmware {name!r}; {meant(name, known)}the package has "
            f"{', '.join(known)}; the file of another one ends in {_SUFFIX}"
        )
    return read_firmware_model(_SHIPPED / f"{name}{_SUFFIX}")


def read_firmware_model(path: Path) -> FirmwareModel:
    """Read a model's file.

    Raises
    ------
    UsageError
        When there is none, or one of another version, or what it says is impossible.
    DamagedError
        When it is not what was written.
    """
    return _FILE.read(path, _model)


def model_bytes(model: FirmwareModel) -> bytes:
    """Write a model as the text of its file."""
    return _FILE.to_bytes(
        {
            "firmware": asdict(model.firmware),
            "target": {**asdict(model.target), "parameters": dict(model.target.parameters)},
            "cost": _costs_json(model.learned),
            "static": _costs_json(model.static),
            "accuracy": {name: asdict(model.accuracy[name]) for name in ACCURACIES},
            "trained_on": {"workloads": list(model.workloads), "records": model.records},
            "record_model": dict(model.record_model),
        },
        indent=1,
    )


def write_firmware_model(path: Path, model: FirmwareModel) -> None:
    """Write a model to a file, which then holds either the old or the whole new one.

    Raises
    ------
    RunError
        When it cannot be written.
    """
    _FILE.write(path, model_bytes(model))


def _costs_json(costs: Costs) -> dict[str, dict[str, float]]:
    return {name: asdict(costs.of[name]) for name in COUNTS}


def _model(root: Node) -> FirmwareModel:
    trained = root.of("trained_on")
    workloads = tuple(one.text() for one in trained.of("workloads").items())
    if not workloads:
        trained.of("workloads").refuse("a list of workloads")
    accuracy = root.of("accuracy")
    return FirmwareModel(
        firmware=_firmware(root.of("firmware")),
        target=_target(root.of("target")),
        learned=_costs(root.of("cost")),
        static=_costs(root.of("static")),
        record_model=_object(root.of("record_model")),
        accuracy={name: _accuracy(accuracy.of(name)) for name in ACCURACIES},
        workloads=workloads,
        records=trained.of("records").integer(1, _LARGEST_COUNT),
    )


def _firmware(node: Node) -> TrainedFirmware:
    return TrainedFirmware(
        name=_name(node.of("name")),
        mapping=_name(node.of("mapping")),
        page_bytes=node.of("page_bytes").integer(1, _LARGEST_COUNT),
        map_bytes=node.of("map_bytes").integer(1, _LARGEST_COUNT),
        victim=_name(node.of("victim")),
        workers=node.of("workers").integer(1, MOST_CORES),
        depth=node.of("depth").integer(1, _LARGEST_COUNT),
        geometry=_geometry(node.of("geometry")),
        record_requests=node.of("record_requests").integer(1, _LARGEST_COUNT),
        has_map_on_flash=node.of("has_map_on_flash").boolean(),
        has_slc=node.of("has_slc").boolean(),
        has_compression=node.of("has_compression").boolean(),
    )


def _target(node: Node) -> TrainedTarget:
    return TrainedTarget(
        name=_name(node.of("name")),
        clock_mhz=_between(node.of("clock_mhz"), *CLOCKS_MHZ),
        cores=node.of("cores").integer(1, MOST_CORES),
        parameters=_object(node.of("parameters")),
    )


def _costs(node: Node) -> Costs:
    if isinstance(node.value, dict):
        for name in node.value:
            if name not in COUNTS:
                node.refuse(f"an object without {name!r}; counts: {', '.join(COUNTS)}")
    found = {name: _cost(node.of(name)) for name in COUNTS}
    if not any(cost.cycles or cost.memory_ns for cost in found.values()):
        node.refuse("a list of costs of which one is above 0: no firmware is free")
    return Costs(found)


def _cost(node: Node) -> Cost:
    return Cost(
        _between(node.of("cycles"), 0, MOST_OF_ONE), _between(node.of("memory_ns"), 0, MOST_OF_ONE)
    )


def _accuracy(node: Node) -> LeftOutAccuracy:
    p99 = node.of("p99_error_ratio")
    return LeftOutAccuracy(
        error_ratio=_between(node.of("error_ratio"), 0, 1e9),
        worst=node.of("worst").text(),
        worst_error_ratio=_between(node.of("worst_error_ratio"), 0, 1e9),
        p99_error_ratio=None if p99.value is None else _between(p99, 0, 1e9),
    )


def _name(node: Node) -> str:
    text = node.text()
    if not (text.isprintable() and 0 < len(text) <= _LONGEST_NAME):
        node.refuse(f"a name of one line and at most {_LONGEST_NAME} characters")
    return text


def _geometry(node: Node) -> str:
    text = node.text()
    if not _GEOMETRY.fullmatch(text):
        node.refuse("five numbers of channels, ways, dies, blocks and pages, as 4x4x2x5120x512")
    return text


def _between(node: Node, low: float, high: float) -> float:
    number = node.number()
    if not low <= number <= high:
        node.refuse(f"a number from {low:g} to {high:g}")
    return number


def _object(node: Node) -> dict[str, Any]:
    if not isinstance(node.value, dict):
        node.refuse("an object")
    return node.value
