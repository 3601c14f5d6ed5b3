"""The block devices of this machine, and why writing to one would be refused.

Everything comes from what the kernel shows to any user: ``/sys/block`` (devices, partitions,
holders), ``/proc/self/mountinfo`` and ``/proc/swaps``. Only the question what a device
carries (a file system, a partition table) needs to read it; where it may not be read, and
`lsblk` knows nothing either, that is a reason of its own: unknown never counts as empty.

Nothing here ever opens a device for writing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drivelab.errors import RunError, UsageError

SECTOR_BYTES: Final = 512
# A device that answers none of its reads would hang the listing.
_PROBE_SECONDS: Final = 10.0

Probe = Callable[[Path], str | None]
ONLY_READ: Final = "block devices are only read by this version of Drivelab"


@dataclass(frozen=True)
class SystemRoots:
    """Where the kernel's view is found; tests give trees of their own."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    dev: Path = Path("/dev")


THIS_MACHINE: Final = SystemRoots()


@dataclass(frozen=True)
class BlockDevice:
    """One block device: a whole drive, or a partition of one.

    Parameters
    ----------
    name
        The kernel's name, such as ``nvme0n1``.
    path
        The device node, such as ``/dev/nvme0n1``; links are resolved.
    number
        Major and minor number, as ``259:0``.
    size_bytes
        Capacity.
    logical_block_bytes
        The smallest request the device takes.
    model, serial, firmware
        As the drive says, `None` where it does not.
    rotational
        `True` for a hard disk, as the kernel believes.
    scheduler
        The I/O scheduler in force.
    read_only
        The kernel refuses writes to it.
    """

    name: str
    path: str
    number: str
    size_bytes: int
    logical_block_bytes: int
    model: str | None
    serial: str | None
    firmware: str | None
    rotational: bool
    scheduler: str | None
    read_only: bool

    def describe(self) -> dict[str, Any]:
        """Say what identifies the device, JSON-able.

        Node and number may be others after the next start of the machine: ``volatile``.
        """
        return {
            "model": self.model,
            "serial": self.serial,
            "firmware": self.firmware,
            "size_bytes": self.size_bytes,
            "rotational": self.rotational,
            "logical_block_bytes": self.logical_block_bytes,
            "scheduler": self.scheduler,
            "volatile": {"path": self.path, "number": self.number},
        }


def list_block_devices(roots: SystemRoots = THIS_MACHINE) -> list[BlockDevice]:
    """List the whole drives of this machine that hold anything, ordered by name.

    Partitions are not listed; empty loop devices and card readers have size 0 and are left
    out.
    """
    block = roots.sys / "block"
    try:
        names = sorted(entry.name for entry in block.iterdir())
    except OSError:
        return []
    devices = (_describe(block / name, roots) for name in names)
    return [device for device in devices if device is not None and device.size_bytes > 0]


def find_block_device(path: str | Path, roots: SystemRoots = THIS_MACHINE) -> BlockDevice:
    """Describe the block device that `path` names; links such as ``/dev/disk/by-id`` resolve.

    Raises
    ------
    UsageError
        When `path` is no block device or the kernel does not describe it.
    """
    real = Path(os.path.realpath(path))
    try:
        status = real.stat()
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}; `drivelab drives` lists what is here"
        ) from error
    if not stat.S_ISBLK(status.st_mode):
        raise UsageError(f"{path} is not a block device; `drivelab drives` lists them")
    number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    return block_device_by_number(number, roots, path=str(real))


def block_device_by_number(
    number: str, roots: SystemRoots = THIS_MACHINE, path: str | None = None
) -> BlockDevice:
    """Describe the drive or partition with this ``major:minor`` number.

    Raises
    ------
    UsageError
        When there is none: memory and network file systems have numbers without a device.
    """
    for folder in _drives_and_partitions(roots):
        if _text(folder / "dev") == number:
            device = _describe(folder, roots, path)
            if device is not None:
                return device
    raise UsageError(f"no block device has the number {number}; `drivelab drives` lists them")


def write_refusals(
    device: BlockDevice,
    roots: SystemRoots = THIS_MACHINE,
    *,
    allow_destructive: str | None = None,
    probe: Probe | None = None,
) -> list[str]:
    """Say why writing to `device` is refused, one reason a line; never empty in this version.

    Parameters
    ----------
    device
        The drive or partition.
    roots
        The kernel's view.
    allow_destructive
        The path for which the user allowed writing, if any.
    probe
        Says what a device carries (`probe_content` unless given).
    """
    reasons: list[str] = []
    for folder in _folders_of(device.name, roots):
        name = folder.name
        label = "" if name == device.name else f"{name} is "
        number = _text(folder / "dev") or "?"
        node = str(roots.dev / name)
        reasons += [f"{label}mounted at {point}" for point in _mount_points(number, node, roots)]
        reasons += [f"{label}held by {holder}" for holder in _children(folder / "holders")]
        if _is_swap(node, roots):
            reasons.append(f"{label}used as swap")
    partitions = [folder.name for folder in _partitions(roots.sys / "block" / device.name)]
    if partitions:
        reasons.append(f"has the partitions {', '.join(partitions)}")
    content = (probe or probe_content)(Path(device.path))
    if content is not None:
        reasons.append(content)
    if device.read_only:
        reasons.append("is read-only")
    if allow_destructive is None or os.path.realpath(allow_destructive) != device.path:
        reasons.append(f"needs --allow-destructive={device.path}")
    reasons.append(ONLY_READ)
    return reasons


def probe_content(path: Path) -> str | None:
    """Say what the device at `path` carries, or `None` when it was read and carries nothing.

    Returns
    -------
    str or None
        ``carries the file system ext4``, ``carries the partition table gpt``, or that its
        content could not be checked.
    """
    if os.access(path, os.R_OK):
        return _probe_by_reading(path)
    return _probe_by_lsblk(path)


def _probe_by_reading(path: Path) -> str | None:
    blkid = _tool("blkid")
    if blkid is None:
        return "what it carries cannot be checked without blkid"
    try:
        result = _run([blkid, "--probe", "--output", "export", str(path)])
    except RunError as error:
        return f"what it carries could not be checked: {error}"
    found = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    if "PTTYPE" in found and "TYPE" not in found:
        return f"carries the partition table {found['PTTYPE']}"
    if "TYPE" in found:
        return _carries(found["TYPE"], found.get("USAGE"))
    # blkid answers 2 when it recognised nothing, and something else when it is not sure.
    if result.returncode == 2:
        return None
    return f"what it carries could not be told: blkid answered {result.returncode}"


def _probe_by_lsblk(path: Path) -> str | None:
    unknown = "what it carries cannot be checked without permission to read it"
    lsblk = _tool("lsblk")
    if lsblk is None:
        return unknown
    try:
        result = _run([lsblk, "--json", "--nodeps", "--output", "FSTYPE,PTTYPE", str(path)])
        row: dict[str, Any] = json.loads(result.stdout)["blockdevices"][0]
    except (RunError, ValueError, LookupError):
        return unknown
    if row.get("fstype"):
        return _carries(str(row["fstype"]), None)
    if row.get("pttype"):
        return f"carries the partition table {row['pttype']}"
    return unknown


def _carries(kind: str, usage: str | None) -> str:
    if kind == "swap":
        return "carries swap space"
    noun = "file system" if usage in (None, "filesystem") else "signature"
    return f"carries the {noun} {kind}"


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PROBE_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{Path(command[0]).name} did not answer in {_PROBE_SECONDS:g} s") from error
    except OSError as error:
        raise RunError(f"{Path(command[0]).name}: {error.strerror}") from error


def _tool(name: str) -> str | None:
    # Both live where only root's PATH looks.
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _describe(folder: Path, roots: SystemRoots, path: str | None = None) -> BlockDevice | None:
    number, sectors = _text(folder / "dev"), _text(folder / "size")
    if number is None or sectors is None or not sectors.isdigit():
        return None
    # A partition's queue and hardware are its drive's.
    drive = folder.parent if (folder / "partition").exists() else folder
    scheduler = _text(drive / "queue" / "scheduler") or ""
    active = re.search(r"\[([\w-]+)\]", scheduler)
    block = _text(drive / "queue" / "logical_block_size") or ""
    return BlockDevice(
        name=folder.name,
        path=path or str(roots.dev / folder.name.replace("!", "/")),
        number=number,
        # The kernel counts sectors of 512 bytes whatever the device's own block is.
        size_bytes=int(sectors) * SECTOR_BYTES,
        logical_block_bytes=int(block) if block.isdigit() else SECTOR_BYTES,
        model=_first(drive, "device/model", "device/name"),
        serial=_first(drive, "device/serial", "serial"),
        firmware=_first(drive, "device/firmware_rev", "device/rev", "device/fwrev"),
        rotational=_text(drive / "queue" / "rotational") == "1",
        scheduler=active[1] if active else (scheduler or None),
        read_only=_text(folder / "ro") == "1",
    )


def _drives_and_partitions(roots: SystemRoots) -> Iterator[Path]:
    for name in _children(roots.sys / "block"):
        drive = roots.sys / "block" / name
        yield drive
        yield from _partitions(drive)


def _folders_of(name: str, roots: SystemRoots) -> list[Path]:
    """Give the folder of the device and those of its partitions."""
    for folder in _drives_and_partitions(roots):
        if folder.name == name:
            return [folder, *_partitions(folder)]
    return []


def _partitions(drive: Path) -> list[Path]:
    return [drive / name for name in _children(drive) if (drive / name / "partition").exists()]


def _children(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


@dataclass(frozen=True)
class Mount:
    """One line of ``mountinfo``."""

    number: str
    root: str
    point: str
    options: str
    file_system: str
    source: str


def mounts(roots: SystemRoots = THIS_MACHINE) -> list[Mount]:
    """Read what this process sees mounted, in the kernel's order."""
    found = []
    for line in (_text(roots.proc / "self" / "mountinfo") or "").splitlines():
        before, separator, after = line.partition(" - ")
        fields, source = before.split(" "), after.split(" ")
        if separator and len(fields) >= 6 and len(source) >= 2:
            # The mount's own options, then the file system's; some stand in both.
            options = [*fields[5].split(","), *",".join(source[2:3]).split(",")]
            found.append(
                Mount(
                    number=fields[2],
                    root=_unescape(fields[3]),
                    point=_unescape(fields[4]),
                    options=",".join(dict.fromkeys(filter(None, options))),
                    file_system=source[0],
                    source=_unescape(source[1]),
                )
            )
    return found


def device_below(mount: Mount, roots: SystemRoots = THIS_MACHINE) -> BlockDevice | None:
    """Find the device a file system lies on; `None` for network and layered file systems."""
    source = os.path.realpath(mount.source) if mount.source.startswith("/") else None
    for folder in _drives_and_partitions(roots):
        # Btrfs mounts under a number of its own and is known by its source alone.
        if _text(folder / "dev") == mount.number or str(roots.dev / folder.name) == source:
            return _describe(folder, roots)
    return None


def _mount_points(number: str, node: str, roots: SystemRoots) -> list[str]:
    points = [
        mount.point
        for mount in mounts(roots)
        if mount.number == number
        or (mount.source.startswith("/") and os.path.realpath(mount.source) == node)
    ]
    return list(dict.fromkeys(points))


def _is_swap(node: str, roots: SystemRoots) -> bool:
    lines = (_text(roots.proc / "swaps") or "").splitlines()[1:]
    return any(os.path.realpath(_unescape(line.split()[0])) == node for line in lines if line)


def _unescape(text: str) -> str:
    """Undo the kernel's octal escapes of blanks and backslashes."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _first(folder: Path, *names: str) -> str | None:
    return next((text for name in names if (text := _text(folder / name))), None)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None
