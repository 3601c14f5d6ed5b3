"""What the starts of a run say of it: a run that was stopped and went on has several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def has_new_file(starts: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a run went on with another file than it began with."""
    # What an earlier version did not say is no other file.
    files = [start["file"] for start in starts if start.get("file") is not None]
    return any(file != files[0] for file in files)


def drives_beside(starts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the real drives that the same command measured at the same time, at any start."""
    return list(dict.fromkeys(name for start in starts for name in start.get("beside") or ()))


def beside_text(names: Sequence[str]) -> str:
    """Say what drives that were measured at the same time mean for a result; no full stop."""
    return (
        f"{', '.join(names)} ran at the same time: drives of one machine share its processors and "
        "links"
    )
