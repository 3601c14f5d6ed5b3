"""A drive's own commands, sent by the tool of its kind: nvme-cli, hdparm, sg3_utils, sdparm."""

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

#: What speaks which commands.
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
    """What a tool said: its exit code and its text, complaints included."""

    code: int
    text: str

    @property
    def complaint(self) -> str:
        """One line of why it failed."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        return (lines[-1] if lines else f"exit code {self.code}")[:_MOST_WORDS]


def command_set(device: BlockDevice, roots: SystemRoots = THIS_MACHINE) -> CommandSet | None:
    """Say which commands a whole drive speaks; `None` for one that has none of them."""
    if re.fullmatch(r"nvme\d+n\d+", device.name):
        return "nvme"
    if re.fullmatch(r"sd[a-z]+", device.name):
        vendor = text_of(roots.sys / "block" / device.name / "device" / "vendor")
        return "ata" if vendor == "ATA" else "scsi"
    return None


def controller_of(device: BlockDevice, roots: SystemRoots = THIS_MACHINE) -> tuple[Path, list[str]]:
    """Give the node of an NVMe drive's controller, and its other namespaces.

    The number in a namespace's name is its subsystem's, which need not be its controller's: the
    kernel is asked.

    Raises
    ------
    RunError
        When more than one controller leads to the drive, or it is not known which.
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
    """Give what a block device hangs on: of NVMe a controller, or a subsystem of several."""
    return (roots.sys / "block" / name / "device").resolve()


def find_tool(name: str) -> str | None:
    """Find a program; these live where only root's PATH looks."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def run_tool(name: str, *words: str | Path, seconds: float = _SHORT_SECONDS) -> Answer:
    """Run a tool and wait for it, also when Drivelab is to stop meanwhile.

    Parameters
    ----------
    name
        Of the program.
    words
        Its arguments.
    seconds
        It is killed when it is not done by then.

    Raises
    ------
    RunError
        When it is missing, does not run, or is not done in time; says which package has it.
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
            # Ctrl-C reaches Drivelab alone.
            start_new_session=True,
        )
    except OSError as error:
        raise RunError(f"{name} does not run: {error.strerror}") from error
    with process:
        try:
            text, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise RunError(f"{name} was not done within {seconds:g} s") from error
        except (KeyboardInterrupt, TerminatedError):
            # A drive that is half erased, or has a password for it, is worse than waiting.
            process.wait()
            raise
    return Answer(process.returncode, text)
