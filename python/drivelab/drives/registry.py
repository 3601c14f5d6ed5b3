"""From the one string that names a drive to the drive.

A new kind of drive is a line in `OPENERS`; whatever has no prefix is a path of this machine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.errors import CannotAnswerError, UsageError

if TYPE_CHECKING:
    from drivelab.drives.drive import Drive, DriveKind


@dataclass(frozen=True)
class PresetDrive:
    """A drive that a preset of the package stands for.

    Attributes
    ----------
    name
        The string that opens it.
    kind
        Simulated or closed form.
    condition
        ``fresh``, ``filled`` or ``preconditioned``.
    capacity_bytes
        Bytes that workloads may address.
    summary
        One line.
    """

    name: str
    kind: DriveKind
    condition: str
    capacity_bytes: int
    summary: str


def _open_simulated(name: str) -> Drive:
    from drivelab.drives.simulated import SimulatedDrive

    return SimulatedDrive.open(name)


def _open_analytic(name: str) -> Drive:
    from drivelab.drives.analytic import PREFIX, AnalyticDrive

    return AnalyticDrive.open(name.removeprefix(PREFIX))


OPENERS: Final[dict[str, Callable[[str], Drive]]] = {
    "sim:": _open_simulated,
    "analytic:": _open_analytic,
}


def open_drive(
    name: str,
    *,
    allow_destructive: str | None = None,
    size_bytes: int | None = None,
    keep: bool = False,
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

    Raises
    ------
    UsageError
        When there is no such drive; the error says what can be named.
    """
    for prefix, opener in OPENERS.items():
        if name.startswith(prefix):
            return opener(name)
    return _open_real(name, allow_destructive, size_bytes, keep=keep)


def _open_real(
    name: str, allow_destructive: str | None, size_bytes: int | None, *, keep: bool
) -> Drive:
    del allow_destructive, size_bytes, keep
    raise UsageError(f"there is no drive {name!r}; `drivelab drives` lists what can be named")


def list_presets() -> Iterator[PresetDrive]:
    """Give every drive that a preset of the package stands for.

    Each preset is a simulated drive; one inside the closed form's condition is a formula too.
    """
    from drivelab._core import ClosedForm, preset_names
    from drivelab.drives.presets import read_preset

    for name in preset_names():
        source = read_preset(name)
        preset, _ = source.resolved()
        described = (
            preset["condition"],
            preset["geometry"]["user_capacity_bytes"],
            preset["summary"],
        )
        yield PresetDrive(f"sim:{name}", "simulated", *described)
        with contextlib.suppress(CannotAnswerError):
            ClosedForm(source.toml_text, source.base_texts)
            yield PresetDrive(f"analytic:{name}", "closed_form", *described)
