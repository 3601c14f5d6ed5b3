"""Detecting random writes of a simulated drive that were only a burst.

A disk's cache, erased blocks and empty log blocks accept random writes immediately. When they are
full, each write costs as much as the platters, the cleaning or a merge takes. A measurement that
ends earlier shows only the burst, yet its interval is as narrow as if that speed could last.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.drives.measurement import Measurement

Room = Literal["cache", "erased", "logs"]

#: On a settled drive random writes program more pages than the host writes. With a ratio up to
#: this, they found erased blocks.
SETTLED_AMPLIFICATION: Final = 1.05
#: A full cache accepts a write only after another one reached the platters. If less than this share
#: of the random writes did, the cache was not full.
SETTLED_MEDIA_SHARE: Final = 0.9
_LOG_SCHEMES: Final = ("bast", "fast")
#: What random writes found, and when it will be full, in words.
FOUND: Final[dict[Room, str]] = {
    "cache": "room in the cache: the disk wrote fewer of them to its platters than came",
    "erased": "erased blocks: the drive did not have to clean up",
    "logs": "empty log blocks: the drive did not have to merge them yet",
}
UNTIL: Final[dict[Room, str]] = {
    "cache": "several times the cache has been written",
    "erased": "a tenth of the drive or more has been written",
    "logs": "more than the log blocks hold has been written",
}


def room_found(one: Measurement, preset: Mapping[str, Any], plan: Mapping[str, Any]) -> Room | None:
    """Return where the random writes of a measurement found room that will become full.

    Parameters
    ----------
    one
        A measurement of a simulated drive.
    preset
        The resolved preset of the drive; empty if it is unknown.
    plan
        As returned by `MeasurementPlan.to_json`.

    Returns
    -------
    str or None
        ``None`` if there are no random writes, or they had to wait for room.
    """
    random = one.characteristics.write_random or 0
    if one.write is None or random <= 0:
        return None
    media_writes = one.extra.get("media_writes")
    if media_writes is not None:
        size = one.write.bytes / one.write.requests
        wanted = random * one.write.requests - one.extra.get("replaced_bytes", 0.0) / size
        return "cache" if media_writes < SETTLED_MEDIA_SHARE * wanted else None
    if one.extra.get("write_amplification_ratio", math.inf) < SETTLED_AMPLIFICATION:
        return "erased"
    return "logs" if _pages_written(one, preset, plan) < _log_pages(preset) else None


def _log_pages(preset: Mapping[str, Any]) -> float:
    """Return the number of pages in the log blocks of a drive or an array; 0 without any."""
    members = preset.get("members", 1)
    drive = preset.get("member_preset") or preset
    mapping = drive.get("mapping") or {}
    if mapping.get("scheme") not in _LOG_SCHEMES:
        return 0.0
    geometry = drive["geometry"]
    names = ("channels", "ways_per_channel", "dies_per_way", "planes_per_die", "pages_per_block")
    of_blocks = math.prod(geometry[name] for name in names)
    return float(members * mapping["log_blocks_per_plane"] * of_blocks)


def _pages_written(one: Measurement, preset: Mapping[str, Any], plan: Mapping[str, Any]) -> float:
    """Return how many pages the random writes fill, in warm-up and counted window together."""
    if one.write is None or not preset:
        return math.inf
    drive = preset.get("member_preset") or preset
    page_bytes = drive.get("geometry", {}).get("page_size_bytes")
    if page_bytes is None:
        return math.inf
    requests = one.requests + plan.get("warmup_requests", 0)
    requests += one.iops * plan.get("warmup_seconds", 0.0)
    of_write = math.ceil(one.write.bytes / one.write.requests / page_bytes)
    return float(requests * one.write.requests / one.requests * of_write)
