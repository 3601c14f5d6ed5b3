"""What a report says about a real drive and its host, as far as the kernel reports it.

Only the drive knows its form factor, and few drives report it (SCSI's page B1, which SATA drives
have too). An operator fills in fields that stay empty.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.drives.real.block_devices import (
    THIS_MACHINE,
    BlockDevice,
    SystemRoots,
    folders_of,
    text_of,
)
from drivelab.units import format_size

if TYPE_CHECKING:
    from drivelab.drives.real.file_location import FileLocation

# SCSI block commands, page B1, byte 7: nominal form factor.
_FORM_FACTORS: Final = {1: "5.25 inch", 2: "3.5 inch", 3: "2.5 inch", 4: "1.8 inch"}
_SMALLER: Final = 5
_PAGE_B1_BYTES: Final = 8
# Rotation rate 1 means no rotation; rates are 0x0401 to 0xFFFE.
_LEAST_RATE: Final = 0x401
_MOST_RATE: Final = 0xFFFE


def drive_header(
    device: BlockDevice | None, place: FileLocation | None, roots: SystemRoots = THIS_MACHINE
) -> dict[str, str]:
    """Return what drive is below a file or device.

    Parameters
    ----------
    device
        The drive or partition; ``None`` if a file system has none.
    place
        The file's location, for a file.
    roots
        The kernel's view of devices.

    Returns
    -------
    dict
        Fields of `DriveSession.header`, and ``capacity``, ``I/O scheduler`` and ``file system``.
    """
    mount = None if place is None else place.mount
    file_system = "" if mount is None else f"{mount.file_system} ({mount.options})"
    if device is None:
        empty = ("vendor", "model", "serial", "firmware", "interface", "form factor", "media")
        return {
            **dict.fromkeys((*empty, "driver", "write cache", "I/O scheduler"), ""),
            "file system": file_system,
        }
    folder = _drive_folder(device, roots)
    rotation, form_factor = _page_b1(folder)
    return {
        "vendor": _vendor(folder),
        "model": device.model or ("; ".join(device.members)),
        "serial": device.serial or "",
        "firmware": device.firmware or "",
        "interface": _interface(folder, roots),
        "form factor": form_factor,
        "media": _media(device, rotation),
        "driver": _driver(folder),
        "write cache": kernel_s_view(device),
        "I/O scheduler": device.scheduler or "",
        "file system": file_system,
    }


def host_header(software: str, roots: SystemRoots = THIS_MACHINE) -> dict[str, str]:
    """Return the machine and software of a measurement (fio's version and engine)."""
    return {
        "host": _host(roots),
        "operating system": f"{_distribution()}{platform.system()} {platform.release()}",
        "software": software,
    }


def kernel_s_view(device: BlockDevice) -> str:
    """Return whether the kernel thinks that the drive has a write cache."""
    if device.write_cache is None:
        return ""
    return f"as found ({device.write_cache} according to the kernel; the drive was not asked)"


def _drive_folder(device: BlockDevice, roots: SystemRoots) -> Path:
    folders = folders_of(device.name, roots)
    folder = folders[0] if folders else roots.sys / "block" / device.name
    return folder.parent if (folder / "partition").exists() else folder


def _vendor(folder: Path) -> str:
    vendor = text_of(folder / "device" / "vendor") or ""
    # The kernel's vendor of SATA drives is "ATA", and PCI has numbers.
    if vendor == "ATA":
        return ""
    if vendor.startswith("0x"):
        return f"PCI vendor {vendor}"
    number = text_of(folder / "device" / "device" / "vendor")
    return vendor or ("" if number is None else f"PCI vendor {number}")


def _interface(folder: Path, roots: SystemRoots) -> str:
    transport = text_of(folder / "device" / "transport")
    if transport is not None:
        pci = folder / "device" / "device"
        link = text_of(pci / "current_link_speed"), text_of(pci / "current_link_width")
        known = f" {link[0]} x{link[1]}" if all(link) else ""
        return f"NVMe over {'PCIe' if transport == 'pcie' else transport}{known}"
    where = os.path.realpath(folder)
    ata = re.search(r"/ata(\d+)/", where)
    if ata is not None:
        speed = text_of(roots.sys / "class" / "ata_link" / f"link{ata[1]}" / "sata_spd")
        return f"SATA{f' {speed}' if speed else ''}"
    found = (
        ("USB", "/usb"),
        ("SAS", "/end_device-"),
        ("virtio", "/virtio"),
        ("MMC", "/mmc"),
        ("loop device", "/virtual/block/loop"),
        ("NBD", "/virtual/block/nbd"),
        ("SCSI", "/host"),
    )
    return next((name for name, part in found if part in where), "")


def _driver(folder: Path) -> str:
    for link in (folder / "device" / "device" / "driver", folder / "device" / "driver"):
        if link.exists():
            return Path(os.path.realpath(link)).name
    return ""


def _page_b1(folder: Path) -> tuple[int | None, str]:
    """Read rotations per minute (0: none, `None`: unknown) and the form factor."""
    try:
        page = (folder / "device" / "vpd_pgb1").read_bytes()
    except OSError:
        return None, ""
    if len(page) < _PAGE_B1_BYTES:
        return None, ""
    rate = int.from_bytes(page[4:6], "big")
    code = page[7] & 0xF
    name = "smaller than 1.8 inch" if code == _SMALLER else _FORM_FACTORS.get(code, "")
    if rate == 1:
        return 0, name
    return (rate if _LEAST_RATE <= rate <= _MOST_RATE else None), name


def _media(device: BlockDevice, rotation: int | None) -> str:
    if rotation:
        return f"hard disk, {rotation} rotations a minute"
    if rotation == 0:
        return "solid state"
    return "hard disk according to the kernel" if device.rotational else "solid state"


def _host(roots: SystemRoots) -> str:
    text = text_of(roots.proc / "cpuinfo") or ""
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB", text_of(roots.proc / "meminfo") or "", re.M)
    parts = [
        model[1].strip() if model else platform.machine(),
        f"{os.cpu_count() or 1} processors",
        *([f"{format_size(int(memory[1]) * 1024 // 2**20 * 2**20)} of memory"] if memory else []),
    ]
    return ", ".join(parts)


def _distribution() -> str:
    try:
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']}, "
    except (OSError, KeyError):
        return ""
