"""Changes of a drive's structure: settings that are not continuous quantities.

They are words from the table of keys (the mapping of pages, the order of requests, when a write is
complete), counts that are halved and doubled at equal capacity, and optional parts of a drive.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.keys import preset_keys
from drivelab.drives.write_pattern import BURST
from drivelab.preset_fit.parameters import CAPACITY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Keys whose values are words or booleans, by kind of drive, except those that bursts do not show.
_WORDS: Final = {
    "ssd": (
        "mapping.scheme",
        "mapping.allocation",
        "scheduling.dispatch",
        "scheduling.order",
        "scheduling.copyback",
        "scheduling.multi_plane",
        "geometry.plane_mode",
        "buffer.policy",
        "host.interface",
    ),
    "hdd": ("scheduling.order", "cache.read_ahead", "cache.policy", "host.interface"),
}
# Only sustained writes show how blocks are collected.
_OF_COLLECTION: Final = ("collection.policy", "collection.pace")
# Workloads of a campaign have no priority class, and every link takes time.
_NEVER: Final = frozenset({"priority", "free"})
#: Counts, each with the one that shrinks as it grows, so that the capacity stays the same.
_COUNTS: Final[dict[str, tuple[tuple[str, str | None], ...]]] = {
    "ssd": (
        ("geometry.channels", "geometry.blocks_per_plane"),
        ("geometry.ways_per_channel", "geometry.blocks_per_plane"),
        ("geometry.planes_per_die", "geometry.blocks_per_plane"),
        ("geometry.page_size_bytes", "geometry.pages_per_block"),
        ("geometry.pages_per_block", "geometry.blocks_per_plane"),
        ("mapping.log_blocks_per_plane", None),
        ("buffer.read_ahead_bytes", None),
        ("host.commands", None),
    ),
    "hdd": (
        ("geometry.heads", "geometry.zone_cylinders"),
        ("cache.read_segments", None),
        ("cache.segment_bytes", None),
        ("scheduling.destage_window", None),
        ("host.commands", None),
    ),
}
#: Optional parts, and the values that are tried for a drive without them.
_PARTS: Final[dict[str, tuple[tuple[str, int], ...]]] = {
    "ssd": (
        ("buffer.write_buffer_bytes", 1 << 20),
        ("buffer.read_ahead_bytes", 64 << 10),
        ("host.write_acknowledge_ns", 20_000),
    ),
    "hdd": (
        ("cache.write_cache_bytes", 8 << 20),
        ("mechanics.write_settle_ns", 300_000),
        ("host.write_acknowledge_ns", 20_000),
    ),
}
_CYLINDERS: Final = "geometry.zone_cylinders"
_BLOCKS: Final = "geometry.blocks_per_plane"
_RESERVE: Final = "collection.reserve_blocks_per_plane"
_BLOCK_MAPS: Final = ("block", "bast", "fast")
# A map on flash with only this small part in memory.
_CACHED_SHARE: Final = 64


@dataclass(frozen=True)
class Build:
    """A change of a drive's structure.

    Attributes
    ----------
    key
        The key that changes, or a name for several keys.
    values
        The new values by key, including others that must change with it.
    """

    key: str
    values: Mapping[str, Any]

    def describe(self) -> str:
        """Describe the change: a key and its value."""
        if self.key not in self.values:
            return self.key
        value = self.values[self.key]
        if isinstance(value, bool):
            return f"{self.key} = {str(value).lower()}"
        return f"{self.key} = {value:,}" if isinstance(value, int) else f"{self.key} = {value}"


def builds_of(kind: str, values: Mapping[str, Any], writes: str = BURST) -> list[Build]:
    """Return all changes of a single thing to try; some may be impossible.

    Parameters
    ----------
    kind
        ``ssd`` or ``hdd``.
    values
        Values of the preset, by key.
    writes
        ``burst`` or ``sustained``.
    """
    more = _OF_COLLECTION if kind == "ssd" and writes != BURST else ()
    words = _words(kind, (*_WORDS[kind], *more), values)
    return [*words, *_counts(kind, values), *_parts(kind, values)]


def as_probed(
    values: Mapping[str, Any], page_bytes: int | None, units: int | None
) -> dict[str, Any]:
    """Return the changes that give a geometry the pages and units that probes found.

    Parameters
    ----------
    values
        Values of an SSD's preset, by key.
    page_bytes, units
        Results of the probes; None if unknown.
    """
    found: dict[str, Any] = {}
    page, pages = values["geometry.page_size_bytes"], values["geometry.pages_per_block"]
    if page_bytes is not None and page_bytes != page:
        found["geometry.page_size_bytes"] = page_bytes
        found["geometry.pages_per_block"] = max(1, pages * page // page_bytes)
    channels, ways, dies, planes = (
        values[f"geometry.{name}"]
        for name in ("channels", "ways_per_channel", "dies_per_way", "planes_per_die")
    )
    # Pages are distributed over dies, or over the planes of each.
    known = channels * ways * dies
    if units is None or units in (known, known * planes):
        return found
    if units % (channels * dies) == 0:
        found["geometry.ways_per_channel"] = units // (channels * dies)
    elif units % (ways * dies) == 0:
        found["geometry.channels"] = units // (ways * dies)
    else:
        found |= {"geometry.channels": units, "geometry.ways_per_channel": 1}
        found["geometry.dies_per_way"] = 1
    return found | _blocks(values, known, units)


def as_large(kind: str, values: Mapping[str, Any], capacity_bytes: int) -> dict[str, Any]:
    """Return the changes that give a geometry the measured capacity.

    Parameters
    ----------
    kind
        ``ssd`` or ``hdd``.
    values
        Values of the preset, by key.
    capacity_bytes
        The measured capacity.
    """
    now = values[CAPACITY]
    if kind == "ssd":
        # A whole number of pages.
        capacity_bytes -= capacity_bytes % values["geometry.page_size_bytes"]
    if capacity_bytes == now:
        return {}
    found: dict[str, Any] = {CAPACITY: capacity_bytes}
    if kind == "ssd":
        return found | _blocks(values, capacity_bytes, now)
    cylinders = [_share(one, capacity_bytes, now) for one in values[_CYLINDERS]]
    return found | {_CYLINDERS: cylinders}


def _blocks(values: Mapping[str, Any], more: int, less: int) -> dict[str, int]:
    """Return a plane's blocks, and those in reserve, scaled by a ratio."""
    found = {_BLOCKS: _share(values[_BLOCKS], more, less)}
    if values.get(_RESERVE):
        found[_RESERVE] = max(2, _share(values[_RESERVE], more, less))
    return found


def _words(kind: str, keys: Sequence[str], values: Mapping[str, Any]) -> Iterator[Build]:
    allowed = {key.name: key.allowed for key in preset_keys(kind)}
    for key in keys:
        text = allowed[key]
        words: list[Any] = re.findall(r'"(\w+)"', text)
        if text == "true or false":
            words = [True, False]
        # A key that is missing has its first word as value, or false.
        now = values.get(key, False if words == [True, False] else words[0])
        for word in words:
            if word != now and word not in _NEVER:
                yield Build(key, {key: word} | _together(key, word, values))


def _together(key: str, word: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that must change with a word."""
    if key != "mapping.scheme":
        return {}
    if word in _BLOCK_MAPS:
        # This scheme cannot postpone a merge.
        return {"collection.pace": "whole_block"}
    if word == "demand_cached_page":
        pages = values["geometry.user_capacity_bytes"] // values["geometry.page_size_bytes"]
        return {"mapping.cached_entries": max(1, pages // _CACHED_SHARE)}
    return {}


def _counts(kind: str, values: Mapping[str, Any]) -> Iterator[Build]:
    for key, other in _COUNTS[kind]:
        now = values.get(key)
        if not isinstance(now, int) or now < 1:
            continue
        for more, less in ((2, 1), (1, 2)):
            if now * more % less:
                continue
            changed: dict[str, Any] = {key: now * more // less}
            if other == _BLOCKS:
                changed |= _blocks(values, less, more)
            elif other is not None:
                counted = values[other]
                changed[other] = (
                    [_share(one, less, more) for one in counted]
                    if isinstance(counted, list)
                    else _share(counted, less, more)
                )
            yield Build(key, changed)


def _share(value: int, more: int, less: int) -> int:
    """Return a value scaled by a ratio, but at least the least possible one."""
    return -(-value * more // less)


def _parts(kind: str, values: Mapping[str, Any]) -> Iterator[Build]:
    for key, usual in _PARTS[kind]:
        yield Build(key, {key: 0 if values.get(key) else usual})
