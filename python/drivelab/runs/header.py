"""What every kind of run stores about itself: the drive, and who measured when."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from drivelab.drives.open_drive import OpenDrive

#: Makes the runs that were there before there were others.
CAMPAIGN_COMMAND: Final = "model"
# Their numbers may change what is drawn, fitted or measured.
_PACKAGES: Final = {"drivelab": "drivelab", "numpy": "numpy", "scikit_learn": "scikit-learn"}


@runtime_checkable
class MeasuredElsewhere(Protocol):
    """A drive that another machine than this one measures."""

    @property
    def machine(self) -> Mapping[str, Any]:
        """What `this_start` says of that machine."""
        ...


def drive_header(drive: OpenDrive, **more: Any) -> dict[str, Any]:
    """Return a header's part about the drive; `more` is what else a kind of run keeps of it."""
    return {
        "name": drive.name,
        "kind": drive.kind,
        "capacity_bytes": drive.capacity_bytes,
        **more,
        "identity": drive.identity(),
    }


def this_start(command: str | None, drive: OpenDrive | None = None) -> dict[str, Any]:
    """Describe this process and the machine that measures: when, where, with which versions.

    Parameters
    ----------
    command
        The command line that the user gave, if any.
    drive
        The measured drive. The machine is this one unless the drive names another.
    """
    from importlib.metadata import version

    there: Mapping[str, Any] = drive.machine if isinstance(drive, MeasuredElsewhere) else {}
    return {
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        **{f"{name}_version": version(package) for name, package in _PACKAGES.items()},
        "python_version": platform.python_version(),
        "host": platform.node(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": this_processor(),
        "processors": len(os.sched_getaffinity(0)),
        **there,
    }


def run_of(header: Mapping[str, Any]) -> str:
    """Name a run of any command, the same wherever its folder is moved to."""
    drive, origin = header["drive"], header.get("origin", {})
    digest = hashlib.sha256(json.dumps([drive, origin], sort_keys=True).encode()).hexdigest()
    return f"the run of {drive['name']} begun {origin.get('started_at')} ({digest[:12]})"


def command_of(header: Mapping[str, Any]) -> str:
    """Name the command of Drivelab that made a run; a campaign's header says none."""
    kind = header.get("kind")
    return kind if isinstance(kind, str) else CAMPAIGN_COMMAND


def this_processor(described: Path = Path("/proc/cpuinfo")) -> str | None:
    """Return the processor's model as the kernel reports it; on ARM, mostly, its maker's numbers.

    Parameters
    ----------
    described
        If the kernel reports it.
    """
    try:
        text = described.read_text(errors="replace")
    except OSError:
        return None
    named = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(\S.*)$", text, re.MULTILINE)
    if named:
        return named[1].strip()
    numbers = re.findall(r"^CPU (implementer|variant|part)\s*:\s*(\w+)$", text, re.MULTILINE)
    return ", ".join(f"{what} {number}" for what, number in dict(numbers).items()) or None
