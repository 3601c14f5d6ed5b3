"""A drive's own write cache: switched by the drive's own feature and restored afterwards.

``queue/write_cache`` of the kernel only says whether the kernel flushes the cache; writing to it
changes nothing in the drive. Direct I/O is independent of it: that bypasses the page cache.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from drivelab.drives.real.block_devices import THIS_MACHINE, BlockDevice, SystemRoots
from drivelab.drives.real.drive_tool import Answer, command_set, controller_of, run_tool
from drivelab.errors import RunError

CacheState = Literal["on", "off"]
CACHE_STATES: Final[tuple[CacheState, ...]] = ("on", "off")


@dataclass(frozen=True)
class Switched:
    """The result of switching a write cache.

    Attributes
    ----------
    found
        The drive's setting before; ``None`` if it did not report it.
    now
        The drive's setting now.
    words
        Text for a report.
    """

    found: CacheState | None
    now: CacheState | None
    words: str


def switch_write_cache(
    device: BlockDevice | None,
    wanted: CacheState,
    *,
    is_whole: bool,
    roots: SystemRoots = THIS_MACHINE,
) -> Switched:
    """Switch a drive's write cache on or off, and ask the drive whether it did.

    Nothing is raised: if it cannot be switched, a sentence for the report says so.

    Parameters
    ----------
    device
        The drive; ``None`` for a file.
    wanted
        ``on`` or ``off``.
    is_whole
        Whether it is a drive, not a file, partition or loop device.
    roots
        The kernel's view of devices.
    """
    if device is None or not is_whole:
        why = "a file, partition or loop device is not switched"
        return Switched(None, None, f"as found: {why}")
    speaks = command_set(device, roots)
    if speaks is None:
        return Switched(None, None, "as found: it is no NVMe, SATA or SCSI drive")
    tool, ask, switch = _TOOLS[speaks]
    found = None
    try:
        found = ask(device, roots)
        if found != wanted:
            answer = switch(device, wanted, roots)
            if answer.code:
                raise RunError(answer.complaint)
        now = ask(device, roots)
    except RunError as error:
        return Switched(found, found, f"as found{f' ({found})' if found else ''}: {error}")
    if now != wanted:
        return Switched(found, now, f"as found ({now}): the drive does not switch it {wanted}")
    return Switched(found, now, f"{now}, by {tool}")


def _ask_nvme(device: BlockDevice, roots: SystemRoots) -> CacheState:
    controller, _ = controller_of(device, roots)
    answer = run_tool("nvme", "get-feature", controller, "--feature-id=6")
    return _state(answer, r"[Cc]urrent value:\s*(0x[0-9a-fA-F]+|\d+)")


def _switch_nvme(device: BlockDevice, wanted: CacheState, roots: SystemRoots) -> Answer:
    controller, others = controller_of(device, roots)
    if others:
        raise RunError(f"{controller} has {', '.join(others)} too, whose cache it is as well")
    value = int(wanted == "on")
    return run_tool("nvme", "set-feature", controller, "--feature-id=6", f"--value={value}")


def _ask_ata(device: BlockDevice, _: SystemRoots) -> CacheState:
    return _state(run_tool("hdparm", "-W", device.path), r"write-caching\s*=\s*(\d)")


def _switch_ata(device: BlockDevice, wanted: CacheState, _: SystemRoots) -> Answer:
    return run_tool("hdparm", f"-W{int(wanted == 'on')}", device.path)


def _ask_scsi(device: BlockDevice, _: SystemRoots) -> CacheState:
    return _state(run_tool("sdparm", "--get=WCE", device.path), r"^\s*WCE\s+(\d)")


def _switch_scsi(device: BlockDevice, wanted: CacheState, _: SystemRoots) -> Answer:
    return run_tool("sdparm", f"--set=WCE={int(wanted == 'on')}", device.path)


def _state(answer: Answer, pattern: str) -> CacheState:
    found = re.search(pattern, answer.text, re.MULTILINE)
    if answer.code or found is None:
        raise RunError(f"the drive does not report its write cache: {answer.complaint}")
    return "on" if int(found[1], 0) & 1 else "off"


_TOOLS: Final = {
    "nvme": ("nvme set-feature", _ask_nvme, _switch_nvme),
    "ata": ("hdparm -W", _ask_ata, _switch_ata),
    "scsi": ("sdparm", _ask_scsi, _switch_scsi),
}
