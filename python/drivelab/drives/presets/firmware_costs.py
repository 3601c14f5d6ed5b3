"""A preset whose firmware's time is a model: the model's costs, as the core reads them.

::

    [firmware]                              [firmware]
    time = "learned:page-map"    ──────>    time = "counted"
    cores = 8                               cores = 8
                                            [firmware.cost]
                                            command_cycles = ...

The core knows costs alone, so a drive's identity holds costs and no file's name. What is added
stands at the end, so that lines keep their numbers.
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

#: What the core knows by itself.
PLAIN: Final = ("free", "fixed", "counted")
#: Keys of other times, which a time by a model has no use for.
_UNUSED: Final = ("command_ns", "cost")
_KINDS: Final = ("static", "learned")
_USUAL: Final = "page-map"
_ENTRY_BYTES: Final = 4
# Maps far larger than caches miss alike. A drive scaled down as far as this still has such a map.
_MOST_RATIO: Final = 16
# Of a record, as they are usually profiled.
_RECORD_REQUESTS: Final = 1000


@dataclass(frozen=True)
class OwnSource:
    """The source of somebody's own firmware, which takes the place of a drive's.

    Attributes
    ----------
    name
        Of its file.
    sha256
        Of it and what it includes.
    """

    name: str
    sha256: str


@dataclass(frozen=True)
class ModelledTime:
    """A firmware's time that a model gives.

    Attributes
    ----------
    word
        As the preset has it: ``learned:page-map``.
    model
        What it names.
    kind
        Which of its costs are used: ``static`` or ``learned``.
    """

    word: str
    model: FirmwareModel
    kind: str

    def table(self) -> dict[str, float]:
        """Give the keys of ``[firmware.cost]``, without those of the processor."""
        return self.model.costs(self.kind).table()

    def lines(self) -> str:
        """Give the table as the text of a preset, with the processor that it was learned on."""
        target = self.model.target
        processor = {"cores": target.cores, "clock_mhz": round(target.clock_mhz)}
        keys = {**processor, **self.table()}
        return "\n".join(["[firmware.cost]", *(f"{key} = {value}" for key, value in keys.items())])


def with_costs(text: str, folder: Path) -> tuple[str, ModelledTime | None]:
    """Replace the model that a preset's text names by its costs.

    Parameters
    ----------
    text
        A preset, or one that it starts from.
    folder
        What a model's relative path starts from.

    Raises
    ------
    UsageError
        When the time is none that there is, or its model cannot be read.
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
    """Read the model that ``learned:NAME``, ``learned:FILE.json`` or the same of static names.

    Parameters
    ----------
    word
        What was written.
    folder
        Where files are looked for.
    key
        Where it was written.
    plain
        Words that name no model and are possible there, too.

    Raises
    ------
    UsageError
        When it is another word, or the model cannot be read.
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
    """Give the model that a drive's time comes from.

    Changing some of its costs leaves the drive with the others, which are of the model's firmware
    all the same. Only a preset that says all of them by itself, or another time, needs no model.

    Parameters
    ----------
    name
        The drive's preset; it is followed along ``base`` as far as `texts` has it.
    texts
        Presets by name, as they were written.
    times
        Those that models give, by the names of these presets.
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
    """Refuse a drive whose firmware is none that the model of its time was trained with.

    Parameters
    ----------
    resolved
        The drive, or an array with its member.
    time, of_member
        The models that its time comes from, and its member's; see `deciding_time`.
    own
        The source of the firmware that runs in the place of the drive's.
    """
    member = resolved.get("member_preset")
    drives = [(resolved, time)] if member is None else [(resolved, time), (member, of_member)]
    for drive, model in drives:
        if model is not None:
            _refuse_other_source(model, own)
            _refuse_other_drive(drive, model)


def refuse_unknown_source(time: ModelledTime | None, library: Path) -> None:
    """Refuse a library whose source nobody knows where a model gives the time of firmware.

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
            f"firmware.time = {time.word!r} is of the firmware {firmware.name}, which it knows by "
            f"its source, and {library} does not show that: name the source, --firmware "
            f"{firmware.name}.c for example"
        )
    _refuse_built_in(time, library.name)


def _refuse_built_in(time: ModelledTime, name: str) -> None:
    """Refuse somebody's own firmware where the model is of the package's."""
    raise UsageError(
        f"firmware.time = {time.word!r} is of the {time.model.firmware.name} firmware, not "
        f"of {name}: train a model of it (drivelab firmware profile --firmware, and train), or say "
        "firmware.time = 'fixed' or 'counted' with costs of yours"
    )


def _refuse_other_source(time: ModelledTime, own: OwnSource | None) -> None:
    """Refuse a firmware that is not the one of the model."""
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
            f"{own.name}: profile and train again, or name the source as it was"
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
    # How one's own firmware maps and collects is no setting of the preset.
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
    """Give what a drive and a model say of mapping and collection."""
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
        return {}  # the native reader says what is wrong, with its line


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
