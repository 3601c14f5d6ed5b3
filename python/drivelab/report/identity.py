"""Everything that identifies a run, as rows for the report's head."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.report.quantities import PROVENANCE
from drivelab.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LONG: Final = 160
#: A part of the identity with more entries than this, such as a preset, is a document.
_MANY: Final = 12
#: What a campaign's header says, in words and in the order of the report.
_LABELS: Final = {
    "capacity_bytes": "Capacity",
    "design name": "Workload design",
    "design workloads": "Workloads planned",
    "design distinct_workloads": "Distinct workloads among them",
    "design parts training": "Workloads that models are fitted to",
    "design parts calibration": "Workloads that set the width of intervals",
    "design parts check": "Off-grid workloads that check the models",
    "design parts sweeps": "Workloads for curves, one characteristic at a time",
    "design population": "Drawn from",
    "design left_out_workloads": "Workloads this drive cannot run",
    "design seed": "Seed of the design",
    "plan seed": "Seed of the measurements",
    "plan warmup_requests": "Requests to warm up",
    "plan warmup_seconds": "Seconds to warm up",
    "plan requests": "Requests counted",
    "plan seconds": "Seconds counted",
    "plan half_width_ratio": "Half-width of the mean latency asked for",
    "plan max_requests": "Requests counted at most",
    "origin started_at": "Started",
    "origin host": "Host",
    "origin system": "System",
    "origin drivelab_version": "Drivelab",
    "origin python_version": "Python",
    "design workloads_sha256": "Workloads, SHA-256",
}
_ORDER: Final = {key: place for place, key in enumerate(_LABELS)}
#: What a plan says and this kind of drive ignores.
_IGNORED: Final = {
    "simulated": (),
    "closed_form": tuple(f"plan {name}" for name in MeasurementPlan().to_json() if name != "seed"),
    "real": (),
}


@dataclass(frozen=True)
class Identity:
    """What identifies a run.

    Attributes
    ----------
    facts
        Short pairs of a name and a text.
    documents
        Long texts under a name, such as the preset that was simulated.
    """

    facts: tuple[tuple[str, str], ...]
    documents: tuple[tuple[str, str], ...]


def identity(header: Mapping[str, Any]) -> Identity:
    """Return everything a run's header says, in words where Drivelab knows the key.

    Nothing is left out but what this kind of drive ignores: a key that is not known here
    stands under its own name.
    """
    drive = header["drive"]
    facts = [
        ("Drive", str(drive["name"])),
        ("Kind of drive", PROVENANCE[str(drive["kind"])].label),
    ]
    rest = {key: value for key, value in drive.items() if key not in ("name", "kind")}
    rest |= {key: value for key, value in header.items() if key != "drive"}
    found = dict(_flat(rest, ()))
    documents = []
    for key in sorted(found, key=lambda key: _ORDER.get(key, len(_ORDER))):
        value = found[key]
        if key in _IGNORED[str(drive["kind"])] or _said(key, value, drive):
            continue
        text = _text(key, value)
        if len(text) > _LONG or "\n" in text:
            documents.append((_words(key), text))
        else:
            facts.append((_words(key), text))
    return Identity(tuple(facts), tuple(documents))


def _said(key: str, value: Any, drive: Mapping[str, Any]) -> bool:
    """Tell what the first two facts say already."""
    return key in ("identity name", "identity kind") and value in (drive["name"], drive["kind"])


def _flat(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        place = (*path, str(key))
        if isinstance(inner, dict) and path and len(list(_lines(inner))) > _MANY:
            yield " ".join(place), "\n".join(_lines(inner))
        elif isinstance(inner, dict) and inner:
            yield from _flat(inner, place)
        elif inner is not None:
            yield " ".join(place), inner


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
    if key == "plan half_width_ratio":
        value = f"{100 * value:g} % of the mean"
    elif key == "origin started_at":
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
