"""The keys of presets in docs/preset-keys.md: tables for each kind of drive between two marks."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.drives.presets.keys import PresetExclusion, PresetKey, preset_exclusions, preset_keys
from validation.marked_table import replaced

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET: Final = Path(__file__).parent.parent / "docs" / "preset-keys.md"
_BEGIN: Final = "<!-- keys: written by `.venv/bin/python -m validation.preset_keys_table` -->\n"
_END: Final = "<!-- end of the keys -->\n"
_KINDS: Final = {
    "ssd": "Solid-state drives",
    "hdd": "Hard disks",
    "raid0": "Arrays of RAID-0",
    "raid": "Arrays of any level",
}
_EXCLUSIONS: Final = ("with", "keys", "only", "because such a drive")
_COLUMNS: Final = ("key", "what it may hold", "unit", "default", "fitted as")


def tables_text() -> str:
    """Write the tables of keys."""
    parts = []
    for kind, title in _KINDS.items():
        rows = "\n".join(_row(*_cells(key)) for key in preset_keys(kind))
        parts.append(f"## {title}\n\n{_row(*_COLUMNS)}\n|---|---|---|---|---|\n{rows}\n")
        exclusions = preset_exclusions(kind)
        if exclusions:
            alike = itertools.groupby(exclusions, key=lambda row: replace(row, key=""))
            rows = "\n".join(
                _row(*_exclusion_cells(row, [each.key for each in keys])) for row, keys in alike
            )
            heading = f"### {title}: what settings exclude"
            parts.append(f"{heading}\n\n{_row(*_EXCLUSIONS)}\n|---|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def with_tables(text: str) -> str:
    """Return a document with its tables of keys as they are now."""
    return replaced(text, "tables of keys", (_BEGIN, _END), tables_text())


def write() -> None:
    """Write the tables into docs/preset-keys.md."""
    TARGET.write_text(with_tables(TARGET.read_text(encoding="utf-8")), encoding="utf-8")


def _cells(key: PresetKey) -> tuple[str, str, str, str, str]:
    fitted = f"`{key.fit.parameter}`" if key.fit else ""
    return f"`{key.name}`", key.allowed.replace("|", "\\|"), key.unit or "", key.usual or "", fitted


def _exclusion_cells(exclusion: PresetExclusion, keys: Sequence[str]) -> tuple[str, ...]:
    """Write a row for keys of which the same remains for the same reason."""
    in_words = exclusion.only == "none" or exclusion.only.startswith("at least")
    values = exclusion.only.split(" or ")
    only = exclusion.only if in_words else " or ".join(f"`{value}`" for value in values)
    return exclusion.setting, ", ".join(f"`{key}`" for key in keys), only, exclusion.reason


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    write()
