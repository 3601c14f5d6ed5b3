"""A drive's own commands, sent by the tool of its kind: nvme-cli, hdparm, sg3_utils, sdparm."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from drivelab.drives.block_devices import (
    THIS_MACHINE,
    BlockDevice,
    SystemRoots,
    children,
    text_of,
)
from drivelab.errors import RunError

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
    """Give the node of an NVMe drive's controller, and its other namespaces."""
    name = device.name[: device.name.rindex("n")]
    others = [
        each
        for each in children(roots.sys / "block")
        if re.fullmatch(rf"{name}n\d+", each) and each != device.name
    ]
    return roots.dev / name, others


def find_tool(name: str) -> str | None:
    """Find a program; these live where only root's PATH looks."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def run_tool(name: str, *words: str | Path, seconds: float = _SHORT_SECONDS) -> Answer:
    """Run a tool and wait for it.

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
        result = subprocess.run(
            [path, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            # Ctrl-C reaches Drivelab alone.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{name} was not done within {seconds:g} s") from error
    except OSError as error:
        raise RunError(f"{name} does not run: {error.strerror}") from error
    return Answer(result.returncode, result.stdout)
