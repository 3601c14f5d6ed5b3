"""Whether a run is the same as before: it goes on only where nothing that matters changed.

Numbers of two drives, or of two plans, in one run would be worthless.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from drivelab.errors import UsageError
from drivelab.runs.header import command_of
from drivelab.runs.kind import RunKind

_MOST_DIFFERENCES_TOLD: Final = 3
# Characters of a value that are told.
_LONGEST_VALUE: Final = 40


def refuse_other_run(
    kind: RunKind, path: Path, stored: Mapping[str, Any], wanted: Mapping[str, Any]
) -> None:
    """Raise `UsageError` saying what differs when a run is another one.

    Parameters
    ----------
    kind
        What the run is to be of.
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
    # The design's seed is the plan's, and its workloads have a digest: told once.
    keys = (before.keys() | now.keys()) - {"design.seed", "design.distinct_workloads"}
    differing = sorted(key for key in keys if before.get(key) != now.get(key))
    # The digest differs whenever name or seed do; alone it says that the design changed.
    if len(differing) > 1:
        differing = [key for key in differing if not key.endswith("_sha256")]
    if differing:
        told = [
            "{} was {} and is now {}".format(key, *_short(before.get(key), now.get(key)))
            for key in differing[:_MOST_DIFFERENCES_TOLD]
        ]
        raise UsageError(
            f"{path} holds another {kind.what}: {'; '.join(told)}; choose another --out or ask "
            "for the same"
        )


def flattened(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Give the values of nested parts with their dotted names; what is volatile is left out."""
    if not isinstance(value, dict):
        yield name, value
        return
    for key, inner in value.items():
        if key != "volatile":
            yield from flattened(inner, f"{name}.{key}" if name else str(key))


def _short(*values: Any) -> list[str]:
    """Write values as JSON, long ones from shortly before they differ."""
    texts = [json.dumps(value, sort_keys=True) for value in values]
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
