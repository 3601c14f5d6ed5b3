"""A drive's own commands, sent with its tool: nvme-cli, hdparm, sg3_utils, sdparm."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from drivelab.drives.real.block_devices import (
    THIS_MACHINE,
    BlockDevice,
    SystemRoots,
    children,
    text_of,
)
from drivelab.errors import RunError, TerminatedError

if TYPE_CHECKING:
    from pathlib import Path

#: Tools by the command set of the drive.
CommandSet = Literal["nvme", "ata", "scsi"]

_PACKAGES: Final = {
    "nvme": "nvme-cli",
    "hdparm": "hdparm",
    "sg_format": "sg3-utils",
    "sdparm": "sdparm",
}
_SHORT_SECONDS: Final = 30.0
_MOST_WORDS: Final = 200


@dataclass(frozen=True)
class Answer:
    """A tool's answer: its exit code and its text, errors included."""

    code: int
    text: str

    @property
    def complaint(self) -> str:
        """Return one line on why it failed."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        return (lines[-1] if lines else f"exit code {self.code}")[:_MOST_WORDS]


def command_set(device: BlockDevice, roots: SystemRoots = THIS_MACHINE) -> CommandSet | None:
    """Return which command set a whole drive has; `None` if it has none of these."""
    if re.fullmatch(r"nvme\d+n\d+", device.name):
        return "nvme"
    if re.fullmatch(r"sd[a-z]+", device.name):
        vendor = text_of(roots.sys / "block" / device.name / "device" / "vendor")
        return "ata" if vendor == "ATA" else "scsi"
    return None


def controller_of(device: BlockDevice, roots: SystemRoots = THIS_MACHINE) -> tuple[Path, list[str]]:
    """Return the node of an NVMe drive's controller, and its other namespaces.

    The number in a namespace's name is its subsystem's, which may differ from its controller's, so
    the kernel is asked.

    Raises
    ------
    RunError
        If several controllers lead to the drive, or the controller is not known.
    """
    parent = _parent(roots, device.name)
    if re.fullmatch(r"nvme-subsys\d+", parent.name):
        controllers = [each for each in children(parent) if re.fullmatch(r"nvme\d+", each)]
    else:
        controllers = [parent.name] if re.fullmatch(r"nvme\d+", parent.name) else []
    if len(controllers) != 1:
        found = " and ".join(controllers) or "no controller that the kernel reports"
        raise RunError(f"{device.path} is reached by {found}; it takes exactly one")
    others = [
        each
        for each in children(roots.sys / "block")
        if each != device.name and _parent(roots, each) == parent
    ]
    return roots.dev / controllers[0], others


def _parent(roots: SystemRoots, name: str) -> Path:
    """Return a block device's parent: for NVMe a controller, or a subsystem of several."""
    return (roots.sys / "block" / name / "device").resolve()


def find_tool(name: str) -> str | None:
    """Find a program; these are in folders that only root's PATH contains."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def run_tool(name: str, *words: str | Path, seconds: float = _SHORT_SECONDS) -> Answer:
    """Run a tool and wait for it, even if Drivelab should stop meanwhile.

    Parameters
    ----------
    name
        Name of the program.
    words
        Its arguments.
    seconds
        The tool is killed after this time.

    Raises
    ------
    RunError
        If it is missing, does not run, or takes too long; the error names its package.
    """
    path = find_tool(name)
    if path is None:
        raise RunError(f"{name} is not installed (package {_PACKAGES.get(name, name)})")
    try:
        process = subprocess.Popen(
            [path, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            # Ctrl-C must reach only Drivelab.
            start_new_session=True,
        )
    except OSError as error:
        raise RunError(f"{name} does not run: {error.strerror}") from error
    with process:
        try:
            text, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise RunError(f"{name} did not finish within {seconds:g} s") from error
        except (KeyboardInterrupt, TerminatedError):
            # A half-erased drive, or one with a password for it, is worse than waiting.
            process.wait()
            raise
    return Answer(process.returncode, text)
