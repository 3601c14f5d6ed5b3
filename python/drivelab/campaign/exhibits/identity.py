"""Everything that identifies a run, as rows for its report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from drivelab.campaign.exhibits.plan_words import plan_words
from drivelab.campaign.header import ASKED
from drivelab.exhibits import Document, Facts
from drivelab.exhibits.quantities import PROVENANCE
from drivelab.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LONG: Final = 400
#: A part of the identity with more entries than this, such as a preset, becomes a document.
_MANY: Final = 12
#: Words for the keys of a campaign's header, in the order of the report.
_LABELS: Final = {
    "capacity_bytes": "Capacity",
    "identity config_hash": "Hash of the resolved preset",
    "identity variability": "Variability of its preset",
    "design name": "Design",
    "design population": "Drawn from",
    "design workloads": "Planned",
    "design distinct_workloads": "Distinct ones among them",
    "design left_out_workloads": "Of the design, what this drive cannot run",
    "design parts training": "For the models",
    "design parts calibration": "For the models and the width of intervals",
    "design parts check": "To check the models off-grid",
    "design parts sweeps": "For curves, one thing changed at a time",
    "design parts chosen": "For the models, chosen by what they would learn",
    "design parts probes": "To find how the drive is built",
    "design seed": "Seed of the draw",
    "design workloads_sha256": "SHA-256 of all of them",
    "design pool training": "To choose from, spread over the ranges",
    "design pool calibration": "To choose from, drawn at random",
    "design pool check": "To check the models with",
    "design pool sweeps": "To draw curves with",
    "design pool chosen": "To choose from by what models would learn",
    "ended goal measurements": "Measurements asked for",
    "ended goal error_ratio": "Expected error asked for, as a ratio",
    "ended goal budget_seconds": "Budget in seconds",
    "ended ended_by": "Ended by",
    "ended expected_error_ratio": "Expected error then, as a ratio",
    "ended expected_error_deviation_ratio": "Standard deviation of that error",
    "ended spent_seconds": "Time of the drive in seconds",
    "design pool probes": "To find how the drive is built, from",
    "plan seed": "Seed",
    "origin started_at": "Started",
    "origin command": "Command",
    "origin host": "Host",
    "origin processor": "Processor",
    "origin processors": "Processors used",
    "origin system": "System",
    "origin drivelab_version": "Drivelab",
    "origin python_version": "Python",
    "origin numpy_version": "NumPy",
    "origin scikit_learn_version": "scikit-learn",
    # For real drives.
    "identity host name": "Its machine",
    "identity host machine_id": "What tells that machine from others",
    "identity target": "What it is",
    "identity path": "Path",
    "identity size_bytes": "Size",
    "identity made_by_drivelab": "Made by Drivelab",
    "identity file_system": "File system",
    "identity mount_point": "Mounted at",
    "identity mount_options": "Mount options",
    "identity device model": "Model of the drive",
    "identity device serial": "Its serial number",
    "identity device firmware": "Its firmware",
    "identity device size_bytes": "Its size",
    "identity device logical_block_bytes": "Its block",
    "identity device rotational": "Takes itself for a hard disk",
    "identity device scheduler": "I/O scheduler",
    "identity device write_cache": "Write cache",
    "identity device members": "Made of",
    "identity device backing": "Behind it",
    "identity device volatile path": "Device node",
    "identity device volatile number": "Device number",
    "identity direct_io": "Past the page cache (direct I/O)",
    "identity direct_block_bytes": "Smallest request past the cache",
    "identity io_engine": "I/O engine",
    "identity fio_version": "fio",
    "identity volatile kernel_release": "Kernel",
    "identity volatile journal": "Its journal there",
}
#: Keys that a device may not reveal; a buyer should know if it did not.
_UNKNOWN_IF_MISSING: Final = {f"identity device {name}" for name in ("model", "serial", "firmware")}
_ORDER: Final = {key: place for place, key in enumerate(_LABELS)}
#: Headings of groups of facts, by the first word of their keys.
_GROUPS: Final = {
    "drive": "The drive",
    "design": "The workloads",
    "plan": "How each was {adjective}",
    "origin": "Where and when",
}


@dataclass(frozen=True)
class Identity:
    """The identity of a run for its report.

    Attributes
    ----------
    groups
        Short facts.
    documents
        Long texts with a name, such as the simulated preset.
    """

    groups: tuple[Facts, ...]
    documents: tuple[Document, ...]


def identity(header: Mapping[str, Any], starts: Sequence[Mapping[str, Any]] = ()) -> Identity:
    """Return everything a run's header says, in words where Drivelab knows the key.

    Nothing is left out. A key that is not known here keeps its own name, and one sentence gives
    the whole plan.

    Parameters
    ----------
    header
        Header of the run.
    starts
        A record for each process that began to measure into it, including the first.
    """
    drive = header["drive"]
    provenance = PROVENANCE[str(drive["kind"])]
    facts: dict[str, list[tuple[str, str]]] = {key: [] for key in _GROUPS}
    facts["drive"] = [("Drive", str(drive["name"])), ("Kind of drive", provenance.label)]
    facts["plan"] = [("How long", plan_words(header["plan"], str(drive["kind"])))]
    rest = {key: value for key, value in drive.items() if key not in ("name", "kind")}
    # Every workload and its part say what was asked for.
    rest |= {key: value for key, value in header.items() if key not in ("drive", "plan", ASKED)}
    rest["plan"] = {"seed": header["plan"]["seed"]}
    found = dict(_flat(rest, ()))
    documents = []
    for key in sorted(found, key=lambda key: _ORDER.get(key, len(_ORDER))):
        value = found[key]
        if _said(key, value, drive):
            continue
        text = _text(key, value)
        if len(text) > _LONG or "\n" in text:
            documents.append(Document(_words(key), text))
        else:
            group = key.split()[0]
            facts[group if group in _GROUPS else _other(group)].append((_words(key), text))
    if len(starts) > 1:
        again = "; ".join(_start(one, header) for one in starts[1:])
        facts["origin"].append(("Went on", again))
    groups = (
        Facts(name.format(adjective=provenance.adjective), tuple(facts[key]))
        for key, name in _GROUPS.items()
    )
    return Identity(tuple(group for group in groups if group.facts), tuple(documents))


def _start(start: Mapping[str, Any], header: Mapping[str, Any]) -> str:
    """Say when a run was resumed, and what differed from its first start."""
    changed = [
        f"{_words(f'origin {key}')} {value}"
        for key, value in start.items()
        if key not in ("started_at", "command") and value != header["origin"].get(key)
    ]
    return (
        f"{_text('origin started_at', start['started_at'])}{''.join(f', {one}' for one in changed)}"
    )


def _other(word: str) -> str:
    """Return the group of a key whose first word has none; parts of the drive have no prefix."""
    if word == "ended":
        return "design"
    return "drive" if word in ("identity", "capacity_bytes") else "origin"


def _said(key: str, value: Any, drive: Mapping[str, Any]) -> bool:
    """Return whether other facts already state this one."""
    if key in ("design parts order", "design pool_sha256"):
        return True
    said = {
        "identity name": drive["name"],
        "identity path": drive["name"],
        "identity kind": drive["kind"],
        "identity size_bytes": drive.get("capacity_bytes"),
    }
    return key in said and value == said[key]


def _flat(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        place = (*path, str(key))
        if isinstance(inner, dict) and path and len(list(_lines(inner))) > _MANY:
            yield " ".join(place), "\n".join(_lines(inner))
        elif isinstance(inner, dict) and inner:
            yield from _flat(inner, place)
        elif inner is not None or " ".join(place) in _UNKNOWN_IF_MISSING:
            yield " ".join(place), "unknown" if inner is None else inner


def _lines(value: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, inner in value.items():
        if isinstance(inner, dict) and inner:
            yield from _lines(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key} = {json.dumps(inner, ensure_ascii=False)}"


def _text(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key.endswith("bytes") and isinstance(value, int):
        return f"{format_size(value)} ({value:,} bytes)"
    if isinstance(value, int) and "seed" not in key:
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if key == "origin started_at":
        value = f"{datetime.fromisoformat(value):%Y-%m-%d %H:%M:%S %Z}"
    return ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)


def _words(key: str) -> str:
    if key in _LABELS:
        return _LABELS[key]
    text = (
        key.removeprefix("identity ")
        .replace("volatile ", "")
        .replace("_", " ")
        .removesuffix(" bytes")
    )
    return text[:1].upper() + text[1:]
