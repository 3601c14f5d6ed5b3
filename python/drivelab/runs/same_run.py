"""Whether a run is the same as before: it resumes only if nothing that matters changed.

Numbers of two drives, or of two plans, in one run would be worthless.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from drivelab.errors import UsageError
from drivelab.runs.header import command_of
from drivelab.runs.kind import RunKind
from drivelab.units import format_duration_ns, format_size
from drivelab.workloads.scenario import said_by

_MOST_DIFFERENCES_TOLD: Final = 3
# Parts of names that say nothing to people.
_CLEAR: Final = {"plan", "pts", "settings", "identity", "parts"}
# Of numbers, last in a name, and how they are written.
_UNITS: Final[dict[str, Callable[[Any], str]]] = {
    "bytes": format_size,
    "ns": format_duration_ns,
    "seconds": lambda seconds: f"{seconds:g} s",
    "ratio": lambda ratio: f"{100 * ratio:g} %",
}
# Characters of a value that an error shows.
_LONGEST_VALUE: Final = 40


def refuse_other_run(
    kind: RunKind, path: Path, stored: Mapping[str, Any], wanted: Mapping[str, Any]
) -> None:
    """Raise `UsageError` saying what differs when a run is another one.

    Parameters
    ----------
    kind
        The kind of run that it should be.
    path
        The run's folder.
    stored, wanted
        Its header, and what it would be now.
    """
    made_by = command_of(stored)
    if made_by != kind.command:
        raise UsageError(f"{path} is a run of `drivelab {made_by}`; choose another --out")
    refuse_differing(kind, path, *(kind.as_compared(header) for header in (stored, wanted)))


def refuse_differing(
    kind: RunKind, path: Path, stored: Mapping[str, Any], wanted: Mapping[str, Any]
) -> None:
    """Raise `UsageError` saying in what two headers differ that have to agree."""
    before, now = (
        dict(flattened({key: header.get(key) for key in kind.compared}))
        for header in (stored, json.loads(json.dumps(wanted)))
    )
    # The design's seed is the plan's, and its workloads have a digest: report only one.
    keys = (before.keys() | now.keys()) - {"design.seed", "design.distinct_workloads"}
    differing = sorted(key for key in keys if before.get(key) != now.get(key))
    # A digest differs whenever what it is of does; alone it says that this changed.
    if len(differing) > 1:
        differing = [key for key in differing if not key.endswith(("_sha256", "_hash"))]
    if differing:
        differences = [
            "{}: {} before, {} now".format(_words(key), *_short(key, before.get(key), now.get(key)))
            for key in differing[:_MOST_DIFFERENCES_TOLD]
        ]
        raise UsageError(
            f"{path} contains another {kind.what}: {'; '.join(differences)}; choose another --out "
            "or ask for the same"
        )


def flattened(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested parts with their dotted names; what is volatile is left out.

    Of a scenario it yields what it says, not its text: with another comment it is the same.
    """
    return _flat(said_by(value), name)


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield name, value
        return
    for key, inner in value.items():
        if key != "volatile":
            yield from _flat(inner, f"{name}.{key}" if name else str(key))


def _words(key: str) -> str:
    """Write a dotted name for people, without what is clear and without the unit."""
    parts = [part for part in key.split(".") if part not in _CLEAR]
    words = " ".join(parts).replace("_", " ").replace("sha256", "SHA-256")
    for unit in ("bytes", "ns", "seconds"):
        words = words.removesuffix(f" {unit}")
    is_size = key.endswith("_bytes") and not words.endswith(("size", "capacity"))
    return f"{words} size" if is_size else words


def _text(key: str, value: Any) -> str:
    """Write a value for people."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    for unit, write in _UNITS.items():
        if is_number and key.endswith(f"_{unit}"):
            return write(value)
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _short(key: str, *values: Any) -> list[str]:
    """Write values, long ones from shortly before they differ."""
    texts = [_text(key, value) for value in values]
    if len(set(texts)) == 1:
        # Rounded, they would look the same.
        texts = [json.dumps(value) for value in values]
    if max(map(len, texts)) <= _LONGEST_VALUE:
        return texts
    pairs = enumerate(zip(*texts, strict=False))
    alike = next((place for place, signs in pairs if len(set(signs)) > 1), 0)
    begin = max(0, alike - _LONGEST_VALUE // 2)
    return [_part(text, begin) for text in texts]


def _part(text: str, begin: int) -> str:
    part = text[begin : begin + _LONGEST_VALUE]
    before, after = ("..." if begin else ""), ("..." if begin + len(part) < len(text) else "")
    return f"{before}{part}{after}"
