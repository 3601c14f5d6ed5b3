"""The file of a model of firmware: one JSON object, sealed, nothing to execute.

Names, types and ranges of everything are checked, so that a file from anywhere gives a model or one
line that says what is wrong and where. What the package ships is found by its name.
"""

from __future__ import annotations

import re
import stat
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from drivelab.bounded_json import UnreadableJsonError, parse_json
from drivelab.checked_json import MismatchError, Node
from drivelab.errors import DamagedError, RunError, UsageError
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
from drivelab.sealed_json import BrokenSealError, NoSealError, sealed_json, unsealed_json
from drivelab.whole_file import write_whole

FORMAT: Final = "drivelab-firmware-model"
VERSION: Final = 1
#: What is said of a model in each of these.
ACCURACIES: Final = ("learned", "static", "records")
_AGAIN: Final = "train it again: drivelab firmware train RUN --out MODEL.json"
_SHIPPED: Final = Path(__file__).with_name("shipped")
_SUFFIX: Final = ".json"
# A record model of 400 records has less than 1 MiB.
_LARGEST_BYTES: Final = 1 << 26
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
    data = _bytes_of(path)
    try:
        return _model(Node(_content(data), ""))
    except (NoSealError, BrokenSealError) as error:
        raise DamagedError(
            f"{path} is damaged: it is not what was written, its checksum does not fit; {_AGAIN}"
        ) from error
    except MismatchError as error:
        raise UsageError(f"{path} is no model of firmware that can be read: {error}") from error
    except UnreadableJsonError as error:
        raise UsageError(f"{path} is no model of firmware: it {error}") from error


def model_bytes(model: FirmwareModel) -> bytes:
    """Write a model as the text of its file."""
    return sealed_json(
        {
            "format": FORMAT,
            "version": VERSION,
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
    try:
        write_whole(path, model_bytes(model))
    except OSError as error:
        raise RunError(
            f"cannot write the model {path}: {error.strerror or error}; name another place"
        ) from error


def _costs_json(costs: Costs) -> dict[str, dict[str, float]]:
    return {name: asdict(costs.of[name]) for name in COUNTS}


def _bytes_of(path: Path) -> bytes:
    try:
        status = path.stat()
        # Reading a pipe or a device may never end.
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is no model of firmware: it is no regular file")
        if status.st_size > _LARGEST_BYTES:
            raise UsageError(f"{path} is too large for a model of firmware")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no model of firmware {path}; make one: drivelab firmware train RUN --out "
            f"{path}"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def _content(data: bytes) -> Any:
    """Read what a file holds; without a sum it is of another version, damaged, or no model."""
    try:
        return unsealed_json(data)
    except NoSealError as error:
        _check_format(Node(parse_json(data), ""))
        raise BrokenSealError from error


def _check_format(root: Node) -> None:
    if not isinstance(root.value, dict) or root.value.get("format") != FORMAT:
        raise MismatchError(
            "it holds something else; a model is what `drivelab firmware train` writes"
        )
    version = root.of("version").integer(0, 2**31)
    if version != VERSION:
        raise MismatchError(
            f"its version {version} is of another Drivelab, this one reads {VERSION}; {_AGAIN}"
        )


def _model(root: Node) -> FirmwareModel:
    _check_format(root)
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
