"""Purge a real drive with its own command, so that it is as new from the factory.

::

    --purge=METHOD and --allow-destructive=PATH, both named by the user
        │
        a whole drive of the method's kind, alone on its controller, that may be written
        │
                the drive's command, and what the drive reports about it ──► done, refused or
                unavailable

Anything other than the drive's own commands is no purge: recreating a file, ``blkdiscard``,
overwriting with zeroes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.drives.real.block_devices import THIS_MACHINE, BlockDevice, SystemRoots
from drivelab.drives.real.drive_tool import CommandSet, command_set, controller_of, run_tool
from drivelab.drives.session import Purge
from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

#: The erase command must directly follow the one that sets a password. The password is published,
#: because a drive that loses power in between asks for it.
ATA_PASSWORD: Final = "drivelab"  # noqa: S105
# A hard disk of 30 TB takes two days.
_LONGEST_SECONDS: Final = 3 * 86400.0
_LOOK_SECONDS: Final = 2.0
# NVM Express base specification, sanitize status log page, bits 2:0 of SSTAT.
_SANITIZE_DONE: Final = (1, 4)
_SANITIZE_GOES_ON: Final = 2


class _RefusedError(RunError):
    """The drive refused."""


@dataclass(frozen=True)
class PurgeMethod:
    """A way to purge.

    Attributes
    ----------
    words
        Its name in a report.
    speaks
        The command set that a drive needs for it.
    erase
        Carries it out; raises `RunError` if that is not possible, `_RefusedError` if the drive
        refuses.
    """

    words: str
    speaks: CommandSet
    erase: Callable[[BlockDevice, SystemRoots], None]


def _erase_by_format(device: BlockDevice, roots: SystemRoots) -> None:
    _alone_on_controller(device, roots)
    _send("nvme", "format", device.path, "--ses=1", "--force", f"--timeout={_MILLISECONDS}")


def _erase_by_sanitize(device: BlockDevice, roots: SystemRoots) -> None:
    controller = _alone_on_controller(device, roots)
    _send("nvme", "sanitize", str(controller), "--sanact=2")
    end = time.monotonic() + _LONGEST_SECONDS
    while True:
        answer = run_tool("nvme", "sanitize-log", str(controller))
        found = re.search(r"\(SSTAT\)\s*:\s*(0x[0-9a-fA-F]+|\d+)", answer.text)
        if answer.code or found is None:
            raise _RefusedError(f"nvme sanitize-log: {answer.complaint}")
        status = int(found[1], 0) & 7
        if status in _SANITIZE_DONE:
            return
        if status != _SANITIZE_GOES_ON:
            raise _RefusedError(f"the drive's sanitize status is {status}")
        if time.monotonic() > end:
            raise _RefusedError(f"the drive did not finish within {_LONGEST_SECONDS:g} s")
        time.sleep(_LOOK_SECONDS)


def _erase_by_ata(device: BlockDevice, _: SystemRoots) -> None:
    answer = run_tool("hdparm", "-I", device.path)
    lines = {" ".join(line.split()) for line in answer.text.splitlines()}
    if answer.code:
        raise RunError(f"hdparm -I: {answer.complaint}")
    if "not enabled" not in lines:
        raise RunError(
            "the drive has no ATA security, or a password is set already; one that a stopped purge "
            f"left goes by hdparm --user-master u --security-disable {ATA_PASSWORD} {device.path}"
        )
    if "not locked" not in lines or "not frozen" not in lines:
        raise _RefusedError(
            "ATA security is frozen or locked; a drive that is frozen by the firmware of its host "
            "thaws when the machine sleeps and wakes, or when it is plugged in while it runs"
        )
    as_user = ("--user-master", "u")
    _send("hdparm", *as_user, "--security-set-pass", ATA_PASSWORD, device.path)
    try:
        _send("hdparm", *as_user, "--security-erase", ATA_PASSWORD, device.path)
    except BaseException as error:
        # After a successful erase there is no password any more, and nothing to undo.
        undo = run_tool("hdparm", *as_user, "--security-disable", ATA_PASSWORD, device.path)
        if not isinstance(error, RunError):
            raise
        left = f"; the password {ATA_PASSWORD!r} is still set" if undo.code else ""
        raise _RefusedError(f"{error}{left}") from error


def _erase_by_scsi(device: BlockDevice, _: SystemRoots) -> None:
    # "quick" skips the seconds in which a person may change their mind.
    _send("sg_format", "--format", "--quick", device.path)


_MILLISECONDS: Final = 2**31 - 1
METHODS: Final[dict[str, PurgeMethod]] = {
    "nvme-format": PurgeMethod("nvme format", "nvme", _erase_by_format),
    "nvme-sanitize": PurgeMethod("nvme sanitize, block erase", "nvme", _erase_by_sanitize),
    "ata-secure-erase": PurgeMethod("ATA secure erase", "ata", _erase_by_ata),
    "scsi-format": PurgeMethod("SCSI format unit", "scsi", _erase_by_scsi),
}


def check_method(name: str, allow_destructive: str | None) -> PurgeMethod:
    """Return a method by its name.

    Raises
    ------
    UsageError
        If no method has this name, or nothing may be overwritten.
    """
    if name not in METHODS:
        raise UsageError(f"--purge={name}; allowed: {', '.join(METHODS)}")
    if allow_destructive is None:
        raise UsageError(
            f"--purge={name} erases a whole drive: add --allow-destructive=PATH with the path "
            "of that drive"
        )
    return METHODS[name]


def purge_drive(
    device: BlockDevice | None,
    method: PurgeMethod | None,
    *,
    is_whole: bool,
    roots: SystemRoots = THIS_MACHINE,
) -> Purge:
    """Purge a drive that may be written.

    Parameters
    ----------
    device
        The device; ``None`` for a file.
    method
        The method that the user named; ``None`` for none.
    is_whole
        Whether it is a drive, not a file, partition or loop device.
    roots
        The kernel's view of devices.
    """
    if method is None:
        return Purge("unavailable", "", "no command of the drive's own was named (--purge)")
    if device is None or not is_whole:
        return Purge(
            "unavailable",
            method.words,
            "only a whole drive can be purged, not a file, partition, loop device or array",
        )
    speaks = command_set(device, roots)
    if speaks != method.speaks:
        kind = "no NVMe, SATA or SCSI drive" if speaks is None else f"a drive of {speaks} commands"
        others = [name for name, each in METHODS.items() if each.speaks == speaks]
        allowed = f"; for it there is {' and '.join(others)}" if others else ""
        return Purge("unavailable", method.words, f"{device.path} is {kind}{allowed}")
    try:
        method.erase(device, roots)
    except _RefusedError as error:
        return Purge("refused", method.words, str(error))
    except RunError as error:
        return Purge("unavailable", method.words, str(error))
    return Purge("done", method.words)


def _alone_on_controller(device: BlockDevice, roots: SystemRoots) -> Path:
    controller, others = controller_of(device, roots)
    if others:
        raise RunError(f"{controller} has {', '.join(others)} too, which might be erased with it")
    return controller


def _send(tool: str, *words: str) -> None:
    """Send a command that may take days; `_RefusedError` if the drive refuses it."""
    answer = run_tool(tool, *words, seconds=_LONGEST_SECONDS)
    if answer.code:
        raise _RefusedError(f"{tool}: {answer.complaint}")
