"""Read a class of workloads, the package's or a user's file; errors name what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, get_args

from drivelab._core import MAX_REQUEST_BYTES, SECTOR_BYTES
from drivelab.bounded_toml import UnreadableTomlError, parse_toml
from drivelab.errors import UsageError
from drivelab.named_file import read_text_file
from drivelab.near_names import meant
from drivelab.pts.workload_class import USUAL_ORDER, Order, Stream, WorkloadClass, parts_of
from drivelab.units import format_size, parse_size
from drivelab.workloads.content import CONTENTS
from drivelab.workloads.given import shown
from drivelab.workloads.stimulus import Stimulus

SUFFIX: Final = ".toml"
_FOLDER: Final = "classes"
_MOST_BYTES: Final = 2**20
_MOST_STREAMS: Final = 50
_SUM_TOLERANCE: Final = 1e-6
_CLASS_KEYS: Final = ("title", "summary", "source", "streams_run", "streams")


def class_names() -> list[str]:
    """Return the names of the package's classes, in alphabetical order."""
    return sorted(
        each.name.removesuffix(SUFFIX) for each in _folder().iterdir() if each.name.endswith(SUFFIX)
    )


def class_text(name: str) -> str:
    """Return the TOML text of a class of the package, or of a file.

    Raises
    ------
    UsageError
        If there is no such class or file; the error lists the classes.
    """
    if name.endswith(SUFFIX):
        guess = meant(Path(name).stem, class_names())
        instead = f"{guess}the classes of the package are {', '.join(class_names())}"
        return read_text_file(Path(name), "a class of workloads", _MOST_BYTES, instead)
    if name not in class_names():
        raise UsageError(
            f"there is no workload class {shown(name)}; {meant(name, class_names())}there are "
            f"{', '.join(class_names())}, and "
            "files of your own, named by a path that ends in .toml"
        )
    return (_folder() / f"{name}{SUFFIX}").read_text("utf-8")


def load_class(name: str) -> WorkloadClass:
    """Read and check a class.

    Parameters
    ----------
    name
        Name of a class of the package, or the path of a file that ends in ``.toml``.

    Raises
    ------
    UsageError
        If there is none, or something in it is not allowed: the error names place, value and
        remedy.
    """
    text = class_text(name)
    try:
        table = parse_toml(text)
    except UnreadableTomlError as error:
        raise UsageError(f"{name} {error}") from error
    short = Path(name).name.removesuffix(SUFFIX)
    return _class_of(short, table, name)


def _folder() -> Traversable:
    return resources.files("drivelab.pts") / _FOLDER


def _class_of(short: str, table: Mapping[str, Any], name: str) -> WorkloadClass:
    _refuse_unknown(table, _CLASS_KEYS, name)
    streams = _list(table, "streams", name)
    if len(streams) > _MOST_STREAMS:
        raise UsageError(f"{name}: {len(streams)} streams; allowed: 1 to {_MOST_STREAMS}")
    made = tuple(
        _stream_of(entry, f"{name}: stream {number}")
        for number, entry in enumerate(streams, start=1)
    )
    names = [stream.name for stream in made]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        raise UsageError(
            f"{name}: two streams are called {shown(twice)}; allowed: names of their own"
        )
    _check_sum([stream.weight for stream in made], f"{name}: weights of the streams")
    texts = {key: _text(table, key, name) for key in ("title", "summary", "source")}
    order = table.get("streams_run", USUAL_ORDER)
    if order not in get_args(Order):
        words = ", ".join(get_args(Order))
        raise UsageError(f"{name}: streams_run is {shown(order)}; allowed: {words}")
    return WorkloadClass(short, streams=made, streams_run=order, **texts)


def _stream_of(entry: Any, where: str) -> Stream:
    if not isinstance(entry, dict):
        raise UsageError(f"{where} is {shown(entry)}; allowed: a table [[streams]]")
    _refuse_unknown(entry, tuple(field.name for field in fields(Stream)), where)
    values: dict[str, Any] = {
        "name": _text(entry, "name", where),
        "source": _text(entry, "source", where),
        "weight": _share(entry, "weight", where, above_zero=True),
        "sizes": _pairs(entry, "sizes", ("size", "share"), where, _size),
        "read_ratio": _share(entry, "read_ratio", where),
    }
    if "random_ratio" in entry:
        values["random_ratio"] = _share(entry, "random_ratio", where)
    values |= _demand_of(entry, where)
    if "zones" in entry:
        if values.get("random_ratio", 1.0) == 0:
            raise UsageError(f"{where}: requests in order have no zones; leave zones out")
        values["zones"] = _pairs(entry, "zones", ("accesses", "range"), where, _number)
    stream = Stream(**values)
    _check_stimuli(stream, where)
    return stream


def _demand_of(entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Read the optional keys of a stream."""
    values: dict[str, Any] = {}
    for key in ("threads", "queue_depth"):
        if key in entry:
            values[key] = _whole(entry[key], f"{where}: {key}")
    for key, allowed in (("content", CONTENTS), ("is_forced", (True, False))):
        if key in entry:
            if entry[key] not in allowed or isinstance(entry[key], bool) != (key == "is_forced"):
                words = ", ".join(str(each).lower() for each in allowed)
                raise UsageError(f"{where}: {key} is {entry[key]!r}; allowed: {words}")
            values[key] = entry[key]
    return values


def _check_stimuli(stream: Stream, where: str) -> None:
    """Let `Stimulus` refuse what no drive of any size could be asked for."""
    for part in parts_of(stream, "in turn"):
        try:
            Stimulus(range_bytes=2**50, **part.stimulus_values())
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error


def _refuse_unknown(table: Mapping[str, Any], allowed: Sequence[str], where: str) -> None:
    unknown = next((key for key in table if key not in allowed), None)
    if unknown is not None:
        raise UsageError(
            f"{where}: unknown key {shown(unknown)}; {meant(unknown, allowed)}allowed: "
            f"{', '.join(allowed)}"
        )


def _list(table: Mapping[str, Any], key: str, where: str) -> list[Any]:
    values = table.get(key)
    if not isinstance(values, list) or not values:
        raise UsageError(f"{where}: {key} is missing or empty; allowed: at least one")
    return values


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        remedy = " ('assumed' where nobody measured them)" if key == "source" else ""
        raise UsageError(f"{where}: {key} is {shown(value)}; allowed: a text{remedy}")
    return value


def _share(table: Mapping[str, Any], key: str, where: str, *, above_zero: bool = False) -> float:
    value = _number(table.get(key), f"{where}: {key}")
    if not 0 <= value <= 1 or (above_zero and value == 0):
        least = "above 0" if above_zero else "0"
        raise UsageError(f"{where}: {key} is {value:g}; allowed: {least} to 1")
    return value


def _pairs(
    table: Mapping[str, Any],
    key: str,
    names: tuple[str, str],
    where: str,
    first: Callable[[Any, str], Any],
) -> tuple[tuple[Any, float], ...]:
    pairs = []
    for number, entry in enumerate(_list(table, key, where), start=1):
        place = f"{where}: {key} {number}"
        if not isinstance(entry, dict):
            raise UsageError(
                f"{place} is {shown(entry)}; allowed: {{ {names[0]} = ..., {names[1]} = ... }}"
            )
        _refuse_unknown(entry, names, place)
        share = _share(entry, names[1], place, above_zero=True)
        pairs.append((first(entry.get(names[0]), f"{place}: {names[0]}"), share))
    _check_sum([share for _, share in pairs], f"{where}: shares of {key}")
    return tuple(pairs)


def _check_sum(shares: Sequence[float], what: str) -> None:
    total = math.fsum(shares)
    if abs(total - 1) > _SUM_TOLERANCE:
        raise UsageError(f"{what} add up to {total:g}; allowed: 1")


def _size(value: Any, where: str) -> int:
    if not isinstance(value, str):
        raise UsageError(f'{where} is {shown(value)}; allowed: a text such as "4KiB"')
    try:
        size = parse_size(value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    if size == 0 or size % SECTOR_BYTES or size > MAX_REQUEST_BYTES:
        raise UsageError(
            f"{where} is {shown(value)}; allowed: multiples of {SECTOR_BYTES} bytes up to "
            f"{format_size(MAX_REQUEST_BYTES)}"
        )
    return size


def _number(value: Any, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{where} is {shown(value)}; allowed: a number")
    return number


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{where} is {shown(value)}; allowed: a whole number, at least 1")
    return value
