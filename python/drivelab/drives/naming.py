"""Find a drive by its name, the one string that is used everywhere.

A new kind of drive is one line in `OPENERS`; a name without a known prefix is a path.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import CannotAnswerError, UsageError
from drivelab.near_names import nearest

if TYPE_CHECKING:
    from drivelab.drives.open_drive import DriveKind
    from drivelab.drives.presets.firmware_costs import OwnSource
    from drivelab.drives.protocol import Drive
    from drivelab.drives.real.fio.drive import FioDrive
    from drivelab.drives.real.preview import RealPreview
    from drivelab.drives.simulated.drive import SimulatedDrive
    from drivelab.workloads.workload import Workload


_PRESET_SUFFIX: Final = ".toml"
_FILE_EXAMPLE: Final = "bench.bin"
_EXAMPLE: Final = "sim:x25m"


@dataclass(frozen=True)
class PresetDrive:
    """A drive that a preset of the package stands for.

    Attributes
    ----------
    name
        The string that opens it.
    kind
        Simulated or closed form.
    device
        ``ssd``, ``hdd``, ``raid0`` or ``raid``, as the preset says.
    condition
        ``fresh``, ``filled``, ``preconditioned`` or ``worn``; a hard disk has none.
    capacity_bytes
        Bytes that workloads may address.
    summary
        One line.
    """

    name: str
    kind: DriveKind
    device: str
    condition: str | None
    capacity_bytes: int
    summary: str


@dataclass(frozen=True)
class Opener:
    """What a prefix of drive names means.

    Attributes
    ----------
    kind
        Kind of its drives.
    module, drive
        Where the class of the drives is; it is imported when a drive is opened. `drive.open` takes
        the name and `varies`.
    names_presets
        Whether what follows the prefix is a preset or a preset's file.
    """

    kind: DriveKind
    module: str
    drive: str
    names_presets: bool = True

    def open(self, name: str, varies: bool) -> Drive:
        """Open the drive of that name."""
        opened: Drive = getattr(import_module(self.module), self.drive).open(name, varies=varies)
        return opened


OPENERS: Final[dict[str, Opener]] = {
    "sim:": Opener("simulated", "drivelab.drives.simulated.drive", "SimulatedDrive"),
    "analytic:": Opener("closed_form", "drivelab.drives.closed_form.drive", "AnalyticDrive"),
}


def kind_of(name: str) -> DriveKind:
    """Return a drive's kind from its name, without opening it."""
    kinds = (opener.kind for prefix, opener in OPENERS.items() if name.startswith(prefix))
    return next(kinds, "real")


def open_drive(
    name: str,
    *,
    allow_destructive: str | None = None,
    size_bytes: int | None = None,
    keep: bool = False,
    intended: Sequence[Workload] = (),
    varies: bool = True,
) -> Drive:
    """Open the drive that `name` stands for; it is a context manager.

    Parameters
    ----------
    name
        ``sim:x25m``, ``sim:file.toml``, ``analytic:x25m-yoo2014``, a block device, a file.
    allow_destructive
        The path that may be overwritten, for real drives.
    size_bytes
        Size of a file that is made, for real drives.
    keep
        Whether such a file stays.
    intended
        Workloads that must be possible, or no file is made. `Drive.check` reports whether the
        opened drive accepts one.
    varies
        Whether the runs of a simulated drive differ as its preset says; see `SimulatedDrive`.

    Raises
    ------
    UsageError
        When there is no such drive; the error says what can be named.
    """
    _refuse_what_is_no_text(name)
    for prefix, opener in OPENERS.items():
        if name.startswith(prefix):
            if opener.names_presets:
                _refuse_unknown_preset(name, name.removeprefix(prefix))
            return opener.open(name, varies)
    return open_real(
        name,
        allow_destructive=allow_destructive,
        size_bytes=size_bytes,
        keep=keep,
        intended=intended,
    )


def open_real(name: str, **options: Any) -> FioDrive:
    """Open the block device or file `name`; `options` as of `real.fio.drive.open_real_drive`.

    Raises
    ------
    UsageError
        When it cannot be measured, or the path is a misspelt name.
    """
    _refuse_what_is_no_text(name)
    _refuse_what_is_no_path(name)
    from drivelab.drives.real.fio.drive import open_real_drive

    return open_real_drive(name, **options)


def open_simulated(
    name: str, *, varies: bool = True, own_firmware: OwnSource | None = None
) -> SimulatedDrive:
    """Open the simulated drive that `name` stands for; it is a context manager.

    Parameters
    ----------
    name
        The drive's.
    varies
        With the preset's variability.
    own_firmware
        Source of the firmware whose library `SimulatedDrive.simulate` will load.

    Raises
    ------
    UsageError
        When there is no such drive, or it is not a simulated one.
    """
    from drivelab.drives.simulated.drive import PREFIX, SimulatedDrive

    _refuse_what_is_no_text(name)
    kind = kind_of(name)
    if kind == "closed_form":
        drive = PREFIX + name.partition(":")[2]
        raise UsageError(f"{name} is a formula, which cannot be simulated; simulate {drive}")
    if kind == "real":
        _refuse_what_is_no_path(name)
        raise UsageError(
            f"{name} is a real drive, and only simulated ones can be simulated: name sim:PRESET "
            f"or sim:FILE.toml, or measure the real one with `drivelab measure {name}`"
        )
    _refuse_unknown_preset(name, name.removeprefix(PREFIX))
    return SimulatedDrive.open(name, varies=varies, own_firmware=own_firmware)


def preview_real_drive(
    name: str,
    *,
    allow_destructive: str | None = None,
    size_bytes: int | None = None,
    keep: bool = False,
) -> RealPreview:
    """Look at the real drive called `name`, as `open_drive` would open it.

    Nothing is made, written or locked, and nothing is opened except for reading.

    Raises
    ------
    UsageError
        When there is no such drive; the error says what can be named.
    """
    _refuse_what_is_no_text(name)
    _refuse_what_is_no_path(name)
    from drivelab.drives.real import preview as real_preview

    return real_preview.preview_real_drive(
        name, size_bytes=size_bytes, keep=keep, allow_destructive=allow_destructive
    )


def _refuse_what_is_no_text(name: str) -> None:
    """Refuse a name that models, tables and reports could not contain."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the name {name!r} is not UTF-8 text, so nothing could be written about that "
            "drive; rename the file"
        ) from error


def _refuse_unknown_preset(name: str, reference: str) -> None:
    from drivelab._core import preset_names

    # Reading the preset or its file reports any other error in it.
    if not reference.endswith(_PRESET_SUFFIX) and reference not in preset_names():
        file = f"{reference}{_PRESET_SUFFIX}"
        if Path(file).is_file():
            raise UsageError(f"there is no drive {name!r}; did you mean sim:{file}?")
        raise UsageError(f"there is no drive {name!r}; {_suggestion(name)}")


def _refuse_what_is_no_path(name: str) -> None:
    """Refuse a word that is more likely a misspelt drive than a file to be made."""
    if name.endswith(_PRESET_SUFFIX):
        raise UsageError(f"{name} is a preset's file; the drive is sim:{name}")
    if os.path.lexists(name) or os.sep in name:
        return
    looks_like_a_file = "." in name.strip(".") and ":" not in name
    if not looks_like_a_file:
        raise UsageError(f"there is no drive {name!r}; {_suggestion(name)}")


def _suggestion(name: str) -> str:
    """Name the drives whose names are close, and say how to see all of them."""
    given, colon, asked = name.rpartition(":")
    prefix = next(iter(nearest(given + colon, OPENERS, 1)), "sim:")
    # All names share the part before the colon, which would make every name similar.
    known = [preset.name.removeprefix(prefix) for preset in list_presets()]
    near = nearest(asked, (one for one in known if ":" not in one))
    guess = f"did you mean {' or '.join(f'{prefix}{one}' for one in near)}? " if near else ""
    if not asked:
        guess = f"a simulated one is {_EXAMPLE}; "
    files = (
        f"{prefix}FILE.toml and files, named by a path such as ./{_FILE_EXAMPLE}, are drives too"
    )
    if os.path.lexists(asked) and asked != name:
        files = f"a preset's file ends in {_PRESET_SUFFIX}, and a file to measure is ./{asked}"
    elif name and ":" not in name and not near:
        files = f"./{name} is a file to measure, created if it does not exist"
    return f"{guess}`drivelab drives` lists all; {files}"


def list_presets() -> Iterator[PresetDrive]:
    """Return every drive that a preset of the package defines.

    Each preset is a simulated drive; inside the closed form's condition it is a formula too.
    """
    from drivelab._core import ClosedForm, preset_names
    from drivelab.drives.presets.source import read_preset

    for name in preset_names():
        source = read_preset(name)
        preset, _ = source.resolved()
        described = (
            preset["kind"],
            preset.get("condition"),
            preset["geometry"]["user_capacity_bytes"],
            preset["summary"],
        )
        yield PresetDrive(f"sim:{name}", "simulated", *described)
        with contextlib.suppress(CannotAnswerError):
            ClosedForm(source.toml_text, source.base_texts)
            yield PresetDrive(f"analytic:{name}", "closed_form", *described)
