"""The command line that the user can copy to run Drivelab again."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def command_line(name: str, arguments: list[str]) -> str:
    """Return a command line that works in the shell that started this process."""
    used = Path(sys.argv[0])
    found = shutil.which("drivelab")
    here = used.name == "drivelab" and (found is None or not used.samefile(found))
    return shlex.join([str(used) if here else "drivelab", name, *arguments])
