"""Where a report leads on: the page on which a simulated SSD can be changed.

A report of real drives alone has no such link. Nothing on that page is about the reader's drive,
and a simulated number must not look as if it were.
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

#: How the name of a drive begins whose preset follows, by kind.
_PREFIXES: Final = {"simulated": "sim:", "closed_form": "analytic:"}


@dataclass(frozen=True)
class WhatIf:
    """What the page opens with.

    Attributes
    ----------
    preset
        The drive of the report, by name; empty where the page cannot show it (a hard disk, an
        array, a drive of the user's, no drive at all), and it opens with its own.
    settings
        Names and values of the workload that it opens with, such as ``("queue_depth", 32)``.
    """

    preset: str = ""
    settings: tuple[tuple[str, int | float | str], ...] = ()

    @classmethod
    def of_drives(cls, drives: Iterable[tuple[str, str]]) -> Self | None:
        """Say where a report of drives leads.

        Parameters
        ----------
        drives
            Name and kind of each, as in ``("sim:x25m", "simulated")``; the first that the page
            can show counts.

        Returns
        -------
        WhatIf or None
            None where every drive is real.
        """
        prefixed = [(name, _PREFIXES[kind]) for name, kind in drives if kind in _PREFIXES]
        if not prefixed:
            return None
        known = set(changeable_presets())
        presets = [name.removeprefix(prefix) for name, prefix in prefixed]
        return cls(next((name for name in presets if name in known), ""))

    @property
    def fragment(self) -> str:
        """What follows the page's name in a link, with its ``#``; empty for nothing to say."""
        said = [*([("preset", self.preset)] if self.preset else []), *self.settings]
        return f"#{urlencode(said)}" if said else ""


def changeable_presets() -> list[str]:
    """List the presets that the page can show: SSDs of the package that map pages.

    Drives that map blocks, or hold only a part of the map, do not scale down to a page's size.
    """
    found = []
    for name in preset_names():
        resolved = json.loads(resolve_preset(preset_text(name), {})[0])
        # Left out of a description where pages are mapped.
        scheme = resolved.get("mapping", {}).get("scheme", "page")
        if resolved["kind"] == "ssd" and scheme == "page":
            found.append(name)
    return found


def settings_of(workload: Workload) -> tuple[tuple[str, int | float | str], ...]:
    """Give what the page can be set to of a workload; nothing of one that it does not have."""
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
