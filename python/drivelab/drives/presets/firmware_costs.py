"""Presets whose firmware time comes from a model: the model's costs, as the core reads them.

::

    [firmware]                              [firmware]
    time = "learned:page-map"    ──────>    time = "counted"
    cores = 8                               cores = 8
                                            [firmware.cost]
                                            command_cycles = ...

The core knows only costs, so a drive's identity contains costs and no file name. Added lines go to
the end, so that the others keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.bounded_toml import UnreadableTomlError, parse_toml
from drivelab.errors import UsageError
from drivelab.firmware_model.model import own_mapping
from drivelab.units import format_size

if TYPE_CHECKING:
    from drivelab.firmware_model.model import FirmwareModel, TrainedFirmware

#: Words that the core knows.
PLAIN: Final = ("free", "fixed", "counted")
#: Keys of other kinds of time, which have no meaning with a model.
_UNUSED: Final = ("command_ns", "cost")
_KINDS: Final = ("static", "learned")
_USUAL: Final = "page-map"
_ENTRY_BYTES: Final = 4
# Maps far larger than caches miss alike. A drive scaled down by this still has such a map.
_MOST_RATIO: Final = 16
# Requests of a record, as they are profiled by default.
_RECORD_REQUESTS: Final = 1000


@dataclass(frozen=True)
class OwnSource:
    """The source of the user's own firmware, which replaces a drive's.

    Attributes
    ----------
    name
        Name of its file.
    sha256
        Hash of it and of what it includes.
    """

    name: str
    sha256: str


@dataclass(frozen=True)
class ModelledTime:
    """A firmware time that a model defines.

    Attributes
    ----------
    word
        As written in the preset: ``learned:page-map``.
    model
        The model.
    kind
        Which of its costs are used: ``static`` or ``learned``.
    """

    word: str
    model: FirmwareModel
    kind: str

    def table(self) -> dict[str, float]:
        """Return the keys of ``[firmware.cost]``, without those of the processor."""
        return self.model.costs(self.kind).table()

    def lines(self) -> str:
        """Return the table as text of a preset, with the processor that it was learned on."""
        target = self.model.target
        processor = {"cores": target.cores, "clock_mhz": round(target.clock_mhz)}
        keys = {**processor, **self.table()}
        return "\n".join(["[firmware.cost]", *(f"{key} = {value}" for key, value in keys.items())])


def with_costs(text: str, folder: Path) -> tuple[str, ModelledTime | None]:
    """Replace the model named in a preset's text by its costs.

    Parameters
    ----------
    text
        A preset, or one that it starts from.
    folder
        The folder that a model's relative path starts from.

    Raises
    ------
    UsageError
        If the time is unknown, or its model cannot be read.
    """
    table = _table(_keys_of(text), "firmware")
    word = table.get("time")
    if word is None or word in PLAIN:
        return text, None
    time = modelled_time(word, folder)
    for key in table:
        if key in _UNUSED:
            raise UsageError(
                f"firmware.{key} is not possible together with firmware.time = {word!r}, which "
                "uses cores and clock_mhz and takes costs from its model: leave it out"
            )
    changed = f"{_as_counted(text, word)}\n{time.lines()}\n"
    try:
        parse_toml(changed)
    except UnreadableTomlError as error:
        raise UsageError(
            f"firmware.time = {word!r} brings a table [firmware.cost]: write [firmware] as a table "
            "of its own"
        ) from error
    return changed, time


def modelled_time(
    word: object, folder: Path, *, key: str = "firmware.time", plain: Sequence[str] = PLAIN
) -> ModelledTime:
    """Read the model named by ``learned:NAME`` or ``learned:FILE.json``, or by static alike.

    Parameters
    ----------
    word
        The word as written.
    folder
        Folder in which files are looked for.
    key
        Key at which it was written.
    plain
        Other words that are allowed there.

    Raises
    ------
    UsageError
        If it is another word, or the model cannot be read.
    """
    from drivelab.firmware_model.model_file import find_firmware_model, shipped_models

    text = word if isinstance(word, str) else ""
    kind, colon, name = text.partition(":")
    if kind not in _KINDS or (colon and not name) or (kind == "learned" and not colon):
        models = "MODEL.json" if not shipped_models() else f"{'|'.join(shipped_models())}|FILE.json"
        allowed = [*plain, "static", f"static:{models}", f"learned:{models}"]
        raise UsageError(
            f"{key} = {word!r} is not possible; allowed: {', '.join(map(repr, allowed))}"
        )
    return ModelledTime(text, find_firmware_model(name or _USUAL, folder), kind)


def deciding_time(
    name: str | None, texts: Mapping[str, str], times: Mapping[str, ModelledTime]
) -> ModelledTime | None:
    """Return the model that a drive's time comes from.

    A preset that changes some of the costs keeps the others, which still belong to the model's
    firmware. Only a preset that sets all of them, or another kind of time, needs no model.

    Parameters
    ----------
    name
        The drive's preset; its ``base`` is followed as far as `texts` has it.
    texts
        Texts of presets by name.
    times
        The models' times, by the names of these presets.
    """
    word, said, met = None, set[str](), set[str]()
    while name is not None and name in texts and name not in met:
        met.add(name)
        keys = _keys_of(texts[name])
        table = _table(keys, "firmware")
        if name in times:
            is_free_of_it = word in ("free", "fixed") or times[name].table().keys() <= said
            return None if is_free_of_it else times[name]
        word = word or table.get("time")
        said |= _table(table, "cost").keys()
        name = keys.get("base")
    return None


def refuse_other_drives(
    resolved: Mapping[str, Any],
    time: ModelledTime | None,
    of_member: ModelledTime | None = None,
    own: OwnSource | None = None,
) -> None:
    """Refuse a drive whose firmware differs from the one that its time's model was trained with.

    Parameters
    ----------
    resolved
        The drive, or an array with its member.
    time, of_member
        Models of the drive's time and of its member's; see `deciding_time`.
    own
        Source of the firmware that replaces the drive's.
    """
    member = resolved.get("member_preset")
    drives = [(resolved, time)] if member is None else [(resolved, time), (member, of_member)]
    for drive, model in drives:
        if model is not None:
            _refuse_other_source(model, own)
            _refuse_other_drive(drive, model)


def refuse_unknown_source(time: ModelledTime | None, library: Path) -> None:
    """Refuse a library of unknown source if a model gives the firmware's time.

    Parameters
    ----------
    time
        The model that the drive's time comes from.
    library
        The firmware.
    """
    if time is None:
        return
    firmware = time.model.firmware
    if firmware.is_own:
        raise UsageError(
            f"firmware.time = {time.word!r} is of the firmware {firmware.name}, which it "
            f"identifies by its source, and {library} does not contain that: name the source, "
            f"--firmware {firmware.name}.c for example"
        )
    _refuse_built_in(time, library.name)


def _refuse_built_in(time: ModelledTime, name: str) -> None:
    """Refuse the user's own firmware if the model is of a built-in one."""
    raise UsageError(
        f"firmware.time = {time.word!r} is of the {time.model.firmware.name} firmware, not "
        f"of {name}: train a model of it (drivelab firmware profile --firmware, and train), or say "
        "firmware.time = 'fixed' or 'counted' with costs of yours"
    )


def _refuse_other_source(time: ModelledTime, own: OwnSource | None) -> None:
    """Refuse a firmware that is not the model's."""
    trained = time.model.firmware
    if not trained.is_own:
        if own is not None:
            _refuse_built_in(time, own.name)
        return
    if own is None:
        raise UsageError(
            f"firmware.time = {time.word!r} is of your firmware {trained.name}, and here the "
            f"package's runs: only `drivelab simulate --firmware {trained.name}.c` runs yours"
        )
    if trained.mapping != own_mapping(own.sha256):
        raise UsageError(
            f"firmware.time = {time.word!r} was trained with another source of {trained.name} than "
            f"{own.name}: profile and train again, or name the old source"
        )


def _refuse_other_drive(drive: Mapping[str, Any], time: ModelledTime) -> None:
    trained = time.model.firmware
    geometry = drive["geometry"]
    page_bytes = geometry["page_size_bytes"]
    map_bytes = geometry["user_capacity_bytes"] // page_bytes * _ENTRY_BYTES

    if trained.record_requests != _RECORD_REQUESTS:
        raise UsageError(
            f"firmware.time = {time.word!r} was trained on single requests, one at a time, which "
            "cost more than under load: train a model on a profile without --each-request"
        )
    # The preset does not say how your own firmware maps and collects.
    settings = [] if trained.is_own else _settings(drive, trained)
    differences = [
        (what, given, wanted)
        for what, given, wanted in (
            *settings,
            (
                "geometry.page_size_bytes",
                format_size(page_bytes),
                format_size(trained.page_bytes),
            ),
            ("[slc]", _has("slc" in drive, "SLC region"), _has(trained.has_slc, "SLC region")),
            (
                "[compression]",
                _has("compression" in drive, "compression"),
                _has(trained.has_compression, "compression"),
            ),
            (
                "[placement]",
                _has("placement" in drive, "placement handles"),
                _has(False, "placement handles"),
            ),
            ("[zones]", _has("zones" in drive, "zones"), _has(False, "zones")),
        )
        if given != wanted
    ]
    if not differences and not _is_alike(map_bytes, trained.map_bytes):
        differences.append(
            (
                "geometry.user_capacity_bytes",
                f"a map of {format_size(map_bytes)}",
                f"one of {format_size(trained.map_bytes)}, and a map more than {_MOST_RATIO} "
                "times as large or small misses the processor's caches differently",
            )
        )
    for what, given, wanted in differences:
        raise UsageError(
            f"firmware.time = {time.word!r} does not fit this drive: {what}: the drive has "
            f"{given}, the model was trained with {wanted}; train a model for it "
            "(drivelab firmware train), or say firmware.time = 'fixed'"
        )


def _settings(drive: Mapping[str, Any], trained: TrainedFirmware) -> list[tuple[str, str, str]]:
    """Return the settings of mapping and collection of a drive and a model."""
    scheme = (drive.get("mapping") or {}).get("scheme", "page")
    has_map_on_flash = scheme == "demand_cached_page"
    return [
        ("mapping.scheme", "page" if has_map_on_flash else scheme, trained.mapping),
        (
            "mapping",
            _has(has_map_on_flash, "map on the flash"),
            _has(trained.has_map_on_flash, "map on the flash"),
        ),
        ("collection.policy", drive["collection"]["policy"], trained.victim),
    ]


def _has(value: bool, what: str) -> str:
    return what if value else f"no {what}"


def _is_alike(one: int, other: int) -> bool:
    return one * _MOST_RATIO >= other and other * _MOST_RATIO >= one


def _keys_of(text: str) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except UnreadableTomlError:
        return {}  # the native reader reports the error, with its line


def _table(keys: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = keys.get(name)
    return table if isinstance(table, dict) else {}


def _as_counted(text: str, word: str) -> str:
    key = re.compile(r"(\btime\s*=\s*)([\"'])" + re.escape(word) + r"\2")
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if not line.lstrip().startswith("#") and key.search(line):
            lines[place] = key.sub(r'\1"counted"', line, count=1)
            return "\n".join(lines)
    raise UsageError(f"write firmware.time = {word!r} on a line of its own, in quotes")
