"""Facts about an imported drive that decide where MQSim's flows go and what differs there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTOR_BYTES: Final = 512


@dataclass(frozen=True)
class DriveFacts:
    """Facts about a drive that decide where flows go.

    Attributes
    ----------
    capacity_bytes
        Capacity that the host sees.
    shape
        Channels, chips of each, dies of each and planes of each.
    is_shared
        Whether every flow uses the whole drive (SATA).
    whole_bytes
        Writes of traces are extended to multiples of this. It is a page if MQSim's drive was never
        written, so that no page has to be read before a partial write; else a sector.
    is_partly_filled
        Whether only some pages contain data, anywhere on the drive.
    page_bytes
        What crosses the channel at least.
    is_written
        Whether MQSim fills the drive.
    caches_map
        Whether only a part of the map is in memory.
    """

    capacity_bytes: int
    shape: tuple[int, int, int, int]
    is_shared: bool
    whole_bytes: int = SECTOR_BYTES
    is_partly_filled: bool = False
    page_bytes: int = SECTOR_BYTES
    is_written: bool = True
    caches_map: bool = False


def facts_of(resolved: Mapping[str, Any], *, is_written: bool) -> DriveFacts:
    """Return the facts from a resolved preset, and whether MQSim fills the drive."""
    geometry = resolved["geometry"]
    occupancy = resolved.get("occupancy") or {"filled": 1.0, "order": "in_order"}
    names = ("channels", "ways_per_channel", "dies_per_way", "planes_per_die")
    page_bytes = int(geometry["page_size_bytes"])
    channels, ways, dies, planes = (int(geometry[name]) for name in names)
    return DriveFacts(
        capacity_bytes=int(geometry["user_capacity_bytes"]),
        shape=(channels, ways, dies, planes),
        is_shared=resolved["host"]["interface"] == "sata",
        whole_bytes=SECTOR_BYTES if is_written else page_bytes,
        is_partly_filled=occupancy["order"] == "random" and occupancy["filled"] < 1,
        page_bytes=page_bytes,
        is_written=is_written,
        caches_map=resolved.get("mapping", {}).get("scheme") == "demand_cached_page",
    )
