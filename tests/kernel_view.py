"""A small machine as its kernel shows it: an NVMe drive, a hard disk with two partitions."""

from __future__ import annotations

from pathlib import Path

from drivelab.drives.real.block_devices import SystemRoots


def add(roots: SystemRoots, path: str, number: str, sectors: int, **files: str) -> Path:
    """Add a device; ``a__b="x"`` is a file ``a/b`` that holds x."""
    folder = roots.sys / "block" / path
    contents = {"dev": number, "size": str(sectors), "ro": "0", **files}
    for name, text in contents.items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    return folder


def hang_on(roots: SystemRoots, path: str, parent: str) -> Path:
    """Make ``device`` of a block device the link to its parent that it is."""
    device, folder = roots.sys / "block" / path / "device", roots.sys / "devices" / parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    if device.is_dir():
        device.rename(folder)
    folder.mkdir(exist_ok=True)
    device.symlink_to(folder)
    return folder


def small_machine(folder: Path) -> SystemRoots:
    """Make the tree in `folder`."""
    roots = SystemRoots(folder / "sys", folder / "proc", folder / "dev", folder / "run")
    roots.dev.mkdir()
    (roots.proc / "self").mkdir(parents=True)
    add(
        roots,
        "nvme0n1",
        "259:0",
        2_000_000,
        device__model="FAST 980 ",
        device__serial=" S123",
        device__firmware_rev="5B2Q",
        queue__rotational="0",
        queue__logical_block_size="4096",
        queue__write_cache="write through",
        queue__scheduler="[none] mq-deadline",
    )
    hang_on(roots, "nvme0n1", "nvme0")
    add(
        roots,
        "sda",
        "8:0",
        4_000_000,
        device__model="ST4000DM",
        queue__rotational="1",
        queue__logical_block_size="512",
        queue__scheduler="none [mq-deadline] kyber",
    )
    add(roots, "sda/sda1", "8:1", 2_000_000, partition="1")
    (add(roots, "sda/sda2", "8:2", 1_000_000, partition="2") / "holders" / "dm-0").mkdir(
        parents=True
    )
    add(roots, "loop0", "7:0", 0)
    (roots.proc / "self" / "mountinfo").write_text(
        "22 1 0:21 / /proc rw,relatime - proc proc rw\n"
        "27 1 8:1 / /mnt/with\\040blank rw,noatime shared:1 - ext4 /dev/sda1 rw,discard\n"
        f"28 1 0:44 /sub /data rw - btrfs {roots.dev}/nvme0n1 rw,ssd\n"
    )
    (roots.proc / "swaps").write_text(
        f"Filename\tType\tSize\tUsed\tPriority\n{roots.dev}/sda2 partition 1 0 -2\n"
    )
    return roots
