"""The block devices of this machine: what they are, and what is mounted from them.

Everything comes from what the kernel shows to any user: ``/sys/block`` (devices, partitions),
``/proc/self/mountinfo``, and udev's notes in ``/run/udev`` for what the kernel does not show.
Nothing here opens a device.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drivelab.errors import UsageError

SECTOR_BYTES: Final = 512


@dataclass(frozen=True)
class SystemRoots:
    """Where to find the kernel's view; tests use their own trees."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    dev: Path = Path("/dev")
    run: Path = Path("/run")


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
        As the drive reports them, `None` if it does not.
    rotational
        `True` for a hard disk, according to the kernel.
    scheduler
        The active I/O scheduler.
    write_cache
        ``write back`` if the drive may answer a write before it is safe.
    read_only
        Whether the kernel refuses writes to it.
    backing
        The file or device behind a loop device.
    members
        The drives below a device made of others (LVM, RAID, encryption), each in words.
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
    write_cache: str | None
    read_only: bool
    backing: str | None = None
    members: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return what identifies the device, as JSON values.

        Node and number may change at the next start of the machine, so they are ``volatile``.
        """
        return {
            "model": self.model,
            "serial": self.serial,
            "firmware": self.firmware,
            "size_bytes": self.size_bytes,
            "rotational": self.rotational,
            "logical_block_bytes": self.logical_block_bytes,
            "scheduler": self.scheduler,
            "write_cache": self.write_cache,
            "backing": self.backing,
            "members": list(self.members) or None,
            "volatile": {"path": self.path, "number": self.number},
        }

    def hardware(self) -> str:
        """Return in words what is known about the drive itself."""
        facts = (
            (None, self.model),
            ("serial", self.serial),
            ("firmware", self.firmware),
        )
        return ", ".join(text if name is None else f"{name} {text}" for name, text in facts if text)


def list_block_devices(roots: SystemRoots = THIS_MACHINE) -> list[BlockDevice]:
    """List this machine's whole drives that are not empty, ordered by name.

    Partitions are not listed. Empty loop devices and card readers have size 0 and are left out.
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
        If `path` is not a block device or the kernel does not describe it.
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
        If there is none: memory and network file systems have numbers without a device.
    """
    for folder in _drives_and_partitions(roots):
        if text_of(folder / "dev") == number:
            device = _describe(folder, roots, path)
            if device is not None:
                return device
    raise UsageError(f"no block device has the number {number}; `drivelab drives` lists them")


def _describe(folder: Path, roots: SystemRoots, path: str | None = None) -> BlockDevice | None:
    number, sectors = text_of(folder / "dev"), text_of(folder / "size")
    if number is None or sectors is None or not sectors.isdigit():
        return None
    # A partition has the queue and hardware of its drive.
    drive = folder.parent if (folder / "partition").exists() else folder
    noted = _noted_by_udev(drive, roots)
    scheduler = text_of(drive / "queue" / "scheduler") or ""
    active = re.search(r"\[([\w-]+)\]", scheduler)
    block = text_of(drive / "queue" / "logical_block_size") or ""
    return BlockDevice(
        name=folder.name,
        path=path or str(roots.dev / folder.name.replace("!", "/")),
        number=number,
        # The kernel counts sectors of 512 bytes, whatever the device's block size.
        size_bytes=int(sectors) * SECTOR_BYTES,
        logical_block_bytes=int(block) if block.isdigit() else SECTOR_BYTES,
        model=_first(drive, "device/model", "device/name") or noted.get("ID_MODEL"),
        serial=_first(drive, "device/serial", "serial")
        or _scsi_serial(drive)
        or noted.get("ID_SERIAL_SHORT"),
        firmware=_first(drive, "device/firmware_rev", "device/rev", "device/fwrev")
        or noted.get("ID_REVISION"),
        rotational=text_of(drive / "queue" / "rotational") == "1",
        scheduler=active[1] if active else (scheduler or None),
        write_cache=text_of(drive / "queue" / "write_cache"),
        read_only=text_of(folder / "ro") == "1",
        backing=text_of(drive / "loop" / "backing_file"),
        members=tuple(_members(drive, roots)),
    )


def _scsi_serial(drive: Path) -> str | None:
    """Read the serial number that a SCSI or SATA drive gives on its page 80."""
    try:
        page = (drive / "device" / "vpd_pg80").read_bytes()
    except OSError:
        return None
    return page[4:].decode(errors="replace").strip("\0 ") or None


def _noted_by_udev(drive: Path, roots: SystemRoots) -> dict[str, str]:
    notes = text_of(roots.run / "udev" / "data" / f"b{text_of(drive / 'dev')}") or ""
    pairs = (line[2:].partition("=") for line in notes.splitlines() if line.startswith("E:"))
    return {name: value.strip() for name, _, value in pairs if value.strip()}


def _members(drive: Path, roots: SystemRoots) -> Iterator[str]:
    """Describe the drives at the bottom of a device that is made of others."""
    for name in children(drive / "slaves"):
        for folder in _drives_and_partitions(roots):
            if folder.name == name:
                deeper = folder.parent if (folder / "partition").exists() else folder
                below = list(_members(deeper, roots))
                described = _describe(folder, roots)
                if below or described is None:
                    yield from below
                else:
                    yield described.hardware() or described.path


def _drives_and_partitions(roots: SystemRoots) -> Iterator[Path]:
    for name in children(roots.sys / "block"):
        drive = roots.sys / "block" / name
        yield drive
        yield from partitions_of(drive)


def folders_of(name: str, roots: SystemRoots) -> list[Path]:
    """Return the folder of the device and those of its partitions."""
    for folder in _drives_and_partitions(roots):
        if folder.name == name:
            return [folder, *partitions_of(folder)]
    return []


def drive_of(name: str, roots: SystemRoots) -> str:
    """Return the whole drive of a partition; any other device is itself one."""
    folders = folders_of(name, roots)
    is_partition = bool(folders) and (folders[0] / "partition").exists()
    return folders[0].parent.name if is_partition else name


def partitions_of(drive: Path) -> list[Path]:
    """Return the folders of a drive's partitions."""
    return [drive / name for name in children(drive) if (drive / name / "partition").exists()]


def children(folder: Path) -> list[str]:
    """Return the names in a folder, sorted; empty if it does not exist."""
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
    """Read what is mounted in this process's view, in the kernel's order."""
    found = []
    for line in (text_of(roots.proc / "self" / "mountinfo") or "").splitlines():
        before, separator, after = line.partition(" - ")
        fields, source = before.split(" "), after.split(" ")
        if separator and len(fields) >= 6 and len(source) >= 2:
            # The mount's own options, then the file system's; some occur in both.
            options = [*fields[5].split(","), *",".join(source[2:3]).split(",")]
            found.append(
                Mount(
                    number=fields[2],
                    root=unescape(fields[3]),
                    point=unescape(fields[4]),
                    options=",".join(dict.fromkeys(filter(None, options))),
                    file_system=source[0],
                    source=unescape(source[1]),
                )
            )
    return found


def device_below(mount: Mount, roots: SystemRoots = THIS_MACHINE) -> BlockDevice | None:
    """Find the device below a file system; `None` for network and layered file systems."""
    source = os.path.realpath(mount.source) if mount.source.startswith("/") else None
    for folder in _drives_and_partitions(roots):
        # Btrfs has its own numbers; only its source shows the device.
        if text_of(folder / "dev") == mount.number or str(roots.dev / folder.name) == source:
            return _describe(folder, roots)
    return None


def unescape(text: str) -> str:
    """Undo the kernel's octal escapes of blanks and backslashes."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _first(folder: Path, *names: str) -> str | None:
    return next((text for name in names if (text := text_of(folder / name))), None)


def text_of(path: Path) -> str | None:
    """Read a file of the kernel's; `None` if it does not exist."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None
