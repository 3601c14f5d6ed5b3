"""Why writing to a block device or a file is refused, as far as that is known before writing.

::

        what the kernel knows                what the device contains      what the user said
    mounted, held, swap, a loop          file system, partition        --allow-destructive
    device over it, read-only            table, other signature

For a drive all its partitions are checked, and for a partition its drive: what uses one uses the
other. What cannot be checked is a reason too: unknown never counts as empty. Nothing here opens a
device for writing. Later it is opened exclusively (``O_EXCL``), which the kernel refuses while
anything else uses it, in any container. Files have no such protection: those below a loop device,
mounted files and swap files are looked for.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from drivelab.bounded_json import parse_json
from drivelab.drives.real.block_devices import (
    THIS_MACHINE,
    BlockDevice,
    SystemRoots,
    block_device_by_number,
    children,
    drive_of,
    folders_of,
    mounts,
    partitions_of,
    text_of,
    unescape,
)
from drivelab.drives.real.loop_devices import backing_path, loops_over
from drivelab.errors import RunError

# A device that answers no reads would block the listing.
_PROBE_SECONDS: Final = 10.0

Probe = Callable[[Path], str | None]


def write_refusals(
    device: BlockDevice,
    roots: SystemRoots = THIS_MACHINE,
    *,
    allow_destructive: str | None = None,
    probe: Probe | None = None,
) -> list[str]:
    """Return why writing to `device` is refused, one reason per line; empty if it is allowed.

    Parameters
    ----------
    device
        The drive or partition.
    roots
        The kernel's view.
    allow_destructive
        The path that the user allows to be written, if any.
    probe
        Returns what a device contains (default `probe_content`).
    """
    reasons = usage(device, roots)
    partitions = [folder.name for folder in partitions_of(roots.sys / "block" / device.name)]
    if partitions:
        reasons.append(f"has the partitions {', '.join(partitions)}")
    content = (probe or probe_content)(Path(device.path))
    if content is not None:
        reasons.append(content)
    if device.read_only:
        reasons.append("is read-only")
    if allow_destructive is None or os.path.realpath(allow_destructive) != device.path:
        reasons.append(f"needs --allow-destructive={device.path}")
    return reasons


def usage(device: BlockDevice, roots: SystemRoots = THIS_MACHINE) -> list[str]:
    """Return what uses `device`, its partitions, devices that it is part of, or its file."""
    return [
        *_users(_related(device, roots), device.name, roots),
        *_users_of_its_file(device, roots),
    ]


def file_usage(
    descriptor: int, path: str | Path, roots: SystemRoots = THIS_MACHINE, *, besides: str = ""
) -> list[str]:
    """Return what uses a file: swap, mounts, loop devices over it, and what uses those.

    Parameters
    ----------
    descriptor
        The file, open in any mode.
    path
        Its path; a mount at the path itself does not count as use.
    roots
        The kernel's view.
    besides
        A loop device that does not count.
    """
    file, path = os.fstat(descriptor), str(path)
    reasons = [f"mounted at {point}" for point in _mounted_as(file, path, roots)]
    if _is_swap_file(file, path, roots):
        reasons.append("used as swap")
    for name in loops_over(file, path, roots):
        if name != besides:
            reasons.append(f"held by {name}")
            reasons += _users(folders_of(name, roots), "", roots)
    return reasons


def _users(folders: Iterable[Path], own_name: str, roots: SystemRoots) -> list[str]:
    """Return what uses devices; leave out the name of the one with `own_name`."""
    reasons: list[str] = []
    for folder in folders:
        name = folder.name
        label = "" if name == own_name else f"{name} is "
        number = text_of(folder / "dev") or "?"
        node = str(roots.dev / name.replace("!", "/"))
        holders = [*children(folder / "holders"), *_loops_over(number, node, roots)]
        reasons += [f"{label}mounted at {point}" for point in _mount_points(number, node, roots)]
        reasons += [f"{label}held by {holder}" for holder in holders if holder != own_name]
        if _is_swap(node, roots):
            reasons.append(f"{label}used as swap")
    return reasons


def _users_of_its_file(device: BlockDevice, roots: SystemRoots) -> list[str]:
    """Return what else uses the file behind a loop device, also through other loop devices."""
    if device.backing is None:
        return []
    below = _number_of(device.backing)
    if below is not None:
        return _users_of_its_file(block_device_by_number(below, roots), roots)
    loop = drive_of(device.name, roots)
    path = backing_path(loop, roots)
    try:
        descriptor = os.open(path or "", os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):
        # Removed, or in another container: nobody here can name it either.
        return []
    try:
        users = file_usage(descriptor, path or "", roots, besides=loop)
    finally:
        os.close(descriptor)
    return [f"its file {path} is {user}" for user in users]


def _related(device: BlockDevice, roots: SystemRoots) -> Iterator[Path]:
    folders = folders_of(device.name, roots)
    yield from folders
    # The drive of a partition, but not the drive's other partitions.
    if folders and (folders[0] / "partition").exists():
        yield folders[0].parent
    # What is below a loop device, if that is a block device too.
    below = None if device.backing is None else _number_of(device.backing)
    if below is not None:
        yield from _related(block_device_by_number(below, roots), roots)


def _mount_points(number: str, node: str, roots: SystemRoots) -> list[str]:
    points = [
        mount.point
        for mount in mounts(roots)
        if mount.number == number
        or (mount.source.startswith("/") and os.path.realpath(mount.source) == node)
    ]
    return list(dict.fromkeys(points))


def _loops_over(number: str, node: str, roots: SystemRoots) -> list[str]:
    """List the loop devices over a device: the kernel does not call them holders."""
    found = []
    for name in children(roots.sys / "block"):
        backing = text_of(roots.sys / "block" / name / "loop" / "backing_file")
        if backing and (os.path.realpath(backing) == node or _number_of(backing) == number):
            found.append(name)
    return found


def _number_of(path: str) -> str | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    if not stat.S_ISBLK(status.st_mode):
        return None
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"


def _is_swap(node: str, roots: SystemRoots) -> bool:
    lines = (text_of(roots.proc / "swaps") or "").splitlines()[1:]
    return any(os.path.realpath(unescape(line.split()[0])) == node for line in lines if line)


def _is_swap_file(file: os.stat_result, path: str, roots: SystemRoots) -> bool:
    for line in _raw_lines(roots.proc / "swaps")[1:]:
        used = unescape(line.split(maxsplit=1)[0])
        if used == path or _is_same(used, file):
            return True
    return False


def _mounted_as(file: os.stat_result, path: str, roots: SystemRoots) -> list[str]:
    """List where else a file itself is mounted, as by ``mount --bind``."""
    number = f"{os.major(file.st_dev)}:{os.minor(file.st_dev)}"
    # Btrfs has other numbers. Other mount points are not asked: a server may not answer.
    near = [
        mount.point
        for mount in mounts(roots)
        if mount.root != "/" and (mount.number == number or mount.file_system == "btrfs")
    ]
    return [point for point in dict.fromkeys(near) if point != path and _is_same(point, file)]


def _is_same(path: str, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(Path(path).stat(), file)
    except (OSError, ValueError):
        return False


def _raw_lines(path: Path) -> list[str]:
    """Read a list of the kernel's; its names may be in any encoding."""
    try:
        return [os.fsdecode(line) for line in path.read_bytes().splitlines() if line]
    except OSError:
        return []


def probe_content(path: Path) -> str | None:
    """Return what the device at `path` contains, or `None` if it was read and contains nothing.

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
    # blkid returns 2 if it recognised nothing, and something else if it is not sure.
    if result.returncode == 2:
        return None
    return f"its contents could not be determined: blkid answered {result.returncode}"


def _probe_by_lsblk(path: Path) -> str | None:
    unknown = "what it carries cannot be checked without permission to read it"
    lsblk = _tool("lsblk")
    if lsblk is None:
        return unknown
    try:
        result = _run([lsblk, "--json", "--nodeps", "--output", "FSTYPE,PTTYPE", str(path)])
        row: dict[str, Any] = parse_json(result.stdout)["blockdevices"][0]
    except (RunError, ValueError, LookupError, TypeError):
        return unknown
    if not isinstance(row, dict):
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
    # Both are in folders that only root's PATH contains.
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
