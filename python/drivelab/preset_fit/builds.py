"""How a drive may be built otherwise than its base preset: what does not grow smoothly.

Words of the one table of keys (how pages are mapped, in what order requests are served, when a
write is complete), counts that are halved and doubled with the capacity kept, and parts that a
drive may have or do without.
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

#: Keys that are words or yes and no, by the kind of drive. What bursts do not show is left out.
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
# Only what lasts shows how blocks are collected.
_OF_COLLECTION: Final = ("collection.policy", "collection.pace")
# Nothing in a campaign has a class of its own, and no link is free.
_NEVER: Final = frozenset({"priority", "free"})
#: Counts, each with the one that becomes less as it becomes more, so that the capacity stays.
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
#: Parts that a drive may do without, and what they are tried as where it does.
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
# A map on the flash of which so small a part is in memory.
_CACHED_SHARE: Final = 64


@dataclass(frozen=True)
class Build:
    """A change of how a drive is built.

    Attributes
    ----------
    key
        What changes, or words for several keys.
    values
        By key; others that have to change with it too.
    """

    key: str
    values: Mapping[str, Any]

    def describe(self) -> str:
        """Say it: a key and its value."""
        if self.key not in self.values:
            return self.key
        value = self.values[self.key]
        if isinstance(value, bool):
            return f"{self.key} = {str(value).lower()}"
        return f"{self.key} = {value:,}" if isinstance(value, int) else f"{self.key} = {value}"


def builds_of(kind: str, values: Mapping[str, Any], writes: str = BURST) -> list[Build]:
    """Return every change of one thing that is tried; some may be impossible.

    Parameters
    ----------
    kind
        ``ssd`` or ``hdd``.
    values
        Of the preset, by key.
    writes
        ``burst`` or ``sustained``.
    """
    more = _OF_COLLECTION if kind == "ssd" and writes != BURST else ()
    words = _words(kind, (*_WORDS[kind], *more), values)
    return [*words, *_counts(kind, values), *_parts(kind, values)]


def as_probed(
    values: Mapping[str, Any], page_bytes: int | None, units: int | None
) -> dict[str, Any]:
    """Return what of a geometry changes so that it has the pages and units that probes found.

    Parameters
    ----------
    values
        Of an SSD's preset, by key.
    page_bytes, units
        As probes found them; None where they did not.
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
    # Pages are dealt out to dies, or to each of their planes.
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
    """Return what of a geometry changes so that it has the capacity of what was measured.

    Parameters
    ----------
    kind
        ``ssd`` or ``hdd``.
    values
        Of the preset, by key.
    capacity_bytes
        Of what was measured.
    """
    now = values[CAPACITY]
    if kind == "ssd":
        # Whole pages.
        capacity_bytes -= capacity_bytes % values["geometry.page_size_bytes"]
    if capacity_bytes == now:
        return {}
    found: dict[str, Any] = {CAPACITY: capacity_bytes}
    if kind == "ssd":
        return found | _blocks(values, capacity_bytes, now)
    cylinders = [_share(one, capacity_bytes, now) for one in values[_CYLINDERS]]
    return found | {_CYLINDERS: cylinders}


def _blocks(values: Mapping[str, Any], more: int, less: int) -> dict[str, int]:
    """Return blocks of a plane, and those it keeps in reserve, times a ratio."""
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
        # What the resolved preset leaves out is the first word, or no.
        now = values.get(key, False if words == [True, False] else words[0])
        for word in words:
            if word != now and word not in _NEVER:
                yield Build(key, {key: word} | _together(key, word, values))


def _together(key: str, word: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what has to change with a word."""
    if key != "mapping.scheme":
        return {}
    if word in _BLOCK_MAPS:
        # A merge is not put off.
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
    """Return a value times a ratio, never less than is needed."""
    return -(-value * more // less)


def _parts(kind: str, values: Mapping[str, Any]) -> Iterator[Build]:
    for key, usual in _PARTS[kind]:
        yield Build(key, {key: 0 if values.get(key) else usual})
