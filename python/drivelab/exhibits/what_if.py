"""The link from a report to the what-if page, on which a reader can change a simulated SSD.

A report on real drives alone has no such link. Numbers on that page are simulated, and they must
not look as if they described the reader's drive.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlencode

from drivelab._core import preset_names, preset_text, resolve_preset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from drivelab.workloads.workload import Workload

#: Prefix of a drive's name before the name of its preset, by kind of drive.
_PREFIXES: Final = {"simulated": "sim:", "closed_form": "analytic:"}


@dataclass(frozen=True)
class WhatIf:
    """The settings that the what-if page opens with.

    Attributes
    ----------
    preset
        Name of the report's preset; empty if the page cannot show it (a hard disk, an array, a
        user's own drive, no drive). The page then opens with its default preset.
    settings
        Names and values of workload settings, such as ``("queue_depth", 32)``.
    """

    preset: str = ""
    settings: tuple[tuple[str, int | float | str], ...] = ()

    @classmethod
    def of_drives(cls, drives: Iterable[tuple[str, str]]) -> Self | None:
        """Return the link for a report on these drives.

        Parameters
        ----------
        drives
            Name and kind of each drive, such as ``("sim:x25m", "simulated")``. The first one that
            the page can show is used.

        Returns
        -------
        WhatIf or None
            None if every drive is real.
        """
        prefixed = [(name, _PREFIXES[kind]) for name, kind in drives if kind in _PREFIXES]
        if not prefixed:
            return None
        known = set(changeable_presets())
        presets = [name.removeprefix(prefix) for name, prefix in prefixed]
        return cls(next((name for name in presets if name in known), ""))

    @property
    def fragment(self) -> str:
        """The part of the link after the page's name, with its ``#``; empty without settings."""
        said = [*([("preset", self.preset)] if self.preset else []), *self.settings]
        return f"#{urlencode(said)}" if said else ""


def changeable_presets() -> list[str]:
    """List the presets that the page can show: SSDs of the package with a page-level mapping.

    Drives that map blocks, or keep only a part of the map in memory, do not scale down to the page.
    """
    found = []
    for name in preset_names():
        resolved = json.loads(resolve_preset(preset_text(name), {})[0])
        # Presets with a page-level mapping omit the key.
        scheme = resolved.get("mapping", {}).get("scheme", "page")
        if resolved["kind"] == "ssd" and scheme == "page":
            found.append(name)
    return found


def settings_of(workload: Workload) -> tuple[tuple[str, int | float | str], ...]:
    """Return the settings of the page for a workload; nothing for a setting it does not have."""
    from drivelab.workloads.characteristics import Characteristics

    if not isinstance(workload, Characteristics):
        return ()
    writes = workload.write_ratio
    side = "write" if writes >= 0.5 else "read"
    is_random = getattr(workload, f"{side}_random") >= 0.5
    return (
        ("write_ratio", writes),
        ("size_bytes", int(getattr(workload, f"{side}_size"))),
        ("queue_depth", workload.queue_depth),
        ("order", "random" if is_random else "sequential"),
    )
