"""Find the text of a preset: the package's by name, or the user's by file."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from drivelab._core import preset_names, preset_text, resolve_preset
from drivelab.bounded_toml import UnreadableTomlError, parse_toml
from drivelab.drives.presets.firmware_costs import (
    ModelledTime,
    OwnSource,
    deciding_time,
    refuse_other_drives,
    with_costs,
)
from drivelab.errors import UsageError
from drivelab.named_file import read_text_file
from drivelab.near_names import meant

SUFFIX: Final = ".toml"
# A preset has some fifty lines; a larger file was given by mistake.
_MAX_PRESET_BYTES: Final = 1 << 20
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class PresetSource:
    """The text of a preset, and of the presets in its folder that it starts from.

    Attributes
    ----------
    reference
        As the user wrote it, without ``sim:`` or ``analytic:``.
    toml_text
        The preset.
    base_texts
        Presets in the same folder along its chain of ``base`` and ``member`` keys, by name. The
        package's own presets need no text here.
    modelled_time, member_time
        Models of the times of the drive's firmware and of its member's; the texts contain their
        costs.
    own_firmware
        Source of the firmware that replaces the drive's.
    """

    reference: str
    toml_text: str
    base_texts: dict[str, str] = field(default_factory=dict)
    modelled_time: ModelledTime | None = None
    member_time: ModelledTime | None = None
    own_firmware: OwnSource | None = None

    def resolved(self) -> tuple[dict[str, Any], str]:
        """Return the checked description, and the hash of everything that decides behaviour.

        Raises
        ------
        UsageError
            Names the key, its value, its line and what is allowed.
        """
        with self.named():
            text, configuration_hash = resolve_preset(self.toml_text, self.base_texts)
        resolved = json.loads(text)
        with self.named():
            refuse_other_drives(resolved, self.modelled_time, self.member_time, self.own_firmware)
        return resolved, configuration_hash

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Prefix errors about the user's file with its path."""
        try:
            yield
        except UsageError as error:
            if not self.reference.endswith(SUFFIX):
                raise
            raise type(error)(f"{self.reference}: {error}") from error


def preset_file(name: str) -> Path | None:
    """Return the file that the name of a drive or preset means, if it is one."""
    reference = name.removeprefix("sim:").removeprefix("analytic:")
    return Path(reference) if reference.endswith(SUFFIX) else None


def read_preset(reference: str, own_firmware: OwnSource | None = None) -> PresetSource:
    """Read a preset by its name, or from a file when the reference ends in ``.toml``.

    Parameters
    ----------
    reference
        ``x25m`` or ``path/to/drive.toml``.
    own_firmware
        Source of the firmware that replaces the drive's.

    Raises
    ------
    UsageError
        When there is no such preset or file, or the file cannot be read.
    """
    if not reference.endswith(SUFFIX):
        known = preset_names()
        if reference not in known:
            raise UsageError(
                f"no preset {reference!r}; {meant(reference, known)}the presets are "
                f"{', '.join(known)}, and your own is sim:FILE.toml"
            )
        return PresetSource(reference, preset_text(reference), own_firmware=own_firmware)
    return preset_at(reference, _read(Path(reference)), own_firmware)


def preset_at(reference: str, text: str, own_firmware: OwnSource | None = None) -> PresetSource:
    """Return the preset in `text` of the file `reference`, with those in the same folder."""
    path = Path(reference)
    # No other preset in the folder has this name.
    written = {"": text, **_base_texts(path, text)}
    try:
        costed = {name: with_costs(one, path.parent) for name, one in written.items()}
    except UsageError as error:
        raise type(error)(f"{reference}: {error}") from error
    times = {name: time for name, (_, time) in costed.items() if time is not None}
    texts = {name: one for name, (one, _) in costed.items()}
    source = PresetSource(
        reference,
        texts.pop(""),
        texts,
        deciding_time("", written, times),
        deciding_time(_member_of("", written), written, times),
        own_firmware,
    )
    if times:
        source.resolved()
    return source


def _member_of(name: str, texts: Mapping[str, str]) -> str | None:
    """Return the preset of an array's first member, here or in a preset that it starts from."""
    met: set[str] = set()
    while name in texts and name not in met:
        met.add(name)
        keys = _keys_in(texts[name])
        if "member" in keys:
            return keys["member"][0]
        name = keys.get("base", [""])[0]
    return None


def _read(path: Path) -> str:
    instead = f"{meant(path.stem, preset_names())}`drivelab drives` lists the package's presets"
    return read_text_file(path, "a preset", _MAX_PRESET_BYTES, instead)


def _base_texts(path: Path, text: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    wanted = _named_in(text)
    while wanted:
        name = wanted.pop(0)
        if name in texts or not _FILE_NAME.fullmatch(name):
            continue
        beside = path.with_name(f"{name}{SUFFIX}")
        if beside == path:
            # A file x25m.toml may start from the package's x25m; any other such reference is a
            # circle.
            if name in preset_names():
                continue
            texts[name] = text
        elif beside.is_file():
            texts[name] = _read(beside)
        else:
            continue
        wanted += _named_in(texts[name])
    return texts


def _named_in(text: str) -> list[str]:
    """Return the presets that one starts from or, if it is an array, consists of."""
    keys = _keys_in(text)
    return [name for key in ("base", "member") for name in keys.get(key, [])]


def _keys_in(text: str) -> dict[str, list[str]]:
    """Return the values of a preset that are text, or lists of texts."""
    try:
        keys = parse_toml(text)
    except UnreadableTomlError:
        return {}  # the native reader reports the error, with its line
    lists = {
        key: value if isinstance(value, list) else [value]
        for key, value in keys.items()
        if value != []
    }
    return {
        key: values
        for key, values in lists.items()
        if all(isinstance(value, str) for value in values)
    }
