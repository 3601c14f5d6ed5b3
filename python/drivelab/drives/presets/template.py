"""A preset of your own to start from: every key, its allowed values and its present value."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.keys import preset_keys
from drivelab.drives.presets.values import PresetValue, preset_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.drives.presets.source import PresetSource

# What the head of the file says.
_HEAD: Final = ("name", "kind", "summary", "base")
_INTRODUCTION: Final = """\
# {name}: a drive of your own, started from {like}. It measures without changes:
#
#   drivelab measure sim:{file}
#
# The line above each value shows what is allowed, the comment after it shows the source. Write
# the source of what you change: paper, datasheet, recalled, fitted or assumed. A key after "#" is
# optional; without it the drive lacks that feature. {document} explains each key.

name = "{name}"
kind = "{kind}"
summary = {summary}
"""
_DOCUMENTS: Final = {
    "ssd": "docs/simulator.md",
    "hdd": "docs/hard-disk.md",
    "raid0": "docs/arrays.md",
    "raid": "docs/arrays.md",
}
_PUBLISHED: Final = """
# Figures published for the drive, which `drivelab drives show` compares with simulated ones:
#
# [published.random_read]
# throughput_iops = 35_000     # or latency_ns, or bandwidth_bytes_per_second
# condition = "4 KiB random reads at queue depth 32"
# tolerance_ratio = 0.10
# direction = "read"           # or "write"
# queue_depth = 32
# size_bytes = 4096
# random_ratio = 1.0
"""


def preset_template(source: PresetSource, name: str, file: str) -> str:
    """Return a preset that behaves as `source`, with every key and its allowed values.

    Parameters
    ----------
    source
        The preset to start from.
    name
        Name of the new preset: letters, digits, '.', '_' and '-'.
    file
        Path of the new file, for its own text; neither it nor the reference of `source` may contain
        control characters.
    """
    values = {value.key: value for value in preset_values(source)}
    kind = source.resolved()[0]["kind"]
    words = {"name": name, "like": source.reference, "kind": kind, "file": file}
    words["summary"] = toml_value(f"begun as {source.reference}")
    lines = [_INTRODUCTION.format(**words, document=_DOCUMENTS[kind])]
    table = ""
    tables = {_table_of(key) for key in values}
    for row in preset_keys(kind):
        key, allowed = row.name, row.allowed
        if key in _HEAD or "*" in key:
            continue
        if _table_of(key) != table:
            table = _table_of(key)
            # A table that the drive lacks is optional as a whole: it may need all its keys.
            lines.append(f"\n[{table}]" if table in tables else f"\n# [{table}]")
        value = values.get(key)
        if value is not None and value.grade == "fitted" and value.source:
            # The base's published figures are not this drive's.
            value = dataclasses.replace(value, source=f"as {source.reference}, {value.source}")
        lines += _line(key.rpartition(".")[2], allowed, value)
    return "\n".join(lines) + "\n" + _PUBLISHED


def toml_value(value: Any) -> str:
    """Write a value as TOML does, large integers in groups of three digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:_}" if value >= 10_000 else str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, str):
        # TOML escapes what JSON escapes, and in the same way.
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _line(key: str, allowed: str, value: PresetValue | None) -> Iterator[str]:
    yield f"# {allowed}"
    if value is None:
        yield f"# {key} ="
        return
    said = ": ".join(part for part in (value.grade, value.source) if part)
    yield f"{key} = {toml_value(value.value)}" + (f"  # {said}" if said else "")


def _table_of(key: str) -> str:
    return key.rpartition(".")[0]
