"""The results of a test on several drives: read, named, and checked for comparability."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drivelab.bounded_json import UnreadableJsonError, parse_json
from drivelab.errors import DamagedError, DrivelabError, UsageError
from drivelab.named_file import read_file
from drivelab.pts.journal import test_of
from drivelab.pts.reference import PREFIX, read_reference
from drivelab.pts.report import LAYOUT, RESULT, build
from drivelab.pts.result_types import misfit
from drivelab.sealed_json import BrokenSealError, NoSealError, unsealed_json
from drivelab.store import is_run

#: The test of references, if nothing else decides.
_FIRST_TEST: Final = "iops"
#: More drives cannot be distinguished on one page.
MOST_DRIVES: Final = 20
# A day of minutes with their histograms is smaller; a larger file is not read into memory.
_LARGEST_BYTES: Final = 2**30
# Every result of ours begins like this.
_BEGIN: Final = re.compile(rb'\{\s*"kind": "pts",')
_WRITE_AGAIN: Final = "write it again with `drivelab pts report`"
# Settings that must be the same, and settings whose difference is only reported.
_SAME: Final = {
    "scale": "--scale",
    "content": "data pattern",
    "workload": "--workload",
    "idle_seconds": "--idle",
    "block_bytes": "--block-size",
    "write_ratio": "--write-ratio",
}
_TOLD: Final = {
    "threads": "threads",
    "queue_depth": "queue depth",
    "active_range_ratio": "active range",
    "rule": "rule of steady state",
    "seed": "seed",
}
# Keys that are read from any result file.
_KEYS: Final = ("test", "title", "edition", "stamp", "verdict", "header", "sections")
_INNER_KEYS: Final = {
    "drive": ("name", "kind", "capacity_bytes"),
    "header": ("specification",),
    "settings": (*_SAME, *_TOLD),
}
_CELL_KEYS: Final = (
    *("block_bytes", "sizes", "read_ratio", "is_random", "threads", "queue_depth"),
    *("iops_rounds", "bandwidth_bytes_per_second_rounds", "latency_ns_mean_rounds"),
)
_WINDOW_KEYS: Final = ("tracked", "values")
# Judged by what it tracked, which is not one of its cells.
_CLASS_TEST: Final = "class"
#: Words for the kind of a drive. One kind is never shown as another.
KINDS: Final = {"real": "real", "simulated": "simulated", "closed_form": "calculated"}


@dataclass(frozen=True)
class Compared:
    """One drive of a comparison.

    Attributes
    ----------
    label
        Its name and, in brackets, what it is; unique among those compared.
    The path or name of its result.
        Where its result comes from.
    The result, as in docs/json-pts.md.
        As docs/json-pts.md describes it.
    """

    label: str
    source: str
    result: dict[str, Any]

    @property
    def kind(self) -> str:
        """``real``, ``simulated`` or ``closed_form``."""
        return str(self.result["drive"]["kind"])


def read_results(names: Sequence[str], test: str | None = None) -> list[Compared]:
    """Read the results of several drives.

    Parameters
    ----------
    names
        Run folders, folders of several runs as ``pts run all`` leaves them, saved results, or
        ``sim:PRESET`` for a result that ships with the package.
    test
        The test, if folders contain several; by default the first that all contain.

    Returns
    -------
    list of Compared
        In the order of their names.

    Raises
    ------
    UsageError
        If something is not a result, or the results cannot be compared.
    """
    if not 2 <= len(names) <= MOST_DRIVES:
        raise UsageError(
            f"{len(names)} result is named; a comparison takes 2 to {MOST_DRIVES}"
            if len(names) == 1
            else f"{len(names)} results are named; a comparison takes 2 to {MOST_DRIVES}"
        )
    runs = {name: _read(name, test) for name in names if not _is_reference(name)}
    wanted = test or (next(iter(runs.values()))["test"] if runs else _FIRST_TEST)
    references = {name: read_reference(name, wanted) for name in names if _is_reference(name)}
    results = [(runs | references)[name] for name in names]
    _refuse_different(names, results)
    labels = _labels(names, results)
    return [
        Compared(label, name, result)
        for label, name, result in zip(labels, names, results, strict=True)
    ]


def differences(drives: Sequence[Compared]) -> list[str]:
    """Return the settings in which the drives differ but may still be compared."""
    notes = []
    for key, words in _TOLD.items():
        values = [drive.result["settings"][key] for drive in drives]
        if len(set(values)) > 1:
            each = ", ".join(
                f"{drive.label} {setting_text(key, value)}"
                for drive, value in zip(drives, values, strict=True)
            )
            notes.append(f"Not alike, {words}: {each}.")
    varying = [_varies(drive.result) for drive in drives]
    if len({one for one in varying if one is not None}) > 1:
        without = ", ".join(
            drive.label for drive, one in zip(drives, varying, strict=True) if one is False
        )
        notes.append(f"Not alike, variability: {without} without it.")
    return notes


def _varies(result: Mapping[str, Any]) -> bool | None:
    """Return whether a simulated drive's times varied; ``None`` for other drives."""
    drive = result["drive"]
    if drive["kind"] != "simulated":
        return None
    return (drive.get("identity") or {}).get("variability") != "off"


def setting_text(key: str, value: Any) -> str:
    """Return a setting as reports of single runs show it."""
    if key == "active_range_ratio":
        return f"{100 * value:g} %"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_reference(name: str) -> bool:
    return name.startswith(PREFIX) and not Path(name).exists()


def _read(name: str, test: str | None) -> dict[str, Any]:
    path = Path(name)
    if path.is_dir():
        return _of_folder(path, test)
    if not path.is_file():
        raise UsageError(
            f"{name} does not exist; name the folder of a `drivelab pts run` or its {RESULT}"
        )
    return _checked(path, test)


def _of_folder(path: Path, test: str | None) -> dict[str, Any]:
    if is_run(path):
        result = build(path).result
        _refuse_test(path, result, test)
        return result
    by_test = {
        found: child for child in sorted(path.iterdir()) if (found := _test_of(child)) is not None
    }
    if not by_test:
        raise UsageError(f"{path} is not a run of `drivelab pts run` and contains none")
    if test is None:
        if len(by_test) > 1:
            raise UsageError(
                f"{path} contains several tests: {', '.join(by_test)}; choose one with --test"
            )
        return build(next(iter(by_test.values()))).result
    if test not in by_test:
        raise UsageError(f"{path} contains no test {test!r}; it contains {', '.join(by_test)}")
    return build(by_test[test]).result


def _test_of(path: Path) -> str | None:
    try:
        return test_of(path)
    except DrivelabError:
        # It may not be one of the requested tests.
        return None


def _checked(path: Path, test: str | None) -> dict[str, Any]:
    result: dict[str, Any] = _content(path)
    if not _is_result(result):
        raise UsageError(f"{path} is not a result of `drivelab pts run`; name a {RESULT}")
    if result.get("layout") != LAYOUT:
        raise UsageError(
            f"{path} has layout {result.get('layout')}, and this version reads {LAYOUT}: "
            f"{_WRITE_AGAIN}"
        )
    lacking = _lacking(result)
    if lacking:
        raise UsageError(f"{path} lacks {lacking}: {_WRITE_AGAIN}")
    wrong = misfit(result)
    if wrong:
        raise UsageError(f"{path}: {wrong}; {_WRITE_AGAIN}")
    _refuse_test(path, result, test)
    return result


def _content(path: Path) -> Any:
    data = read_file(path, "a result of a test", _LARGEST_BYTES, f"name a {RESULT}")
    try:
        try:
            return unsealed_json(data)
        except NoSealError:
            if _BEGIN.match(data) or _is_result(parse_json(data)):
                raise
            return None
    except BrokenSealError as error:
        raise DamagedError(
            f"{path} is damaged: it is not what was written, its checksum does not fit; "
            f"{_WRITE_AGAIN}"
        ) from error
    except NoSealError as error:
        raise DamagedError(
            f"{path} does not end with its checksum: it is damaged, or of an older Drivelab; "
            f"{_WRITE_AGAIN}"
        ) from error
    except UnreadableJsonError as error:
        raise UsageError(
            f"{path} is not a result of `drivelab pts run`: it {error}; name a {RESULT}"
        ) from error


def _is_result(values: Any) -> bool:
    return isinstance(values, dict) and values.get("kind") == "pts"


def _lacking(result: Mapping[str, Any]) -> str:
    """Return what a file lacks that a comparison reads from any result; empty if nothing."""
    parts: list[tuple[str, Any, Sequence[str]]] = [("", result, _KEYS)]
    parts += [(f"{name}.", result.get(name), keys) for name, keys in _INNER_KEYS.items()]
    sections = result.get("sections")
    for section in sections if isinstance(sections, list) and sections else [None]:
        windows = ("windows",) if result.get("test") == _CLASS_TEST else ()
        parts.append(("sections[].", section, ("name", "cells", *windows)))
        for name, inner_keys in (("cells", _CELL_KEYS), ("windows", _WINDOW_KEYS)):
            inner = section.get(name) if isinstance(section, dict) else None
            if isinstance(inner, list):
                parts += [(f"sections[].{name}[].", each, inner_keys) for each in inner]
    for where, of, keys in parts:
        for key in keys:
            if not isinstance(of, dict) or key not in of:
                return f"{where}{key}"
    return ""


def _refuse_test(path: Path, result: Mapping[str, Any], test: str | None) -> None:
    if test is not None and result["test"] != test:
        raise UsageError(f"{path} is of the test {result['test']!r}, and --test says {test!r}")


def _refuse_different(names: Sequence[str], results: Sequence[Mapping[str, Any]]) -> None:
    first = results[0]
    for name, result in zip(names[1:], results[1:], strict=True):
        pairs = [("test", first["test"], result["test"])]
        pairs.append(("edition", first["edition"], result["edition"]))
        pairs += [
            (words, first["settings"][key], result["settings"][key]) for key, words in _SAME.items()
        ]
        pairs.append(("--class", _class_of(first), _class_of(result)))
        for words, one, other in pairs:
            if one != other:
                raise UsageError(
                    f"{names[0]} and {name} cannot be compared: {words} {one} and {other}; compare "
                    "runs of one test in one mode"
                )


def _class_of(result: Mapping[str, Any]) -> str:
    """Return the name of a result's class of workloads, different if its content differs."""
    of = result["settings"].get("workload_class")
    if of is None:
        return "none"
    digest = hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:8]
    return f"{of['name']} ({digest})"


def _labels(names: Sequence[str], results: Sequence[Mapping[str, Any]]) -> list[str]:
    short = [_short_name(result) for result in results]
    labels = []
    for place, (name, result) in enumerate(zip(names, results, strict=True)):
        text = short[place]
        if short.count(text) > 1:
            text = f"{text}, {Path(name).name or name}"
        labels.append(f"{text} ({KINDS[result['drive']['kind']]})")
    # Folders may have the same name, too.
    return [
        label if labels.count(label) == 1 else f"{place + 1}: {label}"
        for place, label in enumerate(labels)
    ]


def _short_name(result: Mapping[str, Any]) -> str:
    name = str(result["drive"]["name"])
    if name.startswith("sim:"):
        return Path(name.removeprefix("sim:")).stem
    model = str(result["header"].get("model", ""))
    return model if model and model not in ("not known", "none") else name
